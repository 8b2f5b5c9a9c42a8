/** Whole jobs of a server whose scripted SQL Server cuts connections, goes away and falls silent in mid-export. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type Answer, type Asked, type Endpoint, openEndpoint } from '../sql/mssql/endpoint.ts';
import { schemaScript } from '../sql/mssql/schema-script.ts';
import type { Column } from '../sql/mssql/tds.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { contents, finished, kickOff, served } from './exporting.ts';

const ROWS = 3500;
const COLUMNS: readonly Column[] = [
  { name: 'NO', type: 'int' },
  { name: 'TITLE', type: 'nvarchar' },
];
const catalog = schemaScript({ tables: { PLACE: { columns: { NO: 'int', TITLE: 'varchar' } } } });

const isRead = ({ kind, text }: Asked): boolean => kind === 'rpc' && /FROM \[?PLACE\b/.test(text);
const isCount = (asked: Asked): boolean => isRead(asked) && /COUNT/.test(asked.text);

/** Integer parameters: type INTN, four bytes. */
function integersIn({ bytes }: Asked): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(Buffer.of(0x26, 4, 4)); at >= 0; at = bytes.indexOf(Buffer.of(0x26, 4, 4), at + 1))
    found.push(bytes.readInt32LE(at + 3));
  return found;
}

/** Rows after the key from which a statement continues, at most `most`. */
function rowsOf(asked: Asked, most: number, cut?: 'mid-row' | 'deaf'): Answer {
  const from = asked.text.includes('WHERE') ? Math.min(...integersIn(asked)) : 0;
  const count = Math.max(0, Math.min(most, ROWS - from));
  const rows = Array.from({ length: count }, (_, i): [number, string] => [from + i + 1, `Place ${from + i + 1}`]);
  return { columns: COLUMNS, rows, ...(cut && { cut }) };
}

/** A server over the endpoint, whose reads of rows get the scripted answers in turn, and then complete ones. */
async function serving(endpoint: Endpoint, reads: ((asked: Asked) => Answer)[]): Promise<{ readonly fhir: string }> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'pack.yaml'), 'name: clinic\ntitle: Clinic\nzone: America/New_York\nsystems: {}\n');
  writeFileSync(
    join(folder, 'place.yaml'),
    `mapping: places\nresource: Location\nsource: { table: PLACE, as: l, key: [NO] }\nid: "{NO}"\nelements: { name: { from: TITLE } }\n`,
  );
  endpoint.script = asked => {
    if (isCount(asked)) return { columns: [{ name: 'n', type: 'int' }], rows: [[ROWS]] };
    if (!isRead(asked)) return catalog(asked);
    return reads.shift()?.(asked) ?? rowsOf(asked, ROWS);
  };
  const url = `mssql://reader:hunter2@127.0.0.1:${endpoint.port}/ehr?encrypt=false&connectTimeout=3000`;
  return served({
    environment: { DATABASE_URL: url, MAPPINGS: folder, DATA_DIR: join(folder, 'data'), PORT: '0' },
  });
}

const everyPlace = Array.from({ length: ROWS }, (_, i) => `Location/${i + 1}`);

test('after a lost connection an export reconnects and continues at its position', async () => {
  const endpoint = await openEndpoint();
  onTestFinished(() => endpoint.stop());
  const from: number[] = [];
  const { fhir } = await serving(endpoint, [
    asked => rowsOf(asked, 2500, 'mid-row'),
    () => 'drop',
    asked => {
      from.push(Math.min(...integersIn(asked)));
      return rowsOf(asked, 1200, 'mid-row');
    },
  ]);
  const manifest = await finished(await kickOff(`${fhir}/$export`));
  expect(await contents(manifest)).toEqual(everyPlace);
  expect(manifest.error).toEqual([]);
  // The export did not start again from the beginning.
  expect(from).toEqual([2000]);
});

test('a job waits while the database is away, reports it, and resumes by itself', async () => {
  const endpoint = await openEndpoint();
  onTestFinished(() => endpoint.stop());
  const { fhir } = await serving(endpoint, [asked => rowsOf(asked, 1500, 'mid-row')]);
  const { script } = endpoint;
  let away = false;
  endpoint.script = async asked => {
    if (away) return 'drop';
    const answer = await script(asked);
    away = typeof answer === 'object' && 'cut' in answer;
    return answer;
  };
  const poll = await kickOff(`${fhir}/$export`);
  for (let said = ''; !said.includes('wait'); ) {
    const response = await fetch(poll);
    expect([202, 429]).toContain(response.status);
    said = response.headers.get('x-progress') ?? '';
    await new Promise(resolve => setTimeout(resolve, 150));
  }
  away = false;
  expect(await contents(await finished(poll))).toEqual(everyPlace);
});

test('a database that stalls within a result does not block a job', async () => {
  const endpoint = await openEndpoint();
  onTestFinished(() => endpoint.stop());
  const { fhir } = await serving(endpoint, [asked => rowsOf(asked, 1500, 'deaf')]);
  const { script } = endpoint;
  let looks = 0;
  endpoint.script = asked => {
    if (looks === 3 || asked.text !== 'SELECT 1') return script(asked);
    // The server polls the database with `SELECT 1`: the first polls fail.
    looks++;
    return 'drop';
  };
  expect(await contents(await finished(await kickOff(`${fhir}/$export`)))).toEqual(everyPlace);
  expect(looks).toBeGreaterThan(0);
});
