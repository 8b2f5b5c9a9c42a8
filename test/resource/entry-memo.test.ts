import { describe, expect, it } from 'vitest';
import type { Lookup } from '../../src/mapping/model.ts';
import { compileWriter, type WriteContext } from '../../src/resource/compile.ts';
import { EntryMemo, entryInputs } from '../../src/resource/memo.ts';
import { NO_CHILDREN } from '../../src/resource/rows.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { identifier } from '../../src/sql/identifier.ts';
import * as make from './nodes.ts';
import { observation } from './zoo.ts';

const CONTEXT: WriteContext = { base: 'https://fhir.example', now: 0, zone: 'UTC' };
const DICTIONARY: Lookup = {
  table: { name: identifier('DICT') },
  alias: identifier('d'),
  on: [make.join('d.CODE', 't.TEST')],
  where: { kind: 'always' },
  required: false,
  pick: [],
  at: { file: 'x', line: 1, column: 1 },
};
const CODING = make.object(
  'Coding',
  { code: make.value('TEST'), display: make.value('d.NAME'), version: make.value('VERSION') },
  { needs: ['code'] },
);
const SOURCE = make.scope('t', 'T', [DICTIONARY]);
const MAPPING = observation(
  { code: make.object('CodeableConcept', { coding: make.list(CODING) }) },
  { source: { ...SOURCE, key: [make.col('ID')], onePer: [] } },
);

describe('a fragment made of a code and its dictionary row', () => {
  it('is cached by the code of the dictionary row', () => {
    const found = entryInputs([CODING], [DICTIONARY]);
    expect(found && expressionKey(found.code)).toBe('t.TEST');
    expect(found?.others.map(expressionKey)).toEqual(['d.NAME', 't.VERSION']);
    expect(entryInputs([CODING], [])).toBeUndefined();
    expect(entryInputs([make.object('Coding', { code: make.value('d.NAME') })], [DICTIONARY])).toBeUndefined();
    const referring = make.object('Coding', { code: make.value('TEST'), display: make.ref('x', []) });
    expect(entryInputs([referring], [DICTIONARY])).toBeUndefined();
  });

  it('is made anew when any input changes, and changes back', () => {
    const shape = shapeOf(MAPPING, { kind: 'all' }, make.resolver(MAPPING));
    const writer = compileWriter(MAPPING, shape);
    const coding = (row: Readonly<Record<string, SqlValue>>): unknown => {
      const values = shape.columns.map(column => row[expressionKey(column)] ?? null);
      return JSON.parse(writer.write(values, NO_CHILDREN, CONTEXT)).code?.coding[0];
    };
    const sodium = { 't.ID': '1', 't.TEST': 'NA', 'd.NAME': 'Sodium', 't.VERSION': null };
    for (let i = 0; i < 3; i++) {
      expect(coding(sodium)).toEqual({ code: 'NA', display: 'Sodium' });
      expect(coding({ ...sodium, 'd.NAME': 'Natrium' })).toEqual({ code: 'NA', display: 'Natrium' });
      expect(coding({ ...sodium, 't.VERSION': '2' })).toEqual({ code: 'NA', display: 'Sodium', version: '2' });
      expect(coding({ ...sodium, 't.TEST': null })).toBeUndefined();
      expect(coding({ ...sodium, 't.TEST': 'K' })).toEqual({ code: 'K', display: 'Sodium' });
    }
  });

  it('is not cached if it rarely repeats, and the cache is bounded', () => {
    const memo = new EntryMemo();
    for (let i = 0; i < 1999; i++) if (memo.get(`${i}`) === undefined) memo.put(`${i}`, 'text');
    const kept = [...Array(1999).keys()].filter(i => memo.get(`${i}`) !== undefined);
    expect(kept.length).toBeLessThanOrEqual(1000);
    expect(kept.length).toBeGreaterThan(0);
    const failing = new EntryMemo();
    for (let i = 0; i < 2002; i++) if (failing.get('code')?.of[0] !== i) failing.put('code', 'text', i);
    expect(failing.get('code')).toBeUndefined();
  });

  it('is not cached without a code, which does not count as a miss', () => {
    const memo = new EntryMemo();
    memo.put('code', 'text');
    for (const none of [null, '']) {
      for (let i = 0; i < 3000; i++) if (memo.get(none) === undefined) memo.put(none, 'text', i);
      expect(memo.get(none)).toBeUndefined();
    }
    expect(memo.get('code')?.text).toBe('text');
  });

  it('is not cached for long texts', () => {
    const memo = new EntryMemo();
    memo.put('code', 'text', 'x'.repeat(201));
    expect(memo.get('code')).toBeUndefined();
  });
});
