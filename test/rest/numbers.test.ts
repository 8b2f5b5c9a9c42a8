/** REST over a record whose FHIR ids are UUIDs: patients and encounters have numbers in columns of their own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, onTestFinished, test } from 'vitest';
import { rootedSystem } from '../../src/ccda/ids.ts';
import { checkLive } from '../../src/mapping/check/live.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { rowReaders } from '../../src/plan/row-readers.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { loadWhole } from '../../src/start/setup.ts';
import { facadeOver } from '../facade-over.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { type Client, restUnderTest } from './rest-under-test.ts';

const ADA = '9f1c2d3e-0000-4000-8000-00000000000a';
const BO = '9f1c2d3e-0000-4000-8000-00000000000b';

const ROWS = `
CREATE TABLE PERSON (UID CHAR(36) COLLATE RTRIM PRIMARY KEY NOT NULL, PID INTEGER, MRN VARCHAR(20) COLLATE RTRIM,
  LAST VARCHAR(40) COLLATE RTRIM, FIRST VARCHAR(40) COLLATE RTRIM, BORN DATE);
CREATE TABLE VISIT (UID CHAR(36) COLLATE RTRIM PRIMARY KEY NOT NULL, NO INTEGER, PERSON CHAR(36) COLLATE RTRIM, DT DATE);
CREATE TABLE CALL (UID CHAR(36) COLLATE RTRIM PRIMARY KEY NOT NULL, NO INTEGER, PERSON CHAR(36) COLLATE RTRIM, DT DATE);
INSERT INTO PERSON VALUES ('${ADA}', 17, 'M-17', 'Lovelace', 'Ada', '1815-12-10'), ('${BO}', 18, 'M-18', 'Katan', 'Bo', '1970-01-01'),
  ('9f1c2d3e-0000-4000-8000-00000000000c', NULL, 'M-19', 'Nemo', 'Cy', '1980-01-01');
INSERT INTO VISIT VALUES ('00000000-0000-4000-8000-000000000001', 501, '${ADA}', '2024-05-01'),
  ('00000000-0000-4000-8000-000000000002', 502, '${BO}', '2024-05-02');
INSERT INTO CALL VALUES ('00000000-0000-4000-8000-000000000003', 499, '${ADA}', '2024-06-01');
`;

const MRN = 'https://clinic.example/mrn';

const encounters = (name: string, table: string, number = 'number: { from: NO }'): string => `mapping: ${name}
resource: Encounter
source: { table: ${table}, as: v, key: [UID] }
id: "${name}-{UID}"
${number}
elements:
  status: finished
  class: { system: http://terminology.hl7.org/CodeSystem/v3-ActCode, code: AMB }
  subject: { ref: people, on: { UID: PERSON } }
  period: { start: { from: DT } }
`;

const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [UID] }
id: "{UID}"
number: { from: PID }
elements:
  identifier: [{ system: mrn, value: { from: MRN, via: code } }]
  name: [{ family: { from: LAST }, given: [{ from: FIRST }] }]
  gender: unknown
  birthDate: { from: BORN }
`;

const PACK = {
  'pack.yaml': `name: numbers\ntitle: Numbers\nzone: UTC\noid: 1.2.840.99\nsystems: { mrn: ${MRN} }\n`,
  'people.yaml': PEOPLE,
  'visits.yaml': encounters('visits', 'VISIT'),
  'calls.yaml': encounters('calls', 'CALL'),
  'ccds.yaml': 'mrn: mrn\nlisted-encounters: Encounter?status=finished\nlists: { encounters: Encounter }\n',
};

async function clinic(pack: Readonly<Record<string, string>> = {}, more = '') {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'pack'));
  for (const [name, text] of Object.entries({ ...PACK, ...pack })) writeFileSync(join(folder, 'pack', name), text);
  const written = new DatabaseSync(join(folder, 'clinic.sqlite'));
  written.exec(ROWS + more);
  written.close();
  const database = openSqlite(join(folder, 'clinic.sqlite'));
  onTestFinished(() => database.close());
  const loaded = loadWhole(readPackFiles(join(folder, 'pack')), await database.catalog());
  const { registry, problems } = loaded.pack;
  const facade = registry && facadeOver({ registry, database });
  const live = registry ? await checkLive({ registry, database, readers: rowReaders(registry, 0) }) : [];
  return { ...loaded, facade, problems: problems.map(formatProblem), live: live.map(formatProblem) };
}

async function client(): Promise<Client> {
  const { facade, content, problems } = await clinic();
  if (!facade || !content) throw new Error(problems.join('\n'));
  return (await restUnderTest(facade, {}, content)).client();
}

describe('numbers beside FHIR ids', () => {
  test('identify the patient in paths and in lookup answers', async () => {
    const rest = await client();
    expect(await rest.json('/api/patientinfo/patient/id?lastName=Lovelace')).toEqual({ status: 200, body: 17 });
    expect(await rest.json('/api/patientinfo/17')).toMatchObject({
      status: 200,
      body: { patientId: 17, mrn: 'M-17', lastName: 'Lovelace' },
    });
    expect((await rest.json('/api/patientinfo/99')).status).toBe(404);
    expect(await rest.json('/api/patientsummary?search=Katan')).toMatchObject({
      body: { count: 1, patients: [{ patientId: 18, mrn: 'M-18' }] },
    });
  });

  test('record numbers may be of several systems', async () => {
    const other = 'https://clinic.example/other-mrn';
    const { facade, content, problems } = await clinic({
      'pack.yaml': `${PACK['pack.yaml'].replace(' }', `, other: ${other} }`)}`,
      'people.yaml': PEOPLE.replace(
        '{ system: mrn, value: { from: MRN, via: code } }',
        '{ system: mrn, value: { from: MRN, via: code }, if: { PID: 17 } }, { system: other, value: { from: MRN, via: code }, if: { PID: { not: 17 } } }',
      ),
      'ccds.yaml': PACK['ccds.yaml'].replace('mrn: mrn', 'mrn: [mrn, other]'),
    });
    expect(problems).toEqual([]);
    if (!facade || !content) throw new Error('no content');
    const rest = await (await restUnderTest(facade, {}, content)).client();
    for (const [number, mrn] of [
      [17, 'M-17'],
      [18, 'M-18'],
    ]) {
      expect(await rest.json(`/api/patientinfo/${number}`)).toMatchObject({ body: { mrn } });
      expect(await rest.json(`/api/patientsummary?search=${mrn}`)).toMatchObject({
        body: { count: 1, patients: [{ patientId: number, mrn }] },
      });
    }
  });

  test('are found by the sex in the lookup answer, also by unknown', async () => {
    const rest = await client();
    const asked = (sex: string) => rest.json(`/api/patientinfo/patient/id?lastName=Lovelace&sex=${sex}`);
    expect(await rest.json('/api/patientinfo/17')).toMatchObject({ body: { sex: 'unknown' } });
    expect(await asked('unknown')).toEqual({ status: 200, body: 17 });
    for (const sex of ['M', 'F', 'other']) expect((await asked(sex)).status).toBe(404);
    expect(await asked('U')).toMatchObject({ status: 400, body: { message: 'sex expects M, F, other or unknown' } });
  });

  test('exclude patients without one', async () => {
    const rest = await client();
    expect((await rest.json('/api/patientinfo/patient/id?lastName=Nemo')).status).toBe(404);
    expect(await rest.json('/api/patientsummary?search=Nemo')).toMatchObject({ body: { count: 0 } });
  });

  test('are taken from ids of a literal, a number and a literal', async () => {
    const people = PEOPLE.replace('key: [UID]', 'key: [PID]').replace('"{UID}"\nnumber: { from: PID }', '"p-{PID}-x"');
    const { facade, content, problems } = await clinic({ 'people.yaml': people });
    if (!facade || !content) throw new Error(problems.join('\n'));
    const rest = await (await restUnderTest(facade, {}, content)).client();
    expect(await rest.json('/api/patientinfo/patient/id?lastName=Lovelace')).toEqual({ status: 200, body: 17 });
    expect(await rest.json('/api/17/ccds/api/list-encounters')).toEqual({ status: 200, body: [499, 501] });
  });

  test('of encounters come from two mappings, for their own patient only', async () => {
    const rest = await client();
    expect(await rest.json('/api/17/ccds/api/list-encounters')).toEqual({ status: 200, body: [499, 501] });
    expect(await rest.json('/api/18/ccds/api/list-encounters')).toEqual({ status: 200, body: [502] });
    const chart = await (await rest.get('/api/chart/17', { accept: 'text/html' })).text();
    expect(chart).toContain('2024-05-01');
    expect(chart).not.toContain('from 2024-05-01');
    expect((await rest.get('/api/17/ccds/api/encounter-ccds?encounterId=499')).status).toBe(200);
    expect((await rest.get('/api/17/ccds/api/encounter-ccds?encounterId=502')).status).toBe(404);
    expect((await rest.get('/api/17/ccds/api/encounter-ccds?encounterId=1')).status).toBe(404);
  });

  test('of two tables that both count from 1 are distinguished by leading digits', async () => {
    const pack = {
      'visits.yaml': encounters('visits', 'VISIT', 'number: "1{NO}"'),
      'calls.yaml': encounters('calls', 'CALL', 'number: "2{NO}"'),
    };
    const more = `INSERT INTO CALL VALUES ('00000000-0000-4000-8000-000000000009', 501, '${ADA}', '2024-06-02');`;
    const { facade, content, problems, live } = await clinic(pack, more);
    if (!facade || !content) throw new Error(problems.join('\n'));
    expect(live.filter(line => line.includes('equal'))).toEqual([]);
    const rest = await (await restUnderTest(facade, {}, content)).client();
    expect(await rest.json('/api/17/ccds/api/list-encounters')).toEqual({ status: 200, body: [1501, 2499, 2501] });
    const status = async (number: string) =>
      (await rest.get(`/api/17/ccds/api/encounter-ccds?encounterId=${number}`)).status;
    for (const number of ['1501', '2499', '2501']) expect(await status(number)).toBe(200);
    for (const number of ['499', '501', '1499', '1502', '2', '3501']) expect(await status(number)).toBe(404);
  });

  test('are in no FHIR resource', async () => {
    const { facade } = await clinic();
    const context = { access: { kind: 'all', caller: '' }, base: 'http://x/fhir', handling: 'strict' } as const;
    const found = await facade?.search({ type: 'Patient', parameters: [['_id', ADA]] }, context);
    expect(found?.entries).toBe(1);
    expect(found?.json).not.toContain('17,');
  });
});

describe('the record number in documents', () => {
  test('has a root below the OID of the pack if its system is a URL', async () => {
    const rest = await client();
    const xml = await (await rest.get('/api/17/ccds/api/patient-info')).text();
    const root = rootedSystem(MRN, '1.2.840.99')?.slice('urn:oid:'.length) ?? '';
    expect(root).toMatch(/^1\.2\.840\.99\.\d+$/);
    expect(xml).toContain(`<id root="${root}" extension="M-17"/>`);
    const page = await (await rest.get('/api/17/ccds/api/patient-info', { accept: 'text/html' })).text();
    expect(page).toContain('M-17');
  });

  test('has a stable root per URL, or the registered OID of the URL', () => {
    expect(rootedSystem(MRN, '1.2.3')).toBe('urn:oid:1.2.3.80695237314875');
    expect(rootedSystem(`${MRN}/2`, '1.2.3')).not.toBe(rootedSystem(MRN, '1.2.3'));
    expect(rootedSystem('urn:oid:2.5', '1.2.3')).toBe('urn:oid:2.5');
    expect(rootedSystem('http://hl7.org/fhir/sid/us-npi', '1.2.3')).toBe('http://hl7.org/fhir/sid/us-npi');
    expect(rootedSystem(MRN, undefined)).toBe(MRN);
  });

  test('without an OID is a warning, an invalid OID is an error', async () => {
    const without = PACK['pack.yaml'].replace('oid: 1.2.840.99\n', '');
    expect((await clinic({ 'pack.yaml': without })).problems).toEqual([
      `ccds.yaml:1:6: warning: documents omit the record number: its system is a URL; expected \`oid\` in pack.yaml, below which systems get an OID, or a system \`urn:oid:…\`; found ${MRN}`,
    ]);
    const wrong = PACK['pack.yaml'].replace('1.2.840.99', '1.02');
    expect((await clinic({ 'pack.yaml': wrong })).problems[0]).toMatch(/^pack.yaml:4:6: `oid` is no OID/);
  });
});

describe('the reason for a missing REST interface is a notice', () => {
  const NONE = '`$ccd` is offered, and the REST interface under `/api` is not';
  const cure =
    'expected `number: {from: COL}`, a column of whole numbers (or of such texts as 000123) that are unique, if the REST interface is wanted';

  test('if ids are no whole numbers', async () => {
    const { problems } = await clinic({ 'people.yaml': PEOPLE.replace('number: { from: PID }\n', '') });
    expect(problems).toEqual([
      `people.yaml:1:1: notice: ${NONE}: ids of people are not made from one key that is a whole number; ${cure}`,
    ]);
  });

  test('if one of two mappings has no number', async () => {
    const { problems } = await clinic({ 'visits.yaml': encounters('visits', 'VISIT', '') });
    expect(problems).toEqual([
      `visits.yaml:1:1: notice: ${NONE}: Encounter has 2 mappings, and visits has no \`number\`; ${cure}`,
    ]);
  });

  test('if no mapping is of encounters', async () => {
    const { problems } = await clinic({ 'visits.yaml': '', 'calls.yaml': '', 'ccds.yaml': 'mrn: mrn\n' });
    expect(problems).toEqual([
      `ccds.yaml:1:1: notice: ${NONE}: no mapping is of Encounter; expected a mapping with \`resource: Encounter\`, if the REST interface is wanted`,
    ]);
  });

  test('a number must be a whole number', async () => {
    const { problems } = await clinic({ 'people.yaml': PEOPLE.replace('from: PID', 'from: BORN') });
    expect(problems).toEqual([
      'people.yaml:5:17: `number` requires a column of whole numbers, or of texts of digits; found BORN, DATE',
    ]);
  });
});

describe('numbers in texts', () => {
  const texts = `UPDATE VISIT SET NO = 600; ALTER TABLE PERSON ADD COLUMN CODE CHAR(10);
    UPDATE PERSON SET CODE = '0000000017' WHERE PID = 17; UPDATE PERSON SET CODE = '18   ' WHERE PID = 18;
    UPDATE PERSON SET CODE = 'M-19' WHERE PID IS NULL;
    INSERT INTO PERSON (UID, CODE, LAST, FIRST) VALUES ('9f1c2d3e-0000-4000-8000-00000000000d', '0', 'Zero', 'Di');`;
  const people = PEOPLE.replace('from: PID', 'from: CODE');

  test('are read with any leading zeros', async () => {
    const { facade, content, problems, live } = await clinic({ 'people.yaml': people }, texts);
    expect(problems).toEqual([]);
    expect(live).toEqual([
      'people.yaml:1:1: warning: number of people: 1 row without one, which the REST interface omits',
      expect.stringContaining('number of visits is not unique'),
    ]);
    if (!facade || !content) throw new Error('the pack has errors');
    const rest = await (await restUnderTest(facade, {}, content)).client();
    const last = async (number: string) => {
      const { status, body } = await rest.json(`/api/patientinfo/${number}`);
      return status === 200 ? (body as { patientId: number; lastName: string }) : status;
    };
    expect(await last('17')).toMatchObject({ patientId: 17, lastName: 'Lovelace' });
    expect(await last('18')).toMatchObject({ patientId: 18, lastName: 'Katan' });
    expect(await last('0')).toMatchObject({ patientId: 0, lastName: 'Zero' });
    expect(await last('19')).toBe(404);
    expect(await last('10000000017')).toBe(404);
    expect(await rest.json('/api/patientinfo/patient/id?lastName=Lovelace')).toEqual({ status: 200, body: 17 });
    expect(await rest.json('/api/patientsummary?search=Nemo')).toMatchObject({ body: { count: 0 } });
    expect((await rest.get('/api/17/ccds/api/patient-info')).status).toBe(200);
  });

  test('are read at the right of their column, behind blanks', async () => {
    const aligned = `UPDATE VISIT SET NO = 600 + rowid; ALTER TABLE PERSON ADD COLUMN CODE CHAR(12);
      UPDATE PERSON SET CODE = '          17' WHERE PID = 17; UPDATE PERSON SET CODE = '         180' WHERE PID = 18;
      UPDATE PERSON SET CODE = '           0' WHERE PID IS NULL;
      INSERT INTO PERSON (UID, CODE, LAST) VALUES ('9f1c2d3e-0000-4000-8000-00000000000d', '         019', 'Both'),
        ('9f1c2d3e-0000-4000-8000-00000000000e', '        2 19', 'Gap'), ('9f1c2d3e-0000-4000-8000-00000000000f', '     ', 'None');`;
    const { facade, content, problems, live } = await clinic({ 'people.yaml': people }, aligned);
    expect(problems).toEqual([]);
    expect(live).toEqual([
      'people.yaml:1:1: warning: number of people: 3 rows without one, which the REST interface omits',
    ]);
    if (!facade || !content) throw new Error('the pack has errors');
    const rest = await (await restUnderTest(facade, {}, content)).client();
    const patient = async (number: string) => {
      const { status, body } = await rest.json(`/api/patientinfo/${number}`);
      return status === 200 ? (body as { patientId: number }).patientId : status;
    };
    expect(await patient('17')).toBe(17);
    expect(await patient('180')).toBe(180);
    expect(await patient('0')).toBe(0);
    expect(await patient('19')).toBe(404);
    expect(await patient('219')).toBe(404);
    expect((await rest.json('/api/patientinfo/patient/id?lastName=Lovelace')).body).toBe(17);
  });

  test('behind blanks and behind zeros are duplicates', async () => {
    const more = `${texts} INSERT INTO PERSON (UID, CODE, LAST) VALUES ('9f1c2d3e-0000-4000-8000-00000000000e', '      17', 'Twin');`;
    const { live } = await clinic({ 'people.yaml': people }, more);
    expect(live).toContainEqual(expect.stringContaining('number of people is not unique: 1 number of several rows'));
  });

  test('of two rows, one with leading zeros, are duplicates', async () => {
    const more = `${texts} INSERT INTO PERSON (UID, CODE, LAST) VALUES ('9f1c2d3e-0000-4000-8000-00000000000e', '017', 'Twin');`;
    const { facade, content, live } = await clinic({ 'people.yaml': people }, more);
    expect(live).toContainEqual(expect.stringContaining('number of people is not unique: 1 number of several rows'));
    if (!facade || !content) throw new Error('the pack has errors');
    const rest = await (await restUnderTest(facade, {}, content)).client();
    expect((await rest.json('/api/patientinfo/17')).status).toBe(404);
  });
});

describe('check counts numbers', () => {
  test('and reports rows without one, and nothing if all are valid', async () => {
    expect((await clinic()).live).toEqual([
      'people.yaml:1:1: warning: number of people: 1 row without one, which the REST interface omits',
    ]);
  });

  test('and reports duplicates, in one mapping or in two', async () => {
    const more = `INSERT INTO PERSON VALUES ('9f1c2d3e-0000-4000-8000-00000000000d', 17, 'M-20', 'Twin', 'Di', NULL);
      INSERT INTO CALL VALUES ('00000000-0000-4000-8000-000000000009', 501, '${BO}', '2024-06-02');`;
    const { live } = await clinic({}, more);
    expect(live).toContain(
      'people.yaml:1:1: number of people is not unique: 1 number of several rows; expected a column of which each value is in one row',
    );
    expect(live.join('\n')).toMatch(/numbers of mappings calls and visits are equal for 1 row/);
  });

  test('and reports a number that is the same with the digits before it', async () => {
    const pack = { 'calls.yaml': encounters('calls', 'CALL', 'number: "5{NO}"') };
    const more = "INSERT INTO CALL VALUES ('00000000-0000-4000-8000-000000000009', 2, NULL, NULL);";
    for (const column of ['NO INTEGER', 'NO VARCHAR(6)']) {
      const { live } = await clinic(
        pack,
        `${more}DROP TABLE VISIT;
        CREATE TABLE VISIT (UID CHAR(36) COLLATE RTRIM PRIMARY KEY NOT NULL, ${column}, PERSON CHAR(36) COLLATE RTRIM, DT DATE);
        INSERT INTO VISIT VALUES ('00000000-0000-4000-8000-000000000001', '052', '${ADA}', '2024-05-01');`,
      );
      expect(live.join('\n')).toMatch(/numbers of mappings calls and visits are equal for 1 row/);
    }
  });

  test('and refuses what is not digits and one column', async () => {
    for (const number of ['0{NO}', 'x{NO}', '{NO}{NO}', '1{NO}2', '1234567890123456{NO}']) {
      const { problems } = await clinic({ 'visits.yaml': encounters('visits', 'VISIT', `number: "${number}"`) });
      expect(problems).toContain(
        `visits.yaml:5:9: \`number\` is not in the right form; expected a column, or digits and one column in braces, as in "1{NO}"; found ${number}`,
      );
    }
  });
});
