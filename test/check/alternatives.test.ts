/**
 * Values that one alternative of a `first` does not read are lost only if no other alternative gives the element. The
 * counts of `check` and `codes unmapped` judge the alternatives, and the mappings of one table, together.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { ROWS } from '../../src/check/rows.ts';
import { lintel } from '../cli/lintel.ts';
import { PACK_YAML, smallClinic } from '../cli/small-clinic.ts';
import { check, open, told } from './opened.ts';

const CODES = `vital:
  system: loinc
  rows: { HR: 8867-4, RR: 9279-1, OLD: absent }
lab:
  system: loinc
  rows: { GLU: 2345-7, NA: 2951-2 }
listed:
  table: TERM
  key: [CD]
  code: LOINC
  system: loinc
listed-too:
  table: TERM2
  key: [CD]
  code: LOINC
  system: loinc
`;

const HEAD = `resource: Observation
source: { table: OBS, as: o, key: [NO] }
`;
const SUBJECT = `  status: final
  subject: { ref: people, on: { ID: PERSON_ID } }
`;

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements: { active: "true" }
`;

/** A clinic with one table of observations; `elements` are those of its mapping. */
function clinicWith(rows: string, elements: string, files: Readonly<Record<string, string>> = {}) {
  const made = smallClinic({
    'pack.yaml': PACK_YAML.replace('systems: {', 'systems: { icd10: http://hl7.org/fhir/sid/icd-10-cm,'),
    'person.yaml': PERSON,
    'codes.yaml': CODES,
    'weighing.yaml': `mapping: observations\n${HEAD}id: "{NO}"\nneeds: [subject]\nelements:\n  code: loinc#8867-4\n${SUBJECT}${elements}`,
    ...files,
  });
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`CREATE TABLE OBS (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER DEFAULT 1 NOT NULL,
      CD VARCHAR(20) COLLATE RTRIM, VER INTEGER, VAL VARCHAR(20) COLLATE RTRIM, AT VARCHAR(20) COLLATE RTRIM,
      SEEN DATE, OTHER DATE);
    CREATE INDEX OBS_PERSON ON OBS (PERSON_ID);
    CREATE TABLE TERM (CD VARCHAR(20) COLLATE RTRIM PRIMARY KEY NOT NULL, LOINC VARCHAR(10) COLLATE RTRIM);
    CREATE TABLE TERM2 (CD VARCHAR(20) COLLATE RTRIM PRIMARY KEY NOT NULL, LOINC VARCHAR(10) COLLATE RTRIM);
    INSERT INTO TERM VALUES ('HR', '8867-4'), ('RR', '9279-1');
    INSERT INTO TERM2 VALUES ('GLU', '2345-7'), ('NA', '2951-2');
    ${rows}`);
  writer.close();
  return made;
}

/** Inserts `of` rows for each list of values. */
const rowsOf = (columns: string, of: number, ...values: readonly string[]): string =>
  values
    .map(
      one => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${of})
      INSERT INTO OBS (${columns}) SELECT ${one} FROM n;`,
    )
    .join('\n');

const CODED = rowsOf('CD, VER', 25, "'HR', 1", "'RR', 1", "'GLU', 2", "'NA', 2");

const both = async (made: ReturnType<typeof clinicWith>) => ({
  unmapped: (await lintel(made.environment, 'codes', 'unmapped')).out,
  check: (await lintel(made.environment, 'check')).out,
});

test.each([
  ['rows of the pack', 'vital', 'lab'],
  ['tables', 'listed', 'listed-too'],
])('codes that another alternative of a `first` reads have a row: %s', async (_, one, other) => {
  const made = clinicWith(CODED, `  method: { first: [{ from: CD, via: ${one} }, { from: CD, via: ${other} }] }\n`);
  const { unmapped, check: checked } = await both(made);
  expect(unmapped).toBe('Every value that a code map reads has a row.');
  expect(checked).not.toContain('LNT-705');
});

test.each([
  ['rows of the pack', 'vital', 'lab'],
  ['tables', 'listed', 'listed-too'],
])('codes that no alternative reads are counted once, at the last: %s', async (_, one, other) => {
  const rows = `${CODED} ${rowsOf('CD, VER', 3, "'XX', 1")}`;
  const made = clinicWith(rows, `  method: { first: [{ from: CD, via: ${one} }, { from: CD, via: ${other} }] }\n`);
  const { unmapped, check: checked } = await both(made);
  expect(unmapped).toContain(`${other}: 1 value of OBS.CD in 3 rows`);
  expect(unmapped).toContain(`${one}: 1 value of OBS.CD in 3 rows; an else stands in for it`);
  expect(checked).toContain(`code map ${other} has no row for 1 value of CD`);
  expect(checked).not.toContain(`code map ${one} has no row`);
});

test.each([
  ['rows of the pack', 'vital', 'lab'],
  ['tables', 'listed', 'listed-too'],
])('codes of rows that the `if` of the code leaves to another are not counted: %s', async (_, one, other) => {
  const made = clinicWith(
    `${CODED} ${rowsOf('CD, VER', 2, "'YY', 2")}`,
    `  method:
    coding:
      - { from: CD, via: ${one}, if: { VER: 1 } }
      - { from: CD, via: ${other}, if: { VER: 2 } }
`,
  );
  const { unmapped } = await both(made);
  expect(unmapped).not.toContain(`${one}:`);
  expect(unmapped).toContain(`${other}: 1 value of OBS.CD in 2 rows`);
});

test('a code that an earlier map makes absent is known', async () => {
  const made = clinicWith(
    `${CODED} ${rowsOf('CD, VER', 2, "'OLD', 1")}`,
    '  method: { first: [{ from: CD, via: vital }, { from: CD, via: lab }] }\n',
  );
  expect((await both(made)).unmapped).toBe('Every value that a code map reads has a row.');
});

test('a table of codes with an `else` beside it is marked so, and no warning of `check`', async () => {
  const made = clinicWith(CODED, '  method: { first: [{ from: CD, via: listed }, { text: { from: CD } }] }\n');
  const { unmapped, check: checked } = await both(made);
  expect(unmapped).toContain('listed: 2 values of OBS.CD in 50 rows; an else stands in for them');
  expect(checked).not.toContain('LNT-705');
});

test.each([
  ['rows of the pack', 'vital', 'lab'],
  ['tables', 'listed', 'listed-too'],
])('codes by which mappings share the rows of a table have a row: %s', async (_, one, other) => {
  const mappingOf = (name: string, map: string): string =>
    `mapping: ${name}\n${HEAD}id: "${name}-{NO}"\nneeds: [code, subject]\nelements:\n${SUBJECT}  code: { from: CD, via: ${map} }\n`;
  const rows = `${CODED} ${rowsOf('CD, VER', 3, "'XX', 1")}`;
  const made = clinicWith(rows, '', {
    'weighing.yaml': `${mappingOf('vitals', one)}---\n${mappingOf('labs', other)}`,
  });
  const { unmapped, check: checked } = await both(made);
  expect(unmapped).toContain(`${one}: 1 value of OBS.CD in 3 rows`);
  expect(unmapped).toContain(`${other}: 1 value of OBS.CD in 3 rows`);
  expect(checked).toMatch(/1 value of CD[^\n]*LNT-705/);
  expect(checked).not.toMatch(/[2-9] values of CD[^\n]*LNT-705/);
});

test('codes of child rows are those of the rows that the mapping reads', async () => {
  const mappingOf = (name: string, of: string, map: string): string => `mapping: ${name}
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { SEX: ${of} } }
id: "${name}-{ID}"
elements:
  contact:
    - each: { table: OBS, as: o, on: { PERSON_ID: ID }, order: [NO] }
      elements: { relationship: [{ from: CD, via: ${map} }] }
`;
  const rows = rowsOf('CD, PERSON_ID', 25, "'HR', 1", "'GLU', 2");
  const made = clinicWith(rows, '', {
    'person.yaml': `${mappingOf('women', 'F', 'vital')}---\n${mappingOf('men', 'M', 'lab')}`,
    'weighing.yaml': '',
  });
  const { unmapped, check: checked } = await both(made);
  expect(unmapped).toBe('Every value that a code map reads has a row.');
  expect(checked).not.toMatch(/LNT-70[589]/);
});

test('pieces that an earlier alternative reads have a row', async () => {
  const made = clinicWith(
    `${rowsOf('CD', 25, "'HR;GLU'", "'NA'")}`,
    `  method:
    coding:
      - each: { split: CD, by: ";", as: d }
        item: { first: [{ from: d.piece, via: vital }, { from: d.piece, via: lab }] }
`,
  );
  expect((await both(made)).check).not.toContain('LNT-705');
});

async function problemsWith(rows: string, elements: string): Promise<readonly string[]> {
  const opened = await open(clinicWith(rows, elements));
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  return problems.filter(problem => !problem.includes('takes this alternative of `first`'));
}

const DATES = rowsOf('CD, AT', 25, "'HR', '20240101'", "'HR', '01/02/2024'");

test.each([
  ['a `first`', '{ first: [{ from: AT, via: ymd8 }, { from: AT, via: [{ written: DD/MM/YYYY }, ymd8] }] }'],
  ['an `else` of another column', '{ from: AT, via: ymd8, else: { from: SEEN } }'],
])('texts that another alternative reads are not lost: %s', async (_, effective) => {
  const rows = `${DATES} UPDATE OBS SET SEEN = '2024-02-02';`;
  expect(await problemsWith(rows, `  effectiveDateTime: ${effective}\n`)).toEqual([]);
});

test('texts that no alternative reads are lost', async () => {
  const rows = `${DATES} UPDATE OBS SET SEEN = '2024-02-02' WHERE NO % 2 = 0;`;
  const [problem, ...more] = await problemsWith(
    rows,
    `  effectiveDateTime: { from: AT, via: ymd8, else: { from: SEEN } }\n`,
  );
  expect(problem).toMatch(/effectiveDateTime is absent in 1[23] rows though AT has a value/);
  expect(more).toEqual([]);
});

test('an alternative that no row takes loses nothing if the others read its column', async () => {
  const rows = rowsOf('CD', 25, "'LOINC:8867-4'", "'LOINC:9279-1'");
  const coded = (prefix: string, system: string): string =>
    `{ system: ${system}, code: { from: CD, via: [{ prefix: "${prefix}" }, code] } }`;
  const list = [coded('ICD10CM:', 'icd10'), coded('LOINC:', 'loinc')];
  for (const coding of [`[{ first: [${list.join(', ')}] }]`, `[${list.join(', ')}]`])
    expect(await problemsWith(rows, `  method: { coding: ${coding} }\n`)).toEqual([]);
});

test('a prefix that no value has is reported if nothing else reads the column', async () => {
  const rows = rowsOf('CD', 25, "'LOINC:8867-4'");
  const coding = '[{ system: icd10, code: { from: CD, via: [{ prefix: "ICD10CM:" }, code] } }]';
  const [problem] = await problemsWith(rows, `  method: { coding: ${coding} }\n`);
  expect(problem).toContain('method.coding.code is never emitted though CD has a value');
});

test('a value that is read for another element is lost for this one', async () => {
  const rows = rowsOf('CD, VAL', 25, "'HR', 'abc'");
  const elements = `  valueQuantity: { value: { from: VAL, via: number } }\n  note: [{ text: { from: VAL } }]\n`;
  const [problem] = await problemsWith(rows, elements);
  expect(problem).toContain('valueQuantity.value is never emitted though VAL has a value');
});

test('an unlikely date behind an earlier alternative is not emitted', async () => {
  const rows = rowsOf('CD, SEEN, OTHER', 25, "'HR', '2024-01-01', '9999-12-31'", "'HR', NULL, '2024-01-01'");
  expect(await problemsWith(rows, `  effectiveDateTime: { from: SEEN, else: { from: OTHER } }\n`)).toEqual([]);
  const [problem] = await problemsWith(rows, `  effectiveDateTime: { from: OTHER, else: { from: SEEN } }\n`);
  expect(problem).toContain('in 25 rows of OTHER');
});

test('references that another alternative of a `first` makes do not lead nowhere', async () => {
  const place = `---
mapping: places
resource: Organization
source: { table: TERM, as: t, key: [CD] }
id: "{CD}"
compartment: { none: places }
elements: { active: "true" }
`;
  const rows = rowsOf('CD, VAL', 25, "'HR', '1'");
  const performer = '[{ first: [{ ref: people, on: { ID: PERSON_ID } }, { ref: places, on: { CD: VAL } }] }]';
  const made = clinicWith(rows, `  performer: ${performer}\n`, { 'person.yaml': PERSON + place });
  expect((await both(made)).check).not.toContain('no reference to places finds a row');
});

test('values of child rows are those of the rows that the mapping serves', async () => {
  const mappingOf = (name: string, of: string, value: string): string => `mapping: ${name}
resource: Patient
source: { table: PERSON, as: p, key: [ID], where: { SEX: ${of} } }
id: "${name}-{ID}"
elements:
  contact:
    - each: { table: OBS, as: o, on: { PERSON_ID: ID }, order: [NO] }
      elements: { name: { text: ${value} } }
`;
  const rows = rowsOf('CD, PERSON_ID', 25, "'A:x', 1", "'B:x', 2");
  const read = (prefix: string): string => `{ from: CD, via: [{ prefix: "${prefix}" }, text] }`;
  const people = (one: string, other: string): string =>
    `${mappingOf('women', 'F', read(one))}---\n${mappingOf('men', 'M', read(other))}`;
  const problemsOf = async (pack: string): Promise<readonly string[]> => {
    const opened = await open(clinicWith(rows, '', { 'person.yaml': pack, 'weighing.yaml': '' }));
    const problems = told(await check(opened, { sections: [ROWS] }));
    await opened.close();
    return problems;
  };
  expect(await problemsOf(people('A:', 'B:'))).toEqual([]);
  expect(await problemsOf(people('A:', 'C:'))).toEqual([
    expect.stringContaining('never emitted though CD has a value'),
  ]);
});

test.each([
  ['an `sql`', '{ sql: "datetime({o.WHEN_AT}, \'unixepoch\')", type: datetime, if: { VER: 1 } }'],
  ['`epoch`', '{ from: WHEN_AT, via: epoch }'],
])('numbers in a column of dates that %s reads are not absent', async (_, first) => {
  const rows = `ALTER TABLE OBS ADD WHEN_AT DATETIME;
    ${rowsOf('CD, VER, WHEN_AT', 25, "'HR', 1, 1710059400", "'HR', 2, '2024-03-10 08:30:00'")}`;
  const formsOf = async (effective: string): Promise<string> =>
    (await lintel(clinicWith(rows, `  effectiveDateTime: ${effective}\n`).environment, 'check')).out;
  expect(await formsOf(`{ first: [${first}, { from: WHEN_AT }] }`)).not.toContain('holds no date');
  expect(await formsOf('{ from: WHEN_AT }')).toContain('holds no date in 25 rows');
});

test('an alternative of a fragment is unused only if no mapping takes it', async () => {
  const mapping = (name: string, cd: string) => `mapping: ${name}
resource: Observation
source: { table: OBS, as: o, key: [NO], where: { CD: ${cd} } }
id: "${name}-{NO}"
needs: [subject]
elements:
  code: loinc#8867-4
${SUBJECT}  insert: value
`;
  const fragment = `fragments:
  value:
    first:
      - valueString: { from: VAL }
      - valueDateTime: { from: SEEN }
      - valueDateTime: { from: OTHER }
      - valueString: { from: CD }
`;
  const made = clinicWith(
    `${rowsOf('CD, VAL', 30, "'A', 'high'")}; ${rowsOf('CD, SEEN', 30, "'B', '2024-03-10'")};`,
    '',
    {
      'pack.yaml': PACK_YAML + fragment,
      'weighing.yaml': `${mapping('texts', 'A')}---\n${mapping('days', 'B')}`,
    },
  );
  const opened = await open(made);
  const problems = told(await check(opened, { sections: [ROWS] }));
  await opened.close();
  expect(problems.filter(problem => problem.includes('takes this alternative'))).toEqual([
    expect.stringMatching(
      /^pack\.yaml:10:24: warning: no row of 30 takes this alternative of `first`; found it is there in none/,
    ),
  ]);
});

test('no later alternative stands in for a part without which the object is there', async () => {
  const elements = `  first:
    - valueQuantity: { value: { from: VER }, comparator: { from: CD, via: comparator } }
    - valueString: { from: VAL }
`;
  const made = clinicWith(rowsOf('CD, VER, VAL', 30, "'~', 5, 'five'", "'<', 5, 'five'"), elements, {
    'codes.yaml': 'comparator: { rows: { "<": "<" } }\n',
  });
  const { out } = await lintel(made.environment, 'codes', 'unmapped');
  expect(out).toMatch(/^comparator: 1 value of OBS\.CD in 30 rows {2}\(/m);
  const checked = await lintel(made.environment, 'check');
  expect(checked.out).toMatch(/warning: code map comparator has no row for 1 value of CD in 30 rows; found ~ \(30\)/);
});
