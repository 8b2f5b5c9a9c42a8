/**
 * The T-SQL that converts a FLOAT's count to a time, run on SQLite; an overflowing product is an error there, as on SQL
 * Server.
 */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { call, constant } from '../../../src/sql/construct.ts';
import { MSSQL } from '../../../src/sql/mssql/dialect.ts';
import { renderExpression } from '../../../src/sql/render.ts';
import { instantOfCount } from '../../../src/time/epoch-units.ts';
import { column } from './open.ts';

const LONG = { kind: 'integer', bits: 64 } as const;
const FLOAT = column('X', { kind: 'float' });

const database = new DatabaseSync(':memory:');
database.function('times', { deterministic: true }, (a, b) => {
  const product = Number(a) * Number(b);
  if (!Number.isFinite(product)) throw new RangeError('Arithmetic overflow error for type float');
  return a === null || b === null ? null : product;
});

/** The result for a number, by its T-SQL. */
function onSqlite(sql: string): (number: number | null) => unknown {
  const of = database.prepare(
    `SELECT ${sql.replaceAll(/a\.X \* (1E\d+|\d+E0)/g, 'times(a.X, $1)')} AS n FROM (SELECT ? AS X) AS a`,
  );
  of.setReadBigInts(false);
  return number => of.get(number)?.['n'];
}

const moments = fc.integer({ min: Date.UTC(1, 0, 1), max: Date.UTC(9999, 0, 1) });
const huge = fc.constantFrom(1.7976931348623157e308, -1.7976931348623157e308, 1e305, -1e300, 1e16, 5e-324);

test.each(['seconds', 'milliseconds', 'days'])('T-SQL reads %s since their day 0 like the codec', unit => {
  const { text } = renderExpression(call('instant', [FLOAT, constant(unit, UNICODE)], LONG), MSSQL);
  const read = onSqlite(text);
  const perUnit = { seconds: 1000, milliseconds: 1, days: 86_400_000 }[unit] ?? 1;
  const since = unit === 'days' ? 2_440_587.5 : 0;
  fc.assert(
    fc.property(moments, at => {
      const count = at / perUnit + since;
      expect({ count, read: read(count) }).toEqual({ count, read: instantOfCount(count, unit) });
    }),
    { numRuns: 2000 },
  );
  fc.assert(fc.property(huge, number => void expect([null, 0, -210_866_760_000_000]).toContain(read(number))));
  expect(read(null)).toBe(null);
});

test('numbers that become whole by some digits, and no others, however large', () => {
  const read = onSqlite(renderExpression(call('scaled', [FLOAT, 6], LONG), MSSQL).text);
  expect([3_240_314.083, 0, -1.5, 0.000_000_1, null].map(read)).toEqual([3_240_314_083_000, 0, -1_500_000, null, null]);
  fc.assert(fc.property(huge, number => void expect(read(number)).toBe(null)));
});

test('an expression that could overflow is inside the CASE that prevents it', () => {
  const decimal = column('X', { kind: 'decimal', precision: 38, scale: 0 });
  for (const number of [FLOAT, decimal]) {
    const { text } = renderExpression(call('scaled', [number, 6], LONG), MSSQL);
    expect(text).toMatch(/^CASE WHEN ABS\(a\.X\) < 1000000000 THEN CASE WHEN .* END END$/);
  }
});
