/**
 * A DATETIME in an id: each stored time has one text, whatever form its rows have, and the text finds the row again.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { inLayout, printStored, raise } from '../../src/mapping/codecs/stored-time.ts';
import { idCodec } from '../../src/mapping/id-rule.ts';
import type { ColumnType } from '../../src/sql/column-type.ts';
import { parseMssqlType } from '../../src/sql/mssql/types.ts';
import { instantKey } from '../../src/time/instant-key.ts';
import { zoneOf } from '../../src/time/zone.ts';
import { RUNS } from './codecs/arbitrary.ts';

type Moment = Extract<ColumnType, { kind: 'datetime' }>;

const OF_SQL_SERVER = ['DATETIME', 'SMALLDATETIME', 'DATETIME2(0)', 'DATETIME2(3)', 'DATETIME2(7)'].map(
  declared => parseMssqlType(declared) as Moment,
);
const BARE: Moment = { kind: 'datetime', name: 'datetime2', fraction: 0 };
const OF_SQLITE: readonly Moment[] = [
  { ...BARE, form: { kind: 'layout', separator: ' ', length: 19 } },
  { ...BARE, form: { kind: 'layout', separator: 'T', length: 16 } },
  { ...BARE, form: { kind: 'layout', separator: ' ', length: 10 } },
  { ...BARE, fraction: 3, form: { kind: 'layout', separator: 'T', length: 23 } },
];
const ANY: Moment = { ...BARE, fraction: 7, form: { kind: 'any', zone: 'America/New_York' } };

const local = fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(2079, 5, 6) });

const codecOf = (type: ColumnType) => {
  const codec = idCodec(undefined, type);
  if (!codec) throw new TypeError(type.kind);
  return codec;
};

describe('a moment in an id', () => {
  test.each([...OF_SQL_SERVER, ...OF_SQLITE])('$name, $fraction digits, $form: leads back to what is stored', type => {
    const codec = codecOf(type);
    fc.assert(
      fc.property(local, at => {
        const stored = printStored(raise(at, type), type);
        const part = codec.print(stored);
        expect(part).toMatch(/^\d{8}T\d{6}(\.\d*[1-9])?$/);
        expect(codec.parse(part ?? '')).toBe(stored);
      }),
      RUNS,
    );
  });

  test('is the same in every layout that can hold it', () => {
    const text = '2150-03-10 08:30:00.0000000';
    const parts = [...OF_SQL_SERVER, ...OF_SQLITE.slice(0, 2), ANY].map(type => {
      const length = type.form?.kind === 'layout' ? type.form.length : type.fraction === 0 ? 19 : 20 + type.fraction;
      return codecOf(type).print(inLayout(text.slice(0, length), type.form));
    });
    expect(new Set(parts)).toEqual(new Set(['21500310T083000']));
  });

  test('a time that the column cannot hold is none', () => {
    const [datetime, small, whole] = OF_SQL_SERVER.map(codecOf);
    expect(datetime?.parse('20240310T083000.003')).toBe('2024-03-10 08:30:00.003');
    expect(datetime?.parse('20240310T083000.001')).toBeUndefined();
    expect(datetime?.parse('17000310T083000')).toBeUndefined();
    expect(small?.parse('20240310T083015')).toBeUndefined();
    expect(whole?.parse('20240310T083000.5')).toBeUndefined();
    expect(whole?.parse('20240310T083000')).toBe('2024-03-10 08:30:00');
    for (const part of ['20240230T083000', '20240310T243000', '20240310T0830', '2024-03-10', '20240310T083000.50'])
      expect(datetime?.parse(part)).toBeUndefined();
  });

  test('both passes of a repeated hour have distinct ids', () => {
    const codec = codecOf(ANY);
    const zone = zoneOf('America/New_York');
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(2024, 10, 3, 4), max: Date.UTC(2024, 10, 3, 8) }), at => {
        const stored = instantKey(at, zone);
        const part = codec.print(stored) ?? '';
        expect(part).toMatch(/^[A-Za-z0-9.-]+$/);
        expect(codec.parse(part)).toBe(stored);
      }),
      RUNS,
    );
  });
});
