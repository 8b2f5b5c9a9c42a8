/**
 * Every fault of a connection at every step, for every kind of request: the whole server against a scripted SQL Server.
 * Each cell states the client's answer during the fault. Afterwards every request succeeds, nothing is left running,
 * and no more connections are open than the pools hold. With `MATRIX=print` the cells are printed as the table of
 * docs/sql-server.md, with the milliseconds until the answer, which no assertion uses.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterAll, expect, test } from 'vitest';
import { readConfig } from '../../../src/config/config.ts';
import { createLog } from '../../../src/log.ts';
import { type Running, startServer } from '../../../src/main.ts';
import { ended, kickOff, type Manifest } from '../../export/exporting.ts';
import { shareOf } from '../../share.ts';
import { type Answer, type Asked, type Endpoint, openEndpoint } from './endpoint.ts';
import { until } from './open.ts';
import { schemaScript } from './schema-script.ts';
import type { Cell, Column } from './tds.ts';

const PACK = {
  'pack.yaml': 'name: clinic\ntitle: Clinic\nzone: America/New_York\nsystems: {}\n',
  'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [NO] }
id: "{NO}"
elements:
  name: [{ family: { from: NAM } }]
`,
  'ccds.yaml': 'lists: {}\n',
};
const catalog = schemaScript({ tables: { PERSON: { columns: { NO: 'int', NAM: 'varchar' } } } });
const POOLS = 10 + 2 + 1;
/** Milliseconds between two probes for the end of a fault; five cases probe at a time. */
const BETWEEN_REQUESTS = 100;

const isRows = ({ kind, text }: Asked): boolean => kind === 'rpc' && text.includes('FROM PERSON');

/** Rows with the numbers and names that a statement selects: three, or as many as it asks for. */
function rowsFor({ text }: Asked): {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Cell[])[];
} {
  const items = (/^SELECT (?:TOP \([^)]*\) )?(.*)$/m.exec(text)?.[1] ?? '').split(/, (?![^(]*\))/);
  if (/COUNT/.test(text)) return { columns: [{ name: 'n', type: 'int' }], rows: [[3]] };
  const columns = items.map((item, i): Column => ({ name: `c${i}`, type: /\bNAM\b/.test(item) ? 'nvarchar' : 'int' }));
  const row = (no: number): readonly Cell[] => columns.map(({ type }) => (type === 'int' ? no : `Name ${no}`));
  return { columns, rows: text.includes('WHERE') ? [row(1)] : [row(1), row(2), row(3)] };
}

const usual = (asked: Asked): Answer | undefined => (isRows(asked) ? rowsFor(asked) : (catalog(asked) as Answer));
const slowly = async <T>(answer: T): Promise<T> => {
  await new Promise(resolve => setTimeout(resolve, 300));
  return answer;
};

type Fault = (asked: Asked) => Answer | undefined | Promise<Answer | undefined>;
type Step = 'at login' | 'at prepare' | 'in rows' | 'at cancel';

const atLogin =
  (answer: Answer): Fault =>
  asked =>
    asked.kind === 'login' ? answer : usual(asked);
const atPrepare =
  (answer: Answer): Fault =>
  asked =>
    isRows(asked) ? answer : usual(asked);
const inRows =
  (cut: NonNullable<Extract<Answer, { readonly rows: unknown }>['cut']>): Fault =>
  asked =>
    isRows(asked) ? { ...rowsFor(asked), cut } : usual(asked);

const atCancel =
  (answer: Answer | undefined): Fault =>
  asked =>
    asked.kind === 'attention' ? answer : isRows(asked) ? 'hang' : usual(asked);

const FAULTS: Readonly<Record<Step, Readonly<Record<string, Fault>>>> = {
  'at login': {
    refused: atLogin({ error: 4060 }),
    cut: atLogin('drop'),
    'half a message': atLogin('half'),
    silent: atLogin('deaf'),
    slow: asked => (asked.kind === 'login' ? slowly(undefined) : usual(asked)),
    wrong: atLogin('garbage'),
    'no TDS': atLogin('noise'),
  },
  'at prepare': {
    refused: atPrepare({ error: 229 }),
    cut: atPrepare('drop'),
    'half a message': atPrepare('half'),
    silent: asked => (isRows(asked) || asked.text === 'SELECT 1' ? 'deaf' : usual(asked)),
    slow: asked => (isRows(asked) ? slowly(usual(asked)) : usual(asked)),
    wrong: atPrepare('garbage'),
    'no TDS': atPrepare('noise'),
  },
  'in rows': {
    refused: inRows({ error: 8114 }),
    cut: inRows('behind-row'),
    'half a row': inRows('mid-row'),
    silent: asked => (asked.text === 'SELECT 1' ? 'deaf' : inRows('deaf')(asked)),
    slow: inRows('late'),
    wrong: inRows('garbage'),
    killed: inRows({ error: 596 }),
  },
  'at cancel': {
    answered: atCancel(undefined),
    refused: atCancel({ error: 8114 }),
    cut: atCancel('drop'),
    'half a message': atCancel('half'),
    silent: asked => (asked.kind === 'attention' || isRows(asked) ? 'deaf' : usual(asked)),
    slow: asked => (asked.kind === 'attention' ? slowly(undefined) : atCancel(undefined)(asked)),
    wrong: atCancel('garbage'),
  },
};

/** No answer: the client has disconnected. */
const GONE = 0;

type Operation = 'read' | 'page' | 'document' | 'export';
const OPERATIONS: readonly Operation[] = ['read', 'page', 'document', 'export'];
const PATHS = { read: '/fhir/Patient/1', page: '/fhir/Patient?_count=2', document: '/fhir/Patient/1/$ccd' } as const;

/**
 * Answers to clients. An export waits for recovery and ends with 200; a wrong statement is listed in its `error`. A
 * cancelled export is deleted.
 */
const EXPECTED: Readonly<Record<Step, Readonly<Record<string, number>>>> = {
  'at login': { refused: 503, cut: 503, 'half a message': 503, silent: 503, slow: 200, wrong: 503, 'no TDS': 503 },
  'at prepare': { refused: 500, cut: 503, 'half a message': 503, silent: 503, slow: 200, wrong: 503, 'no TDS': 503 },
  'in rows': { refused: 500, cut: 503, 'half a row': 503, silent: 503, slow: 200, wrong: 503, killed: 503 },
  'at cancel': {
    answered: GONE,
    refused: GONE,
    cut: GONE,
    'half a message': GONE,
    silent: GONE,
    slow: GONE,
    wrong: GONE,
  },
};

const cells: string[] = [];

/** A server with a scripted SQL Server behind it. */
interface Clinic {
  readonly endpoint: Endpoint;
  readonly running: Running;
  readonly lines: readonly string[];
  stop(): Promise<void>;
}

async function openClinic(): Promise<Clinic> {
  const endpoint = await openEndpoint(usual);
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(folder, name), text);
  const lines: string[] = [];
  const note = (text: string): void => void lines.push(text);
  const options = '&connectTimeout=1500&timeout=3000&exportTimeout=3000';
  const environment = {
    DATABASE_URL: `mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false${options}`,
    ...{ MAPPINGS: folder, DATA_DIR: join(folder, 'data'), PORT: '0', CACHE_TTL: '0', RELOAD_INTERVAL: '0' },
  };
  const log = createLog({ level: 'info', format: 'json', write: note });
  const running = await startServer(readConfig(environment), { out: note, note }, log);
  if (!running) throw new Error(lines.join('\n'));
  return {
    ...{ endpoint, running, lines },
    async stop() {
      await running.stop();
      await endpoint.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

// One line for each cell.
afterAll(() => {
  if (process.env['MATRIX'] === 'print') console.log(cells.join('\n'));
});

const get = async ({ running }: Clinic, path: string, signal?: AbortSignal): Promise<number> => {
  const response = await fetch(running.url + path, signal ? { signal } : {});
  await response.arrayBuffer();
  return response.status;
};

async function whatIsTold(clinic: Clinic, operation: Operation, step: Step, lasts: boolean): Promise<number> {
  const { endpoint, running } = clinic;
  if (operation === 'export') {
    const poll = await kickOff(`${running.url}/fhir/$export`);
    const before = endpoint.asked.length;
    await until(() => endpoint.asked.slice(before).some(asked => isRows(asked) || asked.kind === 'login'));
    if (step === 'at cancel') {
      const deleted = await fetch(poll, { method: 'DELETE' });
      expect((await fetch(poll)).status).toBe(404);
      return deleted.status;
    }
    if (!lasts) endpoint.script = usual;
    const answer = await ended(poll);
    const manifest = (await answer.json()) as Pick<Manifest, 'error'>;
    // Unreadable data is never omitted without a message.
    const why = clinic.lines.filter(line => line.includes('export failed'));
    expect([answer.status, manifest.error?.length, why]).toEqual([200, lasts ? 1 : 0, []]);
    return answer.status;
  }
  if (step !== 'at cancel') return get(clinic, PATHS[operation]);
  const client = new AbortController();
  const before = endpoint.asked.length;
  const gone = get(clinic, PATHS[operation], client.signal).catch(() => GONE);
  await until(() => endpoint.asked.slice(before).some(isRows));
  client.abort();
  return gone;
}

async function isWell(clinic: Clinic): Promise<boolean> {
  for (const path of Object.values(PATHS)) {
    if ((await get(clinic, path)) === 200) continue;
    return false;
  }
  return true;
}

async function isIdle({ endpoint, running }: Clinic): Promise<boolean> {
  const metrics = await (await fetch(`${running.url}/metrics`)).text();
  const taken = [...metrics.matchAll(/^lintel_database_connections_(?:taken|waiting)\{[^}]*\} (\d+)$/gm)];
  return taken.length > 0 && taken.every(([, count]) => count === '0') && endpoint.connections() <= POOLS;
}

/** Some faults of a step follow each other on the same server, which recovers in between. */
const CASES = (Object.keys(FAULTS) as Step[]).flatMap(step => {
  const names = Object.keys(FAULTS[step]);
  const half = Math.ceil(names.length / 2);
  return [names.slice(0, half), names.slice(half)].map(faults => [step, faults] as const);
});

// Most of the time is waiting.
test.concurrent.each(CASES)('%s: %s', async (step, faults) => {
  const clinic = await openClinic();
  const { endpoint, lines } = clinic;
  try {
    for (const [fault, operation] of shareOf(
      faults.flatMap(one => OPERATIONS.map(by => [one, by] as const)),
      3,
    )) {
      endpoint.script = usual;
      await until(() => isWell(clinic), BETWEEN_REQUESTS);
      if (step === 'at login') endpoint.drop();
      endpoint.script = FAULTS[step][fault] ?? usual;
      const begun = performance.now();
      // An export waits for recovery, but not for a wrong statement to become right.
      const isWrong = EXPECTED[step][fault] === 500;
      const status = await whatIsTold(clinic, operation, step, isWrong);
      const took = Math.round(performance.now() - begun);
      endpoint.script = usual;
      const ofExport = step === 'at cancel' ? 202 : 200;
      const expected = operation === 'export' ? ofExport : EXPECTED[step][fault];
      expect([fault, operation, status]).toEqual([fault, operation, expected]);
      await until(() => isWell(clinic), BETWEEN_REQUESTS);
      await until(() => isIdle(clinic), BETWEEN_REQUESTS);
      cells.push(`| ${step} | ${fault} | ${operation} | ${status} | ${took} | ${endpoint.connections()} |`);
      expect(lines.join('\n')).not.toMatch(/canary|hunter2/);
    }
  } finally {
    await clinic.stop();
  }
});
