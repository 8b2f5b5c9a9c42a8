import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SqlValue } from '../../../src/sql/expression.ts';
import type { Parameter } from '../../../src/sql/plan.ts';
import { bindable, bindPlaceholder } from '../../../src/sql/sqlite/database.ts';
import { filled } from '../../../src/sql/statement.ts';
import { columnType } from '../../mapping/codecs/law.ts';
import { runsOf } from '../../share.ts';

const type = fc
  .constantFrom(
    'INT',
    'BIGINT',
    'BIT',
    'DECIMAL(9,2)',
    'FLOAT',
    'VARCHAR(20)',
    'NVARCHAR(20)',
    'DATETIME',
    'DATE',
    'TIME',
  )
  .map(columnType);

const value: fc.Arbitrary<SqlValue> = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-7',
    '12.50',
    '12345678901234567',
    '9999999999999999999',
    'x',
    'é',
    '2024-03-10 02:30:00.000',
  ),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.string({ maxLength: 5 }),
  fc.constant(null),
  fc.constant(new Uint8Array([1, 2])),
);

const outcome = (bind: () => unknown): unknown => {
  try {
    return bind();
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
};

test('the value of a placeholder is bound by its declared type', () => {
  fc.assert(
    fc.property(type, fc.option(type, { nil: undefined }), value, value, (own, against, first, next) => {
      const placeholder = { at: 0, type: own, ...(against ? { against } : {}) };
      const parameter: Parameter = { name: 'p0', value: first, type: own, placeholder };
      expect(outcome(() => bindPlaceholder(parameter, next))).toEqual(outcome(() => bindable(filled(parameter, next))));
    }),
    { numRuns: runsOf(3000) },
  );
});
