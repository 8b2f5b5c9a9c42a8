import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { checkLive } from '../../../src/mapping/check/live.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { rowReaders } from '../../../src/plan/row-readers.ts';
import type { Catalog } from '../../../src/sql/catalog.ts';
import type { Database } from '../../../src/sql/database.ts';
import { declaredType } from '../../../src/sql/engines.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { catalog } from '../load/catalog.ts';
import { ACTIVE, ALLERGIES, HEAD, load, PEOPLE } from '../load/problems-of.ts';

const folders: string[] = [];
const open: Database[] = [];

afterEach(async () => {
  for (const database of open.splice(0)) await database.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** Makes the tables of the test catalog, without keys, with these rows. */
function databaseWith(...inserts: readonly string[]): Database {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-check-'));
  folders.push(folder);
  const file = join(folder, 'legacy.db');
  const database = new DatabaseSync(file);
  for (const table of catalog.tables.values()) {
    const columns = [...table.columns.values()].map(
      ({ name, declared, nullable }) =>
        `${name} ${declared}${declared.includes('CHAR') ? ' COLLATE RTRIM' : ''}${nullable ? '' : ' NOT NULL'}`,
    );
    database.exec(`CREATE TABLE ${table.name} (${columns.join(', ')})`);
  }
  for (const insert of inserts) database.exec(`INSERT INTO ${insert}`);
  database.close();
  const opened = openSqlite(file);
  open.push(opened);
  return opened;
}

async function problemsOf(
  files: Readonly<Record<string, string>>,
  database: Database,
  locked?: Catalog,
): Promise<readonly string[]> {
  const { registry, problems } = load(files);
  if (!registry) throw new Error(problems.map(formatProblem).join('\n'));
  const check = { registry, database, readers: rowReaders(registry, Date.UTC(2024, 0, 1)) };
  return (await checkLive(locked ? { ...check, locked } : check)).map(formatProblem);
}

const UUIDS = ['A', 'B', 'C'].map(digit => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];

const people = { 'm.yaml': ACTIVE };

describe('the rows of a database show', () => {
  test('no problem of a pack that matches them', async () => {
    const database = databaseWith("PT (PT_NO, SEX, DEL_FL) VALUES (1, 'M', NULL), (2, 'F', 'Y')");
    expect(await problemsOf(people, database)).toEqual([]);
  });

  test('a key that is not unique', async () => {
    const database = databaseWith('PT (PT_NO) VALUES (1), (1), (2), (2), (2), (3)');
    expect(await problemsOf(people, database)).toEqual([
      'm.yaml:1:1: the key of people is not unique under `where`: 2 values in several rows',
    ]);
  });

  test('no duplicate key if the filter leaves one row of each', async () => {
    const database = databaseWith("PT (PT_NO, DEL_FL) VALUES (1, 'Y'), (1, NULL), (2, NULL)");
    const files = { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], where: { DEL_FL: { not: Y } }') };
    expect(await problemsOf(files, database)).toEqual([]);
  });

  test('a key that a required lookup duplicates', async () => {
    const database = databaseWith(
      "PT (PT_NO, SEX) VALUES (1, 'M')",
      "CD_LKUP (TBL_ID, CD) VALUES ('SEX', 'M'), ('GND', 'M')",
    );
    const lookup = 'lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, required: true } }';
    const files = { 'm.yaml': ACTIVE.replace('key: [PT_NO]', `key: [PT_NO], ${lookup}`) };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:1:1: the key of people is not unique under `where`: 1 value in several rows',
      'm.yaml:3:57: lookup c finds several rows for 1 value; expected `pick: [order]`, or a `where` that leaves one',
    ]);
  });

  test('a key that is NULL, and ids that cannot be written', async () => {
    const long = 'X'.repeat(12);
    const database = databaseWith(`PT (PT_NO, MRN) VALUES (1, NULL), (2, '  '), (3, 'a_b'), (4, '${long}'), (5, 'A')`);
    const files = {
      'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [MRN]').replace('{PT_NO}', `${'y'.repeat(53)}-{MRN}`),
    };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:1:1: the key of people is NULL in 1 row; expected columns with a value in every row, or a `where` that leaves the others out',
      'm.yaml:1:1: warning: 2 rows of people left out: the columns of the id are empty',
      'm.yaml:1:1: warning: 1 row of people left out: MRN has characters that no id has',
      'm.yaml:1:1: warning: 1 row of people left out: MRN is too long for an id',
    ]);
  });

  test('ids that several rows share', async () => {
    const database = databaseWith("PT (PT_NO, MRN) VALUES (1, 'A'), (2, 'A '), (3, 'a')");
    const files = { 'm.yaml': ACTIVE.replace('{PT_NO}', '{MRN}') };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:1:1: ids of people are not unique: 1 id of several rows',
    ]);
  });

  test('a lookup that finds several rows without `pick`', async () => {
    const database = databaseWith(
      "CD_LKUP (TBL_ID, CD, DESCR) VALUES ('SEX', 'M', 'a'), ('SEX', 'M', 'b'), ('SEX', 'F', 'c'), ('X', 'F', 'd')",
    );
    const withLookup = (rest: string): Readonly<Record<string, string>> => ({
      'm.yaml': ACTIVE.replace(
        'key: [PT_NO]',
        `key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, where: { TBL_ID: SEX }${rest} } }`,
      ),
    });
    expect(await problemsOf(withLookup(''), database)).toEqual([
      'm.yaml:3:57: lookup c finds several rows for 1 value; expected `pick: [order]`, or a `where` that leaves one',
    ]);
    expect(await problemsOf(withLookup(', pick: [DESCR]'), database)).toEqual([]);
  });

  test('a lookup with a condition on our row, as for a pointer to several tables, is counted without it', async () => {
    const files = {
      'm.yaml': ACTIVE.replace(
        'key: [PT_NO]',
        'key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: MRN }, where: { TBL_ID: SEX, p.SEX: M } } }',
      ),
    };
    const unique = "CD_LKUP (TBL_ID, CD, DESCR) VALUES ('SEX', 'M', 'a'), ('SEX', 'F', 'c'), ('X', 'F', 'd')";
    expect(await problemsOf(files, databaseWith(unique))).toEqual([]);
    expect(await problemsOf(files, databaseWith(`${unique}, ('SEX', 'F', 'e')`))).toEqual([
      'm.yaml:3:57: warning: lookup c cannot be counted: its `where` refers to p; expected `pick: [order]`, or columns in `on` that are unique without these conditions',
    ]);
  });

  test('a reference that finds several rows', async () => {
    const database = databaseWith("PT (PT_NO, MRN) VALUES (1, 'A'), (2, 'A')");
    const files = { ...people, 'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { MRN: ALG_TXT } }\n` };
    expect(await problemsOf(files, database)).toEqual([
      'n.yaml:7:12: reference finds several rows of people for 1 value; expected columns that are unique there',
    ]);
  });

  test('a reference or a lookup that finds several rows by a blank, and what keeps it from that', async () => {
    const database = databaseWith("PT (PT_NO, MRN) VALUES (1, 'A'), (2, ''), (3, ' ')");
    const referring = (rest: string) => ({
      ...people,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { MRN: ALG_TXT }${rest} }\n`,
    });
    expect(await problemsOf(referring(''), database)).toEqual([
      'n.yaml:7:12: reference finds several rows of people for the blank value; expected `if: { present: [ALG_TXT] }` of the reference',
    ]);
    expect(await problemsOf(referring(', if: { present: [ALG_TXT] }'), database)).toEqual([]);
    expect(await problemsOf(referring(', if: { none: { absent: [ALG_TXT] } }'), database)).toEqual([]);
    expect(
      await problemsOf(referring(', if: { any: [{ present: [ALG_TXT] }, { ALG_ID: 1 }] }'), database),
    ).toHaveLength(1);
    const looked = (where: string) => ({
      'm.yaml': ACTIVE.replace(
        'key: [PT_NO]',
        `key: [PT_NO], lookup: { c: { table: dbo.PT, on: { MRN: MRN }${where} } }`,
      ),
    });
    const [problem] = await problemsOf(looked(''), database);
    expect(problem).toBe(
      'm.yaml:3:57: lookup c finds several rows for the blank value; expected `where: { present: [MRN] }` of the lookup',
    );
    expect(await problemsOf(looked(', where: { present: [MRN] }'), database)).toEqual([]);
  });

  test('a reference only from rows whose key, a number, finds one row', async () => {
    const database = databaseWith('PT (PT_NO) VALUES (0), (7)', 'ALLRGY (ALG_ID, PT_NO) VALUES (1, 0), (2, 0), (3, 7)');
    const referring = (rest: string) => ({
      ...people,
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }\n`,
      'o.yaml': `mapping: links
resource: Provenance
source: { table: dbo.ALLRGY, as: a, key: [ALG_ID] }
id: "{ALG_ID}"
needs: [target]
elements:
  target: [{ ref: allergies, on: { PT_NO: PT_NO }${rest} }]
  recorded: "2024-01-01T00:00:00Z"
  agent: [{ who: { display: x } }]
`,
    });
    const one = /finds several rows of allergies for 1 value; expected columns that are unique there/;
    expect((await problemsOf(referring(''), database)).join()).toMatch(one);
    expect(await problemsOf(referring(', if: { PT_NO: { not: 0 } }'), database)).toEqual([]);
    expect((await problemsOf(referring(', if: { PT_NO: 0 }'), database)).join()).toMatch(one);
  });

  test('an ambiguous order, of a `pick` or of items', async () => {
    const pick = (by: string) => ({
      'm.yaml': `${HEAD.replace('key: [PT_NO]', `key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, pick: [${by}] } }`)}elements:
  maritalStatus: { text: { from: c.DESCR } }
`,
    });
    const codes = databaseWith(
      "PT (PT_NO, SEX) VALUES (1, 'M')",
      "CD_LKUP (TBL_ID, CD, ALT_CD) VALUES ('SEX', 'M', NULL), ('GND', 'M', NULL), ('SEX', 'F', 'A'), ('GND', 'F', 'B')",
    );
    const open = (what: string, times: string) =>
      `${what} is the same in several rows, ${times}: the engine decides which comes first; expected a further column that distinguishes them`;
    expect(await problemsOf(pick('ALT_CD'), codes)).toEqual([
      `m.yaml:3:57: warning: ${open('`pick` of lookup c', '1 time')}`,
    ]);
    expect(await problemsOf(pick('ALT_CD, -TBL_ID'), codes)).toEqual([]);
    const each = (by: string) => ({
      'm.yaml': `${ACTIVE}---\n${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }
  note:
    - each: { table: dbo.ALLRGY_RXN, as: r, on: { ALG_ID: ALG_ID }, order: [${by}] }
      elements: { text: { from: RXN_TXT } }
`,
    });
    const reactions = databaseWith(
      'PT (PT_NO) VALUES (1)',
      'ALLRGY (ALG_ID, PT_NO) VALUES (70, 1), (71, 1)',
      "ALLRGY_RXN (ALG_ID, SEQ_NO, SEV) VALUES (70, 1, 'A'), (70, 2, 'A'), (71, 1, NULL), (71, 2, NULL), (71, 3, 'B')",
    );
    expect(await problemsOf(each('SEV'), reactions)).toEqual([`m.yaml:16:7: warning: ${open('`order`', '2 times')}`]);
    expect(await problemsOf(each('SEV, SEQ_NO'), reactions)).toEqual([]);
  });

  test('codes that a code map lacks, with their count, except those that mean no value', async () => {
    const database = databaseWith(
      "PT (PT_NO, SEX, RACE_CD) VALUES (1, 'M', 'x^Q'), (2, 'Z', 'x^M'), (3, 'Z', NULL), (4, 'X', 'x'), (5, ' ', ''), (6, 'q', 'x^U'), (7, 'N', NULL)",
    );
    const codes = 'sex:\n  rows: { M: male, F: female, X: absent }\n';
    const piece = 'via: [{ piece: { by: "^", at: 2 } }, sex]';
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex, none: [N] }\n  contact: { gender: { from: RACE_CD, ${piece} }, name: { text: { from: LST_NM } } }\n`,
      'codes.yaml': codes,
    };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:6:11: warning: code map sex has no row for 2 values of SEX in 3 rows; found Z (2), q (1)',
      'm.yaml:7:22: warning: code map sex has no row for 2 values of RACE_CD in 2 rows',
    ]);
  });

  test('codes that a code map lacks once per column, with the elements that read it', async () => {
    const database = databaseWith("PT (PT_NO, SEX) VALUES (1, 'M'), (2, 'Z'), (3, 'Q'), (4, 'Z')");
    const staff = `${PEOPLE.replace('mapping: people', 'mapping: staff').replace('Patient', 'Practitioner')}`;
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }\n---\n${staff}  gender: { from: SEX, via: sex }\n`,
      'codes.yaml': 'sex:\n  rows: { M: male }\n',
    };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:6:11: warning: code map sex has no row for 2 values of SEX: Patient.gender in 3 rows,' +
        ' Practitioner.gender in 3 rows; found Z (4), Q (2)',
    ]);
  });

  test('unmapped codes of a large table by their true number, however many values there are', async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => `(${i}, '${i < 1500 ? 'M' : `x${i % 1200}`}')`);
    const database = databaseWith(`PT (PT_NO, PHONE) VALUES ${rows.join(', ')}`);
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: PHONE, via: sex }\n`,
      'codes.yaml': 'sex:\n  rows: { M: male }\n',
    };
    const [problem] = await problemsOf(files, database);
    expect(problem).toContain('code map sex has no row for 1200 values of PHONE in 1500 rows');
    expect(problem).toMatch(/; found (x\d+ \(2\), ){10}…$/);
    const table = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: PHONE, via: marital }\n`,
      'codes.yaml': 'marital: { table: dbo.CD_LKUP, key: CD, code: STD_CD, system: sct }\n',
    };
    expect((await problemsOf(table, database)).join('\n')).toContain('no row for 1201 values of PHONE in 3000 rows');
  });

  test('no unmapped codes if the pack has a fallback for them', async () => {
    const database = databaseWith("PT (PT_NO, SEX) VALUES (1, 'Z')");
    const files = (binding: string, otherwise: string): Readonly<Record<string, string>> => ({
      'm.yaml': `${PEOPLE}  gender: ${binding}\n`,
      'codes.yaml': `sex:\n  rows: { M: male }\n${otherwise}`,
    });
    const plain = '{ from: SEX, via: sex }';
    expect(await problemsOf(files(plain, ''), database)).toHaveLength(1);
    expect(await problemsOf(files(plain, '  else: absent\n'), database)).toEqual([]);
    expect(await problemsOf(files(plain, '  else: unknown\n'), database)).toEqual([]);
    expect(await problemsOf(files('{ from: SEX, via: sex, else: unknown }', ''), database)).toEqual([]);
  });

  test('codes that the table of a code map does not have', async () => {
    const database = databaseWith(
      "PT (PT_NO, SEX) VALUES (1, 'M'), (2, 'S'), (3, 'S'), (4, 'W'), (5, NULL)",
      "CD_LKUP (TBL_ID, CD, ALT_CD, STD_CD) VALUES ('MAR', 'M', 'x', 'M'), ('MAR', 'y', 'W', 'W'), ('OTH', 'S', 'z', 'S')",
    );
    const files = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: marital }\n`,
      'codes.yaml':
        'marital:\n  table: dbo.CD_LKUP\n  where: { TBL_ID: MAR }\n  key: [CD, ALT_CD]\n  code: STD_CD\n  system: sct\n',
    };
    expect(await problemsOf(files, database)).toEqual([
      'codes.yaml:1:1: warning: code map marital has no row for 1 value of SEX in 2 rows; found S (2)',
    ]);
  });

  test('no duplicate key for rows grouped by `one-per`', async () => {
    const database = databaseWith(
      "VIT (VIT_ID, PT_NO, VIT_DTM, DONE) VALUES (1, 1, '2024-01-01', 1), (2, 1, '2024-01-01', 1)",
    );
    const text = HEAD.replace(
      'source: { table: dbo.PT, as: p, key: [PT_NO] }',
      'source: { table: dbo.VIT, as: v, key: [VIT_ID], one-per: [PT_NO] }',
    );
    expect(await problemsOf({ 'm.yaml': `${text}elements: { active: "true" }\n` }, database)).toEqual([]);
  });
});

describe('the lock of a schema shows', () => {
  const locked = (change: (text: string) => string): Catalog => {
    const tables = [...catalog.tables.values()].map(table => {
      const columns = [...table.columns.values()].map(c => ({
        ...c,
        name: change(c.name),
        declared: change(c.declared),
        type: declaredType('sqlite', change(c.declared)),
      }));
      return { ...table, columns: new Map(columns.map(c => [c.name.toLowerCase(), c])), primaryKey: [], indexes: [] };
    });
    return { engine: 'sqlite', tables: new Map(tables.map(t => [t.name.toLowerCase(), t])) };
  };

  test('no problem of an unchanged schema', async () => {
    expect(
      await problemsOf(
        people,
        databaseWith(),
        locked(text => text),
      ),
    ).toEqual([]);
  });

  test('no change if only the spelling of a type differs', async () => {
    const before = locked(text => (text === 'INT' ? 'INTEGER' : text));
    expect(JSON.stringify(before.tables.get('pt')?.columns.get('pt_no')?.declared ?? '')).toBe('"INTEGER"');
    expect(await problemsOf(people, databaseWith(), before)).toEqual([]);
  });

  test('removed columns and columns of another type', async () => {
    const before = locked(text => text.replace('DTH_DTM', 'DTH_DT').replace('NVARCHAR(40)', 'NVARCHAR(30)'));
    expect(await problemsOf(people, databaseWith(), before)).toEqual([
      'schema.lock.json:1:1: warning: column PT.LST_NM has changed; expected NVARCHAR(30) NULL; found NVARCHAR(40) NULL',
      'schema.lock.json:1:1: column PT.DTH_DT is gone; expected the locked schema, or `lintel lock` after a review of the mappings; found DTH_DT; did you mean DTH_DTM?',
    ]);
  });

  test('removed tables and indexes', async () => {
    const pt = catalog.tables.get('pt');
    const before: Catalog = {
      engine: 'sqlite',
      tables: new Map([
        ['old', { name: 'OLD', columns: new Map(), primaryKey: [], indexes: [] }],
        ...(pt ? ([['pt', pt]] as const) : []),
      ]),
    };
    expect(await problemsOf(people, databaseWith(), before)).toEqual([
      'schema.lock.json:1:1: table OLD is gone; expected the locked schema, or `lintel lock` after a review of the mappings',
      'schema.lock.json:1:1: warning: unique index PT (PT_NO) is gone: searches may be slow',
    ]);
  });
});

describe('literals and expressions of mappings', () => {
  test('a literal whose rows write it in other letters is reported, in deleted, lookups and conditions alike', async () => {
    const database = databaseWith(
      "PT (PT_NO, SEX, DEL_FL) VALUES (1, 'M', 'Y'), (2, 'F', 'Y'), (3, 'f', 'N')",
      "CD_LKUP (TBL_ID, CD) VALUES ('SEX', 'M'), ('SEX', 'F')",
    );
    const files = {
      'm.yaml': `mapping: people
resource: Patient
source:
  table: dbo.PT
  as: p
  key: [PT_NO]
  deleted: { DEL_FL: y }
  lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, where: { TBL_ID: sex } } }
id: "{PT_NO}"
elements:
  active: { const: "true", if: { SEX: [m, F, X] } }
  name: [{ family: { from: c.DESCR } }]
`,
    };
    expect(await problemsOf(files, database)).toEqual([
      'm.yaml:7:22: warning: no row of PT has y as DEL_FL; found Y in 2 rows; did you mean Y?',
      'm.yaml:8:72: warning: no row of CD_LKUP has sex as TBL_ID; found SEX in 2 rows; did you mean SEX?',
      'm.yaml:11:40: warning: no row of PT has m as SEX; found M in 1 row; did you mean M?',
    ]);
  });

  test('a literal without any similar stored value is accepted', async () => {
    const database = databaseWith("PT (PT_NO, SEX, DEL_FL) VALUES (1, 'M', 'N')");
    const files = { 'm.yaml': ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], deleted: { DEL_FL: Y }') };
    expect(await problemsOf(files, database)).toEqual([]);
  });

  test('SQL that the engine refuses is reported before a search meets it', async () => {
    const database = databaseWith("PT (PT_NO, SEX, LST_NM) VALUES (1, 'M', 'A')");
    const files = (sql: string) => ({
      'm.yaml': `${PEOPLE}  name: [{ family: { sql: "${sql}", type: varchar(40), via: text } }]\n`,
    });
    expect(await problemsOf(files('UPPER({p.LST_NM})'), database)).toEqual([]);
    for (const [sql, why] of [
      ['CASE WHEN WHEN {p.SEX} END', 'near "WHEN": syntax error'],
      ['CONVERT_ME({p.SEX})', 'no such function: CONVERT_ME'],
      ['NO_COLUMN || {p.SEX}', 'no such column: NO_COLUMN'],
    ] as const)
      expect(await problemsOf(files(sql), database)).toEqual([
        `m.yaml:6:20: the database cannot compute this \`sql\`: ${why}`,
      ]);
  });

  test('an engine error during reading is not quoted, as it may contain a value', async () => {
    const database = databaseWith("PT (PT_NO, SEX, LST_NM) VALUES (1, 'M', 'secret')");
    const sql = `json_extract({p.LST_NM}, {p.LST_NM})`;
    const files = { 'm.yaml': `${PEOPLE}  name: [{ family: { sql: "${sql}", type: varchar(40), via: text } }]\n` };
    const [problem, ...others] = await problemsOf(files, database);
    expect(problem).toBe('m.yaml:6:20: the database cannot compute this `sql`: SQLite could not query (code 1)');
    expect(others).toEqual([]);
  });

  test('SQL is executed in every position: before other alternatives, and among pieces', async () => {
    const database = databaseWith("PT (PT_NO, SEX, RACE_CD) VALUES (1, 'M', 'a;b')");
    const bad = (sql: string) => `{ sql: "${sql}", type: varchar(40), via: text }`;
    const first = {
      'm.yaml': `${PEOPLE}  name: [{ family: { first: [${bad('NOPE({p.SEX})')}, { from: LST_NM }] } }]\n`,
    };
    expect(await problemsOf(first, database)).toEqual([
      'm.yaml:6:30: the database cannot compute this `sql`: no such function: NOPE',
    ]);
    const otherwise = {
      'm.yaml': `${PEOPLE}  first: [{ deceasedBoolean: { sql: "NOPE({p.SEX})", type: bit, via: boolean } }, { deceasedDateTime: { from: DTH_DTM } }]\n`,
    };
    expect(await problemsOf(otherwise, database)).toEqual([
      'm.yaml:6:30: the database cannot compute this `sql`: no such function: NOPE',
    ]);
    const pieces = (sql: string) => ({
      'm.yaml': `${PEOPLE}  name: [{ given: [{ each: { split: RACE_CD, by: ";", as: d }, item: ${bad(sql)} }] }]\n`,
    });
    expect(await problemsOf(pieces('{p.SEX}'), database)).toEqual([]);
    expect(await problemsOf(pieces('NOPE({p.SEX})'), database)).toEqual([
      'm.yaml:6:70: the database cannot compute this `sql`: no such function: NOPE',
    ]);
  });

  test('pieces that a lookup or a code map has no row for are reported', async () => {
    const database = databaseWith(
      "PT (PT_NO, RACE_CD) VALUES (1, 'W;B'), (2, 'W;X'), (3, 'X'), (4, NULL), (5, ';')",
      "CD_LKUP (TBL_ID, CD, DESCR) VALUES ('R', 'W', 'White'), ('R', 'B', 'Black'), ('S', 'X', 'of another list')",
    );
    const files = (each: string, item: string, codes = '{}') => ({
      'm.yaml': `${PEOPLE}  communication: [{ each: { split: RACE_CD, by: ";", as: d${each} }, item: ${item} }]\n`,
      'codes.yaml': codes,
    });
    const looked = (more: string) =>
      files(
        `, lookup: { c: { table: dbo.CD_LKUP, on: { CD: d.piece }, where: { TBL_ID: R }${more} } }`,
        '{ language: { text: { from: c.DESCR }}, needs: [language] }',
      );
    for (const more of ['', ', required: true'])
      expect((await problemsOf(looked(more), database)).filter(one => one.includes('piece'))).toEqual([
        expect.stringMatching(/^m.yaml:6:\d+: warning: lookup c has no row for a piece of RACE_CD in 2 rows$/),
      ]);
    const coded = (codes: string) =>
      files('', '{ needs: [language], elements: { language: { from: d.piece, via: race } } }', codes);
    const inTable =
      'race:\n  table: dbo.CD_LKUP\n  where: { TBL_ID: R }\n  key: [CD]\n  code: STD_CD\n  system: http://a.example\n';
    const inPack = 'race:\n  system: http://a.example\n  rows: { W: white, B: black }\n';
    for (const codes of [inTable, inPack])
      expect((await problemsOf(coded(codes), database)).filter(one => one.includes('piece'))).toEqual([
        expect.stringMatching(/^m.yaml:6:\d+: warning: code map race has no row for a piece of RACE_CD in 2 rows$/),
      ]);
  });

  test('pieces that one of several code maps knows are not reported', async () => {
    const database = databaseWith("PT (PT_NO, RACE_CD) VALUES (1, 'W;B'), (2, 'W;X'), (3, 'B')");
    const item = (map: string) =>
      `{ each: { split: RACE_CD, by: ";", as: d }, item: { needs: [language], elements: { language: { from: d.piece, via: ${map} } } } }`;
    const files = {
      'm.yaml': `${PEOPLE}  communication: [${item('group')}, ${item('detail')}]\n`,
      'codes.yaml':
        'group: { system: http://a.example, rows: { W: white } }\ndetail: { system: http://a.example, rows: { B: black } }\n',
    };
    expect(await problemsOf(files, database)).toEqual([
      expect.stringMatching(/warning: none of the code maps group, detail has a row for a piece of RACE_CD in 1 row$/),
    ]);
  });

  test('SQL on the parent row of child rows is executed, too', async () => {
    const database = databaseWith("PT (PT_NO, SEX) VALUES (1, 'M')", 'ALLRGY (ALG_ID, PT_NO) VALUES (70, 1)');
    const files = (sql: string) => ({
      'm.yaml': `${PEOPLE}  name: [{ given: [{ each: { table: dbo.ALLRGY, as: a, on: { PT_NO: PT_NO }, order: [ALG_ID] }, item: { sql: "${sql}", type: varchar(40), via: text } }] }]\n`,
    });
    expect(await problemsOf(files('{p.SEX}'), database)).toEqual([]);
    expect(await problemsOf(files('NOPE({p.SEX})'), database)).toEqual([
      'm.yaml:6:103: the database cannot compute this `sql`: no such function: NOPE',
    ]);
  });

  test('SQL that gives no value in any row is reported', async () => {
    const database = databaseWith("PT (PT_NO, SEX, LST_NM) VALUES (1, 'M', 'A'), (2, 'F', NULL)");
    const files = (sql: string) => ({
      'm.yaml': `${PEOPLE}  name: [{ family: { sql: "${sql}", type: varchar(40), via: text } }]\n`,
    });
    expect(await problemsOf(files('{p.LST_NM} + NULL'), database)).toEqual([
      'm.yaml:6:20: warning: this `sql` gives no value in any of 2 rows',
    ]);
    expect(await problemsOf(files('{p.LST_NM}'), database)).toEqual([]);
    expect(await problemsOf(files('{p.LST_NM} + NULL'), databaseWith())).toEqual([]);
  });

  test('references none of which finds a row are reported, and a few that find nothing are not', async () => {
    const allergies = (on: string) => ({
      'm.yaml': `${ACTIVE}---\n${ALLERGIES}  patient: { ref: people, on: { PT_NO: ${on} } }\n`,
    });
    const database = databaseWith(
      "PT (PT_NO, SEX) VALUES (1, 'M'), (2, 'F')",
      'ALLRGY (ALG_ID, PT_NO) VALUES (70, 1), (71, 9), (72, 2)',
    );
    expect(await problemsOf(allergies('PT_NO'), database)).toEqual([]);
    expect(await problemsOf(allergies('ALG_ID'), database)).toEqual([
      'm.yaml:14:12: warning: no reference to people finds a row of PT; expected columns with the same content on both sides; found 3 rows with ALG_ID',
    ]);
    const none = databaseWith('PT (PT_NO) VALUES (1)');
    expect(await problemsOf(allergies('ALG_ID'), none)).toEqual([]);
    const meantAsNone = 'name: small\ntitle: Small\nzone: UTC\nabsent: { number: ["70", "71", "72"] }\n';
    expect(await problemsOf({ ...allergies('ALG_ID'), 'pack.yaml': meantAsNone }, database)).toEqual([]);
  });

  test('composite text ids that collide are reported, distinct ones are not', async () => {
    const mapping = (id: string) => ({
      'm.yaml': `mapping: codes
resource: Organization
source: { table: dbo.CD_LKUP, as: c, key: [TBL_ID, CD] }
id: "${id}"
elements: { active: "true" }
`,
    });
    const rows = "CD_LKUP (TBL_ID, CD) VALUES ('X', '2E.'), ('X.', '2E'), ('A', 'B-C'), ('A-B', 'C')";
    expect(await problemsOf(mapping('{TBL_ID|escaped}.{CD|escaped}'), databaseWith(rows))).toEqual([
      'm.yaml:1:1: ids of codes are not unique: 1 id of several rows',
    ]);
    expect(await problemsOf(mapping('{TBL_ID|escaped}-{CD|escaped}'), databaseWith(rows))).toEqual([]);
  });

  test('UUIDs used as ids by two mappings of one type are reported', async () => {
    const mapping = (name: string, where: string) =>
      ACTIVE.replace('mapping: people', `mapping: ${name}`)
        .replace('{PT_NO}', '{UID}')
        .replace('key: [PT_NO]', `key: [PT_NO], where: ${where}`);
    const files = { 'm.yaml': `${mapping('men', '{ SEX: M }')}---\n${mapping('others', '{ DEL_FL: N }')}` };
    const rows = (second: string): Database =>
      databaseWith(
        `PT (PT_NO, SEX, DEL_FL, UID) VALUES (1, 'M', 'N', '${UUIDS[0]}'), (2, 'F', 'N', '${second}'), (3, 'M', NULL, '${UUIDS[2]}')`,
      );
    expect(await problemsOf(files, rows(UUIDS[1]))).toEqual([
      'm.yaml:8:1: ids of mappings men and others are equal for 1 row; expected a literal in one of the ids, or a `where` that assigns the rows to one mapping',
    ]);
    const apart = { 'm.yaml': `${mapping('men', '{ SEX: M }')}---\n${mapping('others', '{ SEX: F }')}` };
    expect(await problemsOf(apart, rows(UUIDS[1]))).toEqual([]);
    expect(await problemsOf(apart, rows(UUIDS[2]))).toEqual([
      'm.yaml:8:1: ids of mappings men and others are equal for 1 row; expected a literal in one of the ids, or a `where` that assigns the rows to one mapping',
    ]);
  });

  test('keys that differ in case only are reported for a case-insensitive lookup or code map', async () => {
    const database = databaseWith(
      "PT (PT_NO, SEX) VALUES (1, 'm')",
      "CD_LKUP (TBL_ID, CD, STD_CD) VALUES ('X', 'm', 'male'), ('X', 'M', 'male')",
    );
    const lookup = (fold: string) => ({
      'm.yaml': PEOPLE.replace(
        'key: [PT_NO]',
        `key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }${fold} } }`,
      ).concat('  language: { from: c.STD_CD }\n'),
    });
    const several = 'finds several rows for 1 value; expected `pick: [order]`, or a `where` that leaves one';
    expect(await problemsOf(lookup(''), database)).toEqual([]);
    expect(await problemsOf(lookup(', fold: true'), database)).toEqual([`m.yaml:3:57: lookup c ${several}`]);
    const codes = (fold: string) => ({
      'codes.yaml': `language:\n  { table: dbo.CD_LKUP, key: [CD], code: STD_CD${fold} }\n`,
      'm.yaml': `${PEOPLE}  language: { from: SEX, via: language }\n`,
    });
    expect(await problemsOf(codes(', fold: true'), database)).toEqual([`codes.yaml:1:1: lookup language ${several}`]);
    expect(await problemsOf(codes(''), database)).toEqual([]);
  });

  test('id texts that are no UUIDs, and UUID texts shared by two mappings, are reported', async () => {
    const mapping = (name: string, list: string) => `mapping: ${name}
resource: Organization
source: { table: dbo.CD_LKUP, as: c, key: [CD], where: { TBL_ID: ${list} } }
id: "{DESCR|uuid}"
elements: { active: "true" }
`;
    const files = { 'm.yaml': `${mapping('one', 'A')}---\n${mapping('two', 'B')}` };
    const rows = (second: string) =>
      databaseWith(
        `CD_LKUP (TBL_ID, CD, DESCR) VALUES ('A', '1', '${UUIDS[0]}'), ('A', '2', 'none'), ('B', '3', '${second}')`,
      );
    const left = 'm.yaml:1:1: warning: 1 row of one left out: DESCR is no UUID';
    expect(await problemsOf(files, rows(UUIDS[1]))).toEqual([left]);
    expect(await problemsOf(files, rows(`${UUIDS[0]} `))).toEqual([
      left,
      'm.yaml:7:1: ids of mappings one and two are equal for 1 row; expected a literal in one of the ids, or a `where` that assigns the rows to one mapping',
    ]);
  });

  test('a moment in an id is compared as it is written there', async () => {
    const mapping = (name: string, done: string) => `mapping: ${name}
resource: Organization
source: { table: dbo.VIT, as: v, key: [VIT_ID], where: { PT_NO: ${done} } }
id: "{VIT_DTM}"
compartment: { none: a test }
elements: { active: "true" }
`;
    const files = { 'm.yaml': `${mapping('one', '1')}---\n${mapping('two', '2')}` };
    const rows = (second: string) =>
      databaseWith(
        `VIT (VIT_ID, PT_NO, VIT_DTM, DONE) VALUES (1, 1, '2024-03-10 08:30:00.000', 1), (2, 2, '${second}', 1)`,
      );
    expect(await problemsOf(files, rows('2024-03-10 08:31:00.000'))).toEqual([]);
    expect(await problemsOf(files, rows('2024-03-10 08:30:00.000'))).toEqual([
      expect.stringMatching(/ids of mappings one and two are equal for 1 row/),
    ]);
  });
});
