import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base64Codec } from '../../../src/mapping/codecs/base64.ts';
import { filled, not } from '../../../src/sql/construct.ts';
import { nullable, RUNS, text } from './arbitrary.ts';
import { expectPresent, table } from './law.ts';

describe('base64', () => {
  it('writes bytes, and text as UTF-8', () => {
    expect(base64Codec().decode(new Uint8Array([0, 255]))).toBe('AP8=');
    expect(base64Codec().decode('é')).toBe('w6k=');
    expect(base64Codec().decode('  ')).toBeUndefined();
  });

  it('is present exactly where it writes something', () => {
    const rows = table('NVARCHAR(400)');
    fc.assert(
      fc.property(fc.array(nullable(text), { minLength: 1, maxLength: 12 }), raws => {
        rows.fill(raws.map(one => [one]));
        expectPresent(base64Codec(), rows);
      }),
      RUNS,
    );
  });
});

describe('base64 of bytes', () => {
  const rows = table('VARBINARY(400)');
  const [column] = rows.columns;
  if (!column) throw new Error('a table without a column');
  rows.fill([[null], [new Uint8Array()], [new Uint8Array([0])], [new Uint8Array([1, 2])]]);

  it('is present exactly where it writes something: no byte at all is nothing to write', () => {
    expectPresent(base64Codec(), rows);
  });

  it('is of a column that conditions take as present likewise', () => {
    expect(rows.select(filled(column))).toEqual([2, 3]);
    expect(rows.select(not(filled(column)))).toEqual([0, 1]);
  });
});
