/**
 * A pack of 5 MB over 5,000 tables stays usable: limits of CPU, wide enough for a slow machine, on what a person waits
 * for. Earlier faults took minutes, or all of the memory.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WireCheck, WirePack } from '../../src/workbench/wire/mapping.ts';
import type { WireSizes, WireTables } from '../../src/workbench/wire/tables.ts';
import { runsOf } from '../share.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { FILES, type LargePack, makeLargePack, TABLES } from './large-pack.ts';
import { type BenchOver, openBenchOn } from './opened-bench.ts';

const folder = temporaryFolder(afterAll);
let large: LargePack;
let bench: BenchOver;
beforeAll(async () => {
  large = makeLargePack(folder);
  bench = await openBenchOn(large.environment);
}, 120_000);
afterAll(() => bench.close());

async function asked<T>(path: string, body?: object): Promise<{ readonly answer: T; readonly seconds: number }> {
  const before = process.cpuUsage();
  const response = await bench.ask(`${bench.base}/api/${path}`, body ? { method: 'POST', body } : {});
  const answer = (await response.json()) as T;
  const { user, system } = process.cpuUsage(before);
  expect(response.status).toBe(200);
  return { answer, seconds: (user + system) / 1e6 };
}

test('the pack is checked, and checked again quickly after a keystroke', { timeout: 300_000 }, async () => {
  expect(large.bytes).toBeGreaterThan(runsOf(5_000_000));
  const first = await asked<WireCheck>('check', { unsaved: {} });
  expect(first.answer.problems).toEqual([]);
  expect(first.answer.mappings?.length).toBe(2 * FILES + 1);
  expect(first.seconds).toBeLessThan(60);
  const { files } = (await asked<WirePack>('pack')).answer;
  const text = files.find(({ path }) => path === 'part-7.yaml')?.text ?? '';
  const took: number[] = [];
  for (let i = 0; i < 6; i++) {
    const unsaved = { 'part-7.yaml': text.replace('finding-3,', `finding-3${i},`) };
    const { answer, seconds } = await asked<WireCheck>('check', { unsaved });
    expect(answer.problems).toEqual([]);
    took.push(seconds);
  }
  expect(took.toSorted((a, b) => a - b)[3]).toBeLessThan(1);
  const { seconds } = await asked('tests', { unsaved: {} });
  expect(seconds).toBeLessThan(2);
});

test('the list of tables and their sizes', { timeout: 120_000 }, async () => {
  const tables = await asked<WireTables>('tables', { unsaved: {}, again: false });
  expect(tables.answer.tables.length).toBe(TABLES);
  expect(tables.seconds).toBeLessThan(5);
  const sizes = await asked<WireSizes>('tables/sizes', {});
  expect(Object.keys(sizes.answer.sizes).length).toBe(TABLES);
  expect(sizes.seconds).toBeLessThan(5);
});
