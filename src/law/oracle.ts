/**
 * The reference implementation of search, without any of our planning. The FHIRPath engine takes the values from the
 * emitted JSON by the SearchParameter's own expression; matching follows https://hl7.org/fhir/R4/search.html on JSON
 * values.
 */
import fhirpath from 'fhirpath';
import r4 from 'fhirpath/fhir-context/r4';
import type { SearchParameter } from '../r4/search-parameters.ts';

/** A value that an expression leads to, with its FHIR type. */
export interface Indexed {
  readonly type: string;
  readonly value: unknown;
}

export interface Question {
  readonly parameter: SearchParameter;
  readonly modifier?: string;
  /** One value as it stands in the query string. */
  readonly text: string;
  /** The codes that the value stands for, where the modifier is one of those that say so. */
  readonly anyOf?: readonly string[];
}

type Answers = (indexed: Indexed) => boolean;
type Compiled = (resource: unknown) => unknown;
type Json = Readonly<Record<string, unknown>>;

const compiled = new Map<string, { readonly values: Compiled; readonly types: Compiled }>();

/** `resolve()` needs the server; on JSON the type of a literal reference is its first segment. */
function withoutResolve(expression: string): string {
  return expression.replace(/where\(\s*resolve\(\)\s+is\s+(\w+)\s*\)/g, "where(reference.startsWith('$1/'))");
}

/** All values of a parameter on a resource. */
export function indexOf(resource: Json, expression: string): readonly Indexed[] {
  let pair = compiled.get(expression);
  if (!pair) {
    const plain = withoutResolve(expression);
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

/** What a composite indexes on one element: for each of its components the values there. */
export type CompositeValue = readonly (readonly Indexed[])[];

/**
 * What a parameter indexes on a resource. Of a composite one value of the type `composite` for each element that it begins at: its
 * components belong together there. https://hl7.org/fhir/R4/search.html#composite
 */
export function indexedBy(resource: Json, { expression, components }: SearchParameter): readonly Indexed[] {
  if (components === undefined) return indexOf(resource, expression);
  const elements = indexOf(resource, expression).slice(0, ELEMENTS);
  return elements.map((_, i) => {
    // Not of the element alone: FHIRPath knows the types of choices by where they stand.
    const at = `(${expression})[${i}]`;
    const value: CompositeValue = components.map(component => indexOf(resource, `${at}.${component.expression}`));
    return { type: 'composite', value };
  });
}

/** Elements of a resource that a composite is tried on; an expression is compiled for each. */
const ELEMENTS = 100;

/** A dollar sign that no backslash escapes. */
const DOLLAR = /(?<=(?:^|[^\\])(?:\\\\)*)\$/;

/** A comma that no backslash escapes; of two backslashes the first escapes the second. */
const COMMA = /(?<=(?:^|[^\\])(?:\\\\)*),/;

/** Whether one of a resource's values answers the question. The question is read once, for many resources. */
export function answering(question: Question, zone: string, now: number): (values: readonly Indexed[]) => boolean {
  const { parameter, modifier, text } = question;
  const parts = question.anyOf ? [text] : text.split(COMMA);
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

/** Whether some search by a parameter of that type could find the value: extensions alone are none, nor is a time in words. */
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

/** All parts hold within one element. */
function composite({ components = [] }: SearchParameter, text: string, zone: string, now: number): Answers {
  const parts = text.split(DOLLAR);
  const answers = components.map(({ code, type }, i) =>
    answeringValue(
      { parameter: { code, type, url: '', expression: '', targets: [] }, text: parts[i] ?? '' },
      zone,
      now,
    ),
  );
  return ({ value }) => answers.every((answer, i) => ((value as CompositeValue)[i] ?? []).some(answer));
}

/** The modifier for one of several values; that none of them matches is decided of all. */
function like(modifier: string | undefined): { readonly modifier?: string } {
  return modifier === undefined || modifier === 'not' ? {} : { modifier };
}

function plain(text: string): string {
  return text.replace(/\\([,$|\\])/g, '$1');
}

function below(uri: string, base: string): boolean {
  return uri === base || uri.startsWith(base.endsWith('/') ? base : `${base}/`);
}

export function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().normalize('NFD').replace(/\p{M}/gu, '');
}

/** Words that are different, without apostrophes and full stops: what a name, an address or a text is searched by. */
function wordsOf(text: string): readonly string[] {
  const words = fold(text)
    .replaceAll(/['’‘‛`´ʻʼ′＇.]/g, '')
    .split(/[ \t\r\n\u00a0,;/()−\u2010-\u2015-]/);
  return [...new Set(words)].filter(word => word !== '');
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object' ? (value as Json)[name] : undefined;
}

function token(text: string, expression = ''): Answers {
  const at = text.indexOf('|');
  const system = at < 0 ? undefined : plain(text.slice(0, at));
  const code = plain(at < 0 ? text : text.slice(at + 1));
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

/** Systems whose codes are the same in capitals and in small letters; by hand, for the planner has its own list. */
const WITHOUT_CASE =
  /^(http:\/\/hl7\.org\/fhir\/sid\/icd-(10|10-cm|9-cm)|http:\/\/www\.cms\.gov\/Medicare\/Coding\/(ICD10|HCPCSReleaseCodeSets)|http:\/\/www\.ama-assn\.org\/go\/cpt|http:\/\/(loinc\.org|snomed\.info\/sct)|urn:ietf:bcp:(47|13))$/;

function sameLetters(value: unknown, code: string): boolean {
  const small = (text: string): string => text.replace(/[A-Z]/g, letter => letter.toLowerCase());
  return small(String(value)) === small(code);
}

function isUuid(text: string): boolean {
  return /^(urn:uuid:)?[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}$/i.test(text);
}

/** Of `_id`, whose case always counts. */
const ID = 'Resource.id';

function isMimeType(expression: string): boolean {
  return /\.contentType$/.test(expression);
}

/** `system|code|value`: of the type's codings and of the value. */
function ofType(text: string): Answers {
  const [system = '', code = '', own = ''] = text.split(/(?<!\\)\|/);
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
    // a canonical is its address
    if (typeof value === 'string') return value === text;
    const literal = field(value, 'reference');
    if (typeof literal !== 'string') return false;
    return typed ? literal === text : literal.slice(literal.indexOf('/') + 1) === text;
  };
}

const PREFIX = /^(eq|ne|gt|lt|ge|le|sa|eb|ap)/;

function prefixOf(text: string): { readonly prefix: string; readonly rest: string } {
  const prefix = PREFIX.exec(text)?.[1];
  return prefix === undefined ? { prefix: 'eq', rest: text } : { prefix, rest: text.slice(2) };
}

interface Interval {
  readonly low: number;
  readonly high: number;
}

function date(text: string, zone: string, now: number): Answers {
  const { prefix, rest } = prefixOf(text);
  const asked = interval(rest, zone);
  const slack = Math.round(Math.abs(now - asked.low) * 0.1);
  return ({ type, value }) => {
    const target = valueInterval(type, value, zone);
    if (!target) return false;
    const contained = target.low >= asked.low && target.high <= asked.high;
    switch (prefix) {
      case 'eq':
        return contained;
      case 'ne':
        return !contained;
      case 'gt':
        return target.high > asked.high;
      case 'lt':
        return target.low < asked.low;
      case 'ge':
        return target.high > asked.high || contained;
      case 'le':
        return target.low < asked.low || contained;
      case 'sa':
        return target.low >= asked.high;
      case 'eb':
        return target.high <= asked.low;
      default:
        return target.low < asked.high + slack && target.high > asked.low - slack;
    }
  };
}

function valueInterval(type: string, value: unknown, zone: string): Interval | undefined {
  if (type === 'Period') {
    const start = field(value, 'start');
    const end = field(value, 'end');
    if (start === undefined && end === undefined) return undefined;
    return {
      low: typeof start === 'string' ? interval(start, zone).low : Number.NEGATIVE_INFINITY,
      high: typeof end === 'string' ? interval(end, zone).high : Number.POSITIVE_INFINITY,
    };
  }
  if (type === 'Timing') {
    const bounds = field(field(value, 'repeat'), 'boundsPeriod');
    return bounds === undefined ? undefined : valueInterval('Period', bounds, zone);
  }
  // A choice may be a text, such as Procedure.performedString: that is no date.
  return typeof value === 'string' && type !== 'string' ? interval(value, zone) : undefined;
}

/** What a FHIR date, dateTime or instant stands for; without an offset it is local to the zone. */
export function interval(text: string, zone: string): Interval {
  const ofZone = intervals.get(zone) ?? new Map<string, Interval>();
  intervals.set(zone, ofZone);
  const known = ofZone.get(text);
  if (known) return known;
  const made = makeInterval(text, zone);
  ofZone.set(text, made);
  return made;
}

/** By zone and text. Asking the clock is slow, and the same dates are asked for by every question. */
const intervals = new Map<string, Map<string, Interval>>();

function makeInterval(text: string, zone: string): Interval {
  const match = /^(\d{4})(?:-(\d\d))?(?:-(\d\d))?(?:T(\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?(Z|[+-]\d\d:\d\d)?$/.exec(
    text,
  );
  if (!match) throw new Error('not a FHIR date');
  const [, y, mo, d, h, mi, s, f, offset] = match;
  const start = [Number(y), Number(mo ?? 1), Number(d ?? 1), Number(h ?? 0), Number(mi ?? 0), Number(s ?? 0)];
  const unit = mo === undefined ? 0 : d === undefined ? 1 : h === undefined ? 2 : s === undefined ? 4 : 5;
  const end = start.map((part, i) => (i === unit ? part + 1 : part));
  const milliseconds = Number((f ?? '').padEnd(3, '0').slice(0, 3));
  const at = (parts: readonly number[], ms: number): number => {
    const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = parts;
    const wall = new Date(0);
    wall.setUTCFullYear(year, month - 1, day);
    wall.setUTCHours(hour, minute, second, ms);
    if (offset === undefined) return localInstant(wall.getTime(), zone);
    if (offset === 'Z') return wall.getTime();
    const sign = offset.startsWith('-') ? 1 : -1;
    return wall.getTime() + sign * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4))) * 60_000;
  };
  return f === undefined
    ? { low: at(start, 0), high: at(end, 0) }
    : { low: at(start, milliseconds), high: at(start, milliseconds + 1) };
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The instant at which clocks of a zone show a time (given as if it were UTC), by asking the clock. */
function localInstant(wall: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  const shown = (instant: number): number => {
    const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, value]));
    const part = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
    const clock = new Date(0);
    clock.setUTCFullYear(part('year'), part('month') - 1, part('day'));
    clock.setUTCHours(part('hour'), part('minute'), part('second'));
    return clock.getTime();
  };
  // The offset in force a day before is the one before any change that day; it wins when two would do or none does.
  const before = shown(wall - 86_400_000) - (wall - 86_400_000);
  const after = shown(wall + 86_400_000) - (wall + 86_400_000);
  if (shown(wall - before) === wall) return wall - before;
  if (shown(wall - after) === wall) return wall - after;
  return wall - before;
}

function quantity(text: string): Answers {
  const [amount = '', system, code] = text.split('|');
  const matches = number(amount);
  const reaches = range(amount);
  const isOfUnit = (value: unknown): boolean => {
    if (code === undefined || code === '')
      return system === undefined || system === '' || field(value, 'system') === system;
    if (system === '') return field(value, 'code') === code || field(value, 'unit') === code;
    return field(value, 'code') === code && field(value, 'system') === system;
  };
  return ({ type, value }) => {
    if (type === 'Range') {
      const [low, high] = [field(value, 'low'), field(value, 'high')];
      const ends = [low, high].filter(end => field(end, 'value') !== undefined);
      if (ends.length === 0 || !ends.every(isOfUnit)) return false;
      return reaches(
        Number(field(low, 'value') ?? Number.NEGATIVE_INFINITY),
        Number(field(high, 'value') ?? Number.POSITIVE_INFINITY),
      );
    }
    const own = field(value, 'value');
    if (own === undefined) return false;
    const comparator = field(value, 'comparator');
    return matches(Number(own), typeof comparator === 'string' ? comparator : undefined) && isOfUnit(value);
  };
}

/** Whether the numbers from `low` to `high`, both of them too, lie as a prefix asks. */
function range(text: string): (low: number, high: number) => boolean {
  const { prefix, rest } = prefixOf(text);
  const asked = Number(rest);
  const isRounded = roundsTo(rest);
  const slack = Math.abs(asked) * 0.1;
  const round = (x: number): number => Number(x.toPrecision(15));
  const within = (end: number): boolean => Number.isFinite(end) && isRounded(end);
  return (low, high) => {
    switch (prefix) {
      case 'eq':
        return within(low) && within(high);
      case 'ne':
        return !(within(low) && within(high));
      case 'ap':
        return low < round(asked + slack) && high >= round(asked - slack);
      case 'gt':
        return high > asked;
      case 'lt':
        return low < asked;
      case 'ge':
        return high >= asked;
      case 'le':
        return low <= asked;
      case 'sa':
        return low > asked;
      default:
        return high < asked;
    }
  };
}

/** A point, or with a comparator the open or closed ray that it stands for. */
/**
 * Whether a number is within half a unit of the last digit that is written: 5.40 is 5.395 to 5.405. By whole numbers, for a binary
 * fraction of seventeen digits has no room for the half.
 */
function roundsTo(written: string): (value: number) => boolean {
  const asked = decimal(written);
  return value => {
    const own = decimal(String(value));
    const scale = Math.max(own.scale, asked.scale + 1);
    const at = ({ units, scale: from }: Decimal): bigint => units * 10n ** BigInt(scale - from);
    const half = 5n * 10n ** BigInt(scale - asked.scale - 1);
    return at(own) >= at(asked) - half && at(own) < at(asked) + half;
  };
}

/** `units` of ten to the power of minus `scale`, which may be negative. */
interface Decimal {
  readonly units: bigint;
  readonly scale: number;
}

function decimal(text: string): Decimal {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.replace('+', '').split('.');
  return { units: BigInt(whole + fraction), scale: fraction.length - Number(exponent) };
}

function number(text: string): (value: number, comparator: string | undefined) => boolean {
  const { prefix, rest } = prefixOf(text);
  const asked = Number(rest);
  const isRounded = roundsTo(rest);
  const round = (x: number): number => Number(x.toPrecision(15));
  const low = round(asked - Math.abs(asked) * 0.1);
  const high = round(asked + Math.abs(asked) * 0.1);
  return (value, comparator) => {
    const ray = { upTo: comparator?.startsWith('<') ?? false, from: comparator?.startsWith('>') ?? false };
    const closed = comparator?.endsWith('=') ?? false;
    switch (prefix) {
      case 'eq':
        return comparator === undefined && isRounded(value);
      case 'ap':
        return comparator === undefined && value >= low && value < high;
      case 'ne':
        return comparator !== undefined || !isRounded(value);
      case 'gt':
        return ray.from || value > asked;
      case 'sa':
        return !ray.upTo && (ray.from && !closed ? value >= asked : value > asked);
      case 'lt':
        return ray.upTo || value < asked;
      case 'eb':
        return !ray.from && (ray.upTo && !closed ? value <= asked : value < asked);
      case 'ge':
        return ray.from || (ray.upTo && !closed ? value > asked : value >= asked);
      default:
        return ray.upTo || (ray.from && !closed ? value < asked : value <= asked);
    }
  };
}
