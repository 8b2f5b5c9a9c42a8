/**
 * A database engine, added as docs/extending.md describes: the toy of test/engines, by a folder and a line of the
 * table.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { smallClinic } from '../cli/small-clinic.ts';
import { copiedTree, isListed } from './tree.ts';

test('an engine needs one folder and one line of the table', async () => {
  const { environment } = smallClinic();
  const toy = { ...environment, DATABASE_URL: (environment['DATABASE_URL'] ?? '').replace('sqlite:', 'toy://') };
  const tree = copiedTree();
  const before = await tree.lintel(toy, 'check');
  expect(before).toMatchObject({ code: 1, notes: expect.stringContaining('DATABASE_URL: expected') });

  const text = readFileSync('test/engines/toy.ts', 'utf8').replaceAll("'../../src/sql/", "'../");
  tree.add('src/sql/toy/engine.ts', `${text}\nexport const TOY_ENGINE = toyEngine([]);\n`);
  tree.replace('src/sql/engines.ts', '[SQLITE_ENGINE, MSSQL_ENGINE]', '[SQLITE_ENGINE, MSSQL_ENGINE, TOY_ENGINE]');
  tree.insert('src/sql/engines.ts', 'import { SQLITE_ENGINE', "import { TOY_ENGINE } from './toy/engine.ts';\n");
  expect(await tree.lintel(toy, 'check')).toMatchObject({ code: 0 });
  const explained = await tree.lintel(toy, 'explain', 'Patient?family=kow');
  expect(explained.out).toMatch(/^ {2}Toy\n {4}SELECT "p"\."ID"/m);
  expect((await tree.lintel(toy, 'check', '--help')).out).toContain('toy://<file>');
  expect(tree.touched().filter(file => !isListed('A database engine')(file))).toEqual([]);
});
