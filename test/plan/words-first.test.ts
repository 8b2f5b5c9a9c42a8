import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { findColumn, findTable } from '../../src/sql/catalog.ts';
import { declaredType } from '../../src/sql/engines.ts';
import { mssqlWordTable } from '../../src/sql/mssql/word-table.ts';
import { wordsIn } from '../../src/sql/shared-functions.ts';
import { readCatalog } from '../../src/sql/sqlite/catalog.ts';
import { sqliteWordTable } from '../../src/sql/sqlite/word-table.ts';
import { runsOf } from '../share.ts';
import { tsqlProblems } from '../sql/grammar/tsql-grammar.ts';
import { type Found, openSmall } from './small-pack.ts';

const TABLES = `
CREATE TABLE PAT (NO INTEGER NOT NULL PRIMARY KEY, FAM VARCHAR(40), GIV VARCHAR(40), CTY VARCHAR(40));
CREATE TABLE ALIAS (PAT_NO INTEGER NOT NULL, SEQ INTEGER NOT NULL, NM VARCHAR(40), PRIMARY KEY (PAT_NO, SEQ));
CREATE INDEX ALIAS_PAT ON ALIAS (PAT_NO);
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, PAT_NO INTEGER NOT NULL);
CREATE INDEX VISIT_PAT ON VISIT (PAT_NO);
`;

const ROWS = `
INSERT INTO PAT VALUES (1, 'O''Brien-Nuñez', 'Amelia', 'New York'), (2, 'OBRIEN', 'Zoe', 'Salem'), (3, 'Núñez', 'Jo', 'York'),
  (4, 'Smith (Berg)', 'St. John', 'Winston-Salem'), (5, NULL, '', 'Oslo'), (6, 'a"b\\c\td', 'O’Brien', NULL), (7, '* x', 'Øre', 'X');
WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 700)
INSERT INTO PAT SELECT i, 'Common', 'Name' || i, 'Town' || (i % 7) FROM n;
INSERT INTO ALIAS VALUES (1, 1, 'Nuñez Ortiz'), (1, 2, 'Brien'), (4, 1, 'Mac-Donald'), (20, 1, 'Donald');
INSERT INTO VISIT SELECT NO * 10, NO FROM PAT;
`;

/** In the form that `lintel words` prints. */
function wordTable(table: string, key: readonly string[], columns: readonly string[]): string {
  const database = new DatabaseSync(':memory:');
  database.exec(TABLES);
  const of = findTable(readCatalog(database), table);
  database.close();
  if (!of) throw new Error(`no table ${table}`);
  const named = (names: readonly string[]) => names.flatMap(name => findColumn(of, name) ?? []);
  return sqliteWordTable({ of, schema: undefined, key: named(key), columns: named(columns) });
}

const PAT_WORDS = wordTable('PAT', ['NO'], ['FAM', 'GIV']);
const ALIAS_WORDS = wordTable('ALIAS', ['PAT_NO', 'SEQ'], ['NM']);

const PATIENT = `mapping: patients
resource: Patient
source: { table: PAT, as: p, key: [NO] }
id: "p-{NO}"
elements:
  name:
    - { family: { from: FAM }, given: [{ from: GIV }] }
    - each: { table: ALIAS, as: a, on: { PAT_NO: p.NO }, order: [SEQ] }
      elements: { text: { from: NM } }
  address: [{ city: { from: CTY } }]
`;
const VISIT = `mapping: visits
resource: Encounter
source: { table: VISIT, as: v, key: [NO] }
id: "v-{NO}"
elements:
  status: finished
  class: { system: http://example.org/own, code: A }
  subject: { ref: patients, on: { NO: PAT_NO } }
`;

const WORDS = `words:
  PAT: { table: PAT_WORDS, on: { NO: NO }, word: WORD, columns: [FAM, GIV] }
  ALIAS: { table: ALIAS_WORDS, on: { PAT_NO: PAT_NO, SEQ: SEQ }, word: WORD, columns: [NM] }
`;

const pack = (words: string) => ({
  'pack.yaml': `name: small\ntitle: Small\nzone: UTC\n${words}`,
  'patient.yaml': PATIENT,
  'visit.yaml': VISIT,
});

type Search = (query: string) => Promise<Found>;
const withWords = (rows = ROWS): Promise<Search> =>
  openSmall(`${TABLES}${PAT_WORDS}${ALIAS_WORDS}${rows}`, pack(WORDS));
const without = (): Promise<Search> => openSmall(`${TABLES}${ROWS}`, pack(''));

const QUERIES = [
  'Patient?family=nunez',
  'Patient?family=obrien',
  'Patient?name=obrien',
  'Patient?name=amelia nunez',
  'Patient?name=donald',
  'Patient?name=ortiz,berg',
  'Patient?name=jo nunez,amelia brien,st john,zoe obrien,mac donald,name77 common',
  'Patient?family=common&_count=50',
  'Patient?name=nobody',
  'Patient?name=*',
  'Patient?name=ore',
  'Patient?name=x',
  'Patient?family:exact=Núñez',
  'Patient?family=-',
  'Patient?address-city=york&name=nunez',
  'Patient?address=york',
  'Patient?name=name77&_sort=-family',
  'Patient?name:missing=true',
  'Encounter?patient.name=nunez',
  'Encounter?patient.name=donald,berg',
  'Encounter?patient.name=common&_count=50',
  'Encounter?patient.name=nunez&subject:Patient.name=jo',
  'Encounter?patient.name=nunez&subject:Patient.name=nunez',
  'Patient?_has:Encounter:patient:patient.name=nunez',
];

describe('a table of words speeds up a search without changing its answer', () => {
  test('for searches of every kind', async () => {
    const [indexed, plain] = await Promise.all([withWords(), without()]);
    for (const query of QUERIES) {
      const expected = [query, (await plain(query)).ids];
      expect([query, (await indexed(query)).ids]).toEqual(expected);
      // Uses the cached plans: other values and keys with the same shape.
      expect([query, (await indexed(query)).ids]).toEqual(expected);
    }
  });

  test('two filters with the same keys can both match', async () => {
    const query = 'Encounter?patient.name=nunez&subject:Patient.name=nunez';
    for (const search of [await withWords(), await without()])
      expect((await search(query)).ids).toEqual(['v-10', 'v-30']);
  });

  test('the compared searches find rows', async () => {
    const plain = await without();
    for (const query of QUERIES.slice(0, 8)) expect((await plain(query)).ids).not.toEqual([]);
  });

  test('also if many searches of one shape follow each other', async () => {
    const [indexed, plain] = await Promise.all([withWords(), without()]);
    for (const name of ['nunez', 'name77', 'berg', 'name78', 'nobody', 'name8', 'zoe', 'common'])
      for (const query of [`Patient?name=${name}`, `Encounter?patient.name=${name}`])
        expect([query, (await indexed(query)).ids]).toEqual([query, (await plain(query)).ids]);
  });
});

test('a table of words that lacks a column of a name does not narrow a search in all parts of it', async () => {
  const patient = PATIENT.replace('given: [{ from: GIV }]', 'given: [{ from: CTY }]');
  const tables = `${TABLES}${PAT_WORDS}${ALIAS_WORDS}${ROWS}`;
  const search = await openSmall(tables, { ...pack(WORDS), 'patient.yaml': patient });
  // With this many names of several words, one comparison covers all parts.
  const { ids } = await search('Patient?name=no body,some one,any body,york nunez,obrien salem,winston berg');
  expect(ids).toEqual(['p-1', 'p-2', 'p-3', 'p-4']);
});

describe('rows are searched by the index of words', () => {
  test('of their own table, then by their key', async () => {
    const { served, sql } = await (await withWords())('Patient?family=name77,nunez');
    expect(sql[0]).toMatch(/^SELECT w\.\[NO\]\nFROM PAT_WORDS AS w/);
    expect(served.filter(line => /^(SEARCH|SCAN)/.test(line)).join('\n')).toMatch(
      /SEARCH w USING COVERING INDEX PAT_WORDS_BY_WORD \(WORD>\? AND WORD<\?\)/,
    );
    expect(served.join('\n')).toMatch(/SEARCH p USING INTEGER PRIMARY KEY/);
    expect(served.join('\n')).not.toMatch(/SCAN p\b/);
  });

  test('on SQL Server in the collation that words are compared by', async () => {
    const { mssql } = await (await withWords())('Patient?family=name77');
    expect(mssql[0]).toMatch(/WHERE \(w\.WORD COLLATE Latin1_General_100_CI_AI LIKE @p1 OR w\.WORD COLLATE/);
  });

  test('of child rows too', async () => {
    const { served } = await (await withWords())('Patient?name=ortiz');
    expect(served.join('\n')).not.toMatch(/SCAN (p|a)\b/);
  });

  test('of referenced rows', async () => {
    const { served } = await (await withWords())('Encounter?patient.family=nunez');
    expect(served.join('\n')).not.toMatch(/SCAN (p|v)\b/);
  });

  test('a frequent word is tested row by row', async () => {
    const { sql } = await (await withWords())('Patient?family=common');
    expect(sql.find(text => text.includes('FROM PAT AS p'))).not.toContain('p.[NO] IN (');
  });
});

/** Texts in which separators, ignored, folded and quoted characters are frequent. */
const TEXT = fc.string({
  unit: fc.oneof(
    fc.constantFrom(...'ab\'`’.-—,;/()\u00a0 \t\r\n"\\*[?%_~\u007f\u0000éÉßİ'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  ),
  maxLength: 12,
});

test('random words and texts give the same answers with and without a table of words, also after rows change', async () => {
  const cell = (text: string): string => `CAST(x'${Buffer.from(text.toWellFormed()).toString('hex')}' AS TEXT)`;
  const sample = fc.sample(fc.tuple(TEXT, TEXT), { numRuns: 50, seed: 20 });
  const rows = sample.map(([family, given], i) => `(${i}, ${cell(family)}, ${cell(given)})`).join();
  const insert = `INSERT INTO PAT (NO, FAM, GIV) VALUES ${rows};`;
  const [indexed, plain] = [await withWords(insert), await openSmall(`${TABLES}${insert}`, pack(''))];
  const asked = sample.flatMap(texts => texts.flatMap(text => [text, ...wordsIn(text)]));
  let found = 0;
  for (const text of new Set(asked.map(one => one.toWellFormed().replaceAll('\0', '').trim()))) {
    if (text === '') continue;
    const query = `Patient?name=${encodeURIComponent(text.replace(/[\\$,|]/g, '\\$&'))}`;
    const { ids } = await plain(query);
    found += ids.length;
    expect([text, (await indexed(query)).ids]).toEqual([text, ids]);
  }
  expect(found).toBeGreaterThan(50);
});

describe('the table of words that `lintel words` prints', () => {
  test('has each word of each row, after every insert, update and delete', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(`${TABLES}${PAT_WORDS}`);
    const run = (sql: string, ...values: (string | number | null)[]) => database.prepare(sql).run(...values);
    const check = (): void => {
      const listed = Map.groupBy(database.prepare('SELECT NO, WORD FROM PAT_WORDS').all(), row => row['NO']);
      for (const { NO: no, FAM: family, GIV: given } of database.prepare('SELECT * FROM PAT').all()) {
        const words = (listed.get(no ?? 0) ?? []).map(row => String(row['WORD']));
        if (words.includes('*')) continue;
        expect(words.toSorted()).toEqual(
          [...new Set([family, given].flatMap(text => (typeof text === 'string' ? wordsIn(text) : [])))].toSorted(),
        );
      }
      const rows = new Set(
        database
          .prepare('SELECT NO FROM PAT')
          .all()
          .map(row => row['NO']),
      );
      expect([...listed.keys()].filter(no => !rows.has(no ?? 0))).toEqual([]);
    };
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3), fc.constantFrom('in', 'up', 'key', 'out'), TEXT, TEXT)), changes => {
        database.exec('DELETE FROM PAT');
        for (const [no, how, family, given] of changes) {
          if (how === 'in') run('INSERT OR IGNORE INTO PAT (NO, FAM, GIV) VALUES (?, ?, ?)', no, family, given);
          if (how === 'up') run('UPDATE PAT SET FAM = ? WHERE NO = ?', family, no);
          if (how === 'key') run('UPDATE OR IGNORE PAT SET NO = ? WHERE NO = ?', no + 1, no);
          if (how === 'out') run('DELETE FROM PAT WHERE NO = ?', no);
          check();
        }
      }),
      { numRuns: runsOf(150) },
    );
    database.close();
  });

  test('folds Latin letters, and has * for texts with other letters', () => {
    const database = new DatabaseSync(':memory:');
    database.exec(`${TABLES}${PAT_WORDS}`);
    database.exec(
      `INSERT INTO PAT (NO, FAM) VALUES (1, 'O’Brien—Smith'), (2, 'Nuñez ØRE ŽÁK'), (3, 'a  b'), (4, 'Иванов'), (5, 'e\u0301')`,
    );
    const words = database.prepare('SELECT NO, WORD FROM PAT_WORDS ORDER BY NO, WORD').all();
    expect(words.map(row => `${row['NO']} ${row['WORD']}`)).toEqual([
      '1 obrien',
      '1 smith',
      '2 nunez',
      '2 zak',
      '2 øre',
      '3 a',
      '3 b',
      '4 *',
      '5 *',
    ]);
    database.close();
  });

  test('in T-SQL splits words as searches do', () => {
    const column = (name: string, declared: string) => ({
      ...{ name, declared, nullable: false },
      type: declaredType('mssql', declared),
    });
    const of = { name: 'PAT', columns: new Map(), primaryKey: ['NO'], indexes: [] };
    const [key, columns] = [[column('NO', 'INT')], [column('FAM', 'VARCHAR(40)'), column('GIV', 'NVARCHAR(40)')]];
    const sql = mssqlWordTable({ of, schema: 'dbo', key, columns });
    const view = sql.split('\nGO\n').find(part => part.startsWith('CREATE VIEW')) ?? '';
    const select = view.replace(/^CREATE VIEW \S+ AS\n/, '').replace(/;$/, '');
    expect(tsqlProblems(select)).toEqual([]);
    expect(sql.match(/^GO$/gm)).toHaveLength(3);
    expect(sql).toContain(
      "STRING_SPLIT(REPLACE(TRANSLATE((N' ' + CAST(CONCAT(t.FAM, N' ', t.GIV, N'') AS nvarchar(max)))",
    );
  });
});
