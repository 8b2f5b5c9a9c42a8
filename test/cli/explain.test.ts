import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { sqlLines } from '../../src/explain/sql-text.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

test('explain shows typed query, SQL of both engines with types, the index, and lineage', async () => {
  const { environment } = smallClinic();
  const { code, out } = await lintel(environment, 'explain', 'Observation?patient=1&date=ge2024', '--engine', 'all');
  expect(code).toBe(0);
  expect(out).toMatch(/^Pack {6}small \(.*\)\nDatabase {2}SQLite, .*\n/);
  expect(out).toContain('Query of Observation');
  expect(out).toContain('patient (reference) has a value that is not shown\n');
  expect(out).toContain('SQLite\n    SELECT');
  expect(out).toContain('SQL Server\n    SELECT TOP (@p');
  // Each engine's parameters in its own words.
  expect(out).toMatch(/^ {4}p\d+ INTEGER$/m);
  expect(out).toMatch(/^ {4}p\d+–p\d+ int$/m);
  expect(out).toContain('WEIGHING_PERSON');
  expect(out).toMatch(/valueQuantity\.value +.*KG.*\(weighing\.yaml:\d+/);
});

test('the lineage has the elements that the answer has', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'explain', 'Patient?gender=female&_elements=gender');
  const [, lineage = ''] = out.split('Lineage of people\n');
  expect(lineage).toMatch(/^ {2}gender +p\.SEX via code map sex\.code {2}\(person\.yaml:7:\d+\)$/);
});

test('the walk of CONTRIBUTING explains a search that the demo answers, on one screen', async () => {
  const [, query = ''] = /`npx lintel explain '([^']+)'`/.exec(readFileSync('CONTRIBUTING.md', 'utf8')) ?? [];
  const { code, out } = await lintel({}, 'explain', query);
  expect(code).toBe(0);
  expect(out).toContain('via code map ');
  expect(out.split('\n').length).toBeLessThan(50);
});

test('a long statement is wrapped outside of literals and names, without loss', () => {
  const columns = Array.from({ length: 20 }, (_, i) =>
    i % 3 === 0 ? `coalesce(a.A${i}, a.B${i}, 'x, y (OR', '''')` : `a.[C AND ${i}]`,
  );
  const either = 'CASE WHEN (a.X = ? OR a.X IN (?, ?)) AND a.Y LIKE ? THEN 0 WHEN a.Z IS NULL THEN 1 ELSE 2 END = 1';
  const rows = `EXISTS (SELECT 1 FROM B AS b LEFT JOIN C AS c ON c.NO = b.NO WHERE b.NO = a.NO AND (${either}))`;
  const text =
    `SELECT ${columns.join(', ')}\nFROM A AS a\n` +
    `WHERE (a.X = ? AND a.Y IN (?, ?)) AND a.Z BETWEEN ? AND ? AND (${rows} OR ${either} OR NOT ${rows})\nLIMIT ?`;
  const plain = (sql: string): string => sql.replaceAll(/\s+/g, '');
  for (const width of [40, 60, 110, 1000]) {
    const lines = sqlLines({ text }, width);
    expect(plain(lines.join('\n'))).toBe(plain(text));
    expect(lines.filter(line => line.length > Math.max(width, 66))).toEqual([]);
    expect(lines).toContain('FROM A AS a');
    expect(lines.some(line => line.includes('BETWEEN ? AND ?'))).toBe(true);
    for (const whole of ["'x, y (OR'", "''''", '[C AND 19]'])
      expect(
        lines.some(line => line.includes(whole)),
        whole,
      ).toBe(true);
  }
});

test('no value of the query is shown unless it is asked for', async () => {
  const { environment } = smallClinic();
  const query = 'Patient?family=Kowalski&birthdate=1970-02-03';
  const silent = await lintel(environment, 'explain', query);
  expect(silent.code).toBe(0);
  expect(`${silent.out}${silent.notes}`).not.toMatch(/kowalski|1970/i);
  expect((await lintel(environment, 'explain', query, '--values')).out).toMatch(/kowalski/i);
});

test('a search by words reports that no index serves it, a search by code does not', async () => {
  const { environment } = smallClinic();
  const words = await lintel(environment, 'explain', 'Patient?family=Kowalski');
  expect(words.out).toMatch(/no index has the words of PERSON\.\w+: they are looked at in each row/);
  const [, table = '', columns = ''] = /`lintel words (\w+) ([\w ]+)` prints/.exec(words.out) ?? [];
  const printed = await lintel(environment, 'words', table, ...columns.split(' '));
  expect(printed.code).toBe(0);
  expect(printed.out).toMatch(/^CREATE TABLE PERSON_WORDS \(/);
  expect((await lintel(environment, 'explain', 'Patient?gender=female')).out).not.toContain('no index has the words');
});

test('a mapping that cannot match is listed separately', async () => {
  const { environment } = smallClinic();
  const { out } = await lintel(environment, 'explain', 'Observation?code=http://loinc.org|8302-2');
  expect(out).toMatch(/cannot match +weights/);
  expect(out).not.toContain('SELECT');
});

test('ignored and refused parameters are reported as the server reports them', async () => {
  const { environment } = smallClinic();
  const lenient = await lintel(environment, 'explain', 'Patient?nonsense=1');
  expect(lenient.code).toBe(0);
  expect(lenient.out).toMatch(/left out: .*nonsense/);
  const strict = await lintel({ ...environment, HANDLING: 'strict' }, 'explain', 'Patient?nonsense=1');
  expect(strict.code).toBe(1);
  expect(strict.notes).toContain('nonsense');
});

test('the statements of child rows and of includes are shown, too', async () => {
  const { environment } = smallClinic({
    'person.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  extension:
    - each: { table: WEIGHING, as: w, on: { PERSON_ID: ID }, order: [NO] }
      item: { url: http://example.org/weight, valueDecimal: { from: w.KG } }
`,
  });
  const query = 'Observation?_include=Observation:subject&_sort=date';
  const { code, out } = await lintel(environment, 'explain', query);
  expect(code).toBe(0);
  expect(out.match(/^Statement: .*$/gm)).toEqual([
    'Statement: page of weights',
    'Statement: page of weights, rows without the value that sorts',
    'Statement: included: people',
    'Statement: WEIGHING of people',
  ]);
  expect(out).toContain('FROM WEIGHING AS w\n    WHERE w.PERSON_ID = ?');
});

test('the engine of the database is shown alone unless another is asked for', async () => {
  const { environment } = smallClinic();
  const own = await lintel(environment, 'explain', 'Patient?_id=1');
  expect(own.out).toContain('\n  SQLite\n');
  expect(own.out).not.toContain('SQL Server');
  const other = await lintel(environment, 'explain', 'Patient?_id=1', '--engine', 'mssql');
  expect(other.out).toContain('\n  SQL Server\n');
  expect(other.out).not.toContain('\n  SQLite\n');
  const wrong = await lintel(environment, 'explain', 'Patient?_id=1', '--engine', 'oracle');
  expect(wrong).toMatchObject({
    code: 2,
    notes: '--engine: expected sqlite, mssql or all, found "oracle"\nlintel explain --help explains it.',
  });
});

test('a search of a type with twenty mappings fits a screen; one of them is shown in full when it is named', async () => {
  const demo = temporaryFolder();
  const environment = { DATA_DIR: demo };
  const query = 'Observation?patient=1&code=8480-6';
  const { out } = await lintel(environment, 'explain', query);
  expect(out.split('\n').length).toBeLessThan(50);
  expect(Math.max(...out.split('\n').map(line => line.length))).toBeLessThan(140);
  expect(out).not.toContain('SELECT');
  const one = await lintel(environment, 'explain', query, '--mapping', 'bedside-results');
  expect(one.out).toContain('Statement: page of bedside-results');
  expect(one.out).not.toContain('page of lab-results');
  expect(one.out.match(/^Lineage of .*$/gm)).toEqual(['Lineage of bedside-results']);
  const variants = await lintel(environment, 'explain', 'Observation?patient=1', '--mapping', 'vital-signs');
  expect(variants.out.match(/^Lineage of vital-signs\.\w/gm)?.length).toBeGreaterThan(1);
  expect(variants.out).not.toContain('Lineage of lab-results');
  const unknown = await lintel(environment, 'explain', query, '--mapping', 'beside-results');
  expect(unknown.code).toBe(2);
  expect(unknown.notes).toMatch(
    /^--mapping: expected one of lab-results, bedside-results.*; found beside-results; did you mean bedside-results\?/,
  );
});

test('--json prints one object, without values', async () => {
  const { environment } = smallClinic();
  const { code, out } = await lintel(environment, 'explain', 'Patient?family=Kowalski', '--json');
  expect(code).toBe(0);
  expect(out).not.toMatch(/kowalski/i);
  expect(JSON.parse(out)).toMatchObject({
    query: { type: 'Patient' },
    mappings: [{ name: 'people', read: true }],
    statements: [{ purpose: 'page of people', sqlite: { text: expect.stringContaining('SELECT') } }],
    lineage: expect.arrayContaining([expect.objectContaining({ mapping: 'people', element: 'birthDate' })]),
  });
});
