/**
 * Joins stored rows without the engine: lookups, child rows and references are found by equality in tables that were
 * fetched without the plans of the server. In: rows of tables. Out: what the interpreter (interpret.ts) reads. Missing
 * rows are recorded and fetched together, and the interpreter runs again.
 */
import type {
  Condition,
  EachNode,
  JoinColumn,
  Lookup,
  Mapping,
  Pieces,
  RefNode,
  Registry,
  Scope,
} from '../mapping/model.ts';
import { canonicalOf, castTo, compareCanonical } from '../resource/raw.ts';
import { amongKeys, type KeyOperand } from '../sql/alike.ts';
import { UNICODE } from '../sql/column-type.ts';
import { and, call, equals, value } from '../sql/construct.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression, Order, Predicate, SqlValue } from '../sql/expression.ts';
import { type Identifier, identifier, type TableName, tableKey } from '../sql/identifier.ts';
import type { Row, SqlPlan } from '../sql/plan.ts';
import { aliasesOf } from '../sql/walk.ts';
import type { TableColumns } from './columns.ts';
import { asRowValue } from './forms.ts';
import type { Interpreter, RowReader } from './interpret.ts';
import { Unjudged } from './thing.ts';
import { type ReadRow, WorkedOut } from './worked-out.ts';

/** A row of one table: stored values by column. */
export type StoredRow = ReadonlyMap<string, SqlValue>;

/** A row with what can be seen from it: what its scope looks up, and the rows around it. */
export interface View {
  readonly scope: Scope;
  readonly row: StoredRow;
  readonly around: View | undefined;
  /** Rows that lookups have found so far; null: none. */
  readonly found: Map<Identifier, StoredRow | null>;
}

/** Keys asked for in one statement. */
const KEYS = 200;
/** Rows that one statement brings at most: keys that more rows have are not judged. */
const ROWS = 20_000;

/** The fetched rows of a table by the values of some columns. */
interface Index {
  readonly table: TableName;
  readonly columns: readonly ColumnExpression[];
  /** Which of them are compared without case. */
  readonly folds: readonly boolean[];
  readonly rows: Map<string, readonly StoredRow[] | 'many'>;
  readonly wanted: Map<string, readonly Expression[]>;
}

export class StoredRows implements RowReader<View> {
  readonly #registry: Registry;
  readonly #database: Database;
  readonly #columns: ReadonlyMap<string, TableColumns>;
  readonly #indexes = new Map<string, Index>();
  readonly #worked = new WorkedOut();
  /** Something was asked for that is not fetched yet: what was worked out of it does not count. */
  lacking = false;

  constructor(registry: Registry, database: Database, columns: ReadonlyMap<string, TableColumns>) {
    this.#registry = registry;
    this.#database = database;
    this.#columns = columns;
  }

  /** A row of a mapping's source. */
  view(scope: Scope, row: StoredRow, around?: View): View {
    return { scope, row, around, found: new Map() };
  }

  /** Columns of a table that the pack reads. */
  columnsOf(table: TableName): readonly ColumnExpression[] {
    return [...(this.#columns.get(tableKey(table))?.columns.values() ?? [])];
  }

  /** All rows that were fetched for joins, by table, each once. Undefined: a key had too many. */
  fetched(): ReadonlyMap<string, { readonly table: TableName; readonly rows: readonly StoredRow[] }> | undefined {
    const all = new Map<string, { readonly table: TableName; readonly rows: Map<string, StoredRow> }>();
    for (const { table, rows } of this.#indexes.values()) {
      const own = all.get(tableKey(table)) ?? { table, rows: new Map<string, StoredRow>() };
      all.set(tableKey(table), own);
      for (const found of rows.values()) {
        if (found === 'many') return undefined;
        for (const row of found) own.rows.set(contentOf(row), row);
      }
    }
    return new Map([...all].map(([name, { table, rows }]) => [name, { table, rows: [...rows.values()] }]));
  }

  raw(expression: Expression, view: View): SqlValue {
    const stored = this.stored(expression, view);
    return asRowValue(stored, expression.type);
  }

  /**
   * The value of a column as the database holds it, or of an `sql` as the engine works it out. Throws Unjudged for
   * others.
   */
  stored(expression: Expression, view: View): SqlValue {
    if (expression.kind === 'raw') return this.#workedOut(expression, view);
    if (expression.kind !== 'column') throw new Unjudged();
    const row = this.#rowOf(expression.alias, view);
    return row?.get(expression.column) ?? null;
  }

  #workedOut(expression: Expression, view: View): SqlValue {
    const gone = new Set<Identifier>();
    const rows: ReadRow[] = [];
    for (const alias of aliasesOf({ expressions: [expression] })) {
      const row = this.#rowOf(alias, view);
      if (row === null) gone.add(alias);
      else rows.push(this.#known(alias, row, view));
    }
    // An expression over nothing that was found is still one of the row around.
    if (rows.length === 0) rows.push(this.#known(view.scope.alias, view.row, view));
    const worked = this.#worked.of(expression, rows, gone);
    if (worked === undefined) this.lacking = true;
    return worked ?? null;
  }

  /** How the row under an alias is told from others of its table. */
  #known(alias: Identifier, row: StoredRow, view: View): ReadRow {
    const table = tableUnder(alias, view);
    const read = table && this.#columns.get(tableKey(table));
    if (!read) throw new Unjudged();
    const own = read.key.length > 0 ? read.key : [...read.columns.values()];
    return { alias, table, key: own.map(column => [column, row.get(column.column) ?? null] as const) };
  }

  within(view: View, { alias, lookups = [] }: Pieces, parts: StoredRow): View | undefined {
    const scope: Scope = { table: { name: alias }, alias, where: { kind: 'always' }, lookups };
    const inner = this.view(scope, parts, view);
    return this.hasRequired(inner) ? inner : undefined;
  }

  children(node: EachNode, view: View, interpreter: Interpreter<View>): readonly View[] {
    if (node.from.kind !== 'rows') return [];
    const { scope, on, order } = node.from;
    const views = this.#rowsOf(scope, on, view, interpreter);
    return views.toSorted((a, b) => this.#compare(order, a, b));
  }

  exists({ scope, on }: Condition & { readonly kind: 'exists' }, view: View, interpreter: Interpreter<View>): boolean {
    return this.#rowsOf(scope, on, view, interpreter).length > 0;
  }

  target(node: RefNode, view: View, interpreter: Interpreter<View>): string | undefined {
    const target = this.#registry.mapping(node.target);
    if (!node.exists) {
      const printed = interpreter.id(target.id, column => {
        const joined = node.on.find(({ theirs }) => theirs.alias === column.alias && theirs.column === column.column);
        if (!joined) throw new Unjudged();
        return this.raw(joined.ours, view);
      });
      return printed === undefined ? undefined : `${target.resource}/${printed}`;
    }
    for (const row of this.#find(target.source, node.on, view)) {
      const found = this.view(target.source, row);
      if (!this.isServed(target, found, interpreter)) continue;
      const id = interpreter.id(target.id, column => this.raw(column, found));
      if (id !== undefined) return `${target.resource}/${id}`;
    }
    return undefined;
  }

  /** Whether a row of the source is a resource of the mapping. */
  isServed(mapping: Mapping, view: View, interpreter: Interpreter<View>): boolean {
    return (
      this.isSelected(mapping, view, interpreter) && mapping.needs.every(need => interpreter.isPresent(need, view))
    );
  }

  /** Likewise whatever elements it has: `where`, `required` lookups, and of one-per rows the first. */
  isSelected({ source }: Mapping, view: View, interpreter: Interpreter<View>): boolean {
    return (
      interpreter.holds(source.where, view) &&
      this.hasRequired(view) &&
      (source.onePer.length === 0 || this.isAnchor(source, view, interpreter))
    );
  }

  /** Whether all lookups that are `required` find a row. */
  hasRequired(view: View): boolean {
    return view.scope.lookups.every(({ required, alias }) => !required || this.#rowOf(alias, view) !== null);
  }

  /** Whether no row that counts has the same one-per columns and a lower key. */
  isAnchor(source: Mapping['source'], view: View, interpreter: Interpreter<View>): boolean {
    const same = source.onePer.map(column => ({ theirs: column, ours: column }));
    return this.#find(source, same, view).every(row => {
      const other = this.view(source, row);
      const lower = this.#compare(
        source.key.map(by => ({ by, descending: false })),
        other,
        view,
      );
      return lower >= 0 || !interpreter.holds(source.where, other) || !this.hasRequired(other);
    });
  }

  /** Fetches what was asked for in vain. Rejects with DatabaseError. */
  async fetch(signal: AbortSignal): Promise<void> {
    for (const index of this.#indexes.values()) {
      const wanted = [...index.wanted];
      index.wanted.clear();
      for (let at = 0; at < wanted.length; at += KEYS)
        await this.#fetchKeys(index, wanted.slice(at, at + KEYS), signal);
    }
    await this.#worked.fetch(this.#database, signal);
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
    // Those that are left out at the limit could be of any key.
    for (const [key] of keys) rows.set(key, found.length === ROWS ? 'many' : (byKey.get(key) ?? []));
  }

  /** Rows of a table as they are stored. */
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
    const found = await this.#database.query(plan, { bulkhead: 'export', signal });
    return found.map(row => new Map(columns.map(({ column }, i) => [column, row[i] ?? null])));
  }

  /** The row of a key, by those of its columns that are the table's own. */
  byKey({ table, alias, key }: Mapping['source'], values: Row, signal: AbortSignal): Promise<readonly StoredRow[]> {
    const own = key.flatMap((column, i) =>
      column.alias === alias ? [equals({ ...column, alias: ALIAS }, value(values[i] ?? null, column.type))] : [],
    );
    return this.query(table, { where: and(...own), limit: 1 }, signal);
  }

  #rowsOf(scope: Scope, on: readonly JoinColumn[], view: View, interpreter: Interpreter<View>): readonly View[] {
    return this.#find(scope, on, view)
      .map(row => this.view(scope, row, view))
      .filter(one => interpreter.holds(scope.where, one) && this.hasRequired(one));
  }

  /** Rows of a scope's table where theirs = ours. */
  #find(scope: Pick<Scope, 'table' | 'alias'>, on: readonly JoinColumn[], view: View): readonly StoredRow[] {
    if (on.length === 0 || on.some(({ theirs }) => theirs.alias !== scope.alias)) throw new Unjudged();
    const name = `${tableKey(scope.table)} ${on.map(({ theirs, fold }) => theirs.column + (fold ? ' folded' : '')).join(' ')}`;
    const index = this.#indexes.get(name) ?? {
      table: scope.table,
      columns: on.map(({ theirs }) => theirs),
      folds: on.map(({ fold }) => fold ?? false),
      rows: new Map(),
      wanted: new Map(),
    };
    this.#indexes.set(name, index);
    const ours = on.map(joined => this.#ours(joined, view));
    // Our side is cast, never the key column.
    const key = keyOf(
      on.map(({ theirs, fold, ours: own }, i) =>
        inCase(canonicalOf(theirs.type)(castTo(theirs.type, own.type)(ours[i] ?? null)), fold),
      ),
    );
    if (key === undefined) return [];
    const rows = index.rows.get(key);
    if (rows === 'many') throw new Unjudged();
    if (rows) return rows;
    this.lacking = true;
    index.wanted.set(
      key,
      on.map((joined, i) => value(ours[i] ?? null, joined.steps?.length ? TEXT : joined.ours.type)),
    );
    return [];
  }

  /** Our side of a join, after its text steps. */
  #ours({ ours, steps = [], fold }: JoinColumn, view: View): SqlValue {
    const raw = this.raw(ours, view);
    if (raw === null) return raw;
    if (steps.length === 0) return typeof raw === 'string' ? inCase(raw, fold) : raw;
    let text: string | undefined = String(raw);
    for (const step of steps) text = text === undefined ? undefined : step.apply(text);
    return inCase(text ?? null, fold);
  }

  /** The row that stands under an alias; null: the lookup finds none. */
  #rowOf(alias: Identifier, view: View): StoredRow | null {
    for (let at: View | undefined = view; at; at = at.around) {
      if (at.scope.alias === alias) return at.row;
      const lookup = at.scope.lookups.find(one => one.alias === alias);
      if (!lookup) continue;
      const known = at.found.get(alias);
      if (known !== undefined) return known;
      const found = this.#lookedUp(lookup, at);
      // What was not there yet is looked for again.
      if (!this.lacking) at.found.set(alias, found);
      return found;
    }
    throw new Unjudged();
  }

  #lookedUp(lookup: Lookup, view: View): StoredRow | null {
    const interpreter = this.interpreter;
    if (!interpreter) throw new TypeError('rows are read by an interpreter');
    const fitting = this.#find(lookup, lookup.on, view).filter(row => {
      const seen: View = { ...view, found: new Map([...view.found, [lookup.alias, row]]) };
      return interpreter.holds(lookup.where, seen);
    });
    if (fitting.length <= 1 || lookup.pick.length === 0) return fitting[0] ?? null;
    const asScope: Scope = { table: lookup.table, alias: lookup.alias, where: lookup.where, lookups: [] };
    const [first] = fitting.map(row => this.view(asScope, row)).toSorted((a, b) => this.#compare(lookup.pick, a, b));
    return first?.row ?? null;
  }

  /** Set by whoever makes the interpreter over these rows: conditions of lookups are its. */
  interpreter: Interpreter<View> | undefined;

  /** As both engines sort: NULL first ascending, text by its code units. */
  #compare(orders: readonly Order[], a: View, b: View): number {
    for (const { by, descending } of orders) {
      const canonical = canonicalOf(by.type);
      const [left, right] = [canonical(this.raw(by, a)), canonical(this.raw(by, b))];
      const sign =
        left === right ? 0 : left === null ? -1 : right === null ? 1 : compareCanonical(left, right, by.type);
      if (sign !== 0) return descending ? -sign : sign;
    }
    return 0;
  }
}

/** Equal for rows that hold the same. */
export function contentOf(row: StoredRow): string {
  const plain = [...row].map(([name, held]) => [name, held instanceof Uint8Array ? [...held] : held]);
  return JSON.stringify(plain);
}

/** The table that stands under an alias, of a row around or of what one of them looks up. */
function tableUnder(alias: Identifier, view: View): TableName | undefined {
  for (let at: View | undefined = view; at; at = at.around) {
    const found = [at.scope, ...at.scope.lookups].find(one => one.alias === alias);
    if (found) return found.table;
  }
  return undefined;
}

const ALIAS = identifier('t');
const TEXT = { kind: 'text', unicode: true, fixed: false, length: 4000 } as const;

/** In upper case where case does not count: of ASCII letters, as the engines have it. */
function inCase(text: string | null, fold: boolean | undefined): string | null {
  return fold && text !== null ? text.replace(/[a-z]+/g, letters => letters.toUpperCase()) : text;
}

/** A key column that holds what its type does not say joins nothing here. */
function readable(stored: SqlValue, type: ColumnExpression['type']): SqlValue {
  try {
    return asRowValue(stored, type);
  } catch (error) {
    if (!(error instanceof Unjudged)) throw error;
    return null;
  }
}

/** Undefined where a part is NULL, which joins nothing. */
function keyOf(parts: readonly (string | null)[]): string | undefined {
  if (parts.includes(null)) return undefined;
  return parts.map(part => `${part?.length}:${part}`).join('');
}
