/** `time`: the time of day of a column, as an element of the type `time`. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CODECS } from '../../../src/mapping/codecs/table.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { RUNS, rowsOf } from './arbitrary.ts';
import { columnType, expectPresent, table } from './law.ts';

function made(declared: string, options?: string) {
  const columnTypes = [columnType(declared)];
  const codec = CODECS['time']?.make(options, undefined, {
    zone: 'America/Port-au-Prince',
    fhirType: 'time',
    columnTypes,
  });
  if (!codec || !('codec' in codec)) throw new Error(codec?.problem ?? 'no codec');
  return codec.codec;
}

test.each<[declared: string, options: string | undefined, raw: SqlValue, time: string | undefined]>([
  ['TIME(0)', undefined, '14:05:00', '14:05:00'],
  ['TIME(3)', undefined, '14:05:00.250', '14:05:00.25'],
  ['TIME(3)', undefined, '14:05:00.000', '14:05:00'],
  ['DATETIME', undefined, '1970-01-01 14:05:09.000', '14:05:09'],
  ['CHAR(4)', 'hhmm', '0905', '09:05:00'],
  ['INTEGER', 'hhmmss', 90_507, '09:05:07'],
  ['VARCHAR(8)', 'hh:mm', '23:59', '23:59:00'],
  ['VARCHAR(8)', 'hh:mm', '24:00', undefined],
  ['INTEGER', 'seconds', 3661, '01:01:01'],
  ['TIME(0)', undefined, null, undefined],
])('%s, %s: %s is %s', (declared, options, raw, time) => {
  expect(made(declared, options).decode(raw)).toBe(time);
});

test('it is present exactly where it writes something', () => {
  const raws = fc.constantFrom<SqlValue>(null, '', '0905', '2400', '905', '9a05', '0960');
  const rows = table('VARCHAR(8)');
  fc.assert(
    fc.property(rowsOf(raws), some => {
      rows.fill(some.map(one => [one]));
      expectPresent(made('VARCHAR(8)', 'hhmm'), rows);
    }),
    RUNS,
  );
});
