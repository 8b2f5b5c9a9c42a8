/** SQLite's placeholders have positions: a dialect that writes an operand twice has to bind its parameters twice. */
import { expect, test } from 'vitest';
import { type ColumnType, UNICODE } from '../../src/sql/column-type.ts';
import { call, compare, equals, filled, value } from '../../src/sql/construct.ts';
import { declaredType } from '../../src/sql/engines.ts';
import type { Expression, FunctionName, Predicate } from '../../src/sql/expression.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { column } from './sample.ts';

const DECLARED = 'VARCHAR(20);CHAR(8);INTEGER;BIGINT;DECIMAL(9,2);REAL;BOOLEAN;DATE;DATETIME;TIME;UUID;BLOB'.split(';');
const TEXT = UNICODE;
const TYPES: readonly (readonly [string, ColumnType])[] = DECLARED.flatMap(declared => {
  const type = declaredType('sqlite', declared);
  if (!type) throw new Error(`${declared} is no type of SQLite`);
  const numbers = ['integer', 'bit', 'decimal', 'float'].includes(type.kind);
  const others = numbers ? (['numbers', 'mixed'] as const).map(any => ({ ...type, any }) as ColumnType) : [];
  return [type, ...others].map((one, i) => [i === 0 ? declared : `${declared} of any numbers ${i}`, one] as const);
});

/** A value of another row, found by a parameter. */
function elsewhere(type: ColumnType): Expression {
  const where = equals(column('a', 'TXT'), value('\tx', TEXT));
  const from = { table: { name: identifier('B') }, alias: identifier('b'), joins: [], where };
  return {
    kind: 'scalar',
    select: { kind: 'column', alias: identifier('b'), column: identifier('SEQ'), type },
    from,
    type,
  };
}

function expectBound(columns: readonly Expression[], where: Predicate, stored?: true): void {
  const from = { table: { name: identifier('A') }, alias: identifier('a'), joins: [], where };
  const plan: SqlPlan = { from, columns, orderBy: [], limit: 10, shape: 'rows', ...(stored ? { stored } : {}) };
  const { text, parameters } = render(plan, SQLITE);
  expect(text.replace(/'[^']*'/g, '').split('?').length - 1, text).toBe(parameters.length);
}

const ALL: Predicate = { kind: 'true' };

test.each(TYPES)('%s: each written operand has its own parameters', (_, type) => {
  expectBound([elsewhere(type)], ALL);
  expectBound([elsewhere(type)], ALL, true);
  expectBound([], filled(elsewhere(type)));
  for (const where of ['anywhere', 'start', 'end', 'whole', 'words', 'seek'] as const)
    expectBound([], { kind: 'contains', of: elsewhere(type), where, texts: ['a'], not: false });
  expectBound([], { kind: 'packed-date', of: elsewhere(type), not: false });
  expectBound([], { kind: 'glob', of: elsewhere(type), pattern: '*\t', not: true });
  for (const [, other] of TYPES)
    for (const op of ['=', '<'] as const) expectBound([], compare(elsewhere(other), op, elsewhere(type)));
});

const CALLS: Readonly<Record<FunctionName, readonly (Expression | number)[]>> = {
  rtrim: [],
  trim: [],
  upper: [],
  fold: [],
  words: [],
  digits: [],
  replace: [value('a', TEXT), value('b', TEXT)],
  unescaped: [],
  piece: [value('¦', TEXT), 2],
  before: [value('\t', TEXT)],
  after: [value('\t', TEXT)],
  'first-word': [],
  'last-word': [],
  'before-last-word': [],
  'after-first-word': [],
  number: [],
  whole: [],
  scaled: [2],
  instant: [value('seconds', TEXT)],
  'time-of-day': [],
  text: [],
  uuid: [],
  concat: [elsewhere(TEXT)],
  'id-length': [2],
  substring: [1, 2],
  ymd: [elsewhere(TEXT), elsewhere(TEXT)],
  written: [value('dmy', TEXT), 0],
  iso: [],
  dtm: [value('second', TEXT)],
  'dtm-key': [value('second', TEXT), value('UTC', TEXT)],
  'clock-key': [value('UTC', TEXT), value('America/Denver', TEXT)],
};

test.each(Object.keys(CALLS) as FunctionName[])('the function %s likewise', name => {
  for (const [, type] of TYPES) expectBound([call(name, [elsewhere(type), ...CALLS[name]], TEXT)], ALL);
});
