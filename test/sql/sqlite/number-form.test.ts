import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ColumnType } from '../../../src/sql/column-type.ts';
import { AS_DECLARED, formOfNumber, holdsAsDeclared } from '../../../src/sql/sqlite/number-form.ts';
import { parseSqliteType } from '../../../src/sql/sqlite/types.ts';
import { STORED_NUMBERS } from '../../mapping/codecs/stored-numbers.ts';
import { runsOf } from '../../share.ts';

function typeOf(declared: string): ColumnType {
  const type = parseSqliteType(declared);
  if (!type) throw new Error(declared);
  return type;
}

test.each([
  ['INT', 5n, 'a number as declared'],
  ['INT', 2n ** 31n, 'a number out of range'],
  ['BIGINT', 2n ** 62n, 'a number as declared'],
  ['INT', 1.5, 'a number with a fraction'],
  ['DECIMAL(5,2)', 12.5, 'a number as declared'],
  ['DECIMAL(5,2)', 1000n, 'a number with more digits than declared'],
  ['DECIMAL(5,2)', 12.505, 'a number with more digits than declared'],
  ['REAL', 1e-7, 'a number as declared'],
  ['FLOAT', 2n ** 53n, 'a number out of range'],
  ['NUMERIC', 2n ** 53n, 'a number as declared'],
  ['REAL', Number.POSITIVE_INFINITY, 'an infinite number'],
  ['INT', '<5', 'a text'],
  ['INT', new Uint8Array([1]), 'bytes'],
])('a value of %s, %s, has the form %s', (declared, value, form) => {
  expect(formOfNumber(value, typeOf(declared))).toBe(form);
});

describe('SQLite and Lintel agree on which values match their type', () => {
  test.each([
    'TINYINT',
    'INT',
    'INTEGER',
    'BIGINT',
    'BIT',
    'DECIMAL(9,2)',
    'DECIMAL(19,4)',
    'DECIMAL(9,0)',
    'NUMERIC',
    'REAL',
    'FLOAT',
  ])('%s', declared => {
    const type = typeOf(declared);
    const database = new DatabaseSync(':memory:');
    database.exec(`CREATE TABLE T (C ${declared})`);
    const insert = database.prepare('INSERT INTO T VALUES (?)');
    const select = database.prepare(`SELECT C, ${holdsAsDeclared('C', type)} AS holds FROM T WHERE C IS NOT NULL`);
    select.setReadBigInts(true);
    fc.assert(
      fc.property(fc.array(STORED_NUMBERS, { minLength: 1, maxLength: 20 }), values => {
        database.exec('DELETE FROM T');
        for (const value of values) insert.run(value);
        for (const { C, holds } of select.all())
          expect(formOfNumber(C, type) === AS_DECLARED, `${typeof C} ${String(C)}`).toBe(holds === 1n);
      }),
      { numRuns: runsOf(200) },
    );
    database.close();
  });
});
