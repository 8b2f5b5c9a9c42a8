import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { buildThird } from '../../fixtures/third/build.ts';
import { lintel } from './lintel.ts';

function begun() {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'some.sqlite');
  const pack = join(folder, 'pack');
  const environment = { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, 'data'), PORT: '0' };
  return { file, pack, environment };
}

/** Best table of each kind. */
function bestIn(out: string): Readonly<Record<string, string>> {
  const { proposals } = JSON.parse(out) as { proposals: readonly { kind: string; table: string }[] };
  return Object.fromEntries(proposals.toReversed().map(({ kind, table }) => [kind, table]));
}

test('the tables of an unknown product are found, and the pack loads without errors', async () => {
  const { file, pack, environment } = begun();
  buildThird(file);
  const { code, out } = await lintel(environment, 'init', pack, '--json', '--zone', 'America/Chicago');
  expect(code).toBe(0);
  expect(bestIn(out)).toMatchObject({
    patients: 'person',
    practitioners: 'provider',
    encounters: 'encounter',
    conditions: 'problem',
    allergies: 'allergy',
    results: 'lab_result',
    vitals: 'vital',
    medications: 'med_order',
    immunizations: 'immunization',
    procedures: 'procedure_log',
  });
  const patients = readFileSync(join(pack, 'patients.yaml'), 'utf8');
  expect(patients).toContain('# mapping: patients\n');
  expect(patients.split('\n').filter(line => line !== '' && !line.startsWith('#'))).toEqual([]);
  expect(await lintel({ ...environment, MAPPINGS: pack }, 'check')).toMatchObject({ code: 0 });
});

test('a table of patients is found among 300, and without a folder nothing is written', async () => {
  const { file, environment } = begun();
  const database = new DatabaseSync(file);
  for (let i = 0; i < 300; i++)
    database.exec(`CREATE TABLE T_${i}_AUDIT (ID INTEGER PRIMARY KEY, CRT DATETIME, X${i} INT)`);
  database.exec(
    'CREATE TABLE ClientPatient (PatientId INT PRIMARY KEY, LastName TEXT, FirstName TEXT, Sex CHAR(1), Dob DATE)',
  );
  database.close();
  const { code, out } = await lintel(environment, 'init');
  expect(code).toBe(0);
  expect(out).toMatch(/^patients: ClientPatient, score 0\.\d\d; the name reads as "patient"/);
  expect(out).toContain('1 candidate in 301 tables');
});

test('a folder with files is left alone, and a zone has to be one', async () => {
  const { file, pack, environment } = begun();
  new DatabaseSync(file).close();
  mkdirSync(pack);
  writeFileSync(join(pack, 'mine.yaml'), '');
  expect(await lintel(environment, 'init', pack)).toMatchObject({ code: 1, out: '' });
  expect(await lintel(environment, 'init', '--zone', 'Nowhere/Else')).toMatchObject({ code: 2 });
});
