/**
 * Compares the facade on SQL Server with the raw driver: `npm run bench -- --target mssql [patients]`, server in
 * MSSQL_URL. The driver sends the same statements and parameters and reads rows as arrays; the facade also makes pages
 * and files. Prints the facade's share of the driver's rate per second of CPU of this process, for the driver with
 * default settings and with the facade's settings: first at the speed of the server, then (without TLS) with recorded
 * answers, as from a server that is faster than this process (relay.ts).
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type sql from 'mssql';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Part } from '../../src/export/job.ts';
import { SETTINGS } from '../../src/export/open.ts';
import type { PartSource, PartTask } from '../../src/export/part-task.ts';
import { runPart } from '../../src/export/run-part.ts';
import { shapeStore } from '../../src/pipeline/shapes.ts';
import type { Database } from '../../src/sql/database.ts';
import { parseSqlServerAddress } from '../../src/sql/mssql/address.ts';
import { bindParameter } from '../../src/sql/mssql/bind.ts';
import { createSingle } from '../../src/sql/mssql/connection.ts';
import type { Row, Statement } from '../../src/sql/plan.ts';
import { openFixture } from '../engines/fixture.ts';
import { MSSQL_URL } from '../engines/url.ts';
import { exportRequest } from '../export/export-request.ts';
import { type Demo, demoOver } from '../law/demo.ts';
import { sideBySide, type Work } from './clock.ts';
import { type Relay, startRelay } from './relay.ts';

/** The CPU time excludes the wait for the server, so a round takes longer than in other benches. */
const ROUNDS = { rounds: 5, least: 2000 } as const;
const PAGES = ['Observation', 'MedicationRequest', 'Encounter'];
const EXPORTED = ['Observation', 'MedicationRequest', 'DiagnosticReport'];
const PAGE_SIZE = '1000';
const DRIVERS_PACKET_SIZE = 4096;

export async function benchMssql(patients = 60): Promise<void> {
  if (MSSQL_URL === undefined) {
    console.error('There is no server to measure: MSSQL_URL names none.');
    process.exitCode = 2;
    return;
  }
  const relay = await relayBefore(MSSQL_URL);
  console.log(`Loading ${patients} patients …`);
  const fixture = await openFixture(patients, undefined, 'mssql', relay?.url);
  if (fixture.address === undefined) throw new Error('the fixture is in no SQL Server');
  const address = { ...fixture.address, connectTimeout: 15_000 };
  const pools = {
    plain: createSingle({ ...address, packetSize: DRIVERS_PACKET_SIZE }),
    tuned: createSingle(address),
  };
  try {
    await Promise.all([pools.plain.connect(), pools.tuned.connect()]);
    const measure = await measuring(fixture.database, pools);
    console.log('CPU of the facade, the driver as it comes, the driver with our settings: shares of their rates');
    console.log('At the pace of the server');
    await measure();
    if (relay) {
      relay.keep();
      console.log('With answers at hand');
      await measure();
    }
  } finally {
    await Promise.all([pools.plain.close(), pools.tuned.close()]);
    await fixture.close();
    relay?.stop();
  }
}

/** Starts a relay; undefined with TLS, because encrypted answers cannot be recorded. */
async function relayBefore(url: string): Promise<(Relay & { readonly url: string }) | undefined> {
  const read = parseSqlServerAddress(url);
  if ('problems' in read) throw new Error(`MSSQL_URL: ${read.problems.join('; ')}`);
  const { host, port, instance, encrypt } = read.address;
  if (encrypt || instance !== undefined) return undefined;
  const relay = await startRelay(host, port);
  return { ...relay, url: url.replace(/(@|\/\/)[^@/]+\//, `$1127.0.0.1:${relay.port}/`) };
}

interface Pools {
  readonly plain: sql.ConnectionPool;
  readonly tuned: sql.ConnectionPool;
}

async function measuring(from: Database, pools: Pools): Promise<() => Promise<void>> {
  const { database, statementsOf } = recorded(from);
  const demo = await demoOver(database);
  const source = exportSource(demo);
  const one = async (what: string, work: Work): Promise<Shares> => {
    const statements = await statementsOf(work);
    const plain = () => replay(pools.plain, statements);
    const tuned = () => replay(pools.tuned, statements);
    const { facade, ...driver } = await sideBySide({ facade: work, plain, tuned }, ROUNDS);
    const shares = { plain: driver.plain / facade, tuned: driver.tuned / facade };
    const times = [facade, driver.plain, driver.tuned].map(time => `${(time / 1000).toFixed(1)} ms`);
    console.log(`${what}: ${statements.length} statements, ${times.join(', ')}: ${shown(shares)}`);
    return shares;
  };
  return async () => {
    const pages: Shares[] = [];
    for (const type of PAGES) pages.push(await one(`a page of ${PAGE_SIZE} × ${type}`, () => page(demo, type)));
    const exports: Shares[] = [];
    for (const type of EXPORTED) exports.push(await one(`export of ${type}`, () => exportOf(source, type)));
    console.log(`pages  ${shown(mean(pages))} (mark: 0.75)`);
    console.log(`export ${shown(mean(exports))} (mark: 0.6)`);
  };
}

/** Shares of the driver's rate with default settings, and with our settings. */
interface Shares {
  readonly plain: number;
  readonly tuned: number;
}

const shown = ({ plain, tuned }: Shares): string => `${plain.toFixed(2)} and ${tuned.toFixed(2)}`;

function mean(shares: readonly Shares[]): Shares {
  const of = (which: keyof Shares): number => shares.reduce((sum, one) => sum + one[which], 0) / shares.length;
  return { plain: of('plain'), tuned: of('tuned') };
}

/** `statementsOf` runs a work and returns the statements that it sends; otherwise nothing is recorded. */
function recorded(database: Database): {
  readonly database: Database;
  readonly statementsOf: (work: Work) => Promise<readonly Statement[]>;
} {
  let asked: Statement[] | undefined;
  return {
    database: {
      ...database,
      query(plan, options) {
        asked?.push(database.render(plan, options?.placeholders));
        return database.query(plan, options);
      },
      stream(plan, size, options) {
        asked?.push(database.render(plan, options?.placeholders));
        return database.stream(plan, size, options);
      },
    },
    async statementsOf(work) {
      asked = [];
      await work();
      const statements = asked;
      asked = undefined;
      return statements;
    },
  };
}

async function replay(pool: sql.ConnectionPool, statements: readonly Statement[]): Promise<number> {
  let count = 0;
  for (const { text, parameters } of statements) {
    const request = pool.request();
    request.stream = true;
    const rows: Row[] = [];
    request.on('row', (row: Row) => rows.push(row));
    for (const parameter of parameters) {
      const { type, value } = bindParameter(parameter);
      request.input(parameter.name, type, value);
    }
    const ended = new Promise<void>((resolve, reject) => {
      request.on('error', reject);
      request.on('done', () => resolve());
    });
    request.query(text, () => undefined);
    await ended;
    count += rows.length;
  }
  return count;
}

async function page({ facade }: Demo, type: string): Promise<number> {
  const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;
  const parameters = [
    ['_count', PAGE_SIZE],
    ['_total', 'none'],
  ] as const;
  return (await facade.search({ type, parameters }, context)).entries;
}

/** The source of a thread, for all its parts: rows of one shape share one writer. */
function exportSource({ database, registry, facade }: Demo): PartSource {
  const reopen = async (): Promise<void> => {};
  return {
    registry,
    parse: facade.parse,
    visibility: facade.visibility,
    shapes: shapeStore(),
    database: () => database,
    reopen,
  };
}

async function exportOf(source: PartSource, type: string): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const part: Part = { number: 0, type, scope: 'all', content: 'resources', write: true, collect: [] };
  const task: PartTask = {
    folder,
    job: {
      ...{
        id: '',
        caller: 'open',
        access: OPEN_ACCESS,
        base: 'http://127.0.0.1/fhir',
        url: '',
        remarks: [],
        version: '',
      },
      request: exportRequest({ types: [type] }),
      stages: { first: [part], second: [] },
      transactionTime: 0,
      status: 'running',
    },
    part,
    parts: 1,
    settings: { ...SETTINGS, fileLines: 1e9 },
    quota: { used: new BigInt64Array(new SharedArrayBuffer(8)), limit: 1e15 },
    stop: new Int32Array(1),
  };
  try {
    const state = await runPart(task, source, () => {});
    return state.files.reduce((sum, { lines }) => sum + lines, 0);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
