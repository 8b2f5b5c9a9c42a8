/**
 * Generates code for conditions over fetched columns. In: a Condition and the positions of its columns. Out: the source
 * of a boolean expression; 'true' or 'false' if the result is constant. A test of an absent value is false, and `none`
 * is the exact complement. SQL evaluates `exists`: its flag is a column of the row.
 */

import { hasBytes } from '../mapping/codecs/base64.ts';
import type { Condition } from '../mapping/model.ts';
import { dateInterval } from '../search/dates.ts';
import { holdsAnyNumber } from '../sql/column-type.ts';
import type { Expression, SqlValue } from '../sql/expression.ts';
import { digits } from '../time/calendar.ts';
import { zoneOf } from '../time/zone.ts';
import { type Canonical, canonicalMoment, canonicalOf, canonicalPair, canonicalText, compareCanonical } from './raw.ts';

/** Access to values of the row and of the compiler from generated code. */
export interface Places {
  /** Returns the source of an expression's raw value. */
  readonly raw: (expression: Expression) => string;
  /** Returns the source of the flag of an `exists` condition. */
  readonly flag: (condition: Condition) => string;
  /** Returns the name by which generated code reaches a value of the compiler. */
  readonly bind: (value: unknown) => string;
}

/** The instant and zone that a resource is written in. `now`: milliseconds since the epoch. */
export interface Moment {
  readonly now: number;
  /** IANA zone of local times in the database. */
  readonly zone: string;
}

/** The name of the context in generated code. */
export const CONTEXT = 'context';

export function conditionCode(condition: Condition, places: Places): string {
  switch (condition.kind) {
    case 'always':
      return 'true';
    case 'all':
      return combine(condition.of, places, ' && ', 'true', 'false');
    case 'any':
      return combine(condition.of, places, ' || ', 'false', 'true');
    case 'none': {
      const code = conditionCode(condition.of, places);
      return code === 'true' ? 'false' : code === 'false' ? 'true' : `!(${code})`;
    }
    case 'is':
      return isCode(condition.column, condition.values, places);
    case 'order': {
      const { type } = condition.column;
      const literal = canonicalOf(type)(condition.value);
      if (literal === null) return 'false';
      const compares = (raw: SqlValue): boolean => {
        const own = canonicalOf(type)(raw);
        return own !== null && holds(compareCanonical(own, literal, type), condition.op);
      };
      return `${places.bind(compares)}(${places.raw(condition.column)})`;
    }
    case 'now': {
      const { codec, op } = condition;
      const compares = (raw: SqlValue, moment: Moment): boolean => {
        const value = codec.decode(raw);
        const interval = typeof value === 'string' ? dateInterval(value, zoneOf(moment.zone)) : undefined;
        return interval !== undefined && (op === 'before' ? interval.low < moment.now : interval.low >= moment.now);
      };
      return `${places.bind(compares)}(${places.raw(condition.column)}, ${CONTEXT})`;
    }
    case 'matches': {
      const pattern = globPattern(condition.pattern);
      const matches = (raw: SqlValue): boolean => {
        const text = canonicalText(raw);
        return text !== null && pattern.test(text);
      };
      return `${places.bind(matches)}(${places.raw(condition.column)})`;
    }
    case 'same':
      return `${places.bind(sameOf(condition))}(${places.raw(condition.column)}, ${places.raw(condition.other)})`;
    case 'ordered':
      return `${places.bind(orderedBy(condition))}(${places.raw(condition.column)}, ${places.raw(condition.other)})`;
    case 'present': {
      const raw = places.raw(condition.column);
      const { kind } = condition.column.type;
      if (kind === 'binary') return `${places.bind(hasBytes)}(${raw})`;
      return kind === 'text' ? `(${raw} !== null && ${places.bind(isFilled)}(${raw}))` : `${raw} !== null`;
    }
    case 'exists':
      return places.flag(condition);
  }
}

/** Returns the source of "the raw value is one of these", ignoring trailing blanks. */
export function isCode(column: Expression, values: readonly (string | number)[], places: Places): string {
  const canonical = canonicalOf(column.type);
  const literals = new Set(values.map(canonical).filter(literal => literal !== null));
  if (literals.size === 0) return 'false';
  const raw = places.raw(column);
  const { kind } = column.type;
  if (((kind === 'integer' && column.type.bits < 64) || kind === 'bit') && !holdsAnyNumber(column.type)) {
    return `(${[...literals].map(literal => `${raw} === ${literal}`).join(' || ')})`;
  }
  const among =
    kind === 'date' || kind === 'datetime' || kind === 'instant'
      ? amongMoments(literals)
      : amongTexts(literals, canonical);
  return `${places.bind(among)}(${raw})`;
}

function amongTexts(literals: ReadonlySet<string>, canonical: Canonical): (raw: SqlValue) => boolean {
  const longest = Math.max(...[...literals].map(literal => literal.length));
  const [only = ''] = literals;
  const has = literals.size === 1 ? (own: string) => own === only : (own: string) => literals.has(own);
  if (canonical !== canonicalText) {
    return raw => {
      const own = canonical(raw);
      return own !== null && has(own);
    };
  }
  return raw => {
    // Checked first, because most values are longer than the literals.
    if (typeof raw === 'string' && raw.length > longest && raw.charCodeAt(longest) !== BLANK) return false;
    const own = canonicalText(raw);
    return own !== null && has(own);
  };
}

const BLANK = 32;

/** Tests moments; compares the century first, before it reads the rest. */
function amongMoments(literals: ReadonlySet<string>): (raw: SqlValue) => boolean {
  const centuries = [...new Set([...literals].map(literal => digits(literal, 0, 2)))];
  return raw => {
    const century = typeof raw === 'string' ? digits(raw, 0, 2) : Number.NaN;
    if (!Number.isNaN(century) && !centuries.includes(century)) return false;
    const own = canonicalMoment(raw);
    return own !== null && literals.has(own);
  };
}

function combine(parts: readonly Condition[], places: Places, by: string, neutral: string, absorbing: string): string {
  const codes = parts.map(part => conditionCode(part, places)).filter(code => code !== neutral);
  if (codes.includes(absorbing)) return absorbing;
  if (codes.length === 0) return neutral;
  return codes.length === 1 ? codes.join() : `(${codes.join(by)})`;
}

function holds(order: number, op: '<' | '<=' | '>' | '>='): boolean {
  switch (op) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
  }
}

function sameOf({ column, other }: Condition & { readonly kind: 'same' }): (a: SqlValue, b: SqlValue) => boolean {
  const [left, right] = canonicalPair(column.type, other.type);
  return (a, b) => {
    const own = left(a);
    return own !== null && own === right(b);
  };
}

function orderedBy(condition: Condition & { readonly kind: 'ordered' }): (a: SqlValue, b: SqlValue) => boolean {
  const { column, other, op, codec } = condition;
  if (codec) {
    const keyOf = (raw: SqlValue) => (codec.decode(raw) === undefined ? undefined : codec.order?.toKey([raw]));
    return (a, b) => {
      const [left, right] = [keyOf(a), keyOf(b)];
      if (left === undefined || right === undefined) return false;
      return left === right ? op === '<=' || op === '>=' : holds(left < right ? -1 : 1, op);
    };
  }
  const [left, right] = [canonicalOf(column.type), canonicalOf(other.type)];
  return (a, b) => {
    const [one, two] = [left(a), right(b)];
    return one !== null && two !== null && holds(compareCanonical(one, two, column.type), op);
  };
}

function isFilled(raw: SqlValue): boolean {
  const text = canonicalText(raw);
  return text !== null && text !== '';
}

/**
 * Compiles a GLOB pattern (`*`, `?`, `[0-9]`, `[^…]`) for the whole text. The parts between stars are sought one after
 * the other: a single regular expression would take quadratic time in the length of the text for two stars.
 */
export function globPattern(pattern: string): { test(text: string): boolean } {
  const sources = [''];
  const add = (source: string): void => void sources.push((sources.pop() ?? '') + source);
  for (let at = 0; at < pattern.length; at++) {
    const char = pattern.charAt(at);
    const close = char === '[' ? pattern.indexOf(']', at + (pattern.charAt(at + 1) === '^' ? 3 : 2)) : -1;
    if (char === '*') sources.push('');
    else if (char === '?') add('.');
    else if (close > 0) {
      const inside = pattern.slice(at + 1, close);
      const negated = inside.startsWith('^');
      add(`[${negated ? '^' : ''}${classSource(negated ? inside.slice(1) : inside)}]`);
      at = close;
    } else add(char.replace(/[\\^$.*+?()[\]{}|/]/, '\\$&'));
  }
  const isOne = sources.length === 1;
  const parts = sources.flatMap((source, i) => {
    if (source === '' && !isOne) return [];
    return [new RegExp(`${i === 0 ? '^' : ''}${source}${i === sources.length - 1 ? '$' : ''}`, 'gsu')];
  });
  return {
    test(text) {
      let at = 0;
      for (const part of parts) {
        part.lastIndex = at;
        if (!part.test(text)) return false;
        at = part.lastIndex;
      }
      return true;
    },
  };
}

/** Escapes a class; a hyphen at either end stands for itself. */
function classSource(inside: string): string {
  return inside
    .replace(/[\\\]^[]/g, '\\$&')
    .replace(/^-/, '\\-')
    .replace(/-$/, '\\-');
}
