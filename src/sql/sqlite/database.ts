/**
 * Reads a legacy database in a SQLite file, through node:sqlite. The file is opened read-only and gets only SELECTs.
 * Statements run on the calling thread, because a page takes less time than handing it to another thread. SQLite
 * compares by the type of the bound value, so numbers that arrive as text are bound as numbers.
 * https://nodejs.org/docs/latest-v24.x/api/sqlite.html,
 * https://sqlite.org/datatype3.html#comparison_expressions
 */
import { performance } from 'node:perf_hooks';
import type { SQLInputValue } from 'node:sqlite';
import { holdsAnyNumber, isTrimmed, withoutBlanks } from '../column-type.ts';
import { type Database, DatabaseError, deadlineOf, FormDisproved, type QueryOptions } from '../database.ts';
import type { OpenOptions } from '../engine.ts';
import type { SqlValue } from '../expression.ts';
import { familyOf } from '../parameter-type.ts';
import type { Parameter, Row, SqlPlan } from '../plan.ts';
import { listOf } from '../row-limits.ts';
import { filled, renderedBy, statementsOf } from '../statement.ts';
import { tablesOf } from '../tables.ts';
import { readCatalog } from './catalog.ts';
import { sqliteOf } from './dialect.ts';
import { createBusyRetry, isTooLarge } from './errors.ts';
import { openFile } from './file.ts';
import { createForms } from './forms.ts';
import { surveyTables } from './survey.ts';
import { createClockChecks, createTimeSlices } from './time-limits.ts';
import { planWith } from './what-if.ts';

/** Milliseconds of consecutive statements before the server turns to other clients. */
const SLICE = 10;
/** Milliseconds between two checks whether the file is still the same. */
const LOOK = 1000;
/** Milliseconds that one statement may block all clients, if it can be ended. */
const LONGEST = 10_000;

/** `cache`: default 64 MB. */
export interface SqliteOptions extends OpenOptions {
  /** Milliseconds of consecutive statements before the event loop continues. */
  readonly slice?: number;
  /** Milliseconds between two checks whether another file has replaced this one. */
  readonly look?: number;
  /** Milliseconds that a statement with a signal may take; exports have no such limit. */
  readonly longest?: number;
}

/** Opens a SQLite file read-only. Throws DatabaseError (`unavailable`) if it does not exist or contains no database. */
export function openSqlite(
  path: string,
  { cache = 65_536, slice = SLICE, look = LOOK, longest = LONGEST, proofs }: SqliteOptions = {},
): Database {
  const file = openFile(path, { cache, look });
  const turn = createTimeSlices(slice);
  const retryBusy = createBusyRetry();
  const dialect = sqliteOf(file.hasRowids);
  const statementOf = statementsOf(dialect, bindable, bindPlaceholder);
  const withClockChecks = createClockChecks(file.hasRowids);

  const forms = createForms({
    path,
    proofs,
    use: ask => retryBusy(() => file.use('look at rows', ask)),
    version: async () => {
      const [row] = await retryBusy(() => file.rows({ text: 'PRAGMA data_version', parameters: [] }));
      return String(row?.[0]);
    },
    hasRowids: file.hasRowids,
  });
  /**
   * Returns the rows of a plan. An export ends at a row with an unexpected form, because it cannot read earlier rows
   * again.
   */
  const fetch = (plan: SqlPlan, bulkhead: QueryOptions['bulkhead'], read: () => SqlValue[][]): readonly Row[] => {
    const witness = forms.witness();
    try {
      const rows = read();
      witness.look(plan, rows);
      if (bulkhead === 'export' && forms.isInDoubt()) throw new FormDisproved();
      return rows;
    } catch (error) {
      if (isTooLarge(error)) witness.tooLarge(plan);
      throw error;
    }
  };

  return {
    engine: 'sqlite',
    render: renderedBy(dialect),
    query(plan: SqlPlan, options) {
      // An export has no time limit, unless its signal has a deadline.
      const unhurried = options?.bulkhead === 'export';
      const ask = (at: number): readonly Row[] => {
        if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
        const deadline = deadlineOf(options?.signal);
        const limited = options?.signal !== undefined && (!unhurried || deadline !== undefined);
        const statement = statementOf(limited ? withClockChecks(plan) : plan, options?.placeholders, options?.now);
        const latest = unhurried ? Number.POSITIVE_INFINITY : at + longest;
        const until = limited ? Math.min(deadline ?? latest, latest) : undefined;
        return fetch(plan, options?.bulkhead, () => file.rows(statement, until, at, options?.bytes));
      };
      const now = performance.now();
      return turn(now)?.then(() => retryBusy(ask, undefined, unhurried)) ?? retryBusy(ask, now, unhurried);
    },
    async *stream(plan, size, options) {
      // Fetches the list at once: an open statement would hold a lock that blocks the application's writes.
      yield await retryBusy(
        () => {
          if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
          const statement = statementOf(listOf(plan, size, options?.placeholders), options?.placeholders, options?.now);
          return fetch(plan, options?.bulkhead, () => file.rows(statement, undefined, undefined, options?.bytes));
        },
        undefined,
        true,
      );
    },
    catalog: async part => retryBusy(() => file.use('catalog', database => readCatalog(database, part))),
    survey: catalog => surveyTables(ask => retryBusy(() => file.use('survey', ask)), catalog),
    forms: forms.find,
    formsChanged: forms.changed,
    onFormDisproved: forms.onDoubt,
    async permissions() {
      return { unreadable: [], writes: [] };
    },
    async explain(plan, placeholders, now) {
      const { text, parameters } = statementOf(plan, placeholders, now);
      // Rows of EXPLAIN QUERY PLAN: id, parent, unused, detail.
      const rows = await retryBusy(() => file.rows({ text: `EXPLAIN QUERY PLAN ${text}`, parameters }));
      return rows.map(row => String(row[3]));
    },
    async whatIf(plan, indexes, placeholders, now) {
      const statement = statementOf(plan, placeholders, now);
      const tables = tablesOf(plan);
      return retryBusy(() => file.use('plan', database => planWith(database, tables, indexes, statement)));
    },
    load: () => ({ away: false, bulkheads: {} }),
    async ping() {
      // SQLite would answer a statement without a table even if the file were gone.
      await retryBusy(() => file.rows({ text: 'SELECT COUNT(*) FROM sqlite_schema', parameters: [] }));
    },
    forget: () => file.forget(),
    async close() {
      file.close();
    },
  };
}

const WHOLE = /^-?\d{1,19}$/;
const LARGEST = 2n ** 63n;

export function bindable({ value, type }: Parameter): SQLInputValue {
  if (typeof value !== 'string') return value;
  if (familyOf(type) !== 'number') return value;
  return largeWhole(value) ?? (type.kind === 'integer' && !holdsAnyNumber(type) ? value : Number(value));
}

/** Returns a whole number that SQLite can store as an integer; a double would lose digits. */
function largeWhole(text: string): bigint | undefined {
  if (!WHOLE.test(text)) return undefined;
  const number = BigInt(text);
  return number < LARGEST && number >= -LARGEST ? number : undefined;
}

/** Likewise for the value of a placeholder. Most values need no type, because SQLite takes it from the value itself. */
export function bindPlaceholder(parameter: Parameter, value: SqlValue): SQLInputValue {
  const { placeholder, type } = parameter;
  const family = familyOf(placeholder?.against ?? placeholder?.type ?? type);
  if (family === 'text' && typeof value === 'string')
    return placeholder?.against && isTrimmed(placeholder.against) ? withoutBlanks(value) : value;
  if (family === 'number' && typeof value === 'number') return value;
  if (family === 'number' && typeof value === 'string') {
    const whole = largeWhole(value);
    if (whole !== undefined) return whole;
  }
  return bindable(filled(parameter, value));
}
