/**
 * Makes random predicates over the sample's tables (`a` and its children `b`), and random rows with the same defects.
 */
import fc from 'fast-check';
import { INTEGER, NUMBER, UNICODE } from '../../src/sql/column-type.ts';
import { and, call, compare, constant, equals, filled, flag, not, or, value } from '../../src/sql/construct.ts';
import type { Expression, Join, Operator, Predicate, Relation, SubSelect } from '../../src/sql/expression.ts';
import { expressionKey } from '../../src/sql/expression-key.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { Cells, Tables } from './sample.ts';
import { column } from './sample.ts';

const TEXTS = [
  'm',
  'elodie',
  'elodie angstrom',
  '',
  ' ',
  'a',
  'A',
  'a  ',
  ' a',
  'á',
  'Á b',
  'a b  c',
  '50%',
  '5_%',
  '[x]',
  'a*b?',
  "O'B",
  '"\\',
  'a;b',
  'b',
  '😀',
  '～',
];
const LISTS = ['a;b', ' a ; b;;', ';', '"a";\\', 'A;\t5 ;x:1', 'a b;c'];
const NUMBERS = ['12', ' 12.50 ', '-3', '1e2', '+5', '.5', '5.', '--1', '1-2', '1.2.3', '007', '\t8\n', '0'];
const DATES = [
  '20240310',
  '20240310  ',
  '20240230',
  '20240200',
  '20240000',
  '00000101',
  '20241301',
  '2024031x',
  '2024031',
];
const ANY_TEXT = fc.oneof(
  fc.constantFrom(...TEXTS, ...LISTS, ...NUMBERS, ...DATES),
  fc.string({ unit: fc.constantFrom(...'aAbB5 ;.-_%*[]^\\\'"é\t'), maxLength: 6 }),
);
const ANY_INTEGER = fc.constantFrom(
  -3,
  0,
  1,
  2,
  5,
  50,
  10_101,
  20_240_310,
  20_240_230,
  20_240_200,
  20_240_000,
  99_991_231,
);

/** The first row is the parent; the others are children of it or of others. */
export const tables: fc.Arbitrary<Tables> = fc
  .array(fc.record({ text: fc.option(ANY_TEXT), other: fc.option(ANY_TEXT), number: fc.option(ANY_INTEGER) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map(rows => ({
    A: rows.map(
      ({ text, other, number }, i): Cells => ({
        ...{ ID: i, CD: text, TXT: other, NAM: text, QTY: number, AMT: number === null ? null : number / 4 },
        ...{ DT8: text, DTI: number, DTM: null, DAY: null, BIG: i, FLG: i % 2, GID: null, BIN: null },
      }),
    ),
    B: rows.map(
      ({ text, other }, i): Cells => ({
        SEQ: i,
        A_ID: i % 3,
        CD: other,
        KEY_TXT: text,
        VAL: rows.at(-1 - i)?.other ?? null,
      }),
    ),
  }));

const textColumn = fc.constantFrom(column('a', 'CD'), column('a', 'TXT'), column('a', 'NAM'), column('a', 'DT8'));
const numberColumn = fc.constantFrom(column('a', 'QTY'), column('a', 'DTI'), column('a', 'ID'));
const lengthInId = fc.tuple(textColumn, fc.constantFrom(0, 1, 2)).map(args => call('id-length', args, INTEGER));

export const textExpression: fc.Arbitrary<Expression> = fc.oneof(
  { weight: 3, arbitrary: textColumn },
  fc
    .tuple(
      fc.constantFrom('rtrim', 'trim', 'upper', 'fold', 'words', 'digits', 'first-word', 'last-word', 'text'),
      textColumn,
    )
    .map(([name, of]) => call(name, [of], UNICODE)),
  fc
    .tuple(fc.constantFrom('before-last-word', 'after-first-word'), textColumn)
    .map(([name, of]) => call(name, [of], UNICODE)),
  fc
    .tuple(textColumn, fc.constantFrom(';', ':', '"', '\\', ' '), fc.integer({ min: 1, max: 4 }))
    .map(([of, by, at]) => call('piece', [of, constant(by, UNICODE), at], UNICODE)),
  fc
    .tuple(fc.constantFrom('before', 'after'), textColumn, fc.constantFrom(';', ':', '"', ' ', 'a', '||'))
    .map(([name, of, by]) => call(name, [of, constant(by, UNICODE)], UNICODE)),
  fc.tuple(textColumn, textColumn).map(of => call('concat', of, UNICODE)),
  fc.tuple(textColumn, numberColumn).map(of => call('concat', of, UNICODE)),
  fc.tuple(textColumn, fc.integer({ min: 1, max: 4 })).map(([of, n]) => call('substring', [of, n, 2], UNICODE)),
  fc.tuple(textColumn, textColumn, textColumn).map(
    ([first, give, otherwise]): Expression => ({
      kind: 'choice',
      of: [
        { when: filled(first), give },
        { when: compare(give, '<', first), give: constant('b', UNICODE) },
      ],
      ...(expressionKey(give) === expressionKey(first) ? {} : { otherwise }),
      type: UNICODE,
    }),
  ),
  fc
    .tuple(textColumn, fc.constantFrom(';', ':', ' '), fc.boolean(), textColumn)
    .map(([of, by, descending, other]): Expression => {
      const alias = identifier('p');
      const select: Expression = { kind: 'column', alias, column: identifier('piece'), type: UNICODE };
      const where = or(filled(select), equals(select, other));
      return { kind: 'first-piece', select, of, by, alias, where, order: [{ by: select, descending }], type: UNICODE };
    }),
  textColumn.map(of => call('replace', [of, constant('a', UNICODE), constant('$&b', UNICODE)], UNICODE)),
);

export const numberExpression: fc.Arbitrary<Expression> = fc.oneof(
  numberColumn,
  fc.constant(column('a', 'AMT')),
  lengthInId,
  textColumn.map(of => call('number', [of], NUMBER)),
  fc.constant(call('whole', [column('a', 'AMT')], INTEGER)),
  fc.nat(2).map(digits => call('scaled', [column('a', 'AMT'), digits], INTEGER)),
  numberColumn.map(of => call('ymd', [of, of, of], INTEGER)),
  textExpression.map(of => flag(filled(of))),
);

const operator = fc.constantFrom<Operator>('=', '<>', '<', '<=', '>', '>=');
/** A value of a request, or a constant of a mapping. */
const origin = fc.constantFrom(value, constant);
const textValue = fc
  .tuple(origin, fc.oneof({ weight: 9, arbitrary: ANY_TEXT }, fc.constant(null)))
  .map(([of, t]) => of(t, UNICODE));
const numberValue = fc
  .tuple(origin, fc.oneof(ANY_INTEGER, fc.constant('12.50'), fc.constant(null)))
  .map(([of, n]) => of(n, typeof n === 'string' ? NUMBER : INTEGER));
const negated = fc.boolean();
const glob = fc.oneof(
  fc.constantFrom(
    '*[0-9]',
    '*[^-0-9.]*',
    '?*-*',
    '[0-9][0-9]',
    'a*',
    '?',
    '*',
    '',
    '[a-b]*',
    '*[*]*',
    '*_*',
    '%',
    "*'*",
  ),
);

const leaf: fc.Arbitrary<Predicate> = fc.oneof(
  fc.record({
    kind: fc.constant('equals'),
    left: textExpression,
    right: fc.oneof(textValue, textExpression),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('equals'),
    left: numberExpression,
    right: fc.oneof(numberValue, numberExpression),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('compare'),
    left: textExpression,
    op: operator,
    right: fc.oneof(textValue, textExpression),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('compare'),
    left: numberExpression,
    op: operator,
    right: fc.oneof(numberValue, numberExpression),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('in'),
    left: textExpression,
    values: fc.array(fc.oneof(textValue, textColumn), { maxLength: 6 }),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('in'),
    left: numberColumn,
    values: fc.array(numberValue, { maxLength: 9 }),
    not: negated,
  }),
  fc.record({
    kind: fc.constantFrom('null', 'filled'),
    of: fc.oneof(textExpression, numberExpression),
    not: negated,
  }),
  fc.record({
    kind: fc.constant('contains'),
    of: textExpression,
    where: fc.constantFrom('start', 'end', 'anywhere', 'whole'),
    texts: fc.array(
      ANY_TEXT.map(t => t.trimEnd()),
      { minLength: 1, maxLength: 3 },
    ),
    not: negated,
  }),
  fc.record({ kind: fc.constant('glob'), of: fc.oneof(textExpression, numberColumn), pattern: glob, not: negated }),
  fc.record({ kind: fc.constant('packed-date'), of: fc.oneof(textColumn, numberColumn), not: negated }),
);

const pieces: fc.Arbitrary<Predicate> = fc.record({
  kind: fc.constant('some-piece'),
  of: textColumn,
  by: fc.constantFrom(';', '"', '\\', '/'),
  alias: fc.constant(identifier('d')),
  where: fc
    .tuple(fc.constantFrom('equals', 'filled', 'glob'), ANY_TEXT, negated)
    .map(([kind, text, not]): Predicate => {
      const of: Expression = { kind: 'column', alias: identifier('d'), column: identifier('piece'), type: UNICODE };
      if (kind === 'equals') return { kind, left: of, right: value(text, UNICODE), not };
      return kind === 'filled' ? { kind, of, not } : { kind: 'glob', of, pattern: '*[0-9]', not };
    }),
  not: negated,
});

/**
 * A column in a sub-select of children without outer references; also doubled, or from a lookup that may find nothing.
 */
const takenValues: fc.Arbitrary<Predicate> = fc
  .tuple(
    fc.constantFrom<[string, string]>(['A_ID', 'ID'], ['CD', 'TXT'], ['CD', 'CD'], ['SEQ', 'QTY']),
    fc.constantFrom<'none' | 'twice' | 'left'>('none', 'twice', 'left'),
    fc.integer({ min: 0, max: 7 }),
    negated,
  )
  .map(([[theirs, ours], how, limit, negative]): Predicate => {
    const rows = (alias: string, joins: readonly Join[] = []): Relation => ({
      table: { name: identifier('B') },
      alias: identifier(alias),
      joins,
      where: compare(column('b', 'SEQ'), '<=', value(limit, INTEGER)),
    });
    const joined: Join = {
      kind: 'left',
      table: { name: identifier('B') },
      alias: identifier('b2'),
      on: equals(column('b2', 'VAL'), column('b', 'VAL')),
    };
    const plain: SubSelect = { select: column('b', theirs), from: rows('b') };
    const of = {
      none: [plain],
      twice: [plain, { select: column('b', theirs), from: { ...rows('b'), where: filled(column('b', 'VAL')) } }],
      left: [{ select: column('b2', theirs), from: rows('b', [joined]) }],
    }[how];
    return { kind: 'in-selects', left: column('a', ours), of, not: negative };
  });

/** Children by key, by a text key that requires a cast, and with a lookup that may find nothing. */
const children: fc.Arbitrary<Predicate> = fc
  .tuple(
    fc.constantFrom<[string, string]>(['A_ID', 'ID'], ['CD', 'TXT'], ['KEY_TXT', 'QTY'], ['A_ID', 'CD']),
    fc.constantFrom<'none' | 'left' | 'inner' | 'pick'>('none', 'left', 'inner', 'pick'),
    fc.constantFrom('A_ID', 'CD', 'VAL'),
    ANY_TEXT,
    fc.integer({ min: 0, max: 7 }),
    fc.boolean(),
    negated,
  )
  .map(([[theirs, ours], lookup, hop, text, limit, missing, negative]): Predicate => {
    const on: Predicate = { kind: 'equals', left: column('b', theirs), right: column('a', ours), not: false };
    const signed = (p: Predicate): Predicate => (missing ? not(p) : p);
    const own = signed(equals(column('b', 'VAL'), value(text, UNICODE)));
    const looked = signed(compare(column('b2', 'SEQ'), '<=', value(limit, INTEGER)));
    return {
      kind: 'exists',
      not: negative,
      from: {
        table: { name: identifier('B') },
        alias: identifier('b'),
        joins:
          lookup === 'none'
            ? []
            : [
                {
                  kind: lookup === 'inner' ? 'inner' : 'left',
                  table: { name: identifier('B') },
                  alias: identifier('b2'),
                  on: equals(column('b2', hop), column('b', hop)),
                  ...(lookup === 'pick'
                    ? {
                        pick: [
                          { by: column('b2', 'A_ID'), descending: true },
                          { by: column('b2', 'SEQ'), descending: true },
                        ],
                      }
                    : {}),
                },
              ],
        where: and(on, lookup === 'none' ? own : looked),
      },
    };
  });

export const predicate: fc.Arbitrary<Predicate> = fc.letrec<{ tree: Predicate }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 6, arbitrary: leaf },
    { weight: 1, arbitrary: pieces },
    { weight: 1, arbitrary: children },
    { weight: 1, arbitrary: takenValues },
    { weight: 2, arbitrary: fc.array(tie('tree'), { maxLength: 3 }).map(of => and(...of)) },
    { weight: 2, arbitrary: fc.array(tie('tree'), { maxLength: 3 }).map(of => or(...of)) },
    { weight: 1, arbitrary: tie('tree').map(not) },
  ),
})).tree;
