/**
 * Defines text steps, which change a text column before its codec reads it, in JavaScript and equally in SQL. In: the
 * raw text. Out: another text, or undefined if there is none. Searches compute on the column, so no index serves them;
 * only an equality after `prefix` or `dotted` compares the column as stored. docs/mapping-language.md, codecs
 */
import { UNICODE } from '../../sql/column-type.ts';
import { among, and, call, constant, glob, not, or } from '../../sql/construct.ts';
import type { Expression, Predicate } from '../../sql/expression.ts';
import { unescaped } from '../../sql/shared-functions.ts';
import { writtenReader } from '../../time/written-form.ts';
import type { Codec } from './codec.ts';
import { trim, trimEnd, upperAscii } from './text.ts';

/** A step as written in the mapping. */
export type StepOptions =
  | { readonly step: 'piece'; readonly by: string; readonly at: number }
  | { readonly step: 'prefix'; readonly prefixes: readonly string[] }
  | { readonly step: 'dotted'; readonly beforePoint: number }
  | { readonly step: 'words'; readonly words: Words }
  | { readonly step: 'written'; readonly form: string; readonly from?: number }
  | { readonly step: 'entities' | 'escapes' | 'upper' };

export interface TextStep {
  /** For lineage: `piece ^ 1`. */
  readonly label: string;
  readonly options: StepOptions;
  apply(text: string): string | undefined;
  sql(text: Expression): Expression;
  /** The inverse, if the step can be undone. */
  readonly back?: WayBack;
}

interface WayBack {
  /** Returns all texts that the step turns into this one. */
  texts(left: string): readonly string[];
  /** Returns patterns of all texts whose result matches this one; undefined if only the result can tell. */
  patterns(left: string): readonly string[] | undefined;
}

/** What may separate pieces: one sign, a blank, a tab or a line end. */
export const SEPARATOR = /^[^A-Za-z0-9\s]$|^[ \t\n]$/;

/** Takes the piece at a position, counted from 1, of a text with separators; blanks around it do not count. */
export function pieceStep(by: string, at: number): TextStep {
  return {
    label: `piece ${by.trim() === by ? by : JSON.stringify(by)} ${at}`,
    options: { step: 'piece', by, at },
    apply: text => {
      const piece = text.split(by)[at - 1];
      return piece === undefined ? undefined : trim(piece);
    },
    sql: text => call('trim', [call('piece', [text, constant(by, UNICODE), at], UNICODE)], UNICODE),
  };
}

/** More characters than any text after a prefix has. */
const THE_REST = 1_000_000_000;

/**
 * Removes the first of these prefixes that the text begins with (case-sensitive). Other texts are absent. Prefixes do
 * not end in a blank, so trimming does not shorten them.
 */
export function prefixStep(prefixes: readonly string[]): TextStep {
  const first = (text: string): string | undefined => prefixes.find(prefix => text.startsWith(prefix));
  return {
    label: `prefix ${prefixes.join(' or ')}`,
    options: { step: 'prefix', prefixes },
    apply: text => {
      const found = first(text);
      return found === undefined ? undefined : text.slice(found.length);
    },
    sql: text => ({
      kind: 'choice',
      of: prefixes.map(prefix => ({
        when: beginsWith(text, prefix),
        give: call('substring', [text, prefix.length + 1, THE_REST], UNICODE),
      })),
      type: UNICODE,
    }),
    back: backToPrefixes(prefixes),
  };
}

/**
 * Tests with a pattern, because a prefix of the mapping is no value of a request. An index in character order serves
 * it.
 */
function beginsWith(text: Expression, prefix: string, rest = '*'): Predicate {
  return glob(text, beginning(prefix) + rest);
}

function beginning(prefix: string): string {
  return prefix.replace(/[*?[]/g, '[$&]');
}

/** Inverts the step. A prefix counts for a value only if no earlier prefix matches the whole text. */
function backToPrefixes(prefixes: readonly string[]): WayBack {
  return {
    texts: left =>
      prefixes.flatMap((prefix, at) =>
        prefixes.slice(0, at).some(earlier => (prefix + left).startsWith(earlier)) ? [] : [prefix + left],
      ),
    patterns: left => (areApart(prefixes) ? prefixes.map(prefix => beginning(prefix) + left) : undefined),
  };
}

/** True if no text begins with two of them. */
function areApart(prefixes: readonly string[]): boolean {
  return prefixes.every((prefix, at) => !prefixes.some((other, i) => i !== at && other.startsWith(prefix)));
}

/**
 * Inserts a point after so many characters of a code stored without it, `E119`. A text stays as it is if it has a
 * point, is not longer than that, or has other characters than ASCII letters and digits among these and the next.
 */
export function dottedStep(beforePoint: number): TextStep {
  const plain = new RegExp(`^[0-9A-Za-z]{${beforePoint + 1}}`);
  const apply = (text: string): string =>
    plain.test(text) && !text.includes('.') ? `${text.slice(0, beforePoint)}.${text.slice(beforePoint)}` : text;
  return {
    label: `dotted ${beforePoint}`,
    options: { step: 'dotted', beforePoint },
    apply,
    sql: text => ({
      kind: 'choice',
      of: [
        {
          when: and(glob(text, `${'[0-9A-Za-z]'.repeat(beforePoint + 1)}*`), not(glob(text, '*.*'))),
          give: call(
            'concat',
            [
              call('substring', [text, 1, beforePoint], UNICODE),
              constant('.', UNICODE),
              call('substring', [text, beforePoint + 1, THE_REST], UNICODE),
            ],
            UNICODE,
          ),
        },
      ],
      otherwise: text,
      type: UNICODE,
    }),
    back: {
      texts: left => [...new Set([left.replace('.', ''), left])].filter(text => apply(text) === left),
      patterns: left => (left === SOME || UNTOUCHED.test(left) ? [left] : undefined),
    },
  };
}

/** Any text that is not blank. */
const SOME = '?*';
/** Patterns of blanks and control characters. A point between letters or digits does not change whether they match. */
const UNTOUCHED = /^[^!-)+,.-Z\\^-~\u0080-\uffff]*$/;

/** A column, the result of a step on it, and the inverse. */
interface Undone {
  readonly whole: Expression;
  readonly left: Expression;
  readonly back: WayBack;
}

/**
 * Rewrites tests of a step's result to tests of the whole text, if they are equivalent: an equality with a value
 * becomes one with the texts that give it.
 */
function onWhole(predicate: Predicate, of: Undone): Predicate {
  switch (predicate.kind) {
    case 'and':
      return and(...predicate.of.map(part => onWhole(part, of)));
    case 'or':
      return or(...predicate.of.map(part => onWhole(part, of)));
    case 'equals':
    case 'in': {
      if (predicate.left !== of.left) return predicate;
      const values = (predicate.kind === 'in' ? predicate.values : [predicate.right]).map(value => spelled(value, of));
      if (!values.every(value => value !== undefined)) return predicate;
      return signed(among(of.whole, values.flat()), predicate);
    }
    case 'filled':
    case 'glob': {
      if (predicate.of !== of.left) return predicate;
      const patterns = of.back.patterns(predicate.kind === 'glob' ? predicate.pattern : SOME);
      return patterns ? signed(or(...patterns.map(pattern => glob(of.whole, pattern))), predicate) : predicate;
    }
    default:
      return predicate;
  }
}

function signed(found: Predicate, as: { readonly not: boolean }): Predicate {
  return as.not ? not(found) : found;
}

/** Returns the whole texts that give this value; undefined if only SQL can tell. */
function spelled(value: Expression, { whole, back }: Undone): readonly Expression[] | undefined {
  if (value.kind !== 'value' || value.placeholder !== undefined) return undefined;
  const text = value.value;
  if (typeof text !== 'string' || trimEnd(text) === '') return undefined;
  const type = value.constant ? whole.type : value.type;
  return back.texts(text).map(one => ({ ...value, value: one, type }));
}

export type Words = 'first' | 'last' | 'all-but-last' | 'all-but-first';

/** Takes words of the trimmed text, separated by blanks. Without its only word a text is absent. */
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

/** `&amp;` comes last, because `&amp;lt;` would become `<` otherwise. */
const ENTITIES = [
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
  ['&amp;', '&'],
] as const;

/** Replaces the five entities of XML by their characters. */
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

/** Replaces escapes of HL7 v2 by what they stand for. */
export function escapesStep(): TextStep {
  return {
    label: 'escapes',
    options: { step: 'escapes' },
    apply: unescaped,
    sql: text => call('unescaped', [text], UNICODE),
  };
}

/** Converts ASCII letters to upper case. */
export function upperStep(): TextStep {
  return {
    label: 'upper',
    options: { step: 'upper' },
    apply: upperAscii,
    sql: text => call('upper', [text], UNICODE),
  };
}

/**
 * Wraps a codec of one text column, so that it reads the column through steps. The codec must be made for Unicode text.
 */
export function stepped(steps: readonly TextStep[], codec: Codec): Codec {
  const sql = (columns: readonly Expression[]): readonly Expression[] =>
    columns.map(column => steps.reduce((text, step) => step.sql(text), column));
  const { order } = codec;
  const [only] = steps;
  const back = steps.length === 1 ? only?.back : undefined;
  /** Calls `ask` with the text that the steps leave. Rewrites the answer to the whole text if possible. */
  const asked = <T extends Predicate | undefined>(
    columns: readonly Expression[],
    ask: (left: readonly Expression[]) => T,
  ): T | Predicate => {
    const left = sql(columns);
    const found = ask(left);
    const [whole, one] = [columns[0], left[0]];
    return back && found && whole && one ? onWhole(found, { whole, left: one, back }) : found;
  };
  return {
    ...codec,
    label: [...steps.map(step => step.label), codec.label].join(', '),
    options: { ...codec.options, steps: steps.map(({ options }) => options), codecLabel: codec.label },
    inverse: codec.inverse === 'indexed' && (!back || !isEquality(codec)) ? 'computed' : codec.inverse,
    decode: raw => {
      let text = typeof raw === 'string' ? raw : undefined;
      for (const step of steps) text = text === undefined ? undefined : step.apply(text);
      return codec.decode(text ?? null);
    },
    present: (columns, clock) => asked(columns, left => codec.present(left, clock)),
    match: (columns, criterion, clock) => asked(columns, left => codec.match(left, criterion, clock)),
    ...(order ? { order: { ...order, by: columns => order.by(sql(columns)) } } : {}),
  };
}

/** True for codes, which are searched by equality. Dates and numbers are searched by bounds too. */
function isEquality(codec: Codec): boolean {
  return codec.yields.includes('code');
}

/**
 * `written`: converts dates that a text spells with separators, `03/10/2024` or `10.3.2024`, to the digits yyyymmdd for
 * `ymd8`, and dates with a time, `14/03/2024 08:30`, to the digits yyyymmddhhmmss for `ymd14` (a valid form of
 * src/time/written-form.ts). Text of another form is absent. Zeros for a month or a day stay, because both codecs read
 * them as a month or a year; zeros alone are no date. `from`: the first of the hundred years that two digits stand for.
 */
export function writtenDateStep(form: string, from?: number): TextStep {
  return {
    label: from === undefined ? `written ${form}` : `written ${form} from ${from}`,
    options: { step: 'written', form, ...(from !== undefined && { from }) },
    apply: writtenReader(form, from),
    sql: column => call('written', [column, constant(form, UNICODE), from ?? 0], UNICODE),
  };
}
