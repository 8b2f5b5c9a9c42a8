import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { checkLive } from '../../../src/mapping/check/live.ts';
import { loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { rowReaders } from '../../../src/plan/row-readers.ts';
import { findTable } from '../../../src/sql/catalog.ts';
import { readCatalog } from '../../../src/sql/sqlite/catalog.ts';
import { openSqlite } from '../../../src/sql/sqlite/database.ts';
import { sqliteWordTable } from '../../../src/sql/sqlite/word-table.ts';
import { temporaryFolder } from '../../temporary-folder.ts';

const PATIENT = `mapping: patients
resource: Patient
source: { table: PAT, as: p, key: [NO] }
id: "p-{NO}"
elements: { name: [{ family: { from: FAM } }] }
`;
const WORDS = 'PAT_WORDS, on: { NO: NO }, word: WORD, columns: [FAM]';

/**
 * Makes the table of words with 1,000 rows, applies `change`, and returns the problems of the loader and of the rows.
 */
async function problemsAfter(change: string, words = WORDS): Promise<readonly string[]> {
  const folder = temporaryFolder();
  const file = join(folder, 'x.sqlite');
  const written = new DatabaseSync(file);
  written.exec('CREATE TABLE PAT (NO INTEGER NOT NULL PRIMARY KEY, FAM VARCHAR(40), DAY DATE)');
  const of = findTable(readCatalog(written), 'PAT');
  const [key, text] = [of?.columns.get('no'), of?.columns.get('fam')];
  if (!of || !key || !text) throw new Error('no table');
  written.exec(sqliteWordTable({ of, schema: undefined, key: [key], columns: [text] }));
  written.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
    INSERT INTO PAT SELECT i, CASE i % 3 WHEN 0 THEN 'O''Brien-Smith' WHEN 1 THEN 'Nuñez Garcia' ELSE NULL END, NULL FROM n`);
  written.exec(change);
  written.close();
  writeFileSync(join(folder, 'pack.yaml'), `name: s\ntitle: S\nzone: UTC\nwords:\n  PAT: { table: ${words} }\n`);
  writeFileSync(join(folder, 'm.yaml'), PATIENT);
  const database = openSqlite(file);
  onTestFinished(() => database.close());
  const { registry, problems } = loadPack(folder, await database.catalog());
  if (!registry) return problems.map(formatProblem);
  const asked = { registry, database, readers: rowReaders(registry, 0) };
  return [...problems, ...(await checkLive(asked))].map(formatProblem);
}

test('a table of words that its triggers keep is sound', async () => {
  expect(
    await problemsAfter("UPDATE PAT SET FAM = 'Van-der Berg' WHERE NO > 990; DELETE FROM PAT WHERE NO = 7"),
  ).toEqual([]);
});

test.each([
  ['rows that it does not list at all', 'DELETE FROM PAT_WORDS WHERE NO = 600', 'has no word of 1 row of PAT'],
  ['a word that it lacks', "DELETE FROM PAT_WORDS WHERE NO = 3 AND WORD = 'smith'", 'lacks words of 1 row among'],
  [
    'a row that changed without its triggers',
    "DROP TRIGGER PAT_WORDS_UPDATE; UPDATE PAT SET FAM = 'New' WHERE NO IN (3, 999)",
    'lacks words of 2 rows among',
  ],
  ['words that are not folded', 'UPDATE PAT_WORDS SET WORD = upper(WORD) WHERE NO = 3', 'lacks words of 1 row among'],
])('%s are reported', async (_, change, message) => {
  const [first, ...others] = await problemsAfter(change);
  expect(others).toEqual([]);
  expect(first).toMatch(new RegExp(`^pack.yaml:5:3: PAT_WORDS ${message}.*searches by words miss them`));
});

test('without an index that begins with the word the table is not used, and that is reported', async () => {
  expect(await problemsAfter('DROP INDEX PAT_WORDS_BY_WORD; DELETE FROM PAT_WORDS')).toEqual([
    expect.stringMatching(/^pack.yaml:5:50: warning: no index of PAT_WORDS begins with WORD: searches do not use it/),
  ]);
});

test.each([
  ['PAT_WORD, on: { NO: NO }, word: WORD, columns: [FAM]', 'unknown table; found PAT_WORD; did you mean PAT_WORDS?'],
  ['PAT_WORDS, on: { NO: FAM }, word: WORD, columns: [FAM]', '`on` of `words` joins columns of one type'],
  ['PAT_WORDS, on: { NO: NO }, word: WORDS, columns: [FAM]', 'unknown column of PAT_WORDS; found WORDS'],
  ['PAT_WORDS, on: { NO: NO }, word: WORD, columns: [DAY]', 'only texts have words; found DAY, which is DATE'],
  ['PAT_WORDS, on: { NO: NO }, words: WORD, columns: [FAM]', 'unknown key'],
])('the loader refuses %s', async (words, message) => {
  expect((await problemsAfter('', words)).join('\n')).toContain(message);
});
