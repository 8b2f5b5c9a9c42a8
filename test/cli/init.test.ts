import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { buildFixture } from '../../fixtures/build.ts';
import { buildThird } from '../../fixtures/third/build.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';

function begun() {
  const folder = temporaryFolder();
  const file = join(folder, 'some.sqlite');
  const pack = join(folder, 'pack');
  const environment = { DATABASE_URL: `sqlite:${file}`, DATA_DIR: join(folder, 'data'), PORT: '0' };
  return { file, pack, environment };
}

/** The best table of each kind. */
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
    organizations: 'facility',
    locations: 'department',
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
  expect(out).toMatch(/^patients: ClientPatient, score 0\.\d\d; 0 rows; the name reads as "patient"/);
  expect(out).toContain('1 candidate in 301 tables');
});

test('the tables of the tutorial are found with their names and tests', async () => {
  const { file, environment } = begun();
  const [, schema = ''] = /```sql\n([\s\S]*?)```/.exec(readFileSync('docs/tutorial.md', 'utf8')) ?? [];
  const database = new DatabaseSync(file);
  database.exec(schema);
  database.close();
  const { out } = await lintel(environment, 'init');
  expect(out).toMatch(/^ {2}name\.given {2}FORENAME /m);
  expect(out).toMatch(/^results: LAB, score [\d.]+; 3 rows; the name reads as "laboratory"/m);
  expect(out).toMatch(/^ {2}code\.text {2}TEST /m);
});

/** Removes the `#` of the first candidate of each file, as a person would. */
function uncommented(pack: string): void {
  for (const file of readdirSync(pack).filter(name => name !== 'pack.yaml')) {
    const [first = ''] = readFileSync(join(pack, file), 'utf8').split('# ---\n');
    writeFileSync(join(pack, file), first.replace(/^# ?(?!#)/gm, ''));
  }
}

test.each([
  { name: 'third', build: buildThird },
  {
    name: 'demo',
    build: (file: string) => buildFixture({ patients: 20, seed: 1, file }),
  },
])('the pack proposed for $name lacks only elements without a column', async ({ build }) => {
  const { file, pack, environment } = begun();
  build(file);
  await lintel(environment, 'init', pack, '--zone', 'America/Chicago');
  uncommented(pack);
  const { out } = await lintel({ ...environment, MAPPINGS: pack }, 'check', '--json');
  const { problems } = JSON.parse(out) as {
    problems: readonly { severity: string; code: string; file: string; message: string }[];
  };
  const errors = problems.filter(({ severity }) => severity === 'error');
  // An element that FHIR requires, or a key for pages: a person has to find its column.
  const isMissing = ({ code, file: of }: (typeof problems)[number]): boolean =>
    code === 'LNT-503' || (code === 'LNT-512' && readFileSync(join(pack, of), 'utf8').includes('key: []'));
  expect(errors.filter(error => !isMissing(error))).toEqual([]);
  expect(errors.map(({ message }) => message).join()).not.toContain('Patient.');
});

test('rows decide between equal names, and select the codec of a column', async () => {
  const { file, pack, environment } = begun();
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), FNAME VARCHAR(40), DOB VARCHAR(10), SEX CHAR(1));
    CREATE TABLE PATIENT_OLD (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), FNAME VARCHAR(40), DOB VARCHAR(10), SEX CHAR(1));
    CREATE TABLE ACCESSION (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER);
    CREATE TABLE SHIPMENT (NO INTEGER PRIMARY KEY, PATIENT_ID INTEGER);
    CREATE TABLE LAB_RESULT (RESULT_ID INTEGER PRIMARY KEY, NO INTEGER, RESULT_DT INTEGER, TEST_NAME VARCHAR(9), RESULT VARCHAR(9), UNITS VARCHAR(9));`);
  const insert = database.prepare('INSERT INTO PATIENT VALUES (?, ?, ?, ?, ?)');
  for (let i = 1; i <= 30; i++) {
    insert.run(
      i,
      `Quxfamily${'abcdefghij'[i % 10]}`,
      'Quxgiven',
      `${i % 2 === 0 ? 25 : 3}/4/1970`,
      i % 3 === 0 ? 'M' : 'F',
    );
    database.exec(`INSERT INTO ACCESSION VALUES (${i + 1000}, ${i}); INSERT INTO SHIPMENT VALUES (${i}, ${i});
      INSERT INTO LAB_RESULT VALUES (${i}, ${i + 1000}, ${1.7e9 + i}, 'Sodium', '<5', 'mmol')`);
  }
  database.close();
  const { code, out, notes } = await lintel(environment, 'init', pack, '--zone', 'UTC');
  expect(code).toBe(0);
  expect(out).toMatch(/^patients: PATIENT, score 0\.9\d; 30 rows/);
  expect(out).toMatch(/patients: PATIENT_OLD, score 0\.4\d; 0 rows/);
  expect(out).toContain('subject  ACCESSION.PATIENT_ID by NO');
  const patients = readFileSync(join(pack, 'patients.yaml'), 'utf8');
  expect(patients).toContain('birthDate: { from: DOB, via: [{ written: D/M/YYYY }, ymd8] }');
  const results = readFileSync(join(pack, 'results.yaml'), 'utf8');
  expect(results).toContain('j: { table: ACCESSION, on: { NO: NO }, required: true }');
  expect(results).toContain('effectiveDateTime: { from: RESULT_DT, via: epoch }');
  expect(results).toContain('value: { from: RESULT, via: comparator-number.value }');
  const codes = readFileSync(join(pack, 'codes.yaml'), 'utf8');
  expect(codes).toMatch(/# {5}F: female {2}## 20 rows; suggested/);
  const told = [out, notes, ...readdirSync(pack).map(name => readFileSync(join(pack, name), 'utf8'))].join();
  expect(told).not.toContain('Qux');
});

test.each([
  ['14-MAR-85', '[{ written: { form: D-MON-YY, from: 1930 } }, ymd8]', '1930 to 2029 is a guess'],
  ['14-mar-1985 00:00', '[{ written: D-MON-YYYY H:mm:ss }, ymd14]', ''],
  ['3/14/85', '[{ written: { form: M/D/YY, from: 1930 } }, ymd8]', 'mm/dd/yy: the rows do not decide the century'],
  ['14-3-85 08:30', '[{ written: { form: D-M-YY H:mm:ss, from: 1930 } }, ymd14]', '1930 to 2029 is a guess'],
  ['14.03.85', '[{ written: { form: D.M.YY, from: 1930 } }, ymd8]', '1930 to 2029 is a guess'],
  ['85-03-14', '[{ written: { form: YY-M-D, from: 1930 } }, ymd8]', 'yy-mm-dd: the rows do not decide the century'],
  ['85.3.14 08:30', '[{ written: { form: YY.M.D H:mm:ss, from: 1930 } }, ymd14]', '1930 to 2029 is a guess'],
  ['1985/03/14', '[{ written: YYYY/MM/DD }, ymd8]', 'yyyy/mm/dd'],
  [
    '03/04/85',
    '[{ written: { form: M/D/YY, from: 1930 } }, ymd8]',
    'the one below is a guess; the rows do not decide the century',
  ],
])('birth dates like %s are read by their form', async (born, via, note) => {
  const { file, pack, environment } = begun();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), DOB VARCHAR(20))');
  for (let i = 1; i <= 30; i++) database.exec(`INSERT INTO PATIENT VALUES (${i}, 'Quxfamily', '${born}')`);
  database.close();
  const { out } = await lintel(environment, 'init', pack, '--zone', 'UTC');
  expect(readFileSync(join(pack, 'patients.yaml'), 'utf8')).toContain(`birthDate: { from: DOB, via: ${via} }`);
  expect(out).toContain(note);
});

/** Days of several months, as days since 1970. */
const SOME_DAYS = Array.from({ length: 30 }, (_, i) => 19_796 - i * 11);
const yearOf = (day: number): number => new Date(day * 86_400_000).getUTCFullYear();
const iso = (day: number): string => new Date(day * 86_400_000).toISOString().slice(0, 10);
const ymd = (day: number): string => iso(day).replaceAll('-', '');
const ordinal = (day: number): number => yearOf(day) * 1000 + day - Date.UTC(yearOf(day), 0, 0) / 86_400_000;

test.each<[string, string, (day: number) => number | string, string, string]>([
  ['CYYMMDD', 'DECIMAL(7,0)', day => Number(ymd(day)) - 19_000_000, '{ ymd8: { since: 1900 } }', 'cyymmdd'],
  ['FileMan', 'VARCHAR(14)', day => String(Number(ymd(day)) - 17_000_000), '{ ymd8: { since: 1700 } }', 'yyymmdd'],
  ['days of MUMPS', 'INTEGER', day => day + 47_117, '{ days: { since: 1840-12-31 } }', 'whole number'],
  ['days of Excel', 'INTEGER', day => day + 25_569, '{ days: { since: 1899-12-30 } }', 'whole number'],
  ['days of Clarion', 'INTEGER', day => day + 61_730, '{ days: { since: 1800-12-28 } }', 'whole number'],
  ['days of Unix', 'INTEGER', day => day, '{ days: { since: 1970-01-01 } }', 'whole number'],
  ['$HOROLOG', 'VARCHAR(20)', day => `${day + 47_117},30600`, 'horolog', 'days,seconds'],
  ['HL7 v2', 'VARCHAR(26)', day => `${ymd(day)}${day % 3 ? '0830' : ''}-0500`, 'dtm', 'yyyymmddhhmm+hhmm'],
  ['ISO 8601', 'VARCHAR(26)', day => `${iso(day)}T08:30:05Z`, 'iso', 'yyyy-mm-ddThh:mm:ssZ'],
  ['yyyyddd', 'INTEGER', day => ordinal(day - (day % 33)), 'yddd', 'yyyyddd'],
  ['JD Edwards', 'DECIMAL(6,0)', day => ordinal(day) - 1_900_000, '{ yddd: { since: 1900 } }', 'cyyddd'],
])('dates of %s in %s are read by what their rows say', async (_, type, stored, via, note) => {
  const { file, pack, environment } = begun();
  const database = new DatabaseSync(file);
  database.exec(`CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME VARCHAR(40), DOB ${type}, UPDATED_AT ${type})`);
  const insert = database.prepare('INSERT INTO PATIENT VALUES (?, ?, ?, ?)');
  for (const [i, day] of SOME_DAYS.entries()) insert.run(i, 'Quxfamily', stored(day), stored(day));
  database.close();
  const { out } = await lintel(environment, 'init', pack, '--zone', 'UTC');
  const patients = readFileSync(join(pack, 'patients.yaml'), 'utf8');
  expect(patients).toContain(`birthDate: { from: DOB, via: ${via} }`);
  const [name, since] = via
    .replaceAll(/[{},:]/g, ' ')
    .split(/ +since +| +/)
    .filter(Boolean);
  const options = since === undefined ? 'at: "00:00"' : `since: ${since}, at: "00:00"`;
  expect(patients).toContain(`changed: { from: UPDATED_AT, via: { ${name}: { ${options} } } }`);
  expect(out).toContain(note);
});

/**
 * English plurals, snake_case, UUIDs as texts, epoch seconds, `t` and `f`, and a join table of patients and allergies.
 */
function buildForeign(file: string): void {
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE patients (id TEXT PRIMARY KEY, patient_number TEXT, last_name TEXT, first_name TEXT, gender TEXT, born_at INTEGER,
      phone TEXT, email TEXT, street TEXT, city TEXT, zip TEXT, active TEXT, updated_at INTEGER);
    CREATE TABLE visits (id TEXT PRIMARY KEY, patient_id TEXT, kind TEXT, started_at INTEGER, ended_at INTEGER, status TEXT, updated_at INTEGER);
    CREATE TABLE observations (id TEXT PRIMARY KEY, patient_id TEXT, visit_id TEXT, kind TEXT, value TEXT, unit TEXT, taken_at INTEGER, updated_at INTEGER);
    CREATE TABLE diagnoses (id TEXT PRIMARY KEY, patient_id TEXT, icd_code TEXT, description TEXT, onset_at INTEGER);
    CREATE TABLE allergies (id TEXT PRIMARY KEY, name TEXT);
    CREATE TABLE patient_allergies (patient_id TEXT, allergy_id TEXT, noted_at INTEGER, PRIMARY KEY (patient_id, allergy_id));
  `);
  const uuid = (kind: number, no: number): string => `0000000${kind}-0000-4000-8000-${String(no).padStart(12, '0')}`;
  const add = (table: string, ...row: (string | number | null)[]): void => {
    database.prepare(`INSERT INTO ${table} VALUES (${row.map(() => '?').join()})`).run(...row);
  };
  for (const [i, name] of ['Penicillin', 'Peanut', 'Latex', 'Pollen'].entries()) add('allergies', uuid(5, i), name);
  for (let i = 0; i < 40; i++) {
    const [id, at] = [uuid(1, i), 1.7e9 + 1000 * i];
    const mail = `q${i}@example.org`;
    add(
      'patients',
      id,
      `N-${i}`,
      'Quxfamily',
      'Quxgiven',
      i % 2 ? 'f' : 'm',
      1e7 * i,
      '555-0100',
      mail,
      'Elm',
      'Bath',
      '04011',
      't',
      at,
    );
    add('visits', uuid(2, i), id, i % 3 ? 'ambulatory' : 'inpatient', at, at + 3600, 'finished', at);
    add(
      'observations',
      uuid(3, i),
      id,
      uuid(2, i),
      i % 2 ? 'pulse' : 'weight',
      `${60 + i}`,
      i % 2 ? '/min' : 'kg',
      at,
      at,
    );
    add('diagnoses', uuid(4, i), id, 'I10', 'Hypertension', at);
    add('patient_allergies', id, uuid(5, i % 4), at);
  }
  database.close();
}

test('English plurals and common names are recognised, a table is proposed once, and a join finds the name of an allergen', async () => {
  const { file, pack, environment } = begun();
  buildForeign(file);
  const { out } = await lintel(environment, 'init', pack, '--json', '--zone', 'UTC');
  const { proposals } = JSON.parse(out) as {
    proposals: readonly {
      kind: string;
      table: string;
      resource: string;
      elements: readonly { path: string; column: string }[];
    }[];
  };
  expect(bestIn(out)).toMatchObject({
    patients: 'patients',
    encounters: 'visits',
    conditions: 'diagnoses',
    allergies: 'patient_allergies',
  });
  expect(proposals.filter(one => one.table === 'observations' && one.resource === 'Observation')).toHaveLength(1);
  const columns = proposals.find(({ table }) => table === 'patients')?.elements.map(({ column }) => column);
  expect(columns?.toSorted()).toEqual(
    'born_at city email first_name gender last_name patient_number phone street updated_at zip'.split(' '),
  );
  const patients = readFileSync(join(pack, 'patients.yaml'), 'utf8');
  expect(patients).toMatch(/^# {3}changed: \{ from: updated_at, via: epoch \}/m);
  expect(patients).toMatch(/^# {3}telecom:\n# {5}- system: phone\n# {7}value: \{ from: phone \}/m);
  expect(patients).toMatch(/^# {3}birthDate: \{ from: born_at, via: \{ epoch: \{ zone: UTC \} \} \}/m);
  expect(readFileSync(join(pack, 'allergies.yaml'), 'utf8')).toMatch(
    /j: \{ table: allergies, on: \{ id: allergy_id \} \} {2}## by the names alone\n.*two UUIDs do not fit.*\n# id: "\{patient_id\|escaped\}-\{allergy_id\|escaped\}"/,
  );
  expect(readFileSync(join(pack, 'encounters.yaml'), 'utf8')).toMatch(/class: .*kind/);
  uncommented(pack);
  const checked = await lintel({ ...environment, MAPPINGS: pack }, 'check', '--json');
  const { problems } = JSON.parse(checked.out) as {
    problems: readonly { severity: string; code: string; message: string }[];
  };
  const errors = problems.filter(({ severity, code }) => severity === 'error' && code !== 'LNT-503');
  expect(errors).toEqual([]);
});

test('names of six and eight letters, as systems of the 1990s have them, are read', async () => {
  const { file, environment } = begun();
  const database = new DatabaseSync(file);
  database.exec(`
    CREATE TABLE PATMAST (PATNO CHAR(10) PRIMARY KEY, PATNAME CHAR(50), SEX CHAR(1), DOB INTEGER);
    CREATE TABLE VISIT (VISNO CHAR(12) PRIMARY KEY, PATNO CHAR(10), VTYPE CHAR(3), ADMDT INTEGER, DISDT INTEGER);
    CREATE TABLE PROBLIST (PATNO CHAR(10), PSEQ INTEGER, PROB CHAR(80), ONSDT INTEGER, PRIMARY KEY (PATNO, PSEQ));
    CREATE TABLE PATALG (PATNO CHAR(10) PRIMARY KEY, ALLERGY1 CHAR(40), ALLERGY2 CHAR(40));
    CREATE TABLE MEDORD (ORDNO CHAR(10) PRIMARY KEY, PATNO CHAR(10), VISNO CHAR(12), DRUG CHAR(80), ORDDT INTEGER);
    CREATE TABLE PROCS (PROCNO CHAR(10) PRIMARY KEY, PATNO CHAR(10), PROCCD CHAR(80), PRDT CHAR(10));`);
  database.close();
  const { code, out } = await lintel(environment, 'init', '--json', '--no-rows');
  expect(code).toBe(0);
  expect(bestIn(out)).toMatchObject({
    ...{ patients: 'PATMAST', encounters: 'VISIT', conditions: 'PROBLIST' },
    ...{ allergies: 'PATALG', medications: 'MEDORD', procedures: 'PROCS' },
  });
});

test('without rows only names count', async () => {
  const { file, environment } = begun();
  const database = new DatabaseSync(file);
  database.exec('CREATE TABLE PATIENT (PID INTEGER PRIMARY KEY, LNAME TEXT, FNAME TEXT, DOB DATE, SEX CHAR(1))');
  database.close();
  const whole = await lintel(environment, 'init', '--no-rows');
  expect(whole.out).toMatch(
    /^patients: PATIENT, score 0\.9\d; the name reads as "patient"; no column found for identifier/,
  );
  expect((await lintel(environment, 'init')).out).toMatch(/^patients: PATIENT, score 0\.\d\d; 0 rows; /);
  expect(await lintel(environment, 'init', '--budget', 'long')).toMatchObject({ code: 2 });
});

test('a folder with files is refused, and an invalid zone, too', async () => {
  const { file, pack, environment } = begun();
  new DatabaseSync(file).close();
  mkdirSync(pack);
  writeFileSync(join(pack, 'mine.yaml'), '');
  expect(await lintel(environment, 'init', pack)).toMatchObject({ code: 1, out: '' });
  expect(await lintel(environment, 'init', '--zone', 'Nowhere/Else')).toMatchObject({ code: 2 });
});
