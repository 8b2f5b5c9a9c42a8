/**
 * Evaluates expressions and predicates in JavaScript: the oracle of the dialects. In: a predicate, the tables, and the
 * row of each alias. Out: true or false, never NULL. Deliberately slow and simple.
 */

import { textAfter } from '../../src/law/read-steps.ts';
import type { Expression, Join, Operator, Order, Predicate, Relation, SqlValue } from '../../src/sql/expression.ts';
import { fold, spacedWords } from '../../src/sql/shared-functions.ts';
import { comparedDtm, keyOfDtm, needOf, stampOfIso } from '../../src/time/dtm.ts';
import { instantOfCount } from '../../src/time/epoch-units.ts';
import { keyOfClock } from '../../src/time/instant-key.ts';
import { zoneOf } from '../../src/time/zone.ts';
import type { Cells, Tables } from './sample.ts';

export interface Scope {
  readonly tables: Tables;
  /** A missing joined row is `{}`: all its columns are NULL. */
  readonly rows: Readonly<Record<string, Cells>>;
}

const HAS: Readonly<
  Record<Extract<Predicate, { kind: 'contains' }>['where'], (text: string, what: string) => boolean>
> = {
  start: (text, what) => text.startsWith(what),
  end: (text, what) => text.endsWith(what),
  whole: (text, what) => text === what,
  anywhere: (text, what) => text.includes(what),
  seek: (text, what) => text.startsWith(what),
  words: (text, what) => what.split(/(?= )/).every(word => text.includes(word)),
};

export function holds(of: Predicate, scope: Scope): boolean {
  switch (of.kind) {
    case 'true':
      return true;
    case 'false':
      return false;
    case 'and':
      return of.of.every(p => holds(p, scope));
    case 'or':
      return of.of.some(p => holds(p, scope));
    default:
      return leaf(of, scope) !== of.not;
  }
}

function leaf(of: Exclude<Predicate, { kind: 'true' | 'false' | 'and' | 'or' }>, scope: Scope): boolean {
  switch (of.kind) {
    case 'compare':
      return compared(evaluated(of.left, scope), of.op, beside(of.left, of.right, scope));
    case 'equals':
      return compared(evaluated(of.left, scope), '=', beside(of.left, of.right, scope));
    case 'in':
      return of.values.some(v => compared(evaluated(of.left, scope), '=', beside(of.left, v, scope)));
    case 'null':
      return evaluated(of.of, scope) === null;
    case 'filled': {
      const value = evaluated(of.of, scope);
      return value !== null && !(typeof value === 'string' && rtrim(value) === '');
    }
    case 'contains': {
      const value = textOf(of.of, scope);
      if (value === null) return false;
      return of.texts.some(text => HAS[of.where](rtrim(value), text));
    }
    case 'glob': {
      const value = textOf(of.of, scope);
      return value !== null && globExpression(of.pattern).test(rtrim(value));
    }
    case 'packed-date': {
      const value = evaluated(of.of, scope);
      if (typeof value === 'number') return value >= 10_000 && isPackedDate(String(value).padStart(8, '0'));
      return typeof value === 'string' && isPackedDate(rtrim(value));
    }
    case 'exists':
      return rowsOf(of.from, scope).length > 0;
    case 'in-selects':
      return of.of.some(({ select, from }) =>
        // The sub-select has no outer references.
        rowsOf(from, { tables: scope.tables, rows: {} }).some(row =>
          compared(evaluated(of.left, scope), '=', evaluated(select, row)),
        ),
      );
    case 'some-piece': {
      const value = textOf(of.of, scope);
      if (value === null) return false;
      return value.split(of.by).some(piece => {
        const rows = { ...scope.rows, [of.alias]: { piece: trim(piece) } };
        return holds(of.where, { tables: scope.tables, rows });
      });
    }
    case 'raw':
      throw new Error('raw text has no meaning here');
  }
}

/** Returns the scopes of the rows that a relation selects. */
export function rowsOf(of: Relation, scope: Scope): readonly Scope[] {
  let scopes = (scope.tables[of.table.name] ?? []).map(cells => within(scope, of.alias, cells));
  for (const join of of.joins) scopes = scopes.flatMap(s => joined(join, s));
  return scopes.filter(s => holds(of.where, s));
}

function joined(join: Join, scope: Scope): readonly Scope[] {
  let found = (scope.tables[join.table.name] ?? [])
    .map(cells => within(scope, join.alias, cells))
    .filter(s => holds(join.on, s));
  const { pick } = join;
  if (pick) found = inOrder(found, pick).slice(0, 1);
  return found.length === 0 && join.kind === 'left' ? [within(scope, join.alias, {})] : found;
}

function inOrder(scopes: readonly Scope[], orders: readonly Order[]): Scope[] {
  return scopes.toSorted((a, b) => {
    for (const { by, descending } of orders) {
      const sign = order(evaluated(by, a), evaluated(by, b));
      if (sign !== 0) return descending ? -sign : sign;
    }
    return 0;
  });
}

function within(scope: Scope, alias: string, cells: Cells): Scope {
  return { tables: scope.tables, rows: { ...scope.rows, [alias]: cells } };
}

export function evaluated(of: Expression, scope: Scope): SqlValue {
  switch (of.kind) {
    case 'column':
      return scope.rows[of.alias]?.[of.column] ?? null;
    case 'value':
      return of.value;
    case 'flag':
      return holds(of.when, scope) ? 1 : 0;
    case 'choice': {
      const chosen = of.of.find(({ when }) => holds(when, scope))?.give ?? of.otherwise;
      return chosen ? evaluated(chosen, scope) : null;
    }
    case 'scalar': {
      const [first] = inOrder(rowsOf(of.from, scope), of.order ?? []);
      return first ? evaluated(of.select, first) : null;
    }
    case 'first-piece': {
      const scopes = (textOf(of.of, scope)?.split(of.by) ?? [])
        .map(piece => within(scope, of.alias, { piece: trim(piece) }))
        .filter(one => holds(of.where, one));
      const [first] = inOrder(scopes, of.order);
      return first ? evaluated(of.select, first) : null;
    }
    case 'function':
      return called(of, scope);
    case 'raw':
      throw new Error('raw text has no meaning here');
  }
}

/** Uses regular expressions, as decision 434 states the rule. */
function lengthInId(key: string, how: string): number {
  const text = rtrim(key);
  if (how === '0') return [...text].length;
  const kept = how === '1' ? /[A-Za-z0-9-]/ : /[A-Za-z0-9]/;
  return text.split('').reduce((sum, c) => sum + (kept.test(c) ? 1 : /[ -~]/.test(c) ? 3 : 9), 0);
}

function called(of: Extract<Expression, { kind: 'function' }>, scope: Scope): SqlValue {
  const texts = of.args.map(a => (typeof a === 'number' ? String(a) : textOf(a, scope)));
  if (texts.some(t => t === null)) return null;
  const [text = '', second = '', third = ''] = texts.map(t => t ?? '');
  switch (of.name) {
    case 'rtrim':
      return rtrim(text);
    case 'trim':
      return trim(text);
    case 'upper':
      return text.replace(/[a-z]/g, c => c.toUpperCase());
    case 'fold':
      return fold(text);
    case 'words':
      return spacedWords(text);
    case 'unescaped':
      return textAfter([{ step: 'escapes' }], text) ?? null;
    case 'digits':
      return [...text].filter(c => '0123456789'.includes(c)).join('');
    case 'before':
      return text.includes(second) ? text.slice(0, text.indexOf(second)) : null;
    case 'after':
      return text.includes(second) ? text.slice(text.indexOf(second) + second.length) : null;
    case 'replace':
      return text.split(second).join(third);
    case 'piece':
      return text.split(second)[Number(third) - 1] ?? null;
    case 'first-word':
      return words(text)[0];
    case 'last-word':
      return /[^ ]*$/.exec(rtrim(text))?.[0] ?? '';
    case 'before-last-word':
      return rtrim(/^(.*) [^ ]*$/s.exec(rtrim(text))?.[1] ?? '') || null;
    case 'after-first-word':
      return words(text)[1];
    case 'number': {
      const trimmed = trim(text);
      return /^-?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : null;
    }
    case 'instant':
      return instantOfCount(Number(text), second) ?? null;
    case 'scaled': {
      const units = Math.round(Number(text) * 10 ** Number(second));
      return units / 10 ** Number(second) === Number(text) ? units : null;
    }
    case 'whole':
      return Number.isInteger(Number(text)) ? Number(text) : null;
    case 'time-of-day':
      return text.slice(11);
    case 'text':
      return text;
    case 'uuid':
      return text.toLowerCase();
    case 'concat':
      return texts.join('');
    case 'id-length':
      return texts.reduce((sum, key, i) => sum + (i % 2 === 0 ? lengthInId(key ?? '', texts[i + 1] ?? '') : 0), 0);
    case 'substring':
      return [...text].slice(Number(second) - 1, Number(second) - 1 + Number(third)).join('');
    case 'ymd':
      return Number(text) * 10_000 + Number(second) * 100 + Number(third);
    case 'written':
      return (
        textAfter([{ step: 'written', form: second, ...(third !== '0' && { from: Number(third) }) }], text) ?? null
      );
    case 'iso':
      return stampOfIso(text) ?? null;
    case 'dtm':
      return comparedDtm(text, needOf(second)) ?? null;
    case 'dtm-key':
      return keyOfDtm(text, needOf(second), zoneOf(third)) ?? null;
    case 'clock-key':
      return keyOfClock(text, zoneOf(second), zoneOf(third)) ?? null;
  }
}

/** The first word and what follows it, NULL for a single word. */
function words(text: string): [string, string | null] {
  const match = /^([^ ]*) +(.*)$/s.exec(rtrim(text));
  return match ? [match[1] ?? '', match[2] ?? ''] : [rtrim(text), null];
}

function textOf(of: Expression, scope: Scope): string | null {
  const value = evaluated(of, scope);
  if (value === null) return null;
  return of.type.kind === 'decimal' && typeof value === 'number' ? value.toFixed(of.type.scale) : String(value);
}

/** The right operand of a comparison, cast to the left one's type; NULL if the cast fails. */
function beside(left: Expression, right: Expression, scope: Scope): SqlValue {
  const found = evaluated(right, scope);
  if (left.type.kind === 'text') return textOf(right, scope);
  if (right.type.kind !== 'text' || typeof found !== 'string') return found;
  const grammar = left.type.kind === 'integer' ? /^-?\d+ *$/ : /^[ \t\r\n]*-?\d+(\.\d+)?[ \t\r\n]*$/;
  return grammar.test(found) ? Number(found) : null;
}

function compared(left: SqlValue, op: Operator, right: SqlValue): boolean {
  if (left === null || right === null) return false;
  const sign = order(left, right);
  switch (op) {
    case '=':
      return sign === 0;
    case '<>':
      return sign !== 0;
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    case '>=':
      return sign >= 0;
  }
}

/** NULL first, numbers by value, text by its bytes, ignoring trailing blanks. */
function order(left: SqlValue, right: SqlValue): number {
  if (left === null || right === null) return Number(left !== null) - Number(right !== null);
  if (typeof left === 'string' && typeof right === 'string') {
    return Buffer.compare(Buffer.from(rtrim(left)), Buffer.from(rtrim(right)));
  }
  return Number(left) - Number(right);
}

function rtrim(text: string): string {
  return text.replace(/ +$/, '');
}

function trim(text: string): string {
  return text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function isPackedDate(text: string): boolean {
  const match = /^(\d{4})(\d\d)(\d\d)$/.exec(text);
  if (!match) return false;
  const [year, month, day] = match.slice(1).map(Number);
  if (year === undefined || month === undefined || day === undefined || year < 1) return false;
  if (day === 0) return month <= 12;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return month >= 1 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

function globExpression(pattern: string): RegExp {
  const source = pattern.replace(/\[[^\]]*\]|[\s\S]/g, part => {
    if (part === '*') return '[\\s\\S]*';
    if (part === '?') return '[\\s\\S]';
    if (!part.startsWith('[') || part.length === 1) return part.replace(/[\\^$.|+()[\]{}]/g, '\\$&');
    const negated = part.startsWith('[^');
    // A hyphen at the start of a class is literal.
    return `[${negated ? '^' : ''}${part.slice(negated ? 2 : 1, -1).replace(/[\\[*]/g, '\\$&')}]`;
  });
  return new RegExp(`^${source}$`, 'u');
}
