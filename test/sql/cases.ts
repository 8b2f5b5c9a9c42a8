/**
 * Lists plans whose SQL a person should review once, by title. cases.json has their SQL for both engines and the rows
 * of the sample that they select (rewritten only by `node test/sql/update-cases.ts`).
 */
import { INTEGER, NUMBER, UNICODE } from '../../src/sql/column-type.ts';
import {
  among,
  and,
  call,
  compare,
  constant,
  equals,
  exists,
  filled,
  flag,
  given,
  glob,
  inSelects,
  isNull,
  not,
  or,
  TRUE,
  value,
} from '../../src/sql/construct.ts';
import type { Expression, Join, Order, Predicate, Relation } from '../../src/sql/expression.ts';
import type { TableName } from '../../src/sql/identifier.ts';
import { identifier } from '../../src/sql/identifier.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { column } from './sample.ts';

const LONG = { kind: 'integer', bits: 64 } as const;

export interface Case {
  readonly title: string;
  readonly plan: SqlPlan;
}

const ID = column('a', 'ID');
const SIXTEEN_BYTES = value(new Uint8Array(16).fill(171), { kind: 'binary', length: 16 });
const CD = column('a', 'CD');
const TXT = column('a', 'TXT');
const NAM = column('a', 'NAM');
const DT8 = column('a', 'DT8');
const QTY = column('a', 'QTY');
const text = (content: string | null): Expression => value(content, UNICODE);
const own = (content: string): Expression => constant(content, UNICODE);
const number = (content: number): Expression => value(content, INTEGER);
const A: TableName = { schema: identifier('dbo'), name: identifier('A') };
const B: TableName = { schema: identifier('dbo'), name: identifier('B') };
const piece: Expression = { kind: 'column', alias: identifier('d'), column: identifier('piece'), type: UNICODE };

function from(where: Predicate, joins: readonly Join[] = []): Relation {
  return { table: A, alias: identifier('a'), joins, where };
}

function children(where: Predicate): Relation {
  return { table: B, alias: identifier('b'), joins: [], where: and(equals(column('b', 'A_ID'), ID), where) };
}

/** It has no outer references. */
function others(where: Predicate): Relation {
  return { table: B, alias: identifier('b'), joins: [], where };
}

function rows(relation: Relation, columns: readonly Expression[] = [ID], orderBy?: readonly Order[]): SqlPlan {
  return { from: relation, columns, orderBy: orderBy ?? [{ by: ID, descending: false }], limit: 20, shape: 'rows' };
}

function where(title: string, predicate: Predicate): Case {
  return { title, plan: rows(from(predicate)) };
}

function select(title: string, ...columns: readonly Expression[]): Case {
  return { title, plan: rows(from(filled(CD)), [ID, ...columns]) };
}

function contains(of: Expression, place: 'start' | 'end' | 'anywhere' | 'whole', ...texts: string[]): Predicate {
  return { kind: 'contains', of, where: place, texts, not: false };
}

function lookup(kind: 'left' | 'inner', pick?: readonly Order[]): Join {
  return {
    kind,
    table: B,
    alias: identifier('b'),
    on: equals(column('b', 'A_ID'), ID),
    ...(pick ? { pick } : {}),
  };
}

const packed: Predicate = { kind: 'packed-date', of: DT8, not: false };
const latest: readonly Order[] = [{ by: column('b', 'SEQ'), descending: true }];

export const CASES: readonly Case[] = [
  where('a text equals exactly, blind to trailing blanks', equals(CD, text('M'))),
  where('a text does not equal, NULL counts as different', not(equals(CD, text('M ')))),
  where('a text is one of some, whose number is rounded up', among(CD, ['M', 'Z', '50%', 'a_b', '[x]'].map(text))),
  where('a text is none of two', not(among(CD, ['M', 'Z'].map(text)))),
  where('a text is none of what a mapping says, which stands in the text', not(among(CD, ['N/A', "it's"].map(own)))),
  where('what a mapping says is bound where it cannot be read', equals(TXT, own('a\u0007'))),
  where('a number is what a mapping says', equals(QTY, constant(-1, INTEGER))),
  where('a number equals', equals(QTY, number(5))),
  where('a decimal is more than one given as text', compare(column('a', 'AMT'), '>', value('2.00', NUMBER))),
  where('nothing equals NULL', equals(CD, text(null))),
  where('a value beyond ASCII is not bound in the code page of the column', equals(CD, text('Zoë'))),
  where('texts compare in binary order', compare(CD, '>=', text('Z'))),
  where('two columns are equal', equals(CD, TXT)),
  where('two columns are not equal, or one of them is NULL', not(equals(CD, TXT))),
  where('a text is filled', filled(TXT)),
  where('a text is not filled', not(filled(TXT))),
  where('a column is NULL', isNull(QTY)),
  where('a name starts with a folded text', contains(call('fold', [NAM], UNICODE), 'start', 'elodie')),
  where('a name has a word that begins so', contains(call('words', [NAM], UNICODE), 'anywhere', ' zoe')),
  where('a text contains wildcards that stand for themselves', contains(TXT, 'anywhere', '% o')),
  where('a text starts with a text, case counts', contains(TXT, 'start', 'ab')),
  where('a name starts with one of some folded texts', contains(call('fold', [NAM], UNICODE), 'start', 'elo', 'zo')),
  where('a text contains none of some texts', not(contains(TXT, 'anywhere', '% o', "it's"))),
  where('the digits of a text are these', equals(call('digits', [TXT], UNICODE), text('50'))),
  where('the digits of a text end so', contains(call('digits', [TXT], UNICODE), 'end', '0')),
  where('a text matches a pattern, in which percent and underscore stand for themselves', glob(NAM, '[^-]_?')),
  where(
    'a packed date within a year',
    and(packed, compare(DT8, '>=', text('20240101')), compare(DT8, '<', text('20250101'))),
  ),
  where('a text that is no packed date', not(packed)),
  where('a packed date in an integer', { kind: 'packed-date', of: column('a', 'DTI'), not: false }),
  where('a number in a text is more than 5', compare(call('number', [TXT], NUMBER), '>', number(5))),
  where('one piece of a list equals', {
    ...{ kind: 'some-piece', of: TXT, by: ';', alias: identifier('d'), not: false },
    where: equals(piece, text('"y\\z"')),
  }),
  where('a child exists', exists(children(equals(column('b', 'CD'), text('M'))))),
  where(
    'a column is among those of other rows',
    inSelects(ID, [{ select: column('b', 'A_ID'), from: others(filled(column('b', 'CD'))) }]),
  ),
  where(
    'a text is not among those of two kinds of other rows',
    not(
      inSelects(CD, [
        { select: column('b', 'CD'), from: others(filled(column('b', 'CD'))) },
        { select: column('b', 'VAL'), from: others(isNull(column('b', 'CD'))) },
      ]),
    ),
  ),
  where('no child exists', not(exists(children(TRUE)))),
  where(
    'a key of another type is cast on our side',
    exists({ ...children(TRUE), where: equals(column('b', 'KEY_TXT'), QTY) }),
  ),
  where(
    'a text key is cast to a number only where it is one',
    exists({ ...children(TRUE), where: equals(column('b', 'A_ID'), CD) }),
  ),
  where('conditions nest', or(and(filled(CD), equals(QTY, number(5))), and(isNull(QTY), not(filled(CD))))),
  where(
    'a time of day is after midnight',
    compare(
      call('time-of-day', [column('a', 'DTM')], { kind: 'time', fraction: 7 }),
      '>=',
      constant('00:00:00.001', { kind: 'time', fraction: 3 }),
    ),
  ),
  where('raw text with a column in it', {
    kind: 'raw',
    parts: ['ABS(', QTY, ') = 3'],
    not: false,
  }),
  where('the complement of raw text', { kind: 'raw', parts: ['ABS(', QTY, ') = 3'], not: true }),
  select('a flag for a predicate', flag(equals(CD, text('M')))),
  select('an expression where a predicate holds', given(equals(CD, text('M')), CD)),
  select('what the first predicate that holds gives, and what is given without one', {
    kind: 'choice',
    of: [
      { when: among(CD, [text('M'), text('m')]), give: text('male') },
      { when: isNull(QTY), give: TXT },
    ],
    otherwise: CD,
    type: UNICODE,
  }),
  select('the first of the pieces of a text', {
    ...{ kind: 'first-piece', select: call('upper', [piece], UNICODE), of: TXT, by: ';', alias: identifier('d') },
    where: filled(piece),
    order: [{ by: call('upper', [piece], UNICODE), descending: true }],
    type: UNICODE,
  }),
  select('a UUID as text', call('uuid', [column('a', 'GID')], UNICODE), call('uuid', [SIXTEEN_BYTES], UNICODE)),
  select('a value from elsewhere', {
    ...{ kind: 'scalar', select: column('b', 'VAL'), type: UNICODE },
    from: children(equals(column('b', 'SEQ'), number(1))),
  }),
  select('the least value from elsewhere', {
    ...{ kind: 'scalar', select: column('b', 'VAL'), type: UNICODE },
    from: children(TRUE),
    order: [{ by: column('b', 'VAL'), descending: false }],
  }),
  select('pieces of a text', call('piece', [TXT, text(';'), 2], UNICODE), call('trim', [TXT], UNICODE)),
  select(
    'what is before and after a separator',
    call('before', [TXT, text(':')], UNICODE),
    call('after', [TXT, text(':')], UNICODE),
  ),
  select(
    'words of a text',
    ...(['first-word', 'last-word', 'before-last-word', 'after-first-word'] as const).map(f => call(f, [NAM], UNICODE)),
  ),
  select(
    'texts made of others',
    call('concat', [CD, QTY], UNICODE),
    call('id-length', [CD, 0, TXT, 1, NAM, 2, QTY, 0], INTEGER),
    call('substring', [CD, 2, 3], UNICODE),
    call('replace', [TXT, text('a'), text('&')], UNICODE),
    call('upper', [TXT], UNICODE),
    call('digits', [TXT], UNICODE),
    call('ymd', [QTY, QTY, CD], INTEGER),
    call('whole', [column('a', 'AMT')], INTEGER),
    call('scaled', [column('a', 'AMT'), 1], LONG),
    call('scaled', [{ kind: 'value', value: 2.5, type: { kind: 'float' } }, 6], LONG),
  ),
  select('escapes of HL7 v2', call('unescaped', [TXT], UNICODE)),
  select(
    'time stamps of HL7 v2',
    ...(['day', 'moment', 'midnight', 'second'] as const).map(need => call('dtm', [TXT, own(need)], UNICODE)),
    call('dtm-key', [TXT, own('day'), own('UTC')], UNICODE),
    call('dtm-key', [TXT, own('moment'), own('UTC')], UNICODE),
  ),
  select(
    'local times of other clocks',
    call('clock-key', [column('a', 'DTM'), own('America/Denver'), own('UTC')], UNICODE),
    call('clock-key', [column('a', 'DTM'), own('UTC'), own('UTC')], UNICODE),
  ),
  select('moments of ISO 8601', call('iso', [TXT], UNICODE)),
  {
    title: 'every type is fetched in its form',
    plan: rows(
      from(among(ID, [number(1), number(6)])),
      ['ID', 'CD', 'NAM', 'AMT', 'DTM', 'DAY', 'BIG', 'FLG', 'GID', 'BIN'].map(name => column('a', name)),
    ),
  },
  {
    title: 'joins: a lookup, and a row that counts only with it',
    plan: rows(
      from(TRUE, [
        lookup('left'),
        { ...lookup('inner'), alias: identifier('b2'), on: equals(column('b2', 'CD'), column('b', 'CD')) },
      ]),
      [ID, column('b', 'SEQ'), column('b2', 'SEQ')],
      [
        { by: column('b', 'SEQ'), descending: false },
        { by: column('b2', 'SEQ'), descending: false },
      ],
    ),
  },
  {
    title: 'a lookup picks the first row in an order',
    plan: rows(from(equals(column('b', 'VAL'), text('z')), [lookup('left', latest)]), [ID, column('b', 'CD')]),
  },
  {
    title: 'a required lookup picks the first row in an order',
    plan: rows(from(TRUE, [lookup('inner', latest)]), [ID, column('b', 'SEQ')]),
  },
  {
    title: 'rows come in binary order of a text, repeated sort keys once',
    plan: rows(
      from(filled(CD)),
      [ID, CD],
      [
        { by: CD, descending: true },
        { by: ID, descending: false },
        { by: CD, descending: false },
      ],
    ),
  },
  {
    title: 'a page by a text key stays in the order of its index',
    plan: rows(
      from({ kind: 'compare', left: CD, op: '>', right: text('M'), not: false, native: true }),
      [CD],
      [
        { by: CD, descending: false, native: true },
        { by: ID, descending: false },
      ],
    ),
  },
  {
    title: 'values and their rows are tallied, however many there are',
    plan: { ...rows(from(filled(CD)), [CD, QTY], []), limit: 1, shape: 'tally' },
  },
  { title: 'rows are counted', plan: { ...rows(from(filled(CD)), []), shape: 'count' } },
  {
    title: 'true flags are counted',
    plan: {
      ...rows(from(filled(CD)), [flag(equals(CD, text('M'))), flag(exists(children(TRUE)))]),
      shape: 'count',
    },
  },
  {
    title: 'true flags are counted each for itself',
    plan: {
      ...rows(from(filled(CD)), [flag(equals(CD, text('M'))), flag(exists(children(TRUE)))]),
      shape: 'sums',
    },
  },
  {
    title: 'names that are words of SQL stand in brackets',
    plan: {
      from: { table: { name: identifier('Order') }, alias: identifier('group'), joins: [], where: TRUE },
      columns: [{ kind: 'column', alias: identifier('group'), column: identifier('UNIT PRICE'), type: INTEGER }],
      orderBy: [],
      limit: 1,
      shape: 'rows',
    },
  },
  {
    title: 'the beginnings of a text and of bytes are as the database holds them',
    plan: {
      ...rows(from(TRUE), [
        ID,
        call('substring', [TXT, 1, 3], TXT.type),
        call('substring', [column('a', 'BIN'), 1, 1], column('a', 'BIN').type),
      ]),
      stored: true,
    },
  },
  {
    title: 'values arrive as they are stored',
    plan: { ...rows(from(TRUE), [ID, TXT, QTY, DT8]), stored: true },
  },
];
