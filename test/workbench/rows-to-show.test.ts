/**
 * Rows for the preview as the page requests them, and the resource of the saved text next to that of the unsaved text.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { changedLines } from '../../src/workbench/page/mapping/changed-lines.ts';
import { linesOf } from '../../src/workbench/page/mapping/json-lines.ts';
import type { WirePreview, WireRows } from '../../src/workbench/wire/mapping.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

let bench: OpenedBench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.close());

async function asked<T>(path: string, body: object, status = 200): Promise<T> {
  const response = await bench.post(path, { unsaved: {}, ...body });
  expect(response.status).toBe(status);
  return (await response.json()) as T;
}

const keysOf = ({ rows }: WireRows): readonly string[] => rows.map(({ key }) => key.join());

test.each(['any', 'strange'] as const)('%s: keys of rows of the table', async wish => {
  expect(keysOf(await asked('rows', { mapping: 'people', wish })).toSorted()).toEqual(['1', '2']);
});

test('the row with the most NULLs, or the longest, comes first', async () => {
  const empty = await asked<WireRows>('rows', { mapping: 'people', wish: 'empty' });
  expect(empty.rows[0]).toEqual({ key: ['2'], note: '1 NULL, 8 characters' });
  expect(keysOf(await asked('rows', { mapping: 'people', wish: 'long' }))[0]).toBe('1');
});

test('a search finds the rows of its resources; a refused one has a reason', async () => {
  expect(keysOf(await asked('rows-found', { mapping: 'people', search: 'family=kow' }))).toEqual(['1']);
  expect(keysOf(await asked('rows-found', { mapping: 'weights', search: 'Observation?subject=Patient/1' }))).toEqual([
    '7',
    '8',
  ]);
  expect(keysOf(await asked('rows-found', { mapping: 'people', search: 'family=nobody' }))).toEqual([]);
  const { error } = await asked<{ error: string }>('rows-found', { mapping: 'people', search: 'colour=red' }, 404);
  expect(error).toContain('colour');
});

test('an edit shows its changes; without an edit nothing is compared', async () => {
  expect(await asked<WirePreview>('preview', { mapping: 'people', key: ['1'] })).not.toHaveProperty('before');
  const text = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME }, use: official } ]
  gender: { from: SEX, via: sex }
`;
  const shown = await asked<WirePreview>('preview', {
    unsaved: { 'person.yaml': text },
    mapping: 'people',
    key: ['1'],
  });
  const lines = changedLines(linesOf(shown.before), linesOf(shown.resource));
  const changed = lines.flatMap(({ line, change }) =>
    change === 'same' ? [] : [`${change} ${line.before}${line.value}`],
  );
  expect(changed).toEqual(['added "use": "official"', 'removed "birthDate": "1970-02-03"']);
  const other = await asked<WirePreview>('preview', { unsaved: { 'new.yaml': '' }, mapping: 'people', key: ['1'] });
  expect(other.before).toEqual(other.resource);
});
