import { describe, expect, it } from 'vitest';
import type { Condition } from '../../src/mapping/model.ts';
import { compileWriter } from '../../src/resource/compile.ts';
import { globPattern } from '../../src/resource/condition.ts';
import { shapeOf } from '../../src/resource/shape.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import * as make from './nodes.ts';
import { observation } from './zoo.ts';

/** True if a condition on the column `DAY` holds at an instant, for a database in New York (UTC-5 on these days). */
function holds(condition: Condition, raw: SqlValue, at: string): boolean {
  const mapping = observation({ status: make.constant('yes', 'code', condition) });
  const shape = shapeOf(mapping, { kind: 'all' }, make.resolver());
  const context = { base: '', now: Date.parse(at), zone: 'America/New_York' };
  return 'status' in JSON.parse(compileWriter(mapping, shape).write(['1', raw], [], context));
}

describe('comparison with the present', () => {
  const before: Condition = { kind: 'now', column: make.col('DAY'), op: 'before', codec: make.TRIMMED };
  const after: Condition = { ...before, op: 'after' };

  it('counts from the beginning of a day in the zone of the database', () => {
    expect(holds(before, '2024-01-10', '2024-01-10T04:59:59Z')).toBe(false);
    expect(holds(before, '2024-01-10', '2024-01-10T05:00:00Z')).toBe(false);
    expect(holds(before, '2024-01-10', '2024-01-10T05:00:01Z')).toBe(true);
    expect(holds(after, '2024-01-10', '2024-01-10T05:00:00Z')).toBe(true);
    expect(holds(after, '2024-01-10', '2024-01-10T05:00:01Z')).toBe(false);
  });

  it('is false for non-dates, in both directions, and true for the complements', () => {
    for (const raw of [null, '', 'soon', '2024-02-31']) {
      expect(holds(before, raw, '2024-01-10T00:00:00Z')).toBe(false);
      expect(holds(after, raw, '2024-01-10T00:00:00Z')).toBe(false);
      expect(holds({ kind: 'none', of: before }, raw, '2024-01-10T00:00:00Z')).toBe(true);
    }
  });
});

describe('one of some values', () => {
  it('is no row of NULL, and no value that the column cannot hold', () => {
    const one: Condition = { kind: 'is', column: make.col('DAY', make.INT), values: [7, 'many'] };
    expect([7, 8, null].map(raw => holds(one, raw, '2024-01-10T00:00:00Z'))).toEqual([true, false, false]);
  });
});

describe('patterns', () => {
  it('match the whole text, with one character per code point', () => {
    expect(globPattern('a?c').test('a😀c')).toBe(true);
    expect(globPattern('a*').test('a\nb')).toBe(true);
    expect(globPattern('a').test('ab')).toBe(false);
  });

  it('match the whole text, whatever precedes or follows', () => {
    const texts = ['', '0', '00', '000', '100', '001', 'a00\nb', '\n00', '00\n', '*', '.'];
    const found = (pattern: string) => texts.filter(text => globPattern(pattern).test(text));
    expect(found('*')).toEqual(texts);
    expect(found('**')).toEqual(texts);
    expect(found('*00')).toEqual(texts.filter(text => text.endsWith('00')));
    expect(found('00*')).toEqual(texts.filter(text => text.startsWith('00')));
    expect(found('*00*')).toEqual(texts.filter(text => text.includes('00')));
    expect(found('[*]')).toEqual(['*']);
    expect(found('.*')).toEqual(['.']);
  });

  it('take everything literally, except `*`, `?` and classes', () => {
    for (const text of ['.', '\\', '(a|b)+', '^$', '{1}', 'a-b', '/x/'])
      expect(globPattern(text).test(text)).toBe(true);
    expect(globPattern('.').test('x')).toBe(false);
  });

  it('read classes with ranges, complements and a hyphen first', () => {
    expect(globPattern('[a-c]').test('b')).toBe(true);
    expect(globPattern('[^a-c]').test('b')).toBe(false);
    expect(globPattern('[^-0-9.]').test('-')).toBe(false);
    expect(globPattern('[-x]').test('-')).toBe(true);
  });
});
