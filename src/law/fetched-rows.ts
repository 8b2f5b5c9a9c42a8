/**
 * Fetches rows of tables as they are stored, by the values of some columns. In: columns of a pack, and keys. Out: the
 * rows found so far. Missing keys are recorded and fetched together.
 */
import { getOrInsert } from '../common/caches.ts';
import type { JoinColumn, Mapping, Scope } from '../mapping/model.ts';
import { canonicalOf, castTo } from '../resource/raw.ts';
import { amongKeys, type KeyOperand } from '../sql/alike.ts';
import { UNICODE } from '../sql/column-type.ts';
import { and, call, equals, value } from '../sql/construct.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression, Order, Predicate, SqlValue } from '../sql/expression.ts';
import { identifier, type TableName, tableKey } from '../sql/identifier.ts';
import { familyOf } from '../sql/parameter-type.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import type { TableColumns } from './columns.ts';
import { asRowValue } from './forms.ts';
import { ifJudged, Unjudged } from './thing.ts';

/** A row of one table: stored values by column. */
export type StoredRow = ReadonlyMap<string, SqlValue>;

/** Keys per statement. */
const KEYS = 200;
/** Most rows of one statement. Beyond it, none of its keys is judged. */
const ROWS = 20_000;
/** Most rows of one key. */
const OF_ONE_KEY = 100;

/** The fetched rows of a table, by the values of some columns. */
interface Index {
  readonly table: TableName;
  readonly columns: readonly ColumnExpression[];
  /** True for columns that are compared without case. */
  readonly folds: readonly boolean[];
  readonly rows: Map<string, readonly StoredRow[] | 'many'>;
  readonly wanted: Map<string, readonly Expression[]>;
}

export class FetchedRows {
  /** Some requested rows are not fetched yet, so results based on them do not count. */
  lacking = false;
  protected readonly database: Database;
  readonly #columns: ReadonlyMap<string, TableColumns>;
  readonly #indexes = new Map<string, Index>();

  constructor(database: Database, columns: ReadonlyMap<string, TableColumns>) {
    this.database = database;
    this.#columns = columns;
  }

  /** Returns the columns of a table that the pack reads. */
  columnsOf(table: TableName): readonly ColumnExpression[] {
    return [...(this.#columns.get(tableKey(table))?.columns.values() ?? [])];
  }

  /** Returns all rows that were fetched for joins, by table, each once; undefined if a key had too many. */
  fetched(): ReadonlyMap<string, { readonly table: TableName; readonly rows: readonly StoredRow[] }> | undefined {
    const all = new Map<string, { readonly table: TableName; readonly rows: Map<string, StoredRow> }>();
    for (const { table, rows } of this.#indexes.values()) {
      const own = getOrInsert(all, tableKey(table), () => ({ table, rows: new Map<string, StoredRow>() }));
      for (const found of rows.values()) {
        if (found === 'many') return undefined;
        for (const row of found) own.rows.set(contentOf(row), row);
      }
    }
    return new Map([...all].map(([name, { table, rows }]) => [name, { table, rows: [...rows.values()] }]));
  }

  /** Fetches the recorded keys. Rejects with DatabaseError. */
  async fetch(signal: AbortSignal): Promise<void> {
    for (const index of this.#indexes.values()) {
      const wanted = [...index.wanted];
      index.wanted.clear();
      for (let at = 0; at < wanted.length; at += KEYS)
        await this.#fetchKeys(index, wanted.slice(at, at + KEYS), signal);
    }
    this.lacking = false;
  }

  async #fetchKeys(
    { table, columns, folds, rows }: Index,
    keys: readonly (readonly [string, readonly Expression[]])[],
    signal: AbortSignal,
  ): Promise<void> {
    const own = columns.map((column, i): Expression => {
      const theirs = { ...column, alias: ALIAS };
      return folds[i] ? call('upper', [theirs], UNICODE) : theirs;
    });
    const where = amongKeys(
      keys.map(([, given]) => given.map((one, i): KeyOperand => ({ column: own[i] ?? one, value: one }))),
    );
    const found = await this.query(table, { where, limit: ROWS }, signal);
    const canonical = columns.map(({ type }) => canonicalOf(type));
    const byKey = Map.groupBy(found, row => {
      const values = columns.map(({ column, type }) => readable(row.get(column) ?? null, type));
      return keyOf(values.map((one, i) => inCase(canonical[i]?.(one) ?? null, folds[i]))) ?? '';
    });
    // Rows beyond the limit could belong to any key.
    for (const [key] of keys) rows.set(key, found.length === ROWS ? 'many' : (byKey.get(key) ?? []));
  }

  /** Reads rows of a table as they are stored. */
  async query(
    table: TableName,
    { where, limit, orderBy = [] }: { where: Predicate; limit: number; orderBy?: readonly Order[] },
    signal: AbortSignal,
  ): Promise<readonly StoredRow[]> {
    const columns = this.columnsOf(table);
    const plan: SqlPlan = {
      from: { table, alias: ALIAS, joins: [], where },
      columns: columns.map(column => ({ ...column, alias: ALIAS })),
      orderBy,
      limit,
      shape: 'rows',
      stored: true,
      searches: true,
    };
    const found = await this.database.query(plan, { bulkhead: 'export', signal });
    return found.map(row => new Map(columns.map(({ column }, i) => [column, row[i] ?? null])));
  }

  /**
   * Returns the rows of a key, by those of its columns that belong to the table: several if a key is unique only under
   * `where`.
   */
  byKey({ table, alias, key }: Mapping['source'], values: Row, signal: AbortSignal): Promise<readonly StoredRow[]> {
    const own = key.flatMap((column, i) =>
      column.alias === alias ? [equals({ ...column, alias: ALIAS }, value(values[i] ?? null, column.type))] : [],
    );
    return this.query(table, { where: and(...own), limit: OF_ONE_KEY }, signal);
  }

  /** Returns rows of a scope's table where theirs = ours. Records the key if it is not fetched yet. */
  protected find(
    scope: Pick<Scope, 'table' | 'alias'>,
    on: readonly JoinColumn[],
    ours: readonly SqlValue[],
  ): readonly StoredRow[] {
    if (on.length === 0 || on.some(({ theirs }) => theirs.alias !== scope.alias)) throw new Unjudged();
    const name = `${tableKey(scope.table)} ${on.map(({ theirs, fold }) => theirs.column + (fold ? ' folded' : '')).join(' ')}`;
    const index = getOrInsert(this.#indexes, name, () => ({
      table: scope.table,
      columns: on.map(({ theirs }) => theirs),
      folds: on.map(({ fold }) => fold ?? false),
      rows: new Map(),
      wanted: new Map(),
    }));
    // Our side is cast, never the key column.
    const cast = on.map(({ theirs, ours: own }, i) => castTo(theirs.type, own.type)(ours[i] ?? null));
    const key = keyOf(on.map(({ theirs, fold }, i) => inCase(canonicalOf(theirs.type)(cast[i] ?? null), fold)));
    if (key === undefined) return [];
    const rows = index.rows.get(key);
    if (rows === 'many') throw new Unjudged();
    if (rows) return rows;
    this.lacking = true;
    index.wanted.set(
      key,
      on.map(({ theirs, steps, ours: own }, i) => {
        const type = steps?.length ? TEXT : own.type;
        const isCast = type.kind === 'text' && familyOf(theirs.type) === 'number';
        return isCast ? value(cast[i] ?? null, theirs.type) : value(ours[i] ?? null, type);
      }),
    );
    return [];
  }
}

/** Returns equal texts for rows with equal content. */
export function contentOf(row: StoredRow): string {
  const plain = [...row].map(([name, held]) => [name, held instanceof Uint8Array ? [...held] : held]);
  return JSON.stringify(plain);
}

const ALIAS = identifier('t');
const TEXT = { kind: 'text', unicode: true, fixed: false, length: 4000 } as const;

/** Converts ASCII letters to upper case if case does not count, as the engines do. */
export function inCase(text: string | null, fold: boolean | undefined): string | null {
  return fold && text !== null ? text.replace(/[a-z]+/g, letters => letters.toUpperCase()) : text;
}

/** Returns NULL, which joins nothing, for a key column that holds what its type does not allow. */
function readable(stored: SqlValue, type: ColumnExpression['type']): SqlValue {
  return ifJudged(() => asRowValue(stored, type)) ?? null;
}

/** Returns undefined if a part is NULL, because NULL joins nothing. */
function keyOf(parts: readonly (string | null)[]): string | undefined {
  if (parts.includes(null)) return undefined;
  return parts.map(part => `${part?.length}:${part}`).join('');
}
