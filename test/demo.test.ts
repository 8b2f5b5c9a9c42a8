import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { demoDatabase } from '../src/start/demo.ts';
import { temporaryFolder } from './temporary-folder.ts';

test('the demo database is built once, and the database of an older generator is removed', async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'demo-120-1-0123456789ab.sqlite'), '');
  writeFileSync(join(folder, 'other.sqlite'), '');
  const told: string[] = [];
  const file = await demoDatabase(folder, what => told.push(what));
  expect(told).toHaveLength(1);
  const built = statSync(file);
  expect(built.size).toBeGreaterThan(100_000);
  expect(await demoDatabase(folder, what => told.push(what))).toBe(file);
  expect(told).toHaveLength(1);
  expect(statSync(file).mtimeMs).toBe(built.mtimeMs);
  expect(readdirSync(folder).toSorted()).toEqual([file.slice(folder.length + 1), 'other.sqlite']);
});
