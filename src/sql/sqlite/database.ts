/**
 * A legacy database in a SQLite file, through node:sqlite. It is opened read-only and asked SELECTs only. Statements run
 * on the calling thread: a page takes less time than handing it to another.
 * https://nodejs.org/docs/latest-v24.x/api/sqlite.html
 */
import { statSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { Catalog } from '../catalog.ts';
import type { Database } from '../database.ts';
import { DatabaseError } from '../database.ts';
import type { Places, Row, SqlPlan } from '../plan.ts';
import { renderedBy, statementsOf } from '../statement.ts';
import { bindable, bindPlaced } from './bind.ts';
import { readCatalog } from './catalog.ts';
import { SQLITE } from './dialect.ts';
import { openFile } from './file.ts';
import { createLooks } from './look.ts';
import { measure } from './measure.ts';
import { patiently } from './patience.ts';
import { createTurns } from './turns.ts';

/** Milliseconds that statements may follow each other before other clients are looked at. */
const PATIENCE = 10;
/** Milliseconds between two looks whether the file is still the same. */
const LOOK = 1000;
/** Milliseconds that everybody waits for one statement at most, where it can be ended. */
const LONGEST = 10_000;
/** Milliseconds that looking at the forms of all rows may take. */
const LONGEST_MEASURE = 60_000;

export interface SqliteOptions {
  /** Kilobytes of the file that are kept in memory. Default 64 MB. */
  readonly cache?: number;
  /** Milliseconds that statements may follow each other before the event loop goes on. */
  readonly patience?: number;
  /** Milliseconds between two looks whether another file has taken the place of this one. */
  readonly look?: number;
  /** Milliseconds that a statement may take, for whoever can cancel it; exports are not hurried. */
  readonly longest?: number;
}

/**
 * Opens a SQLite file read-only. Throws DatabaseError (`unavailable`) if there is none, or no database in it.
 */
export function openSqlite(
  path: string,
  { cache = 65_536, patience = PATIENCE, look = LOOK, longest = LONGEST }: SqliteOptions = {},
): Database {
  const file = openFile(path, { cache, look, longest });
  const turn = createTurns(patience);
  const statementOf = statementsOf(SQLITE, bindable, bindPlaced);
  const looking = createLooks(file.hasRowids);

  const lookAt = ({ catalog, isAsked }: Pick<SeenForms, 'catalog' | 'isAsked'>): Promise<Catalog> =>
    measure(ask => patiently(() => file.use('look at rows', ask)), file.hasRowids, catalog, {
      isAsked,
      longest: LONGEST_MEASURE,
    });
  /** Another after each commit of another connection, and for another file. */
  const stateOf = async (): Promise<string> => {
    const [row] = await patiently(() => file.rows({ text: 'PRAGMA data_version', parameters: [] }));
    const found = statSync(path, { throwIfNoEntry: false });
    return `${found?.dev}:${found?.ino}:${found?.mtimeMs}:${row?.[0]}`;
  };
  let seen: SeenForms | undefined;

  return {
    engine: 'sqlite',
    render: renderedBy(SQLITE),
    query(plan: SqlPlan, options) {
      const ask = (at: number): readonly Row[] => {
        if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
        const limited = options?.signal !== undefined && options.lane !== 'export';
        return file.rows(statementOf(limited ? looking(plan) : plan, options?.places), limited, at);
      };
      const now = performance.now();
      return turn(now)?.then(() => patiently(ask)) ?? patiently(ask, now);
    },
    async *stream(plan, size, options) {
      // An open statement would hold the lock that keeps the application from writing.
      yield await patiently(() => {
        if (options?.signal?.aborted) throw new DatabaseError('cancelled', 'the query was cancelled');
        return file.rows(statementOf(listOf(plan, size, options?.places), options?.places));
      });
    },
    catalog: async part => patiently(() => file.use('catalog', database => readCatalog(database, part))),
    async forms(catalog, isAsked) {
      const asked = { catalog, isAsked, state: await stateOf() };
      const found = await lookAt(asked);
      seen = { ...asked, forms: formsIn(found) };
      return found;
    },
    async formsChanged() {
      const before = seen;
      const state = await stateOf();
      if (before === undefined || before.state === state) return false;
      const forms = formsIn(await lookAt(before));
      seen = { ...before, state, forms };
      return forms !== before.forms;
    },
    async permissions() {
      return { unreadable: [], writes: [] };
    },
    async explain(plan, places) {
      const { text, parameters } = statementOf(plan, places);
      // Rows of EXPLAIN QUERY PLAN: id, parent, unused, detail.
      const rows = await patiently(() => file.rows({ text: `EXPLAIN QUERY PLAN ${text}`, parameters }));
      return rows.map(row => String(row[3]));
    },
    load: () => ({ away: false, lanes: {} }),
    async ping() {
      // A statement that reads nothing is answered without the file.
      await patiently(() => file.rows({ text: 'SELECT COUNT(*) FROM sqlite_schema', parameters: [] }));
    },
    forget: () => file.forget(),
    async close() {
      file.close();
    },
  };
}

/** What was found, of which columns, and in which state of the file. */
interface SeenForms {
  readonly catalog: Catalog;
  readonly isAsked: (table: string, column: string) => boolean;
  readonly state: string;
  readonly forms: string;
}

function formsIn({ tables }: Catalog): string {
  const forms = [...tables.values()].map(({ columns }) => [...columns.values()].map(({ form }) => form ?? null));
  return JSON.stringify(forms);
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
