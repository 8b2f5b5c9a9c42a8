/**
 * Matches resources against searches without our planning, as the reference implementation of search. The FHIRPath
 * engine takes the values from the emitted JSON by the SearchParameter's own expression. Matching follows
 * https://hl7.org/fhir/R4/search.html on JSON values.
 */
import fhirpath from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import type { SearchParameter } from '../r4/search-parameters.ts';
import { date } from './oracle-dates.ts';
import { number, quantity } from './oracle-numbers.ts';
import { type Answers, field, type Indexed, type Json, list, partsOf, plain } from './oracle-values.ts';

export interface Question {
  readonly parameter: SearchParameter;
  readonly modifier?: string;
  /** One value as written in the query string. */
  readonly text: string;
  /** The codes that the value stands for, if the modifier replaces a value by codes. */
  readonly anyOf?: readonly string[];
}

type Compiled = (resource: unknown) => unknown;

const compiled = new Map<string, { readonly values: Compiled; readonly types: Compiled }>();

/** Replaces `resolve()`, which needs the server: in JSON the type of a literal reference is its first segment. */
function withoutResolve(expression: string): string {
  return expression.replace(/where\(\s*resolve\(\)\s+is\s+(\w+)\s*\)/g, "where(reference.startsWith('$1/'))");
}

/**
 * Replaces unions by `combine()`. The engine compares the values of a union, which fails for quantities with a
 * comparator, and drops one of `1 g` and `1000 mg`.
 */
function withoutUnions(expression: string): string {
  let depth = 0;
  const parts = [''];
  for (const character of expression) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (character === '|' && depth === 0) parts.push('');
    else parts.push(`${parts.pop()}${character}`);
  }
  return parts.reduce((all, part) => `(${all}).combine(${part})`);
}

/** Returns all values of a parameter on a resource. */
export function indexOf(resource: Json, expression: string): readonly Indexed[] {
  let pair = compiled.get(expression);
  if (!pair) {
    const plain = withoutUnions(withoutResolve(expression));
    pair = {
      values: fhirpath.compile(plain, r4),
      types: fhirpath.compile(`(${plain}).type().name`, r4),
    };
    compiled.set(expression, pair);
  }
  const values = pair.values(resource) as unknown[];
  if (values.length === 0) return [];
  const types = pair.types(resource) as unknown[];
  return values.map((value, i) => ({ type: String(types[i] ?? typeof value), value }));
}

/** The values of a composite on one element, per component. */
export type CompositeValue = readonly (readonly Indexed[])[];

/**
 * Returns what a parameter indexes on a resource. A composite gives one value of the type `composite` per element that
 * it begins at, because its components belong together there. https://hl7.org/fhir/R4/search.html#composite
 */
export function indexedBy(resource: Json, { expression, components }: SearchParameter): readonly Indexed[] {
  if (components === undefined) return indexOf(resource, expression);
  const elements = indexOf(resource, expression).slice(0, ELEMENTS);
  return elements.map((_, i) => {
    // Evaluated on the whole resource, because FHIRPath knows the types of choices by their place.
    const at = `(${withoutUnions(expression)})[${i}]`;
    const value: CompositeValue = components.map(component => indexOf(resource, `${at}.${component.expression}`));
    return { type: 'composite', value };
  });
}

/** Most elements of a resource that a composite is tested on, because each needs a compiled expression. */
const ELEMENTS = 100;

/**
 * Returns a test whether one of a resource's values matches the question. The question is parsed once for many
 * resources.
 */
export function answering(question: Question, zone: string, now: number): (values: readonly Indexed[]) => boolean {
  const { parameter, modifier, text } = question;
  const parts = question.anyOf ? [text] : partsOf(text, ',');
  if (parts.length > 1) {
    const each = parts.map(part => answering({ parameter, text: part, ...like(modifier) }, zone, now));
    const some = (values: readonly Indexed[]): boolean => each.some(one => one(values));
    return modifier === 'not' ? values => !some(values) : some;
  }
  if (modifier === 'missing') return values => values.some(isSearchable(parameter.type)) === (text === 'false');
  if (modifier === 'not') {
    const plainly = answering({ parameter, text }, zone, now);
    return values => !plainly(values);
  }
  if (question.anyOf) {
    const each = question.anyOf.map(one => token(one));
    const some = (values: readonly Indexed[]): boolean => values.some(indexed => each.some(one => one(indexed)));
    return modifier === 'not-in' ? values => !some(values) : some;
  }
  const one = answeringValue(question, zone, now);
  return values => values.some(one);
}

/**
 * Returns a test whether a search by a parameter of that type could find the value: not extensions alone, nor a time in
 * words.
 */
function isSearchable(kind: SearchParameter['type']): Answers {
  const has = (value: unknown, ...names: readonly string[]): boolean =>
    names.some(name => list(field(value, name)).length > 0);
  return ({ type, value }) => {
    if (value === undefined || value === null) return false;
    switch (kind) {
      case 'date':
        if (type === 'Period') return has(value, 'start', 'end');
        if (type === 'Timing')
          return (
            has(value, 'event') || (field(value, 'repeat') !== undefined && has(field(value, 'repeat'), 'boundsPeriod'))
          );
        return /^(date|dateTime|instant)$/.test(type);
      case 'string':
        return stringsOf({ type, value }).length > 0;
      case 'reference':
        return (
          typeof value === 'string' || has(value, 'reference') || has(field(value, 'identifier'), 'system', 'value')
        );
      case 'quantity':
        if (type === 'Range') return has(field(value, 'low'), 'value') || has(field(value, 'high'), 'value');
        return has(value, 'value');
      case 'token': {
        const ofCoding = (coding: unknown): boolean => has(coding, 'system', 'code', 'display');
        if (type === 'CodeableConcept') return has(value, 'text') || list(field(value, 'coding')).some(ofCoding);
        if (type === 'Coding') return ofCoding(value);
        if (type === 'Identifier') return has(value, 'system', 'value', 'type');
        if (type === 'ContactPoint') return has(value, 'value');
        return true;
      }
      default:
        return true;
    }
  };
}

function answeringValue({ parameter, modifier, text }: Question, zone: string, now: number): Answers {
  if (modifier === 'of-type') return ofType(text);
  if (modifier === 'identifier') {
    const identifier = token(text);
    return ({ value }) => identifier({ type: 'Identifier', value: field(value, 'identifier') ?? {} });
  }
  if (modifier === 'text') {
    const begin = fold(plain(text));
    return indexed => textsOf(indexed).some(t => fold(t).startsWith(begin));
  }
  if (modifier !== undefined && !BY_TYPE.has(modifier)) throw new Error(`no oracle for :${modifier}`);
  switch (parameter.type) {
    case 'token':
      return token(text, parameter.expression);
    case 'string': {
      const wanted = modifier === undefined ? wordsOf(plain(text)) : [];
      if (wanted.length > 0 && wanted.length <= 8) {
        return indexed => {
          const own = stringsOf(indexed).flatMap(wordsOf);
          return wanted.every(word => own.some(one => one.startsWith(word)));
        };
      }
      const matches = matchingString(plain(text), modifier);
      return indexed => stringsOf(indexed).some(matches);
    }
    case 'date':
      return date(text, zone, now);
    case 'reference':
      return reference(text);
    case 'uri':
      return ({ value }) =>
        typeof value === 'string' &&
        (modifier === 'below' ? below(value, text) : modifier === 'above' ? below(text, value) : value === text);
    case 'quantity':
      return quantity(text);
    case 'number': {
      const matches = number(text);
      return ({ value }) => matches(Number(value), undefined);
    }
    case 'composite':
      return composite(parameter, text, zone, now);
    default:
      throw new Error(`no oracle for ${parameter.type}`);
  }
}

/** Modifiers whose meaning depends on the parameter's type. */
const BY_TYPE: ReadonlySet<string> = new Set(['exact', 'contains', 'below', 'above']);

/** Tests that all parts match within one element. */
function composite({ components = [] }: SearchParameter, text: string, zone: string, now: number): Answers {
  const parts = partsOf(text, '$');
  const answers = components.map(({ code, type }, i) =>
    answeringValue(
      { parameter: { code, type, url: '', expression: '', targets: [] }, text: parts[i] ?? '' },
      zone,
      now,
    ),
  );
  return ({ value }) => answers.every((answer, i) => ((value as CompositeValue)[i] ?? []).some(answer));
}

/** Returns the modifier for one of several values. It leaves out `not`, which applies to all of them together. */
function like(modifier: string | undefined): { readonly modifier?: string } {
  return modifier === undefined || modifier === 'not' ? {} : { modifier };
}

function below(uri: string, base: string): boolean {
  return uri === base || uri.startsWith(base.endsWith('/') ? base : `${base}/`);
}

export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
}

/**
 * Returns the different words, without apostrophes and full stops, by which a name, an address or a text is searched.
 */
function wordsOf(text: string): readonly string[] {
  const words = fold(text)
    .replaceAll(/['’‘‛`´ʻʼ′＇.]/g, '')
    .split(/[ \t\r\n\u00a0,;/()−\u2010-\u2015-]/);
  return [...new Set(words)].filter(word => word !== '');
}

function token(text: string, expression = ''): Answers {
  const [first = '', ...behind] = partsOf(text, '|').map(plain);
  const system = behind.length === 0 ? undefined : first;
  const code = behind.length === 0 ? first : behind.join('|');
  const pair = (s: unknown, c: unknown, isAnyCase = false): boolean => {
    if (code !== '' && !(isAnyCase || isUuid(code) ? sameLetters(c, code) : c === code)) return false;
    if (code === '' && system === undefined) return false;
    if (system === undefined) return true;
    return system === '' ? s === undefined : s === system;
  };
  const ofCoding: Answers = ({ value }) => {
    const own = field(value, 'system');
    return pair(own, field(value, 'code'), WITHOUT_CASE.test(String(own)));
  };
  return ({ type, value }) => {
    switch (type) {
      case 'CodeableConcept':
        return list(field(value, 'coding')).some(value => ofCoding({ type: 'Coding', value }));
      case 'Coding':
        return ofCoding({ type, value });
      case 'Identifier':
        return pair(field(value, 'system'), field(value, 'value'));
      case 'ContactPoint':
        return pair(field(value, 'use'), field(value, 'value'), field(value, 'system') === 'email');
      default:
        if (system !== undefined && system !== '') throw new Error('a primitive has no system to ask for here');
        return (isUuid(code) && expression !== ID) || isMimeType(expression)
          ? sameLetters(value, code)
          : String(value) === code;
    }
  };
}

/** Systems whose codes are case-insensitive. Written by hand, because the planner has its own list. */
const WITHOUT_CASE =
  /^(http:\/\/hl7\.org\/fhir\/sid\/icd-(10|10-cm|9-cm)|http:\/\/www\.cms\.gov\/Medicare\/Coding\/(ICD10|HCPCSReleaseCodeSets)|http:\/\/www\.ama-assn\.org\/go\/cpt|http:\/\/(loinc\.org|snomed\.info\/sct)|urn:ietf:bcp:(47|13))$/;

function sameLetters(value: unknown, code: string): boolean {
  const small = (text: string): string => text.replace(/[A-Z]/g, letter => letter.toLowerCase());
  return small(String(value)) === small(code);
}

function isUuid(text: string): boolean {
  return /^(urn:uuid:)?[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(text);
}

/** The expression of `_id`, which is always case-sensitive. */
const ID = 'Resource.id';

function isMimeType(expression: string): boolean {
  return /\.contentType$/.test(expression);
}

/** Matches `system|code|value` with the codings of the type and the value. */
function ofType(text: string): Answers {
  const [system = '', code = '', own = ''] = partsOf(text, '|');
  const type = token(`${system}|${code}`);
  const wanted = plain(own);
  return ({ value }) =>
    (isUuid(wanted) ? sameLetters(field(value, 'value'), wanted) : field(value, 'value') === wanted) &&
    type({ type: 'CodeableConcept', value: field(value, 'type') ?? {} });
}

function textsOf({ type, value }: Indexed): readonly string[] {
  const texts: unknown[] = [];
  if (type === 'CodeableConcept')
    texts.push(field(value, 'text'), ...list(field(value, 'coding')).map(c => field(c, 'display')));
  if (type === 'Coding') texts.push(field(value, 'display'));
  if (type === 'Identifier') return textsOf({ type: 'CodeableConcept', value: field(value, 'type') });
  return texts.filter(t => typeof t === 'string');
}

function stringsOf({ type, value }: Indexed): readonly string[] {
  const parts =
    type === 'HumanName'
      ? ['family', 'given', 'prefix', 'suffix', 'text']
      : type === 'Address'
        ? ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text']
        : undefined;
  if (!parts) return typeof value === 'string' ? [value] : [];
  return parts.flatMap(part => list(field(value, part))).filter(s => typeof s === 'string');
}

function matchingString(text: string, modifier: string | undefined): (value: string) => boolean {
  if (modifier === 'exact') return value => value === text;
  const folded = fold(text);
  return modifier === 'contains' ? value => fold(value).includes(folded) : value => fold(value).startsWith(folded);
}

function reference(text: string): Answers {
  const typed = text.includes('/');
  return ({ value }) => {
    // A canonical is compared as a URL.
    if (typeof value === 'string') return value === text;
    const literal = field(value, 'reference');
    if (typeof literal !== 'string') return false;
    return typed ? literal === text : literal.slice(literal.indexOf('/') + 1) === text;
  };
}
