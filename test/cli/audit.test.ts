import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStore } from '../../src/audit/store.ts';
import { record } from '../audit/records.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** Makes a data folder with an audit of four answers. */
function audited(): { readonly dataDir: string; readonly environment: Readonly<Record<string, string>> } {
  const folder = temporaryFolder();
  const store = openStore({ path: join(folder, 'audit.sqlite'), bytes: 10_000_000, survives: 'process' });
  const at = (day: number): number => Date.parse(`2026-03-0${day}T12:00:00Z`);
  store.append([
    record({ at: at(1), who: { client: 'app', subject: 'ada', user: 'Practitioner/7' }, patients: ['1'] }),
    record({
      at: at(2),
      interaction: 'search-type',
      query: 'POST /fhir/Widget/_search\nname="x",y',
      who: { client: 'registry', purpose: '=1+1' },
      patients: ['1', '2'],
    }),
    record({ at: at(3), interaction: 'operation', query: 'GET /fhir/$download-resource', bulk: true }),
    record({ at: at(4), who: { client: 'app', subject: 'bob' }, status: 404, glass: '=unconscious' }),
  ]);
  store.close();
  return { dataDir: folder, environment: { DATA_DIR: folder } };
}

async function times(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const { out, code } = await lintel(environment, 'audit', ...args, '--json');
  expect(code).toBe(0);
  return out
    .trim()
    .split('\n')
    .filter(line => line !== '')
    .map(line => (JSON.parse(line) as { time: string }).time.slice(5, 10));
}

test('the report on a patient lists answers with data of the patient, and files that may hold it', async () => {
  const { environment } = audited();
  expect(await times(['--patient', '1'], environment)).toEqual(['03-01', '03-02', '03-03']);
  expect(await times(['--patient', '2'], environment)).toEqual(['03-02', '03-03']);
  expect(await times(['--patient', '2', '--since', '2026-03-03'], environment)).toEqual(['03-03']);
  expect(await times(['--until', '2026-03-02T12:00:00Z'], environment)).toEqual(['03-01']);
  expect(await times(['--who', 'ada'], environment)).toEqual(['03-01']);
  expect(await times(['--who', 'Practitioner/7'], environment)).toEqual(['03-01']);
  expect(await times(['--who', 'app'], environment)).toEqual(['03-01', '03-03', '03-04']);
  expect(await times(['--break-glass'], environment)).toEqual(['03-04']);
  expect(await times(['--break-glass', '--patient', '1'], environment)).toEqual([]);
  expect(await times([], environment)).toEqual(['03-01', '03-02', '03-03', '03-04']);
});

test('the report on a patient lists reads of the patient that were refused, and no export of others alone', async () => {
  const folder = temporaryFolder();
  const store = openStore({ path: join(folder, 'audit.sqlite'), bytes: 10_000_000, survives: 'process' });
  const at = (day: number): number => Date.parse(`2026-03-0${day}T12:00:00Z`);
  store.append([
    record({ at: at(1), status: 404, resource: 'Patient/1' }),
    record({ at: at(2), status: 403, resource: 'Group/1' }),
    record({ at: at(3), bulk: true, patients: ['2'] }),
    record({ at: at(4), bulk: true, patients: ['1'] }),
    record({ at: at(5), bulk: true }),
  ]);
  store.close();
  expect(await times(['--patient', '1'], { DATA_DIR: folder })).toEqual(['03-01', '03-04', '03-05']);
  expect(await times(['--patient', '2'], { DATA_DIR: folder })).toEqual(['03-03', '03-05']);
});

test('as text: what a request holds commands no terminal', async () => {
  const folder = temporaryFolder();
  const store = openStore({ path: join(folder, 'audit.sqlite'), bytes: 10_000_000, survives: 'process' });
  const query = 'POST /fhir/Patient/_search\nname=\u001b[1A\u001b[2K\r\u009b2J\u202ex';
  store.append([record({ query, glass: '\u009b1A' })]);
  store.close();
  const { out } = await lintel({ DATA_DIR: folder }, 'audit');
  expect(out.trim()).not.toMatch(/[\p{Cc}\u202e]/u);
  expect(out).toContain('_search name=\\u001b[1A\\u001b[2K\\u000d\\u009b2J\\u202ex');
});

test('as CSV: a header, quotes where needed, and no spreadsheet formula', async () => {
  const { environment } = audited();
  const { out } = await lintel(environment, 'audit', '--patient', '2', '--csv');
  expect(out.trim()).toBe(
    [
      'time,person,user,application,issuer,purpose,break-glass,address,kind,request,status,patients,answers,request id',
      '2026-03-02T12:00:00.000Z,,,registry,,\'=1+1,,192.0.2.1,search-type,"POST /fhir/Widget/_search',
      'name=""x"",y",200,1 2,1,00000000-0000-4000-8000-000000000001',
      '2026-03-03T12:00:00.000Z,,,app,,,,192.0.2.1,operation,GET /fhir/$download-resource,200,unknown,1,00000000-0000-4000-8000-000000000001',
    ].join('\n'),
  );
});

test('as text: one line a record', async () => {
  const { environment } = audited();
  const { out } = await lintel(environment, 'audit');
  expect(out.trim().split('\n')).toEqual([
    '2026-03-01T12:00:00.000Z  ada (Practitioner/7) by app  GET /fhir/Observation/1  200  patients 1',
    '2026-03-02T12:00:00.000Z  registry  for =1+1  POST /fhir/Widget/_search name="x",y  200  patients 1 2',
    '2026-03-03T12:00:00.000Z  app  GET /fhir/$download-resource  200  patients unknown',
    '2026-03-04T12:00:00.000Z  bob by app  broke the glass: =unconscious  GET /fhir/Observation/1  404',
  ]);
});

test('invalid arguments and a missing file are reported', async () => {
  const { environment, dataDir } = audited();
  expect(await lintel(environment, 'audit', '--since', 'yesterday')).toMatchObject({ code: 2 });
  expect(await lintel(environment, 'audit', '--csv', '--json')).toMatchObject({ code: 2 });
  const missing = await lintel({ DATA_DIR: join(dataDir, 'elsewhere') }, 'audit');
  expect(missing.code).toBe(1);
  expect(missing.notes).toContain('There is no audit at');
});

test.each([
  ['an older form', (file: string) => oldForm(file), /not in the form that this version writes \(SQLITE_1\)\. Move it/],
  ['no SQLite', (file: string) => writeFileSync(file, 'x'.repeat(5000)), /is no SQLite file \(SQLITE_26\)\. Move it/],
])('a file of %s is reported with advice, at a start and by the command', async (_title, make, expected) => {
  const { folder, environment } = smallClinic();
  const data = join(folder, 'data');
  mkdirSync(data);
  const file = join(data, 'audit.sqlite');
  make(file);
  const served = await lintel({ ...environment, AUDIT: 'required' }, 'serve');
  const read = await lintel(environment, 'audit');
  for (const { code, notes } of [served, read]) {
    expect(code).toBe(1);
    expect(notes).toContain(`The audit: ${file} `);
    expect(notes).toMatch(expected);
  }
});

/** Rewrites the file in the form of a version without the patients of users. */
function oldForm(file: string): void {
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE RECORD (SEQ INTEGER PRIMARY KEY, TAKEN BIGINT NOT NULL)');
  database.close();
}

test('a file of an earlier version, without break-the-glass columns, is read', async () => {
  const { dataDir, environment } = audited();
  const database = new DatabaseSync(join(dataDir, 'audit.sqlite'));
  database.exec('ALTER TABLE RECORD DROP COLUMN GLASS');
  database.close();
  expect(await times([], environment)).toHaveLength(4);
  expect(await times(['--break-glass'], environment)).toEqual([]);
  // The next server that opens it adds the missing columns, and keeps the records.
  const store = openStore({ path: join(dataDir, 'audit.sqlite'), bytes: 10_000_000, survives: 'process' });
  store.append([record({ at: Date.parse('2026-03-05T12:00:00Z'), glass: 'unconscious' })]);
  store.close();
  expect(await times(['--break-glass'], environment)).toEqual(['03-05']);
  expect(await times([], environment)).toHaveLength(5);
});

interface Listed {
  readonly subject: string;
  readonly client: string;
  readonly interaction: string;
  readonly query: string;
}

test('the audit tells who changed accounts, apps and keys at the console, without secrets', async () => {
  const { environment } = audited();
  const add = ['user', 'add', 'anna', '--fhir-user', 'Practitioner/7', '--generate'];
  const sudo = { ...environment, SUDO_USER: 'carla' };
  const changes = [add, ['user', 'disable', 'anna'], ['client', 'rm', 'nobody'], ['keys', 'rotate']];
  const [added] = await Promise.all(changes.map(words => lintel(sudo, ...words)));
  expect(added?.code).toBe(0);
  const { out } = await lintel(environment, 'audit', '--who', 'lintel', '--json');
  const listed = out
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Listed);
  expect(listed.map(({ query }) => query)).toEqual(
    expect.arrayContaining(['user add anna --fhir-user Practitioner/7', 'keys rotate']),
  );
  expect(listed).toContainEqual(
    expect.objectContaining({ subject: expect.stringMatching(/^carla( as .+)?$/), interaction: 'administration' }),
  );
  expect(out).not.toContain(/Password: (\S+)/.exec(added?.out ?? '')?.[1]);
});

test('if the audit cannot be written, access is not granted, but can still be revoked', async () => {
  const folder = temporaryFolder();
  const environment = { DATA_DIR: folder };
  await lintel(environment, 'user', 'add', 'anna', '--generate');
  writeFileSync(
    join(folder, 'audit.sqlite'),
    'no database, and longer than the head of one would have to be'.repeat(9),
  );
  const refused = await lintel(environment, 'user', 'add', 'bert', '--generate');
  expect(refused).toMatchObject({ code: 1, notes: expect.stringContaining('Nothing was changed') });
  const made = await lintel(environment, 'user', 'disable', 'anna');
  expect(made).toMatchObject({ code: 0, notes: expect.stringContaining('made without one') });
  expect((await lintel(environment, 'user', 'list')).out).toBe('anna (disabled)');
});
