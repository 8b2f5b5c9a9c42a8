/**
 * Makes search values for a parameter: values that occur in the data, values near them, and values that often break
 * searches.
 */

import { type CodesBySystem, codesAbove, codesBelow, type Hierarchies } from '../r4/terminology.ts';
import type { Offered } from '../search/offers.ts';
import { escapedValue } from '../search/values.ts';
import type { CompositeValue, Question } from './oracle.ts';
import { field, type Indexed, list, partsOf, plain } from './oracle-values.ts';

const PREFIXES = ['', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'];

/** `values`: most different values of the data per parameter. */
export interface Amount {
  readonly values: number;
  /** Value sets of the server, by URL. */
  readonly valueSets?: ReadonlyMap<string, CodesBySystem>;
  /** Hierarchies of the pack. */
  readonly hierarchies?: Hierarchies | undefined;
}

/** Makes questions for one parameter from all its values in the data. */
export function questionsFor(offered: Offered, occurring: readonly Indexed[], amount: Amount): readonly Question[] {
  if (offered.parameter.type === 'composite') return questionsOfComposite(offered, occurring, amount);
  const { parameter, modifiers } = offered;
  const questions: Question[] = [];
  const ask = (text: string, modifier?: string): void => {
    if (text !== '') questions.push({ parameter, text, ...(modifier === undefined ? {} : { modifier }) });
  };
  for (const text of spread(
    [...new Set(occurring.flatMap(indexed => textsFor(parameter.type, indexed)))],
    amount.values,
  )) {
    switch (parameter.type) {
      case 'date':
        for (const prefix of PREFIXES) for (const cut of datesAround(text)) ask(prefix + cut);
        break;
      case 'number':
      case 'quantity':
        for (const prefix of PREFIXES) ask(prefix + text);
        break;
      default:
        ask(text);
        if (modifiers.has('not')) ask(text, 'not');
        if (modifiers.has('below') && parameter.type === 'uri')
          for (const above of [text, ...addressesAbove(text), text.slice(0, -1)]) ask(above, 'below');
        if (parameter.type === 'string') {
          for (const s of wordQuestions(text)) ask(s);
          for (const s of [text.slice(0, 3), text.slice(1, 4), text.toUpperCase(), `${text} `]) ask(escapedValue(s));
          if (modifiers.has('exact')) for (const s of [text, text.toUpperCase()]) ask(s, 'exact');
          if (modifiers.has('contains'))
            for (const s of [text.slice(1, 4), text.slice(2)]) ask(escapedValue(s), 'contains');
        }
        if (parameter.type === 'token') {
          ask(text.toLowerCase());
          ask(caseTurned(text));
          ask(`${text} `);
        }
    }
  }
  const several = spread(
    questions.flatMap(question => (question.modifier === undefined ? [question.text] : [])),
    parameter.type === 'string' ? 12 : 4,
  ).join();
  if (several.includes(',')) {
    ask(several);
    if (modifiers.has('not')) ask(several, 'not');
    for (const modifier of ['exact', 'contains'] as const) if (modifiers.has(modifier)) ask(several, modifier);
  }
  if (modifiers.has('text')) {
    const texts = occurring.flatMap(({ value }) => {
      const json = JSON.stringify(value) ?? '';
      return [...json.matchAll(/"(?:text|display)":"([^"\\,|$]+)"/g)].map(match => match[1] ?? '');
    });
    for (const text of spread([...new Set(texts)], amount.values)) {
      ask(text, 'text');
      ask(text.slice(0, 4).trim().toUpperCase(), 'text');
    }
  }
  questions.push(...questionsOfCodes(offered, occurring, amount));
  if (modifiers.has('missing')) for (const text of ['true', 'false']) ask(text, 'missing');
  for (const odd of ODD[parameter.type] ?? []) ask(odd);
  // Two dates of one year, cut to the year, give equal questions.
  return [...new Map(questions.map(question => [`${question.modifier} ${question.text}`, question])).values()];
}

/**
 * Makes questions of parts that occur together in the data, and of parts of two elements, which may never occur
 * together.
 */
function questionsOfComposite(
  { parameter }: Offered,
  occurring: readonly Indexed[],
  amount: Amount,
): readonly Question[] {
  const { components = [] } = parameter;
  const texts = occurring.map(({ value }) =>
    components.map(({ type }, i) => [
      ...new Set(((value as CompositeValue)[i] ?? []).flatMap(indexed => textsFor(type, indexed).slice(0, 2))),
    ]),
  );
  const whole = spread(
    texts.filter(parts => parts.every(some => some.length > 0)),
    Math.max(2, amount.values),
  );
  const asked = new Set<string>();
  for (const [i, parts] of whole.entries()) {
    const other = whole[(i + 1) % whole.length] ?? parts;
    const joined = (of: (some: readonly string[], at: number) => string | undefined): void => {
      asked.add(parts.map((some, at) => of(some, at) ?? '').join('$'));
    };
    joined(([first]) => first);
    joined(some => some.at(-1));
    joined(([first], at) => (at === 0 ? first : other[at]?.[0]));
    for (const prefix of ['gt', 'le', 'ne'])
      joined(([first], at) => (PREFIXED.has(components[at]?.type ?? '') ? `${prefix}${first}` : first));
  }
  return [...asked].filter(text => !partsOf(text, '$').includes('')).map(text => ({ parameter, text }));
}

const PREFIXED: ReadonlySet<string> = new Set(['date', 'number', 'quantity']);

/** Makes questions with modifiers whose values stand for other codes, and questions about identifiers. */
function questionsOfCodes(
  { parameter, modifiers }: Offered,
  occurring: readonly Indexed[],
  amount: Amount,
): Question[] {
  const questions: Question[] = [];
  const tokens = new Set(
    occurring
      .flatMap(indexed => textsFor('token', indexed))
      .filter(text => {
        const parts = partsOf(text, '|');
        return parts.length === 2 && !parts.includes('');
      }),
  );
  const listed = [...(amount.valueSets ?? [])].map(([url, codes]) => ({
    url,
    anyOf: codes.flatMap(([system, own]) => own.map(code => `${escapedValue(system)}|${escapedValue(code)}`)),
  }));
  const fitting = listed.filter(({ anyOf }) => anyOf.some(text => tokens.has(text)));
  for (const modifier of ['in', 'not-in'] as const) {
    if (!modifiers.has(modifier) || parameter.type !== 'token') continue;
    for (const { url, anyOf } of [...spread(fitting, amount.values), ...listed.slice(0, 1)])
      questions.push({ parameter, modifier, text: url, anyOf });
  }
  for (const [modifier, find] of [
    ['below', codesBelow],
    ['above', codesAbove],
  ] as const) {
    if (!modifiers.has(modifier) || parameter.type !== 'token') continue;
    for (const text of tokens) {
      const [system = '', code = ''] = partsOf(text, '|').map(plain);
      const anyOf = find(system, code, amount.hierarchies)?.map(one => `${escapedValue(system)}|${escapedValue(one)}`);
      if (anyOf) questions.push({ parameter, modifier, text, anyOf });
    }
  }
  if (modifiers.has('above') && parameter.type === 'uri') {
    for (const { value } of spread(occurring, amount.values))
      for (const text of [String(value), `${value}/further`, `${value}further`])
        questions.push({ parameter, modifier: 'above', text });
  }
  if (modifiers.has('of-type')) {
    for (const { value } of spread(occurring, 20)) {
      const { type, value: own } = value as {
        type?: { coding?: { system?: string; code?: string }[] };
        value?: string;
      };
      const [coding] = type?.coding ?? [];
      if (coding?.code === undefined || own === undefined) continue;
      for (const code of [coding.code, 'XX'])
        questions.push({
          parameter,
          modifier: 'of-type',
          text: [coding.system ?? '', code, own].map(escapedValue).join('|'),
        });
    }
  }
  if (modifiers.has('identifier')) {
    const identifiers = occurring.flatMap(({ value }) => list(field(value, 'identifier')));
    for (const text of spread(
      [...new Set(identifiers.flatMap(value => textsFor('token', { type: 'Identifier', value })))],
      amount.values,
    ))
      questions.push({ parameter, modifier: 'identifier', text });
  }
  return questions;
}

/** Values that nothing has, or that break careless SQL. */
const ODD: Readonly<Record<string, readonly string[]>> = {
  token: ['nobody-has-this', '%', '_', "'", 'urn:none|', '|nobody', ' x'],
  string: ['%', '_', "o'", 'zzzz', '[a-z]'],
  date: ['1850', 'gt2200-01-01', 'lt1850-01-01', 'ge2024-03-10T02:30:00-05:00', 'le2023-11-05T01:30:00-04:00'],
  reference: ['nobody', '007', '99999999999999999999'],
  uri: ['urn:none'],
  quantity: ['0', 'gt1000000', 'lt-1'],
  number: ['0', 'gt1000000'],
};

function textsFor(kind: string, { type, value }: Indexed): readonly string[] {
  const get = (name: string): unknown =>
    value !== null && typeof value === 'object' ? (value as Record<string, unknown>)[name] : undefined;
  const pair = (system: unknown, code: unknown): readonly string[] => {
    if (typeof code !== 'string') return [];
    const c = escapedValue(code);
    return typeof system === 'string'
      ? [c, `${escapedValue(system)}|${c}`, `${escapedValue(system)}|`, `|${c}`]
      : [c, `|${c}`];
  };
  switch (kind) {
    case 'token': {
      if (type === 'CodeableConcept') {
        const codings = get('coding');
        return Array.isArray(codings)
          ? codings.flatMap(coding => textsFor('token', { type: 'Coding', value: coding }))
          : [];
      }
      if (type === 'Coding') return pair(get('system'), get('code'));
      if (type === 'Identifier') return pair(get('system'), get('value'));
      if (type === 'ContactPoint') return pair(get('use'), get('value'));
      return [escapedValue(String(value))];
    }
    case 'string':
      if (type === 'HumanName' || type === 'Address') {
        const texts = Object.values(value as object)
          .flat()
          .filter((s): s is string => typeof s === 'string' && s.trim() !== '')
          .map(escapedValue);
        // Parts of two elements together, the later first.
        const [last, before] = texts.toReversed();
        return before === undefined ? texts : [...texts, `${last} ${before.slice(0, 4)}`];
      }
      return typeof value === 'string' ? [escapedValue(value)] : [];
    case 'reference': {
      if (typeof value === 'string') return [value];
      const reference = get('reference');
      return typeof reference === 'string' ? [reference, reference.slice(reference.indexOf('/') + 1)] : [];
    }
    case 'date':
      if (type === 'Period')
        return ['start', 'end'].flatMap(end => (typeof get(end) === 'string' ? [String(get(end))] : []));
      return typeof value === 'string' && type !== 'string' ? [value] : [];
    case 'quantity': {
      if (type === 'Range')
        return ['low', 'high'].flatMap(end => textsFor('quantity', { type: 'Quantity', value: get(end) }));
      const amount = get('value');
      if (typeof amount !== 'number') return [];
      const texts = [
        String(amount),
        `${amount}|${escapedValue(String(get('system') ?? ''))}|${escapedValue(String(get('code') ?? ''))}`,
        `${amount}||${escapedValue(String(get('unit') ?? ''))}`,
      ];
      return texts.filter(t => !t.endsWith('|'));
    }
    case 'uri':
    case 'number':
      return [String(value)];
    default:
      return [];
  }
}

/**
 * Returns other ways of writing a text (escaped): its last word, its words reversed, other apostrophes, blanks for
 * hyphens.
 */
function wordQuestions(text: string): readonly string[] {
  const words = text.split(/[\s-]+/).filter(word => word !== '');
  const other = text.replace(/['’]/g, '’').replaceAll('-', ' ');
  const ways = [
    other,
    text.replace(/['’]/g, ''),
    ...(words.length > 1 ? [words.at(-1) ?? '', words.toReversed().join(' ')] : []),
  ];
  return ways.filter(way => way !== text);
}

/** Swaps small letters and capitals of a token's code; the system stays. */
function caseTurned(text: string): string {
  const at = text.lastIndexOf('|') + 1;
  const turned = [...text.slice(at)].map(one => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()));
  return text.slice(0, at) + turned.join('');
}

/** Cuts a URL at each of its slashes, with the slash and without. */
function addressesAbove(text: string): readonly string[] {
  return [...text.matchAll(/(?<!\/)\/(?!\/)/g)].flatMap(({ index }) => [
    text.slice(0, index + 1),
    text.slice(0, index),
  ]);
}

/** Returns a date unchanged and cut to lower precisions. */
function datesAround(text: string): readonly string[] {
  return [...new Set([text, text.slice(0, 10), text.slice(0, 7), text.slice(0, 4)])].filter(t => t.length >= 4);
}

/** Chooses evenly, so that rare values at the end are included. */
export function spread<T>(values: readonly T[], most: number): readonly T[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, i) => values[Math.floor((i * values.length) / most)]).filter(
    v => v !== undefined,
  );
}
