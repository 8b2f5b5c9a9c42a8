/**
 * Columns under `deny` are never read, according to the texts as they are typed: in no view, and by no earlier text
 * either.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Unsaved, WireCompletion, WirePreview } from '../../src/workbench/wire/mapping.ts';
import type { WireProfile } from '../../src/workbench/wire/tables.ts';
import { NAMELESS, PACK_YAML } from '../cli/small-clinic.ts';
import { type OpenedBench, openBench } from './opened-bench.ts';

const DENIES = { 'pack.yaml': `${PACK_YAML}deny: ["PERSON.SEX"]\n` };

describe('a column under deny', () => {
  let bench: OpenedBench;
  beforeAll(async () => {
    bench = await openBench();
  });
  afterAll(() => bench.close());

  const ask = async <T>(path: string, body: object): Promise<{ readonly status: number; readonly is: T }> => {
    const answer = await bench.post(path, body);
    return { status: answer.status, is: (await answer.json()) as T };
  };
  /** The requests that read rows of the pack. */
  const READING: readonly (readonly [string, object])[] = [
    ['preview', { mapping: 'people', key: ['1'] }],
    ['ccda', { mapping: 'people', key: ['1'] }],
    ['record', { mapping: 'people', key: ['1'] }],
    ['rows', { mapping: 'people', wish: 'strange' }],
    ['rows-found', { mapping: 'people', search: 'gender=female' }],
    ['search', { query: 'Patient?gender=female' }],
    ['codes/held', { map: 'sex' }],
    ['codes/unmapped', {}],
    ['codes/csv', { map: 'sex', of: 'unmapped' }],
    ['coverage', { guide: 'us-core-6.1.0' }],
  ];

  test('is not read through an older valid text', async () => {
    for (const [path, body] of READING) {
      expect([path, (await ask(path, { ...body, unsaved: {} })).status]).toEqual([path, 200]);
      expect([path, (await ask(path, { ...body, unsaved: DENIES })).status]).toEqual([path, 409]);
    }
    // With another error, the last text without errors stays in use.
    const unsaved = { 'weighing.yaml': 'mapping: weights' };
    expect((await ask('preview', { mapping: 'people', key: ['1'], unsaved })).is).toMatchObject({ stale: true });
  });

  test('is not part of an edit comparison', async () => {
    const preview = (unsaved: Unsaved) => ask<WirePreview>('preview', { mapping: 'people', key: ['1'], unsaved });
    expect((await preview({ 'person.yaml': NAMELESS })).is.before).toMatchObject({ gender: 'female' });
    expect((await preview({ ...DENIES, 'person.yaml': NAMELESS })).is).toMatchObject({ before: null, stale: false });
  });

  test('is in no profile, and not in completions', async () => {
    const { is } = await ask<WireProfile>('tables/profile', { unsaved: DENIES, table: 'person' });
    expect(is.columns.find(({ name }) => name === 'SEX')).toEqual({ name: 'SEX', why: '`deny` of pack.yaml' });
    const one = { unsaved: DENIES, table: 'person', column: 'SEX' };
    expect((await ask<WireProfile>('tables/profile', one)).is.columns).toEqual([
      { name: 'SEX', why: '`deny` of pack.yaml' },
    ]);
    const text = NAMELESS.replace('BORN', '');
    const body = { unsaved: DENIES, path: 'person.yaml', text, offset: text.indexOf('from: ') + 6 };
    const labels = (await ask<WireCompletion>('complete', body)).is.options.map(({ label }) => label);
    expect(labels).toContain('BORN');
    expect(labels).not.toContain('SEX');
  });
});
