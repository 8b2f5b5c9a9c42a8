/**
 * The questions that `check` asks of a live database. In: scopes and conditions of the model. Out: numbers of rows,
 * never a row. All are SELECTs in the export bulkhead, so that no request waits for a check.
 */
import { plural } from '../../common/plural.ts';
import type { Catalog } from '../../sql/catalog.ts';
import { among, and, constant, hasValue, isNull, not, TRUE } from '../../sql/construct.ts';
import { type Database, DatabaseError } from '../../sql/database.ts';
import type { ColumnExpression, Expression, Predicate, Relation } from '../../sql/expression.ts';
import type { Row, SqlPlan } from '../../sql/plan.ts';
import { columnsOf, testsIn } from '../children.ts';
import type { Clock } from '../criterion.ts';
import type { Report } from '../load/problem.ts';
import type { Condition, JoinColumn, Pieces, Position, Scope } from '../model.ts';
import type { TimeBudget } from './time-budget.ts';

/** How a scope is read: `scopeRelation` of src/plan/condition.ts, which this folder may not import. */
export type ReadScope = (scope: Scope, extra: Predicate, clock: Clock, expressions?: readonly Expression[]) => Relation;

/** How a question is asked of some piece of a column: `somePiece` of src/plan/presence.ts. */
export type ReadPiece = (pieces: Pieces, where: Predicate, clock: Clock) => Predicate;

export interface Asking {
  readonly database: Database;
  readonly readScope: ReadScope;
  readonly readPiece: ReadPiece;
  readonly clock: Clock;
  /** Aborting it cancels the statement that runs. */
  readonly signal?: AbortSignal;
  /** Undefined: each statement takes as long as it takes. */
  readonly timeBudget?: TimeBudget;
  /** Hears of each place before it is asked about. */
  readonly onPlace?: (at: Position) => void;
}

/** What checks share: the database, and where they tell what they find. */
export interface Checking extends Asking {
  readonly catalog: Catalog;
  readonly report: Report;
}

/** More groups than this are told as "at least". */
export const MOST_GROUPS = 1000;

/** A number of groups as it is told; counting stops at a limit. */
export function manyOf(count: number, noun: string): string {
  return `${count >= MOST_GROUPS ? 'at least ' : ''}${plural(count, noun)}`;
}

export interface Group {
  readonly values: readonly (string | number)[];
  readonly rows: number;
}

/**
 * Asks what one line of a mapping is about. A statement that the database refuses is a problem of that line, and the
 * check goes on; so does it where the time is over. Throws DatabaseError where the database does not answer.
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

/** Rows of a scope under a further predicate. */
export async function countRows(asking: Asking, scope: Scope, extra: Predicate = TRUE): Promise<number> {
  const from = asking.readScope(scope, extra, asking.clock);
  const [row] = await ask(asking, { from, columns: [], orderBy: [], limit: 1, shape: 'count' });
  return Number(row?.[0] ?? 0);
}

/**
 * Values of columns or of what is made of them that more than one row of a scope has: how many there are. None of them
 * is NULL, or none of those that are `given`.
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

/** The most frequent values of a column in a scope, so many at most, with the number of their rows. */
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

/** How many values of a column a scope has, and how many rows have one of them: exact, however many there are. */
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

/** Asks one statement, within its time. */
export async function ask({ database, signal, timeBudget }: Asking, plan: SqlPlan): Promise<readonly Row[]> {
  return database.query({ ...plan, searches: true }, { bulkhead: 'export', signal: signal ?? timeBudget?.next() });
}

/** Aliases that a condition refers to and does not declare itself. */
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

/** Aliases that a scope declares. */
export function aliasesIn(scope: Scope): readonly string[] {
  return [scope.alias, ...scope.lookups.map(lookup => lookup.alias)];
}

/** A column of the scope's own rows or of what they look up, if these can be asked. */
export function isOwn({ alias }: Pick<ColumnExpression, 'alias'>, scope: Scope): boolean {
  return aliasesIn(scope).includes(alias) && isClosed(scope);
}

/** Whether a scope can be read by itself: nothing in it refers to rows around it. */
export function isClosed(scope: Scope): boolean {
  const own = new Set(aliasesIn(scope));
  const conditions = [scope.where, ...scope.lookups.map(lookup => lookup.where)];
  const ours = scope.lookups.flatMap(lookup => lookup.on.map(on => on.ours.alias));
  return [...ours, ...conditions.flatMap(condition => [...freeAliases(condition)])].every(alias => own.has(alias));
}

/** Our side leads to some row: it has a value, and none that means "no value" in the pack. */
export function hasKey({ ours, none = [] }: JoinColumn): Predicate {
  const noKeys = among(
    ours,
    none.map(one => constant(one, ours.type)),
  );
  return and(hasValue(ours), not(noKeys));
}
