/** Opens a scripted server and a database on it, and closes both at the end of the test; with helpers for both. */
import { onTestFinished } from 'vitest';
import type { Awaitable } from '../../../src/common/awaitable.ts';
import { INTEGER, UNICODE } from '../../../src/sql/column-type.ts';
import { TRUE } from '../../../src/sql/construct.ts';
import { type Database, DatabaseError } from '../../../src/sql/database.ts';
import type { ColumnExpression, Predicate } from '../../../src/sql/expression.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { parseSqlServerAddress } from '../../../src/sql/mssql/address.ts';
import { type OpenOptions, openMssql } from '../../../src/sql/mssql/database.ts';
import type { SqlPlan } from '../../../src/sql/plan.ts';
import { type Answer, type Asked, type Endpoint, NUMBERS, openEndpoint, type Script } from './endpoint.ts';

export interface Opened {
  readonly endpoint: Endpoint;
  readonly database: Database;
}

/** On a busy machine both ends of a connection, which are in one process, may be silent for seconds. */
const NEVER = 10 * 60_000;
const LONGEST = { connectTimeout: 60_000, timeout: 120_000 };

/**
 * `options`: of an address; the script starts once the database is open. Timeouts of logins and answers are long unless
 * a test sets them.
 */
export async function openScripted(script: Script, options = ''): Promise<Opened> {
  const endpoint = await openEndpoint();
  onTestFinished(() => endpoint.stop());
  const waiting = Object.entries(LONGEST).map(([name, limit]) =>
    options.includes(`&${name}=`) ? '' : `&${name}=${limit}`,
  );
  const opened = await openAt(endpoint, [options, ...waiting].join(''), { timeLimit: NEVER });
  endpoint.script = script;
  return opened;
}

export async function openAt(endpoint: Endpoint, options = '', how: OpenOptions = {}): Promise<Opened> {
  const read = parseSqlServerAddress(`mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false${options}`);
  if ('problems' in read) throw new Error(read.problems.join('\n'));
  const database = await openMssql(read.address, { probePause: 10, ...how });
  onTestFinished(() => database.close());
  return { endpoint, database };
}

export const number: ColumnExpression = column('N', INTEGER);
export const text: ColumnExpression = column('T', UNICODE);

export function column(name: string, type: ColumnExpression['type']): ColumnExpression {
  return { kind: 'column', alias: identifier('a'), column: identifier(name), type };
}

export function planOf(where: Predicate = TRUE, columns: SqlPlan['columns'] = [number]): SqlPlan {
  const from = { table: { name: identifier('A') }, alias: identifier('a'), joins: [], where };
  return { from, columns, orderBy: [], limit: 100_000, shape: 'rows' };
}

/** The DatabaseError with which an action fails. */
export async function failureOf(action: Awaitable<unknown>): Promise<DatabaseError> {
  try {
    await action;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
  throw new Error('nothing failed');
}

/** Waits until a condition holds. */
export async function until(holds: () => boolean | Promise<boolean>, pause = 5): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setTimeout(resolve, pause));
}

export const rowsOf = (...rows: readonly (readonly (number | string | null)[])[]): Answer => ({
  columns: NUMBERS,
  rows,
});
/** True for the statement of `planOf`. */
export const isQuery = ({ kind, text: sql }: Asked): boolean => kind === 'rpc' && sql.includes('FROM A AS a');

/** A promise with its resolver. */
export function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { passed: promise, open: () => resolve() };
}

/** Resolves once an unreachable database serves again. */
export async function isBack(database: Database): Promise<void> {
  await until(() =>
    database
      .ping()
      .then(() => true)
      .catch(() => false),
  );
}
