/** Links to lines while the pack has errors: they lead to the present position of the line of the last valid text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { movedPlaces } from '../../src/workbench/server/moved-places.ts';
import type { WirePreview } from '../../src/workbench/wire/mapping.ts';
import type { WireDetail } from '../../src/workbench/wire/tables.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

test('the preview and the uses of a column have the lines of the edited text', async () => {
  const sound = readFileSync(join(bench.clinic.pack, 'person.yaml'), 'utf8');
  const broken = `# Who comes here.\n# And who came.\n${sound.replace('gender: {', 'telecom: []\n  gendr: {')}`;
  const row = { mapping: 'people', key: ['1'] };
  const placeOf = async (text: string, path: string): Promise<number | undefined> => {
    const preview = await bench.asked<WirePreview>('preview', { unsaved: { 'person.yaml': text }, ...row });
    return preview.elements.find(one => one.path === path)?.place.line;
  };
  const usesOf = async (text: string): Promise<readonly number[]> => {
    const detail = await bench.asked<WireDetail>('tables/one', { unsaved: { 'person.yaml': text }, table: 'person' });
    return detail.columns.find(({ name }) => name === 'BORN')?.uses.map(({ place }) => place.line) ?? [];
  };
  expect([await placeOf(sound, 'gender'), await placeOf(sound, 'birthDate')]).toEqual([7, 8]);
  const uses = await usesOf(sound);
  expect([await placeOf(broken, 'gender'), await placeOf(broken, 'birthDate')]).toEqual([9, 11]);
  expect(await usesOf(broken)).toEqual(uses.map(line => line + 3));
});

test.each<[what: string, before: string, now: string, lines: readonly number[]]>([
  ['lines above', 'a b c', 'x y a b c', [3, 4, 5]],
  ['a line that is changed', 'a b c', 'a x c', [1, 2, 3]],
  ['removed lines', 'a b c d', 'a d', [1, 2, 2, 2]],
  ['lines that change places', 'a b c d', 'c d a b', [3, 4, 1, 2]],
  ['all lines', 'a b', 'x', [1, 1]],
])('%s', (_, before, now, lines) => {
  const texts = (text: string): ReadonlyMap<string, string> => new Map([['f', text.replaceAll(' ', '\n')]]);
  const move = movedPlaces(texts(before), texts(now));
  expect(lines.map((_line, i) => move({ file: 'f', line: i + 1, column: 5 }).line)).toEqual(lines);
});
