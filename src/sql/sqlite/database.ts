/**
 * A legacy database in a SQLite file, through node:sqlite. It is opened read-only and asked SELECTs only. Statements run
 * on the calling thread: a page takes less time than handing it to another.
 * https://nodejs.org/docs/latest-v24.x/api/sqlite.html https://sqlite.org/rescode.html
 */
import type { SQLInputValue, StatementSync } from 'node:sqlite';
import { DatabaseSync } from 'node:sqlite';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database.ts';
import type { Parameter, Places, Row, SqlPlan } from '../plan.ts';
import { type BoundStatement, renderedBy, statementsOf } from '../statement.ts';
import { readCatalog } from './catalog.ts';
import { SQLITE } from './dialect.ts';
import { registerFunctions } from './functions.ts';
import { createTurns } from './turns.ts';

/** Prepared statements kept; a busy pack has some hundred shapes. */
const STATEMENTS = 500;
const BUSY_MILLISECONDS = 5000;

/** Milliseconds that statements may follow each other before other clients are looked at. */
const PATIENCE = 10;

export interface SqliteOptions {
  /** Kilobytes of the file that are kept in memory. Default 64 MB. */
  readonly cache?: number;
  /** Milliseconds that statements may follow each other before the event loop goes on. */
  readonly patience?: number;
}

/**
 * Opens a SQLite file read-only. Throws DatabaseError (`unavailable`) if there is none, or no database in it.
 */
export function openSqlite(file: string, { cache = 65_536, patience = PATIENCE }: SqliteOptions = {}): Database {
  const database = attempt('open', () => {
    const opened = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MILLISECONDS });
    opened.exec(`PRAGMA query_only = ON; PRAGMA cache_size = -${cache}`);
    opened.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
    registerFunctions(opened);
    return opened;
  });
  const statements = new Map<string, StatementSync>();
  const turn = createTurns(patience);
  const statementOf = statementsOf(SQLITE, bindable);

  /** The first to come is the first to go: to keep them in the order of use costs more than to prepare one again. */
  const prepared = (text: string): StatementSync => {
    const known = statements.get(text);
    if (known) return known;
    const statement = database.prepare(text);
    statement.setReturnArrays(true);
    statements.set(text, statement);
    if (statements.size > STATEMENTS) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest);
        break;
      }
    }
    return statement;
  };

  const run = (statement: BoundStatement<SQLInputValue>): readonly Row[] =>
    attempt('query', () => {
      const rows: unknown = prepared(statement.text).all(...statement.parameters);
      return rows as readonly Row[];
    });

  return {
    engine: 'sqlite',
    render: renderedBy(SQLITE),
    query(plan: SqlPlan, options) {
      const ask = (): readonly Row[] => {
        if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
        return run(statementOf(plan, options?.places));
      };
      return turn()?.then(ask) ?? promised(ask);
    },
    async *stream(plan, size, options) {
      if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
      // An open statement would hold the lock that keeps the application from writing.
      yield run(statementOf(listOf(plan, size, options?.places), options?.places));
    },
    async catalog(part) {
      return attempt('catalog', () => readCatalog(database, part));
    },
    async permissions() {
      return { unreadable: [], writes: [] };
    },
    async explain(plan, places) {
      const { text, parameters } = statementOf(plan, places);
      // Rows of EXPLAIN QUERY PLAN: id, parent, unused, detail.
      return run({ text: `EXPLAIN QUERY PLAN ${text}`, parameters }).map(row => String(row[3]));
    },
    load: () => ({ away: false, lanes: {} }),
    async ping() {
      run({ text: 'SELECT 1', parameters: [] });
    },
    forget: () => statements.clear(),
    async close() {
      statements.clear();
      if (database.isOpen) database.close();
    },
  };
}

/** What an async function would make of the work, at a third of the memory: a busy server asks some thousand times a second. */
function promised<T>(work: () => T): Promise<T> {
  try {
    return Promise.resolve(work());
  } catch (error) {
    return Promise.reject(error);
  }
}

const shortened = new WeakMap<SqlPlan, SqlPlan>();

/** A plan for one list of its rows: the same each time, so that its statement is kept. */
function listOf(plan: SqlPlan, size: number, places: Places | undefined): SqlPlan {
  const limit = plan.limitPlace === undefined ? plan.limit : Number(places?.[plan.limitPlace]);
  if (limit <= size) return plan;
  const known = shortened.get(plan);
  if (known?.limit === size) return known;
  const list = { ...plan, limit: size, limitPlace: undefined };
  shortened.set(plan, list);
  return list;
}

/** SQLite compares by the type of what is bound: numbers that travel as text are bound as numbers. */
function bindable({ value, type }: Parameter): SQLInputValue {
  if (typeof value !== 'string') return value;
  if (type.kind === 'integer') return WHOLE.test(value) ? BigInt(value) : value;
  if (type.kind === 'decimal' || type.kind === 'float' || type.kind === 'bit') return Number(value);
  return value;
}

const WHOLE = /^-?\d{1,18}$/;

/** SQLITE_BUSY, SQLITE_LOCKED, SQLITE_IOERR, SQLITE_CANTOPEN, SQLITE_NOTADB */
const AWAY = new Set([5, 6, 10, 14, 26]);

/** SQLite's messages name tables and syntax, never a bound value; still only the code goes into ours. */
function attempt<T>(what: string, action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof DatabaseError) throw cause;
    const code = cause instanceof Error && 'errcode' in cause && typeof cause.errcode === 'number' ? cause.errcode : 0;
    const away =
      AWAY.has(code & 0xff) || (cause instanceof Error && 'code' in cause && cause.code === 'ERR_INVALID_STATE');
    throw new DatabaseError(away ? 'unavailable' : 'failed', `SQLite could not ${what} (code ${code})`, {
      cause,
      ...(away ? { retryAfter: 5 } : {}),
    });
  }
}
