import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type IdPart, idCodec } from '../../../src/mapping/id-rule.ts';
import { commonId } from '../../../src/mapping/load/nodes/id-shape.ts';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { identifier } from '../../../src/sql/identifier.ts';
import { parseMssqlType } from '../../../src/sql/mssql/types.ts';
import { runsOf } from '../../share.ts';

const TYPES: Readonly<Record<string, string>> = {
  integer: 'INT',
  plain: 'VARCHAR(20)',
  escaped: 'VARCHAR(20)',
  uuid: 'UNIQUEIDENTIFIER',
  datetime: 'DATETIME',
};

function column(codecName: string): IdPart {
  const type = parseMssqlType(TYPES[codecName] ?? '') as ColumnType;
  const codec = idCodec(codecName, type);
  if (!codec) throw new TypeError(codecName);
  return { kind: 'column', column: { kind: 'column', alias: identifier('a'), column: identifier('C'), type }, codec };
}

/** Parses a shape such as `p-{integer}`. */
function shape(text: string): readonly IdPart[] {
  return text.split(/\{(\w+)\}/).flatMap((part, i): readonly IdPart[] => {
    if (i % 2 === 1) return [column(part)];
    return part === '' ? [] : [{ kind: 'literal', text: part }];
  });
}

describe('shapes of ids', () => {
  test.each([
    ['{integer}', '{uuid}'],
    ['a-{integer}', 'b-{integer}'],
    ['{integer}', 'p{integer}'],
    ['{integer}-{integer}', '{integer}.{integer}'],
    ['{uuid}', 'x-{plain}'],
    ['{integer}', 'p-{plain}'],
    ['{datetime}', '{integer}'],
    ['{datetime}', 'at-{datetime}'],
  ])('%s and %s have no id in common', (a, b) => {
    expect(commonId(shape(a), shape(b))).toBeUndefined();
    expect(commonId(shape(b), shape(a))).toBeUndefined();
  });

  test.each([
    ['{integer}', '{plain}'],
    ['{plain}', 'p-{integer}'],
    ['{uuid}', '{plain}'],
    ['{escaped}', '{integer}'],
    ['a-{plain}', 'a-b-{plain}'],
    ['{datetime}', '{plain}'],
  ])('%s and %s have an id in common', (a, b) => {
    const common = commonId(shape(a), shape(b));
    expect(common).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
    expect(commonId(shape(b), shape(a))).toBeDefined();
  });

  test('that can print the same id never count as disjoint', () => {
    const parts = fc.array(fc.constantFrom('{integer}', '{plain}', '{escaped}', 'a', '-', 'p.'), {
      minLength: 1,
      maxLength: 4,
    });
    const keys = fc.array(fc.constantFrom('0', '7', 'a', 'p', '-1', 'a-a', '12'), { minLength: 4, maxLength: 4 });
    const print = (of: readonly IdPart[], values: readonly string[]): string | undefined => {
      const texts = of.map((part, i) => {
        if (part.kind === 'literal') return part.text;
        const raw = values[i] ?? '';
        return part.codec.name === 'integer'
          ? /^-?\d+$/.test(raw)
            ? part.codec.print(Number(raw))
            : undefined
          : part.codec.print(raw);
      });
      return texts.every(text => text !== undefined) ? texts.join('') : undefined;
    };
    fc.assert(
      fc.property(parts, keys, parts, keys, (a, ka, b, kb) => {
        const left = shape(a.join(''));
        const right = shape(b.join(''));
        const one = print(left, ka);
        if (one !== undefined && one === print(right, kb)) expect(commonId(left, right)).toBeDefined();
      }),
      { numRuns: runsOf(2000) },
    );
  });
});
