/**
 * Sorts by an element that may have several values: FHIR sorts by the one that comes first in the order asked for. In:
 * the sources of the values. Out: the rows, split by the source whose value comes first. SQL compares two values if
 * every dialect has an expression for it.
 * https://hl7.org/fhir/R4/search.html#sort
 */

import { upperAscii } from '../mapping/codecs/text.ts';
import { INTEGER } from '../sql/column-type.ts';
import { and, compare, conjuncts, equals, FALSE, not, or, TRUE, value } from '../sql/construct.ts';
import type { Expression, Order, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import { aliasesOf } from '../sql/walk.ts';
import type { Candidate, SortFace, SortPart } from './sort.ts';

/**
 * Splits the rows by the source of their first value. Undefined if SQL cannot choose: no expression compares the
 * values, or none finds the rows.
 */
export function partsOfSeveral(candidates: readonly Candidate[], descending: boolean): readonly SortPart[] | undefined {
  const chosen = candidates.map(candidate => (candidate.isInRows ? inRows(candidate, descending) : candidate));
  const known = chosen.filter(one => one !== undefined);
  const parts = known.flatMap(({ where, face }, i) => {
    const first = known.map((other, j) => {
      if (i === j) return where;
      // Of equal values the first source counts.
      const order = descending ? (i < j ? '>=' : '>') : i < j ? '<=' : '<';
      const before = compareFaces(face, order, other.face);
      return before && or(not(other.where), before);
    });
    return first.every(part => part !== undefined) ? [{ where: and(...first), face }] : [];
  });
  if (parts.length < candidates.length) return undefined;
  return parts.filter(({ where }) => where.kind !== 'false');
}

/**
 * Returns the first value of the child rows or pieces: those that the predicate for the value's presence looks into.
 */
function inRows({ where, face }: Candidate, descending: boolean): Candidate | undefined {
  // A constant is the same in every row.
  if (face.by.length === 0) return { where, face, isInRows: true };
  const by = firstOf(where, face.by, descending);
  if (!by) return undefined;
  return { where, face: { ...face, by, statementKey: [face.begin, ...by.map(expressionKey)].join() }, isInRows: true };
}

type Look = Extract<Predicate, { kind: 'exists' | 'some-piece' }>;

/**
 * Returns the values of the row or piece that comes first by all of them. Undefined unless exactly one EXISTS or piece
 * search leads to them.
 */
function firstOf(where: Predicate, by: readonly Expression[], descending: boolean): readonly Expression[] | undefined {
  const looks = conjuncts(where).flatMap(part => (isLook(part) && leadsTo(part, by) ? [part] : []));
  const [look, ...others] = looks;
  if (!look || others.length > 0) return undefined;
  const inner = declares(look, by) ? by : firstOf(insideOf(look), by, descending);
  if (!inner) return undefined;
  const order = inner.map((one): Order => ({ by: one, descending }));
  return inner.map(select => firstBy(look, select, order));
}

function isLook(part: Predicate): part is Look {
  return (part.kind === 'exists' && !part.byRow && !part.not) || (part.kind === 'some-piece' && !part.not);
}

function firstBy(look: Look, select: Expression, order: readonly Order[]): Expression {
  const { type } = select;
  if (look.kind === 'exists') return { kind: 'scalar', select, from: look.from, order, type };
  const { of, by, alias, joins = [], where } = look;
  return { kind: 'first-piece', select, of, by, alias, ...(joins.length > 0 ? { joins } : {}), where, order, type };
}

function insideOf(look: Look): Predicate {
  return look.kind === 'exists' ? look.from.where : look.where;
}

/** True if the values are made of its rows or pieces, or of rows or pieces inside them. */
function leadsTo(look: Look, by: readonly Expression[]): boolean {
  if (declares(look, by)) return true;
  return conjuncts(insideOf(look)).some(part => isLook(part) && leadsTo(part, by));
}

function declares(look: Look, by: readonly Expression[]): boolean {
  const used = aliasesOf({ expressions: by });
  if (look.kind === 'some-piece') return [look, ...(look.joins ?? [])].some(({ alias }) => used.has(alias));
  return [look.from, ...look.from.joins].some(({ alias }) => used.has(alias));
}

type Comparison = '<' | '<=' | '>' | '>=';

const FLIPPED: Readonly<Record<Comparison, Comparison>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

function compareFaces(a: SortFace, order: Comparison, b: SortFace): Predicate | undefined {
  const [ours, theirs] = [constantOf(a), constantOf(b)];
  if (ours !== undefined && theirs !== undefined) return known(ours, order, theirs);
  if (theirs !== undefined) return compareKey(a, order, theirs);
  if (ours !== undefined) return compareKey(b, FLIPPED[order], ours);
  if (a.begin !== undefined && b.begin !== undefined && a.begin !== b.begin) return known(a.begin, order, b.begin);
  const alike = a.begin === undefined ? areTexts(a, b) || areNumbers(a, b) : a.begin === b.begin;
  return alike && a.by.length === b.by.length ? inTurn(a.by, order, b.by) : undefined;
}

function areTexts(a: SortFace, b: SortFace): boolean {
  return isText(a) && isText(b) && foldsCase(a) === foldsCase(b);
}

function areNumbers(a: SortFace, b: SortFace): boolean {
  const isFloat = ({ by: [of] }: SortFace): boolean => of?.type.kind === 'float';
  return isNumber(a) && isNumber(b) && isFloat(a) === isFloat(b);
}

/** True if the sort keys are numbers in JavaScript too; packed dates are numbers in the database alone. */
function isNumber({ by, order }: SortFace): boolean {
  return by.length === 1 && order.toKey([1]) === 1;
}

/** Returns the one key of rows with a constant value. */
function constantOf({ by, order }: SortFace): string | undefined {
  return by.length === 0 ? String(order.toKey([])) : undefined;
}

function known(a: string, order: Comparison, b: string): Predicate {
  const holds = a === b ? order.length === 2 : a < b === order.startsWith('<');
  return holds ? TRUE : FALSE;
}

/** Compares a face with a key; `fromKey` gives the first values at or after the key. */
function compareKey(face: SortFace, order: Comparison, key: string): Predicate | undefined {
  if (face.begin !== undefined || (foldsCase(face) && key !== upperAscii(key))) return undefined;
  const raws = face.order.fromKey(key);
  if (raws === undefined) return order.startsWith('<') ? TRUE : FALSE;
  const exact = (face.order.toKey(raws) ?? key) === key;
  const limits = raws.map((raw, i) => value(raw, face.by[i]?.type ?? INTEGER));
  return inTurn(face.by, exact ? order : order.startsWith('<') ? '<' : '>=', limits);
}

/** Compares lists of expressions: the first pair that differs decides. */
function inTurn(ours: readonly Expression[], order: Comparison, theirs: readonly Expression[]): Predicate {
  const beyond = order.startsWith('<') ? '<' : '>';
  const pairs = ours.flatMap((one, i) => {
    const other = theirs[i];
    return other ? [[one, other] as const] : [];
  });
  return or(
    ...pairs.map(([one, other], i) => {
      const before = pairs.slice(0, i).map(([mine, its]) => equals(mine, its));
      return and(...before, compare(one, i === pairs.length - 1 ? order : beyond, other));
    }),
  );
}

/** True for texts that are compared by their keys. */
function isText({ by, order }: SortFace): boolean {
  return by.length === 1 && by[0]?.type.kind === 'text' && (order.toKey(['x']) ?? 'x') === 'x';
}

/** True if the sort ignores case; sorts with and without case are different orders. */
function foldsCase({ by: [first] }: SortFace): boolean {
  return isFolded(first);
}

function isFolded(of: Expression | undefined): boolean {
  if (of?.kind === 'scalar' || of?.kind === 'first-piece') return isFolded(of.select);
  if (of?.kind !== 'function') return false;
  const [first] = of.args;
  return of.name === 'upper' || (of.name === 'substring' && typeof first === 'object' && isFolded(first));
}
