/**
 * Compares the values of two sort faces in SQL, for rows that have both. In: two faces. Out: a predicate that the
 * first comes before the second; undefined if no expression of both engines compares them.
 */
import { INTEGER } from '../sql/column-type.ts';
import { and, compare, equals, FALSE, or, TRUE, value } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import type { SortFace } from './sort.ts';
import { withoutCase } from './sort-constants.ts';

type Order = '<' | '<=' | '>' | '>=';

const FLIPPED: Readonly<Record<Order, Order>> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' };

export function compareFaces(a: SortFace, order: Order, b: SortFace): Predicate | undefined {
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

/** Packed dates are numbers in the database alone. */
function isNumber({ by, order }: SortFace): boolean {
  return by.length === 1 && order.toKey([1]) === 1;
}

/** The one key of rows that order by nothing. */
function constantOf({ by, order }: SortFace): string | undefined {
  return by.length === 0 ? String(order.toKey([])) : undefined;
}

function known(a: string, order: Order, b: string): Predicate {
  const holds = a === b ? order.length === 2 : a < b === order.startsWith('<');
  return holds ? TRUE : FALSE;
}

/** `fromKey` gives the first values at or after the key. */
function compareKey(face: SortFace, order: Order, key: string): Predicate | undefined {
  if (face.begin !== undefined || (foldsCase(face) && key !== withoutCase(key))) return undefined;
  const raws = face.order.fromKey(key);
  if (raws === undefined) return order.startsWith('<') ? TRUE : FALSE;
  const exact = (face.order.toKey(raws) ?? key) === key;
  const limits = raws.map((raw, i) => value(raw, face.by[i]?.type ?? INTEGER));
  return inTurn(face.by, exact ? order : order.startsWith('<') ? '<' : '>=', limits);
}

/** The first expressions decide, where they are equal the next ones. */
function inTurn(ours: readonly Expression[], order: Order, theirs: readonly Expression[]): Predicate {
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

/** Texts whose keys are what is compared. */
function isText({ by, order }: SortFace): boolean {
  return by.length === 1 && by[0]?.type.kind === 'text' && (order.toKey(['x']) ?? 'x') === 'x';
}

/** With case and without it are two orders. */
function foldsCase({ by: [first] }: SortFace): boolean {
  return isFolded(first);
}

function isFolded(of: Expression | undefined): boolean {
  if (of?.kind === 'scalar' || of?.kind === 'first-piece') return isFolded(of.select);
  if (of?.kind !== 'function') return false;
  const [first] = of.args;
  return of.name === 'upper' || (of.name === 'substring' && typeof first === 'object' && isFolded(first));
}
