/**
 * Sends the statements of `check` to a live database. In: scopes and conditions of the model. Out: numbers of rows,
 * never a row. All are SELECTs in the export bulkhead, so that no request waits for a check.
 */
import { plural } from '../../common/plural.ts';
import type { Catalog } from '../../sql/catalog.ts';
import { among, and, constant, hasValue, isNull, not, TRUE } from '../../sql/construct.ts';
import { type Database, DatabaseError } from '../../sql/database.ts';
import type { ColumnExpression, Expression, Predicate, Relation } from '../../sql/expression.ts';
import type { Row, SqlPlan } from '../../sql/plan.ts';
import { aliasesOf, walk } from '../../sql/walk.ts';
import { columnsOf, testsIn } from '../children.ts';
import type { Clock } from '../criterion.ts';
import type { Report } from '../load/problem.ts';
import type { Condition, JoinColumn, Node, Pieces, Position, Scope } from '../model.ts';
import type { TimeBudget } from './time-budget.ts';

/** What the planner makes of parts of a mapping: src/plan/row-readers.ts, because this folder may not import it. */
export interface RowReaders {
  /** The present instant, for conditions that compare with it. */
  readonly clock: Clock;
  /** Returns the rows of a scope. */
  readonly readScope: (scope: Scope, extra: Predicate, clock: Clock, expressions?: readonly Expression[]) => Relation;
  /** Tests some piece of a column. */
  readonly readPiece: (pieces: Pieces, where: Predicate, clock: Clock) => Predicate;
  readonly readCondition: (condition: Condition) => Predicate;
  /** Tests that a node is emitted. */
  readonly readPresent: (node: Node) => Predicate;
}

export interface Asking extends RowReaders {
  readonly database: Database;
  /** Aborting it cancels the running statement. */
  readonly signal?: AbortSignal;
  /** Undefined: statements have no time limit. */
  readonly timeBudget?: TimeBudget;
  /** Called with each place before its statements run. */
  readonly onPlace?: (at: Position) => void;
}

/** What checks share: the database and the report. */
export interface Checking extends Asking {
  readonly catalog: Catalog;
  readonly report: Report;
}

/** Most groups that are counted. More are reported as "at least". */
export const MOST_GROUPS = 1000;

/** Formats a number of groups, which are counted up to a limit. */
export function manyOf(count: number, noun: string): string {
  return `${count >= MOST_GROUPS ? 'at least ' : ''}${plural(count, noun)}`;
}

export interface Group {
  readonly values: readonly (string | number)[];
  readonly rows: number;
}

/**
 * Checks one line of a mapping. If the database refuses a statement, that is a problem of the line, and the check goes
 * on.
 * It also goes on if the time is over. Throws DatabaseError if the database does not answer.
 */
export async function askedAt(
  at: Position,
  { timeBudget, onPlace, report }: Checking,
  ask: () => Promise<void>,
): Promise<void> {
  try {
    onPlace?.(at);
    await ask();
  } catch (error) {
    if (timeBudget?.tookTooLong(error, at)) return;
    if (!(error instanceof DatabaseError) || error.reason !== 'failed') throw error;
    const found = error.words === undefined ? {} : { found: error.words };
    report.error(
      'statement-refused',
      at,
      `the database refuses the statement that checks this: ${error.message}`,
      found,
    );
  }
}

/** Counts the rows of a scope under a further predicate. */
export async function countRows(asking: Asking, scope: Scope, extra: Predicate = TRUE): Promise<number> {
  const from = asking.readScope(scope, extra, asking.clock);
  const [row] = await ask(asking, { from, columns: [], orderBy: [], limit: 1, shape: 'count' });
  return Number(row?.[0] ?? 0);
}

/**
 * Counts the values of columns or expressions that several rows of a scope have. None of the columns is NULL, or none
 * of `given`.
 */
export async function countDuplicates(
  asking: Asking,
  scope: Scope,
  columns: readonly Expression[],
  extra: Predicate = TRUE,
  given: readonly Expression[] = columns,
): Promise<number> {
  const where = and(...given.map(column => not(isNull(column))), extra);
  const from = asking.readScope(scope, where, asking.clock, columns);
  const rows = await ask(asking, { from, columns, orderBy: [], limit: MOST_GROUPS, shape: 'groups', least: 2 });
  return rows.length;
}

/** Returns the most frequent values of a column in a scope, at most `limit`, with the number of their rows. */
export async function valuesOf(
  asking: Asking,
  scope: Scope,
  column: ColumnExpression,
  extra: Predicate,
  limit = MOST_GROUPS,
): Promise<readonly Group[]> {
  const from = asking.readScope(scope, extra, asking.clock, [column]);
  const rows = await ask(asking, { from, columns: [column], orderBy: [], limit, shape: 'groups' });
  return rows.flatMap(([value, count]) =>
    typeof value === 'string' || typeof value === 'number' ? [{ values: [value], rows: Number(count) }] : [],
  );
}

/**
 * Counts the values of a column in a scope, and the rows that have one of them. Both are exact, however many there are.
 */
export async function tallyOf(
  asking: Asking,
  scope: Scope,
  column: Expression,
  extra: Predicate,
): Promise<{ readonly values: number; readonly rows: number }> {
  const from = asking.readScope(scope, extra, asking.clock, [column]);
  const [row] = await ask(asking, { from, columns: [column], orderBy: [], limit: 1, shape: 'tally' });
  return { values: Number(row?.[0] ?? 0), rows: Number(row?.[1] ?? 0) };
}

/** Runs one statement within its time. */
export async function ask({ database, signal, timeBudget }: Asking, plan: SqlPlan): Promise<readonly Row[]> {
  return database.query({ ...plan, searches: true }, { bulkhead: 'export', signal: signal ?? timeBudget?.next() });
}

/** Returns aliases that a condition refers to and does not declare itself. */
export function freeAliases(condition: Condition | undefined): ReadonlySet<string> {
  const free = new Set<string>();
  const see = (of: Condition | undefined, declared: ReadonlySet<string>): void => {
    for (const test of testsIn(of)) {
      const columns = test.kind === 'exists' ? test.on.map(({ ours }) => ours) : columnsOf(test);
      for (const { alias } of columns) if (!declared.has(alias)) free.add(alias);
      if (test.kind !== 'exists') continue;
      const inner = new Set([...declared, ...aliasesIn(test.scope)]);
      see(test.scope.where, inner);
      for (const lookup of test.scope.lookups) see(lookup.where, inner);
    }
  };
  see(condition, new Set());
  return free;
}

/** Returns aliases that a predicate refers to and that none of its own relations declares. */
export function freeAliasesOf(predicate: Predicate): ReadonlySet<string> {
  const declared = new Set<string>();
  walk(
    { predicates: [predicate] },
    {
      enter({ alias, joins }) {
        for (const one of [alias, ...joins.map(join => join.alias)]) declared.add(one);
        return true;
      },
    },
  );
  return new Set([...aliasesOf({ predicates: [predicate] })].filter(alias => !declared.has(alias)));
}

/** Returns the aliases that a scope declares. */
export function aliasesIn(scope: Scope): readonly string[] {
  return [scope.alias, ...scope.lookups.map(lookup => lookup.alias)];
}

/** True for a column of the scope's own rows or lookups, if the scope can be read by itself. */
export function isOwn({ alias }: Pick<ColumnExpression, 'alias'>, scope: Scope): boolean {
  return aliasesIn(scope).includes(alias) && isClosed(scope);
}

/** True if a scope can be read by itself: nothing in it refers to enclosing rows. */
export function isClosed(scope: Scope): boolean {
  const own = new Set(aliasesIn(scope));
  const conditions = [scope.where, ...scope.lookups.map(lookup => lookup.where)];
  const ours = scope.lookups.flatMap(lookup => lookup.on.map(on => on.ours.alias));
  return [...ours, ...conditions.flatMap(condition => [...freeAliases(condition)])].every(alias => own.has(alias));
}

/** Tests that our side has a value, and none that means "no value" in the pack. */
export function hasKey({ ours, none = [] }: JoinColumn): Predicate {
  const noKeys = among(
    ours,
    none.map(one => constant(one, ours.type)),
  );
  return and(hasValue(ours), not(noKeys));
}
