import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { preparesLasting, releasesOthers } from '../../../src/sql/sqlite/lasting.ts';

it('prepares what is asked for, also after a statement that cannot be', () => {
  const database = new DatabaseSync(':memory:');
  const prepare = preparesLasting(database);
  const doubled = prepare('SELECT ? || ?1 AS twice');
  expect(() => prepare('SELEC')).toThrow('syntax error');
  expect(doubled.get('a')).toEqual({ twice: 'aa' });
  expect(prepare('SELECT 7 AS seven').get()).toEqual({ seven: 7 });
  database.close();
});

it('lets a few statements keep their values, and then lets go of all but the newest', () => {
  const database = new DatabaseSync(':memory:');
  const release = releasesOthers();
  const statements = Array.from({ length: 9 }, (_, i) => database.prepare(`SELECT ?1 AS c${i}`));
  const [first, ...others] = statements;
  const shown = (): number => statements.filter(({ expandedSQL }) => expandedSQL.includes("'value'")).length;
  const run = (statement = first): void => {
    if (!statement) throw new TypeError('no statement');
    release(statement);
    statement.all('value');
  };
  for (const statement of others) run(statement);
  expect(shown()).toBe(8);
  run();
  expect(shown()).toBe(1);
  expect(first?.expandedSQL).toBe("SELECT 'value' AS c0");
  run();
  run(others[0]);
  expect(shown()).toBe(2);
  database.close();
});
