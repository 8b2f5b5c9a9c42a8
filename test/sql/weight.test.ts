/**
 * Memory of plans: keys of predicates are short however many codes they compare with, plan caches are bounded in bytes,
 * and the SQLite adapter reopens the file after many released statements.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { boundedCache } from '../../src/common/caches.ts';
import { UNICODE } from '../../src/sql/column-type.ts';
import { among, and, or, value } from '../../src/sql/construct.ts';
import type { ColumnExpression } from '../../src/sql/expression.ts';
import { predicateKey } from '../../src/sql/expression-key.ts';
import { identifier } from '../../src/sql/identifier.ts';
import { openFile } from '../../src/sql/sqlite/file.ts';
import { weightOf } from '../../src/sql/walk.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const column = (name: string): ColumnExpression => ({
  ...{ kind: 'column', alias: identifier('t'), column: identifier(name), type: UNICODE },
});
const codes = (count: number, begin = 'raw') =>
  Array.from({ length: count }, (_, i) => value(`${begin}-${i}`, UNICODE));
const panel = (begin?: string) =>
  and(
    ...Array.from({ length: 24 }, (_, i) =>
      or(among(column(`C${i}`), codes(500, begin)), among(column('D'), codes(3))),
    ),
  );

test('keys of large predicates are short, and equal for equal predicates alone', () => {
  expect(predicateKey(panel()).length).toBeLessThan(400);
  expect(predicateKey(panel())).toBe(predicateKey(panel()));
  expect(predicateKey(panel('other'))).not.toBe(predicateKey(panel()));
  expect(predicateKey(among(column('A'), codes(500)))).not.toBe(predicateKey(among(column('B'), codes(500))));
  expect(predicateKey(among(column('A'), codes(3)))).toContain('raw-2');
});

test('a weight grows with the values, and the walk stops at the limit', () => {
  const one = weightOf(among(column('A'), codes(500)), 1e9);
  expect(weightOf(panel(), 1e9)).toBeGreaterThan(20 * one);
  expect(weightOf(panel(), 1000)).toBeLessThan(2000);
});

test('a weighted cache bounds the total weight', () => {
  const cache = boundedCache<{ bytes: number }>(100, { weights: { most: 1e6, weigh: ({ bytes }) => bytes } });
  for (let i = 0; i < 20; i++) cache.keep(`${i}`, { bytes: 200_000 });
  const kept = Array.from({ length: 20 }, (_, i) => cache.find(`${i}`)).filter(one => one !== undefined);
  expect(kept.length).toBeGreaterThan(2);
  expect(kept.length).toBeLessThan(7);
  cache.keep('light', { bytes: 1 });
  cache.keep('heavy', { bytes: 9e6 });
  cache.find('light');
  expect(cache.find('heavy')).toBeUndefined();
});

test('after many released statements the file is reopened, with the same answers', () => {
  const folder = temporaryFolder();
  const path = join(folder, 'some.sqlite');
  const made = new DatabaseSync(path);
  made.exec('CREATE TABLE T (A TEXT); INSERT INTO T VALUES (1), (2)');
  made.close();
  const file = openFile(path, { cache: 1000, look: 1000 });
  onTestFinished(() => file.close());
  const connection = () => file.use('test', database => database);
  const ask = (i: number, length: number) =>
    file.rows({ text: `SELECT count(*) FROM T WHERE A <> '${'x'.repeat(length)}${i}'`, parameters: [] });
  const first = connection();
  for (let i = 0; i < 50; i++) expect(ask(i, 1000)).toEqual([[2]]);
  expect(connection() === first).toBe(true);
  for (let i = 0; i < 100; i++) expect(ask(i, i % 2 ? 150_000 : 250_000)).toEqual([[2]]);
  expect(connection() === first).toBe(false);
  expect(first.isOpen).toBe(false);
  expect(ask(0, 1000)).toEqual([[2]]);
});
