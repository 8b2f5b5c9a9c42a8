/**
 * Asks the engine for the values of an `sql` expression, one statement for one expression and one row, without the plan
 * by which the server reads it. In: expressions, and the rows that they read, each identified by its key. Out: stored
 * values.
 * Unknown ones are recorded until `fetch` reads them.
 */
import { OPAQUE } from '../sql/column-type.ts';
import { and, constant, equals, isNull, value } from '../sql/construct.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression, Predicate, SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Identifier, TableName } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { renameExpression } from '../sql/rename.ts';
import { asRowValue } from './forms.ts';
import { Unjudged } from './thing.ts';

/** A row that an expression reads, under its alias in the expression. */
export interface ReadRow {
  readonly alias: Identifier;
  readonly table: TableName;
  /** Columns that identify it, with their values. */
  readonly key: readonly (readonly [column: ColumnExpression, stored: SqlValue])[];
}

/** Most cached values. Rows that were read before need no further statement. */
const KEPT = 50_000;

/** Marks an expression without a single value. */
const UNKNOWN = Symbol('unknown');

export class WorkedOut {
  readonly #known = new Map<string, SqlValue | typeof UNKNOWN>();
  readonly #wanted = new Map<string, SqlPlan>();

  /**
   * Returns the value of an expression; undefined if it is unknown until the next `fetch`. `gone`: aliases of lookups
   * that found no row. Throws Unjudged if the rows do not determine the value.
   */
  of(expression: Expression, rows: readonly ReadRow[], gone: ReadonlySet<Identifier>): SqlValue | undefined {
    const name = [
      expressionKey(expression),
      ...gone,
      ...rows.map(({ alias, key }) => `${alias} ${JSON.stringify(key.map(([, stored]) => textOf(stored)))}`),
    ].join('\n');
    const known = this.#known.get(name);
    if (known === UNKNOWN) throw new Unjudged();
    if (known === undefined) this.#wanted.set(name, planOf(expression, rows, gone));
    return known;
  }

  /** Reads the recorded expressions. Rejects with DatabaseError. */
  async fetch(database: Database, signal: AbortSignal): Promise<void> {
    const wanted = [...this.#wanted];
    this.#wanted.clear();
    if (this.#known.size + wanted.length > KEPT) this.#known.clear();
    for (const [name, plan] of wanted) {
      const found = await database.query(plan, { bulkhead: 'export', signal });
      const values = new Set(found.map(([one = null]) => textOf(one)));
      this.#known.set(name, values.size === 1 ? (found[0]?.[0] ?? null) : UNKNOWN);
    }
  }
}

function planOf(expression: Expression, rows: readonly ReadRow[], gone: ReadonlySet<Identifier>): SqlPlan {
  const [first, ...others] = rows;
  if (!first) throw new Unjudged();
  const nothing = new Map(
    [...gone].map(alias => [alias, (column: ColumnExpression) => constant(null, column.type)] as const),
  );
  const joins = others.map(row => ({ kind: 'inner' as const, table: row.table, alias: row.alias, on: isRow(row) }));
  return {
    from: { table: first.table, alias: first.alias, joins, where: isRow(first) },
    columns: [renameExpression(expression, nothing)],
    ...{ orderBy: [], limit: 2, shape: 'rows', stored: true, searches: true },
  };
}

function isRow({ alias, key }: ReadRow): Predicate {
  return and(
    ...key.flatMap(([column, stored]) => {
      if (column.type === OPAQUE) return [];
      const own = { ...column, alias };
      const given = asRowValue(stored, column.type);
      return given === null ? isNull(own) : equals(own, value(given, column.type));
    }),
  );
}

/** Returns different texts for different values, whatever their types. */
function textOf(stored: SqlValue): string {
  if (stored instanceof Uint8Array) return `x${Buffer.from(stored).toString('hex')}`;
  return `${typeof stored} ${stored}`;
}
