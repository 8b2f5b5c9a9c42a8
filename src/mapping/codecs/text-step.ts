/**
 * Text steps, which change a text column before its codec reads it, in JavaScript and equally in SQL. In: the raw
 * text. Out: another text, or undefined if there is none. Searches compute on the column, so no index serves them.
 * docs/mapping-language.md, codecs
 */
import { UNICODE } from '../../sql/column-type.ts';
import { call, constant } from '../../sql/construct.ts';
import type { Expression } from '../../sql/expression.ts';
import type { Codec } from './codec.ts';
import { trim, trimEnd, upperAscii } from './text.ts';

/** A step as the mapping writes it. */
export type StepOptions =
  | { readonly step: 'piece'; readonly by: string; readonly at: number }
  | { readonly step: 'words'; readonly words: Words }
  | { readonly step: 'written'; readonly form: string; readonly from?: number }
  | { readonly step: 'entities' | 'upper' };

export interface TextStep {
  /** For lineage: `piece ^ 1`. */
  readonly label: string;
  readonly options: StepOptions;
  apply(text: string): string | undefined;
  sql(text: Expression): Expression;
}

/** The piece at a position, counted from 1, of a text that a character separates. */
export function pieceStep(by: string, at: number): TextStep {
  return {
    label: `piece ${by} ${at}`,
    options: { step: 'piece', by, at },
    apply: text => text.split(by)[at - 1],
    sql: text => call('piece', [text, constant(by, UNICODE), at], UNICODE),
  };
}

export type Words = 'first' | 'last' | 'all-but-last' | 'all-but-first';

/** Words of the trimmed text, as blanks separate them; of a single word nothing is left besides it. */
export function wordsStep(words: Words): TextStep {
  const names = {
    first: 'first-word',
    last: 'last-word',
    'all-but-last': 'before-last-word',
    'all-but-first': 'after-first-word',
  } as const;
  return {
    label: `words ${words}`,
    options: { step: 'words', words },
    apply: raw => {
      const text = trim(raw);
      const first = text.indexOf(' ');
      const last = text.lastIndexOf(' ');
      switch (words) {
        case 'first':
          return first < 0 ? text : text.slice(0, first);
        case 'last':
          return text.slice(last + 1);
        case 'all-but-last':
          return last < 0 ? undefined : trimEnd(text.slice(0, last));
        case 'all-but-first':
          return first < 0 ? undefined : text.slice(first).replace(/^ +/, '');
      }
    },
    sql: text => call(names[words], [call('trim', [text], UNICODE)], UNICODE),
  };
}

/** `&amp;` last, or `&amp;lt;` would become `<`. */
const ENTITIES = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
] as const;

/** The five entities of XML as the characters that they stand for. */
export function entitiesStep(): TextStep {
  return {
    label: 'entities',
    options: { step: 'entities' },
    apply: raw => ENTITIES.reduce((text, [entity, character]) => text.replaceAll(entity, character), raw),
    sql: column =>
      ENTITIES.reduce<Expression>(
        (text, [entity, character]) =>
          call('replace', [text, constant(entity, UNICODE), constant(character, UNICODE)], UNICODE),
        column,
      ),
  };
}

/** ASCII letters in upper case. */
export function upperStep(): TextStep {
  return {
    label: 'upper',
    options: { step: 'upper' },
    apply: upperAscii,
    sql: text => call('upper', [text], UNICODE),
  };
}

/** A codec of one text column that sees it through steps. It must have been made for Unicode text. */
export function stepped(steps: readonly TextStep[], codec: Codec): Codec {
  if (steps.length === 0) return codec;
  const sql = (columns: readonly Expression[]): readonly Expression[] =>
    columns.map(column => steps.reduce((text, step) => step.sql(text), column));
  const { order } = codec;
  return {
    ...codec,
    label: [...steps.map(step => step.label), codec.label].join(', '),
    options: { ...codec.options, steps: steps.map(({ options }) => options), behind: codec.label },
    inverse: codec.inverse === 'none' ? 'none' : 'computed',
    decode: raw => {
      let text = typeof raw === 'string' ? raw : undefined;
      for (const step of steps) text = text === undefined ? undefined : step.apply(text);
      return codec.decode(text ?? null);
    },
    present: (columns, clock) => codec.present(sql(columns), clock),
    match: (columns, criterion, clock) => codec.match(sql(columns), criterion, clock),
    ...(order ? { order: { ...order, by: columns => order.by(sql(columns)) } } : {}),
  };
}
