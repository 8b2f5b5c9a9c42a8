import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openOutput, QuotaError } from '../../src/export/output.ts';
import { outputFile } from '../../src/export/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const space = (limit: number) => ({ used: new BigInt64Array(new SharedArrayBuffer(8)), limit });

test('lines of any length and script are written unchanged, and counted in bytes', () => {
  const into = temporaryFolder();
  const line = fc
    .tuple(fc.constantFrom('a', 'é', '漢', '🙂'), fc.constantFrom(1, 7, 20_000, 120_000, 400_000))
    .map(([letter, times]) => letter.repeat(times));
  let part = 0;
  fc.assert(
    fc.property(fc.array(fc.array(line, { maxLength: 8 }), { maxLength: 4 }), batches => {
      part += 1;
      const quota = space(1e12);
      const output = openOutput({ folder: into, part, files: [], collected: 0, fileLines: 1e9, quota });
      for (const batch of batches) output.write(batch);
      output.sync();
      output.close();
      const lines = batches.flat();
      const expected = lines.map(text => `${text}\n`).join('');
      const bytes = Buffer.byteLength(expected);
      expect(output.files).toEqual(lines.length === 0 ? [] : [{ lines: lines.length, bytes }]);
      if (lines.length > 0) expect(readFileSync(outputFile(into, part, 0), 'utf8') === expected).toBe(true);
      expect(Number(quota.used[0])).toBe(bytes);
    }),
    { numRuns: 40 },
  );
});

test('a batch that does not fit is not counted, and its reserved space is released', () => {
  const quota = space(300_000);
  const output = openOutput({ folder: temporaryFolder(), part: 0, files: [], collected: 0, fileLines: 1e9, quota });
  output.write(['a'.repeat(9)]);
  output.sync();
  expect(() => output.write(Array.from({ length: 20 }, () => 'b'.repeat(30_000)))).toThrow(QuotaError);
  output.close();
  expect(output.files).toEqual([{ lines: 1, bytes: 10 }]);
  expect(Number(quota.used[0])).toBe(10);
});

test('a resumed run truncates what was written after the recorded state', () => {
  const into = temporaryFolder();
  const settings = { folder: into, part: 0, collected: 0, fileLines: 1e9, quota: space(1e12) };
  const first = openOutput({ ...settings, files: [] });
  first.write(['kept']);
  first.sync();
  const state = [...first.files];
  first.write(['written after the state was', 'and this']);
  first.sync();
  first.close();
  const second = openOutput({ ...settings, files: state });
  second.write(['new']);
  second.sync();
  second.close();
  expect(readFileSync(outputFile(into, 0, 0), 'utf8')).toBe('kept\nnew\n');
  expect(second.files).toEqual([{ lines: 2, bytes: 9 }]);
});

const DESCRIPTORS = '/proc/self/fd';

test.runIf(existsSync(DESCRIPTORS))('a closed output holds no file open', () => {
  const into = temporaryFolder();
  const output = openOutput({ folder: into, part: 0, files: [], collected: 0, fileLines: 1, quota: space(1e6) });
  const held = (): number =>
    readdirSync(DESCRIPTORS).filter(name => {
      const at = join(DESCRIPTORS, name);
      return existsSync(at) && readlinkSync(at).startsWith(into);
    }).length;
  output.write(['a']);
  output.write(['b']);
  output.collect(['Patient/1']);
  expect(held()).toBe(2);
  output.close();
  expect(held()).toBe(0);
});
