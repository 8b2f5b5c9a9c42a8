import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeCodec, integerTextCodec } from '../../../src/mapping/codecs/code.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { textCodec } from '../../../src/mapping/codecs/text.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { digitsCriterion, exact, nullable, RUNS, rowsOf, stringCriterion, text, uriBelow } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

describe('text', () => {
  it.each([
    [null, undefined],
    ['', undefined],
    [' \t\r\n ', undefined],
    ['  Smith \r\n', 'Smith'],
    ['a  b', 'a  b'],
    ['line\nnext\tcell', 'line\nnext\tcell'],
    ['a\u0000b\u0007c', 'abc'],
    [' \u0007 ', undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(textCodec().decode(raw)).toBe(wanted);
  });

  it('keeps the law for every search of text', () => {
    expectLaw(textCodec(), 'NVARCHAR(80)', nullable(text));
  });

  it('has no inverse for dates and numbers', () => {
    const { columns } = table('VARCHAR(10)');
    expect(textCodec().match(columns, { kind: 'number', any: [] }, CLOCK)).toBeUndefined();
    expect(textCodec().match(columns, { kind: 'date', any: [] }, CLOCK)).toBeUndefined();
  });
});

describe('code', () => {
  it.each([
    [null, undefined],
    ['', undefined],
    ['    ', undefined],
    ['A   ', 'A'],
    [' A', undefined],
    ['a b', 'a b'],
    ['a  b', undefined],
    ['a\tb', undefined],
    ['a\u007f', undefined],
    ['007', '007'],
  ])('reads %j as %j', (raw, wanted) => {
    expect(codeCodec().decode(raw)).toBe(wanted);
  });

  it('keeps the law for every search of text', () => {
    expectLaw(codeCodec(), 'VARCHAR(80)', nullable(text));
  });

  it('compares the bare column, so that an index serves', () => {
    const { columns } = table('CHAR(4)');
    const [column] = columns;
    expect(codeCodec().match(columns, { kind: 'exact', text: 'A' }, CLOCK)).toMatchObject({
      kind: 'equals',
      left: column,
    });
  });

  it.each(['A ', ' A', 'a  b', '', 'a\tb'])('sends no query for %j, which no row can emit', wanted => {
    const { columns } = table('CHAR(4)');
    expect(codeCodec().match(columns, { kind: 'exact', text: wanted }, CLOCK)).toEqual({ kind: 'false' });
  });
});

describe('text of a number column', () => {
  it('keeps the law for integers', () => {
    expectLaw(integerTextCodec(columnType('INT')), 'INT', nullable(fc.constantFrom(0, 1, 7, 10, -5, 2147483647)));
  });

  it('keeps the law for decimals', () => {
    const raws = fc.constantFrom(0, 1, 7.5, 10.25, -5, 100);
    expectLaw(integerTextCodec(columnType('DECIMAL(7,2)')), 'DECIMAL(7,2)', nullable(raws));
  });

  it('sorts numbers as the texts that they are emitted as', () => {
    const rows = table('INT');
    rows.fill([[9], [10], [-5], [null], [0], [100]]);
    const codec = integerTextCodec(columnType('INT'));
    expectOrder(codec, rows, ['', '1', '10a', 'a']);
    const by = (codec.order?.by(rows.columns) ?? []).map(one => ({ by: one, descending: false }));
    expect(rows.values(rows.columns, by).flat()).toEqual([null, -5, 0, 10, 100, 9]);
  });

  it.each(['007', '+7', '7.0', '99999999999', '7 ', ''])('finds nothing for %j in an integer column', wanted => {
    const { columns } = table('INT');
    expect(integerTextCodec(columnType('INT')).match(columns, { kind: 'exact', text: wanted }, CLOCK)).toEqual({
      kind: 'false',
    });
  });
});

function expectLaw(codec: Codec, declared: string, raw: fc.Arbitrary<SqlValue>): void {
  const rows = table(declared);
  fc.assert(
    fc.property(rowsOf(raw), fc.gen(), (raws, g) => {
      rows.fill(raws.map(one => [one]));
      expectPresent(codec, rows);
      const values = decodeAll(codec, rows);
      for (const criterion of [exact, stringCriterion, uriBelow, digitsCriterion])
        expectMatch(codec, rows, g(criterion, values));
    }),
    RUNS,
  );
}
