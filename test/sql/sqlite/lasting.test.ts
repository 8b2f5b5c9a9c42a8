import { DatabaseSync } from 'node:sqlite';
import { expect, it } from 'vitest';
import { preparesLasting, releasesOthers } from '../../../src/sql/sqlite/file.ts';

it('prepares a statement, also after an invalid one', () => {
  const database = new DatabaseSync(':memory:');
  const prepare = preparesLasting(database);
  const doubled = prepare('SELECT ? || ?1 AS twice');
  expect(() => prepare('SELEC')).toThrow('syntax error');
  expect(doubled.get('a')).toEqual({ twice: 'aa' });
  expect(prepare('SELECT 7 AS seven').get()).toEqual({ seven: 7 });
  database.close();
});

it('leaves no statement running', () => {
  const database = new DatabaseSync(':memory:');
  const prepare = preparesLasting(database);
  // Refused while any statement is active.
  const vacuum = (): void => database.exec('VACUUM');
  expect(vacuum).not.toThrow();
  prepare('SELECT 1');
  expect(vacuum).not.toThrow();
  expect(() => prepare('SELEC')).toThrow('syntax error');
  expect(vacuum).not.toThrow();
  database.close();
});

it('keeps bound values, and releases all but the newest statements above a limit', () => {
  const database = new DatabaseSync(':memory:');
  const release = releasesOthers();
  const statements = Array.from({ length: 7 }, (_, i) => database.prepare(`SELECT ?1 AS c${i}`));
  const [first, second, ...others] = statements;
  const shown = (): number => statements.filter(({ expandedSQL }) => expandedSQL.includes("'value'")).length;
  const run = (statement = first, values = 10): void => {
    if (!statement) throw new TypeError('no statement');
    release(statement, values);
    statement.all('value');
  };
  run(second);
  for (const statement of others) run(statement);
  expect(shown()).toBe(6);
  run(first);
  expect(shown()).toBe(1);
  expect(first?.expandedSQL).toBe("SELECT 'value' AS c0");
  run(first);
  run(second, 61);
  expect(shown()).toBe(1);
  run(first);
  expect(shown()).toBe(1);
  expect(second?.expandedSQL).toBe('SELECT NULL AS c1');
  database.close();
});
