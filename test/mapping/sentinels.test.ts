/** A value that means "no value" does so wherever a mapping reads the column. */
import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { openSmall, searchSmall } from '../plan/small-pack.ts';
import { catalog } from './load/catalog.ts';
import { ACTIVE, load, problemsOf, problemsOfSource, SMALL } from './load/problems-of.ts';

const SCHEMA = `
CREATE TABLE PT (NO INT NOT NULL PRIMARY KEY, DIED DATETIME, GONE CHAR(8) COLLATE RTRIM, PHONE VARCHAR(20) COLLATE RTRIM,
  RANK INT, OTHER INT, UPD DATETIME);
CREATE INDEX PT_UPD ON PT (UPD);
INSERT INTO PT VALUES
  (1, '2020-05-01 10:00:00.000', '20200501', '555-1', 5, 5, '2024-01-01 00:00:00.000'),
  (2, '1753-01-01 00:00:00.000', '17530101', 'N/A', -1, -1, '9999-12-31 00:00:00.000'),
  (3, '9999-12-31 00:00:00.000', '00000000', '555-1', 7, -1, '1753-01-01 00:00:00.000'),
  (4, NULL, NULL, NULL, NULL, NULL, NULL);
`;

const RULES = 'absent: { text: [N/A], number: ["-1"], date: ["1753-01-01", "9999-12-31", "0000-00-00"] }';
const PACK = `name: small\ntitle: Small\nzone: UTC\n${RULES}\n`;

/** Returns the ids of rows that satisfy a condition; SQL and the resources must agree. */
async function holding(condition: string): Promise<readonly string[]> {
  const mapping = `mapping: people
resource: Patient
source: { table: PT, as: p, key: [NO], changed: UPD }
id: "{NO}"
elements:
  active: { first: [{ const: "true", if: ${condition} }, "false"] }
  deceasedDateTime: { from: GONE, via: ymd8 }
  telecom: [{ system: phone, value: { from: PHONE } }]
`;
  const pack = { 'pack.yaml': PACK, 'm.yaml': mapping };
  const { ids } = await searchSmall(SCHEMA, pack, 'Patient?active=true');
  const { ids: rest } = await searchSmall(SCHEMA, pack, 'Patient?active=false');
  expect([...ids, ...rest].toSorted()).toEqual(['1', '2', '3', '4']);
  const emitted = await searchSmall(SCHEMA, pack, 'Patient');
  expect(emitted.resources.filter(({ active }) => active === true).map(({ id }) => id)).toEqual(ids);
  return ids;
}

describe('a condition on a value that means "no value"', () => {
  test.each([
    ['{ present: [DIED] }', ['1']],
    ['{ absent: [DIED] }', ['2', '3', '4']],
    ['{ present: [PHONE] }', ['1', '3']],
    ['{ present: [RANK] }', ['1', '3']],
    ['{ DIED: { before: now } }', ['1']],
    ['{ DIED: { after: now } }', []],
    ['{ DIED: { not: { before: now } } }', ['2', '3', '4']],
    ['{ DIED: { lt: "2024-01-01" } }', ['1']],
    ['{ DIED: { gt: "1900-01-01" } }', ['1']],
    ['{ DIED: { gt: "1753-01-01", lt: "9999-12-31" } }', ['1']],
    ['{ RANK: { lt: 6 } }', ['1']],
    ['{ RANK: { not: { lt: 6 } } }', ['2', '3', '4']],
    ['{ RANK: { same-as: OTHER } }', ['1']],
    ['{ OTHER: { same-as: p.RANK } }', ['1']],
    ['{ PHONE: { matches: "*" } }', ['1', '3']],
    ['{ PHONE: { gt: "6" } }', []],
  ])('%s is false', async (condition, ids) => {
    expect(await holding(condition)).toEqual(ids);
  });

  test('applies to a text column that any date codec of the pack reads', async () => {
    expect(await holding('{ present: [GONE] }')).toEqual(['1']);
    expect(await holding('{ GONE: { lt: "20240101" } }')).toEqual(['1']);
    expect(await holding('{ GONE: { before: now, via: ymd8 } }')).toEqual(['1']);
  });

  test('matches if the condition names that very value', async () => {
    expect(await holding('{ PHONE: N/A }')).toEqual(['2']);
    expect(await holding('{ RANK: { not: "-1" } }')).toEqual(['1', '3', '4']);
  });
});

describe('a time of change that means "no value"', () => {
  const pack = (changed: string): Readonly<Record<string, string>> => ({
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'm.yaml': `mapping: people
resource: Patient
source: { table: PT, as: p, key: [NO], changed: ${changed} }
id: "{NO}"
elements:
  active: "true"
`,
  });
  const found = async (changed: string, query: string) => searchSmall(SCHEMA, pack(changed), `Patient?${query}`);

  test.each([
    ['{ from: UPD, none: ["1753-01-01", "9999-12-31"] }'],
    ['{ from: UPD, if: { UPD: { gt: "1753-01-01", lt: "9999-12-31" } } }'],
  ])('is no lastUpdated, matches nothing and sorts last: %s', async changed => {
    const { resources } = await found(changed, '');
    expect(resources.map(({ meta }) => meta?.lastUpdated)).toEqual([
      '2024-01-01T00:00:00.000Z',
      ...[undefined, undefined, undefined],
    ]);
    expect((await found(changed, '_lastUpdated=gt1000')).ids).toEqual(['1']);
    expect((await found(changed, '_lastUpdated=lt9999-12')).ids).toEqual(['1']);
    expect((await found(changed, '_sort=_lastUpdated')).ids).toEqual(['1', '2', '3', '4']);
    expect((await found(changed, '_sort=-_lastUpdated')).ids).toEqual(['1', '2', '3', '4']);
  });
});

describe('a rule that means nothing is refused', () => {
  const problems = (absent: string) => problemsOf({ 'pack.yaml': `${SMALL}absent: ${absent}\n`, 'm.yaml': ACTIVE });

  test('a word among dates or numbers', () => {
    expect(problems('{ date: [hello] }')).toEqual([
      'pack.yaml:5:18: rule of `absent` that is not a date; expected a date as rows have it, such as 0000-00-00 or 17530101; words stand under `text`; found hello',
    ]);
    expect(problems('{ number: [N/A] }')).toEqual([
      'pack.yaml:5:20: rule of `absent` that is not a number; expected a number, such as 0 or -1; found N/A',
    ]);
    expect(
      problems('{ date: ["00000000", "0000-00-00 00:00:00", "1899-12-30", "0"], number: ["-1", "9.99"] }'),
    ).toEqual([]);
  });

  test('a value that the column cannot hold, also for an unread column', () => {
    expect(problems('{ columns: { dbo.PT.UPD_DTM: [soon] } }')).toEqual([
      'pack.yaml:5:39: literal not of the type of column UPD_DTM; expected a date and time, 2024-01-31 or 2024-01-31 08:30:00; found soon',
    ]);
  });

  test('a date that the engine cannot keep in a column of dates; SQLite keeps any text', () => {
    const of = (absent: string, engine: string): readonly string[] => {
      const files = { 'pack.yaml': `${SMALL}absent: ${absent}\n`, 'm.yaml': ACTIVE };
      return load(files, { ...catalog, engine }).problems.map(formatProblem);
    };
    for (const zero of ['0000-00-00', '0000-00-00 00:00:00', '0001-01-01']) {
      const rule = `{ columns: { dbo.PT.UPD_DTM: ["${zero}"] } }`;
      expect(of(rule, 'mssql')).toEqual([expect.stringMatching(/literal not of the type of column UPD_DTM/)]);
      expect(of(rule, 'sqlite')).toEqual([]);
    }
    expect(of('{ date: ["0000-00-00", "0001-01-01"] }', 'mssql')).toEqual([]);
  });

  test('a condition equal to a sentinel of its column', () => {
    const files = {
      'pack.yaml': `${SMALL}absent: { columns: { dbo.PT.SEX: [U] } }\n`,
      'm.yaml': ACTIVE.replace(/^source: .*/m, 'source: { table: dbo.PT, as: p, key: [PT_NO], where: { SEX: U } }'),
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:3:61: by `absent` of pack.yaml U is no value of column SEX; expected `absent: [SEX]` or `present: [SEX]`; found U',
    ]);
  });

  test('another key in `changed`', () => {
    const [problem] = problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], changed: { from: UPD_DTM, else: x } }');
    expect(problem).toBe('m.yaml:3:73: `else` is not allowed here');
  });
});

test('a sentinel date means "no value" in any stored form of SQLite', async () => {
  const schema = `
CREATE TABLE PT (NO INTEGER PRIMARY KEY, DIED DATETIME, BORN DATE, UPD TIMESTAMP);
INSERT INTO PT VALUES
  (1, '1753-01-01', '1753-01-01 00:00:00', '1753-01-01T00:00:00'),
  (2, '1753-01-01 00:00:00', '0000-00-00', '0000-00-00 00:00:00'),
  (3, '1753-01-01 00:00:00.000', '1753-01-01', '2024-01-01 10:00'),
  (4, '0000-00-00', '0000-00-00 00:00:00', NULL),
  (5, '2020-05-01 10:00', '1960-01-01', '2024-01-02T10:00:00Z');
`;
  const pack = {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nabsent: { date: ["1753-01-01", "0000-00-00"] }\n',
    'm.yaml': `mapping: people
resource: Patient
source: { table: PT, as: p, key: [NO], changed: UPD }
id: "{NO}"
elements:
  birthDate: { from: BORN }
  deceasedBoolean: { first: [{ const: "true", if: { present: [DIED] } }, "false"] }
`,
  };
  const search = await openSmall(schema, pack);
  expect((await search('Patient?deceased=true')).ids).toEqual(['5']);
  expect((await search('Patient?birthdate:missing=false')).ids).toEqual(['5']);
  expect((await search('Patient?birthdate=lt1900')).ids).toEqual([]);
  expect((await search('Patient?_lastUpdated=lt2030')).ids).toEqual(['3', '5']);
  expect((await search('Patient?_sort=-_lastUpdated')).ids).toEqual(['5', '3', '1', '2', '4']);
  const { resources } = await search('Patient');
  expect(resources.map(one => [one['deceasedBoolean'], one['birthDate'], one.meta?.lastUpdated?.slice(0, 10)])).toEqual(
    [
      [false, undefined, undefined],
      [false, undefined, undefined],
      [false, undefined, '2024-01-01'],
      [false, undefined, undefined],
      [true, '1960-01-01', '2024-01-02'],
    ],
  );
});

describe('a date rule reaches days that are counted', () => {
  const pack = (via: string, type: string, rows: readonly (string | number)[]) => ({
    schema: `CREATE TABLE PT (NO INT NOT NULL PRIMARY KEY, BORN ${type});
      INSERT INTO PT VALUES ${rows.map((raw, i) => `(${i + 1}, ${typeof raw === 'number' ? raw : `'${raw}'`})`).join(', ')};`,
    files: {
      'pack.yaml': `name: small\ntitle: Small\nzone: UTC\nabsent: { date: ["1950-01-01", "9999-12-31"] }\n`,
      'm.yaml': `mapping: people
resource: Patient
source: { table: PT, as: p, key: [NO] }
id: "{NO}"
elements:
  active: { const: "true", if: { present: [BORN] } }
  birthDate: { from: BORN, via: ${via} }
`,
    },
  });

  // The first row is a day; the others are sentinels.
  test.each([
    ['{ ymd8: { since: 1900 } }', 'DECIMAL(9,0)', [1_240_314, 500_101]],
    ['{ ymd8: { since: 1900 } }', 'VARCHAR(9)', ['1240314', '500101', '0500101']],
    ['{ ymd8: { since: 1700 } }', 'INTEGER', [3_240_314, 2_500_101, 82_991_231]],
    ['{ days: { since: 1840-12-31 } }', 'INTEGER', [66_913, 39_812, 2_980_013]],
    ['{ days: { since: 1899-12-30 } }', 'REAL', [45_365.5, 18_264, 2_958_465]],
    ['{ days: { since: 1899-12-30 } }', 'VARCHAR(20)', ['45365.5', '18264', '2958465']],
    ['{ yddd: { since: 1900 } }', 'INTEGER', [124_074, 50_001]],
    ['{ yddd: { since: 1900 } }', 'VARCHAR(6)', ['124074', '50001', '050001']],
    ['yddd', 'CHAR(7)', ['2024074', '1950001', '9999365']],
    ['horolog', 'VARCHAR(20)', ['66913,30600', '39812', '39812,0', '2980013']],
    ['dtm', 'VARCHAR(26)', ['202403140830-0500', '19500101', '195001010000', '99991231']],
    ['iso', 'VARCHAR(26)', ['2024-03-14T08:30-05:00', '1950-01-01', '1950-01-01T00:00:00Z', '9999-12-31 00:00:00']],
    ['{ ymd14: { since: 1700 } }', 'NUMERIC', [3_240_314.083, 2_500_101, 82_991_231]],
    ['{ ymd14: { since: 1700 } }', 'VARCHAR(14)', ['3240314.083', '2500101']],
    ['epoch', 'BIGINT', [1_710_406_800, -631_152_000, 253_402_214_400]],
    ['{ epoch: { zone: UTC } }', 'INTEGER', [1_710_374_400, -631_152_000]],
    ['{ epoch: { unit: milliseconds } }', 'REAL', [1_710_406_800_000, -631_152_000_000]],
    ['julian', 'REAL', [2_460_383.5, 2_433_282.5]],
  ])('by %s in %s', async (via, type, rows) => {
    const { schema, files } = pack(via, type, rows);
    const { resources } = await searchSmall(schema, files, 'Patient');
    expect(resources.map(one => [one['birthDate'], one['active']])).toEqual([
      ['2024-03-14', true],
      ...rows.slice(1).map(() => [undefined, undefined]),
    ]);
    expect((await searchSmall(schema, files, 'Patient?birthdate:missing=false')).ids).toEqual(['1']);
    expect((await searchSmall(schema, files, 'Patient?birthdate=lt9999-12-31T23:00:00Z')).ids).toEqual(['1']);
    expect((await searchSmall(schema, files, 'Patient?active=true')).ids).toEqual(['1']);
  });

  // Programs count from midnight of the local clock, or of UTC.
  test.each([
    ['epoch', 'BIGINT', [1_710_421_200, -631_134_000, -631_152_000]],
    ['{ epoch: { unit: milliseconds } }', 'BIGINT', [1_710_421_200_000, -631_134_000_000, -631_152_000_000]],
  ])('by %s in %s, at midnight of the zone of the pack and of UTC', async (via, type, rows) => {
    const { schema, files } = pack(via, type, rows);
    const local = { ...files, 'pack.yaml': files['pack.yaml'].replace('zone: UTC', 'zone: America/New_York') };
    const { resources } = await searchSmall(schema, local, 'Patient');
    expect(resources.map(one => one['birthDate'])).toEqual(['2024-03-14', undefined, undefined]);
    expect((await searchSmall(schema, local, 'Patient?birthdate:missing=true')).ids).toEqual(['2', '3']);
  });
});

describe('a rule for several columns', () => {
  const CODED = `CREATE TABLE PT (NO INT NOT NULL PRIMARY KEY, RACE_CD INT, SEX_CD INT, MARK_FL BIT, RANK INT,
    BORN_DT INT, TITLE_TX VARCHAR(10) COLLATE RTRIM);
INSERT INTO PT VALUES (1, 0, 1, 0, 0, 0, '0'), (2, 5, 0, 1, 5, 20240314, 'Dr');
`;
  const mapping = (more = ''): string => `mapping: people
resource: Patient
source: { table: PT, as: p, key: [NO] }
id: "{NO}"
elements:
  active: { from: MARK_FL }
  deceasedBoolean: { const: "true", if: { present: [RACE_CD] } }
  gender: { from: SEX_CD, via: sex }
  birthDate: { from: BORN_DT, via: ymd8 }
  maritalStatus: { text: { from: RANK } }
  name: [{ prefix: [{ from: TITLE_TX }], text: { from: RACE_CD } }]
${more}`;
  const files = (columns: string) => ({
    'pack.yaml': `name: small\ntitle: Small\nzone: UTC\nabsent: { columns: ${columns} }\n`,
    'codes.yaml': 'sex:\n  rows: { 0: unknown, 1: female }\n',
    'm.yaml': mapping(),
  });

  test.each([
    ['{ "PT.*_CD": ["0"] }', 'of a table by their names', { maritalStatus: { text: '0' }, name: [{ prefix: ['0'] }] }],
    [
      '{ "*.*_CD": ["0"] }',
      'of all tables by their names',
      { maritalStatus: { text: '0' }, name: [{ prefix: ['0'] }] },
    ],
    ['{ "PT.*": ["0"] }', 'of a table', {}],
    ['{ "*.*": ["0"] }', 'of all tables', {}],
  ])('%s: columns %s; a truth value and a code with a row keep theirs', async (columns, _, rest) => {
    const { resources } = await searchSmall(CODED, files(columns), 'Patient');
    expect(resources).toEqual([
      { resourceType: 'Patient', id: '1', active: false, gender: 'female', ...rest },
      expect.objectContaining({ deceasedBoolean: true, gender: 'unknown', name: [{ text: '5', prefix: ['Dr'] }] }),
    ]);
    expect((await searchSmall(CODED, files(columns), 'Patient?name:missing=false')).ids).toEqual(
      'name' in rest ? ['1', '2'] : ['2'],
    );
  });

  const problemsWith = (columns: string) =>
    problemsOf({ 'm.yaml': ACTIVE, 'pack.yaml': `${SMALL}absent: { columns: ${columns} }\n` });

  test('that fits no column is an error', () => {
    expect(problemsWith('{ "PT.*_XYZ": ["0"] }')).toEqual([
      expect.stringMatching(/^pack\.yaml:\d+:\d+: `absent` names no column; .*found PT\.\*_XYZ/),
    ]);
    expect(problemsWith('{ "NOWHERE.*": ["0"] }')).toEqual([expect.stringContaining('`absent` names no column')]);
    expect(problemsWith('{ "*_CD": ["0"] }')).toEqual([expect.stringContaining('`absent` names no column')]);
  });

  test('with a value that none of its columns can have is an error', () => {
    expect(problemsWith('{ "PT.PT_N*": [hello, "0"] }')).toEqual([
      expect.stringMatching(/no column of PT\.PT_N\* can have this value; .*found hello/),
    ]);
  });
});
