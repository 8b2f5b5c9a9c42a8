/**
 * Faults of the code that no pack can cause: a codec that rounds, an inverse that finds too much, a plan that
 * truncates. Each is put into a sound pack, and the check has to name the line of the element.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ALL_RULES } from '../../src/plan/environment.ts';
import { TRUE } from '../../src/sql/construct.ts';
import type { Database } from '../../src/sql/database.ts';
import { lintel } from '../cli/lintel.ts';
import { PEOPLE, type SmallClinic, smallClinic, WEIGHTS } from '../cli/small-clinic.ts';
import { check, open, reading, told } from './opened.ts';

/** Thirty people, each weighed twice; weights have a fraction. */
function clinic(files: Readonly<Record<string, string>> = {}): SmallClinic {
  const made = smallClinic(files);
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec('BEGIN');
  const person = database.prepare('INSERT INTO PERSON VALUES (?, ?, ?, ?)');
  const weighing = database.prepare('INSERT INTO WEIGHING VALUES (?, ?, ?, ?)');
  for (let i = 10; i < 40; i++) {
    person.run(i, `Name${i}`, `19${50 + (i % 40)}-05-${10 + (i % 18)}`, i % 2 === 0 ? 'F' : 'M');
    for (const no of [1, 2])
      weighing.run(
        2 * i + no - 10,
        i,
        `2024-0${no}-${i % 28 > 8 ? '' : '0'}${(i % 28) + 1} 08:30:00.000`,
        60 + i + no / 4,
      );
  }
  database.exec('COMMIT');
  database.close();
  return made;
}

test('a valid pack on valid rows has no problem, and reports its coverage', async () => {
  const opened = await open(clinic());
  const reports = await check(opened);
  await opened.close();
  expect(told(reports)).toEqual([]);
  expect(reports[0]?.notes).toEqual(['72 rows compared with 72 resources, by an independent reading.']);
  expect(reports[1]?.notes[0]).toMatch(/^(\d{3,}) of \1 searches by (\d+) of \2 parameters asked\.$/);
});

test('parameters without a value in the sample are listed, apart from those skipped for time', async () => {
  const remarks = `mapping: remarks
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "r-{NO}"
elements:
  status: final
  code: loinc#48767-8
  subject: { ref: people, on: { ID: PERSON_ID } }
  valueString: { from: NO, if: { KG: "1" } }
`;
  const opened = await open(clinic({ 'remarks.yaml': remarks }));
  const [, searches] = await check(opened);
  await opened.close();
  expect(searches?.notes[1]).toMatch(/^No value in the sample to search with: .*Observation\.code-value-string/);
  expect(searches?.notes.join()).not.toContain('Not reached');
});

test('a codec that rounds is named at the line of the element, with the form of the value and never the value', async () => {
  const opened = await open(clinic());
  const { codec } = reading(opened, 'weights', 'KG');
  const decode = codec.decode.bind(codec);
  Object.assign(codec, {
    decode: (raw: string) => {
      const value = decode(raw);
      return typeof value === 'object' ? { decimal: String(Math.round(Number(value.decimal))) } : value;
    },
  });
  const problems = told(await check(opened));
  const shown = told(await check(opened, { values: true }));
  await opened.close();
  expect(problems[0]).toMatch(
    /^weighing\.yaml:10:2\d: KG is read as another value by number, in \d+ sampled rows; expected REAL, \d decimals?; found 99$/,
  );
  expect(problems.join()).not.toMatch(/70\.25|\b70\b/);
  expect(shown[0]).toMatch(/expected \d\d\.\d+; found "\d\d"/);
});

test('a plan that rounds is found: values are compared past the forms of rows', async () => {
  const opened = await open(clinic());
  const rounding: Database = {
    ...opened.database,
    query: async (plan, how) => {
      const rows = await opened.database.query(plan, how);
      if (plan.stored || plan.shape !== 'rows') return rows;
      return rows.map(row =>
        row.map(one => (typeof one === 'string' && /^\d+\.\d\d$/.test(one) ? `${Math.round(Number(one))}` : one)),
      );
    },
  };
  const problems = told(await check({ ...opened, database: rounding }));
  await opened.close();
  expect(problems[0]).toMatch(
    /^weighing\.yaml:10:2\d: Observation\.valueQuantity\.value is not what KG holds, in \d+ sampled rows; expected REAL, \d decimals?; found 99$/,
  );
});

test('a planner that forgets the `where` of a source is found', async () => {
  const opened = await open(clinic({ 'person.yaml': PEOPLE_OF_SEX }));
  const problems = told(await check(opened, { rules: { ...ALL_RULES, sourceFilter: false } }));
  await opened.close();
  expect(problems[0]).toMatch(
    /^person\.yaml:1:1: a row that people takes away is served as a resource, in \d+ sampled rows$/,
  );
});

test('a row that another mapping serves under the same UUID is not reported as wrongly served', async () => {
  const kind = (name: string): string => `mapping: ${name}
resource: Observation
source: { table: FINDING, as: f, key: [NO], where: { KIND: ${name} } }
id: "{UID|uuid}"
elements:
  status: final
  code: { text: ${name} }
  subject: { ref: people, on: { ID: PERSON_ID } }
`;
  const marked = `mapping: marks
resource: Observation
source: { table: MARK, as: k, key: [NO], lookup: { f: { table: FINDING, on: { NO: NO }, required: true } } }
id: "{f.UID|uuid}"
elements:
  status: final
  code: { text: mark }
  subject: { ref: people, on: { ID: f.PERSON_ID } }
`;
  const made = clinic({ 'findings.yaml': [...['pulse', 'weight'].map(kind), marked].join('---\n') });
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec('CREATE TABLE FINDING (NO INTEGER PRIMARY KEY, PERSON_ID INT, UID CHAR(36), KIND VARCHAR(8))');
  const finding = database.prepare('INSERT INTO FINDING VALUES (?, ?, ?, ?)');
  database.exec('CREATE TABLE MARK (NO INTEGER PRIMARY KEY)');
  for (let i = 10; i < 40; i++) {
    if (i % 3 === 2) database.exec(`INSERT INTO MARK VALUES (${i})`);
    const uid = `0b2e7a54-3c1f-4d6e-8a9b-0000000000${i}`;
    finding.run(i, i, uid, ['pulse', 'weight', 'gone'][i % 3] ?? '');
  }
  database.close();
  const opened = await open(made);
  const sound = told(await check(opened));
  const problems = told(await check(opened, { rules: { ...ALL_RULES, sourceFilter: false } }));
  await opened.close();
  expect(sound).toEqual([]);
  expect(problems.join('\n')).toContain('pulse: several resources have one id');
});

test('an inverse that finds too much is named by its parameter', async () => {
  const opened = await open(clinic());
  Object.assign(reading(opened, 'people', 'SEX').codec, { match: () => TRUE });
  const problems = told(await check(opened));
  await opened.close();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(
    /^person\.yaml:7:\d+: searches by Patient\?gender do not agree with the elements of resources, \d+ times; /,
  );
});

test('references to rows that the other mapping leaves out are not reported as keys of another table', async () => {
  const opened = await open(clinic({ 'person.yaml': PEOPLE.replace('key: [ID]', 'key: [ID], where: { SEX: F }') }));
  const problems = told(await check(opened)).filter(line => line.includes('find no Patient'));
  await opened.close();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(
    /^weighing\.yaml:8:\d+: warning: \d+ references of 62 from PERSON_ID find no Patient of people; expected an `if` of the reference, or a mapping of the rows of PERSON that people leaves out; found such a row for each/,
  );
});

test('a key for none, with a row of its own that the mapping leaves out, is no column of another table', async () => {
  const made = clinic({ 'person.yaml': PEOPLE.replace('key: [ID]', 'key: [ID], where: { ID: { gt: 0 } }') });
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec('UPDATE PERSON SET ID = 5160000 + 9000 * ID');
  database.exec('UPDATE WEIGHING SET PERSON_ID = CASE WHEN NO % 20 = 0 THEN 5160000 + 9000 * PERSON_ID ELSE -1 END');
  database.exec("INSERT INTO PERSON (ID, SURNAME) VALUES (-1, '*Missing*')");
  database.close();
  const opened = await open(made);
  const problems = told(await check(opened)).filter(line => line.includes('find no Patient'));
  await opened.close();
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(
    /PERSON_ID find no Patient of people; expected an `if` of the reference, or a mapping of the rows of PERSON that people leaves out; found such a row for each/,
  );
});

test('references whose value means none in the pack are not missed', async () => {
  const made = clinic();
  const database = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  database.exec('UPDATE WEIGHING SET PERSON_ID = 0 WHERE NO % 5 = 0');
  database.close();
  const before = await open(made);
  const told0 = told(await check(before)).filter(line => line.includes('find no Patient'));
  await before.close();
  expect(told0.join('\n')).toMatch(/: warning: 1\d references of 62 from PERSON_ID find no Patient/);
  const pack = join(made.pack, 'pack.yaml');
  writeFileSync(pack, `${readFileSync(pack, 'utf8')}absent: { columns: { WEIGHING.PERSON_ID: ["0"] } }\n`);
  const opened = await open(made);
  const problems = told(await check(opened)).filter(line => line.includes('find no Patient'));
  await opened.close();
  expect(problems).toEqual([]);
});

test('rows reveal a dangling reference, an `else` that always applies, and a lookup that excludes all rows', async () => {
  const opened = await open(
    clinic({
      'weighing.yaml': WEIGHTS.replace('{ ID: PERSON_ID }', '{ ID: NO }'),
      'person.yaml': PEOPLE.replace('via: sex', 'via: none'),
      'codes.yaml':
        'none:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { Q: other }\n  else: unknown\n',
      'places.yaml': `mapping: places
resource: Organization
source:
  table: PERSON
  as: o
  key: [ID]
  lookup: { w: { table: WEIGHING, on: { NO: ID }, where: { KG: 1 }, required: true } }
id: "place-{ID}"
elements: { name: { from: SURNAME } }
`,
    }),
  );
  const reports = await check(opened);
  await opened.close();
  const problems = told(reports).join('\n');
  expect(problems).toMatch(
    /^weighing\.yaml:8:\d+: warning: 33 references of 62 from NO find no Patient of people; expected another table, whose keys NO holds; found rows for 47 %, as for 47 % of all numbers/m,
  );
  expect(problems).toMatch(/^person\.yaml:7:\d+: warning: every value of SEX falls to `else`; found 32 rows/m);
  expect(problems).toMatch(
    /^places\.yaml:7:\d+: warning: places serves nothing: none of 32 rows of PERSON is a resource; found 32 rows taken away by `required`/m,
  );
  const [mappings] = reports[2]?.tables ?? [];
  expect(mappings?.columns).toEqual([
    'mapping',
    'table',
    'rows',
    'where',
    'deleted',
    'required',
    'needs',
    'no id',
    'one-per',
    'served',
    'note',
  ]);
  expect(mappings?.rows).toContainEqual(['people', 'PERSON', 32, 0, 0, 0, 0, 0, 0, 32, '']);
});

test('a mapping that serves nothing is reported at the element without which most rows are not served', async () => {
  const people = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID], lookup: { w: { table: WEIGHING, on: { NO: ID }, where: { KG: "1" } } } }
id: "{ID}"
needs: [gender, maritalStatus]
elements:
  gender: { from: SEX, via: sex, else: unknown }
  maritalStatus: { text: { from: w.KG, via: text } }
`;
  const { out } = await lintel(smallClinic({ 'person.yaml': people }).environment, 'check');
  expect(out).toMatch(
    /^person\.yaml:8:\d+: warning: people serves nothing: none of 2 rows of PERSON is a resource; found 2 rows taken away by `needs`/m,
  );
});

test('a mapping that serves nothing is reported, however small its table, and again in the summary', async () => {
  const { environment } = smallClinic({
    'person.yaml': PEOPLE.replace('key: [ID] }', 'key: [ID], where: { SEX: X } }'),
  });
  const { code, out, notes } = await lintel(environment, 'check');
  expect(code).toBe(0);
  expect(out).toMatch(
    /^person\.yaml:1:1: warning: people serves nothing: none of 2 rows of PERSON is a resource; found 2 rows taken away by `where`/m,
  );
  expect(notes).toContain('Rows: Serves nothing: people.');
});

test('--json and --html hold the same report; a seed draws the same sample again', async () => {
  const { environment, folder } = clinic();
  const page = join(folder, 'report.html');
  const { out, code } = await lintel(environment, 'check', '--json', '--html', page, '--seed', '7', '--all');
  const report = JSON.parse(out);
  expect(code).toBe(0);
  expect(report).toMatchObject({ pack: 'small', seed: 7, budgetSeconds: null, errors: 0, warnings: 0, problems: [] });
  const html = readFileSync(page, 'utf8');
  for (const { title, notes } of report.sections) for (const text of [title, ...notes]) expect(html).toContain(text);
  expect(html).not.toMatch(/<script|http:/);
  expect((await lintel(environment, 'check', '--seed', 'x')).code).not.toBe(0);
});

test('checks that exceed the time budget are reported', async () => {
  const { environment } = clinic();
  const { notes } = await lintel(environment, 'check', '--budget', '0', '--seed', '1');
  expect(notes).toMatch(/Values: Not reached within the time budget: .*weights/);
});

const PEOPLE_OF_SEX = PEOPLE.replace('key: [ID] }', 'key: [ID], where: { SEX: F } }');
