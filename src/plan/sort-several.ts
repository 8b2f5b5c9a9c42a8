/**
 * Sorts by an element that may have several values: FHIR sorts by the one that comes first in the order asked for. In:
 * the sources of the values. Out: the rows, split by the source whose value comes first.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import { aliasesOf } from '../sql/columns-used.ts';
import { and, not, or } from '../sql/construct.ts';
import type { Expression, Order, Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { SortFace, SortPart } from './sort.ts';
import { compareFaces } from './sort-compare.ts';

/** One place that values come from: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** The place is in child rows, or in pieces of a text. */
  readonly isInRows: boolean;
}

/** Undefined where SQL cannot choose: values that no expression compares, or rows that it does not find. */
export function partsOfSeveral(candidates: readonly Candidate[], descending: boolean): readonly SortPart[] | undefined {
  const chosen = candidates.map(candidate => (candidate.isInRows ? inRows(candidate, descending) : candidate));
  const known = chosen.filter(one => one !== undefined);
  const parts = known.flatMap(({ where, face }, i) => {
    const first = known.map((other, j) => {
      if (i === j) return where;
      // Of equal ones the first counts.
      const order = descending ? (i < j ? '>=' : '>') : i < j ? '<=' : '<';
      const before = compareFaces(face, order, other.face);
      return before && or(not(other.where), before);
    });
    const all = first.filter(part => part !== undefined);
    return all.length === first.length ? [{ where: and(...all), face }] : [];
  });
  if (parts.length < candidates.length) return undefined;
  return parts.filter(({ where }) => where.kind !== 'false');
}

/** The first value of the child rows or pieces: of those that the presence of the value looks into. */
function inRows({ where, face }: Candidate, descending: boolean): Candidate | undefined {
  // Whichever row it is of.
  if (face.by.length === 0) return { where, face, isInRows: true };
  const by = firstOf(where, face.by, descending);
  if (!by) return undefined;
  return { where, face: { ...face, by, apart: [face.begin, ...by.map(expressionKey)].join() }, isInRows: true };
}

type Look = Extract<Predicate, { kind: 'exists' | 'some-piece' }>;

/**
 * The values of the row or piece that comes first by all of them. Undefined: not one look alone leads to where they stand.
 */
function firstOf(where: Predicate, by: readonly Expression[], descending: boolean): readonly Expression[] | undefined {
  const parts = where.kind === 'and' ? where.of : [where];
  const looks = parts.flatMap(part => (isLook(part) && leadsTo(part, by) ? [part] : []));
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

/** Its rows or pieces are what the values are made of, or what those stand in that are. */
function leadsTo(look: Look, by: readonly Expression[]): boolean {
  if (declares(look, by)) return true;
  const inside = insideOf(look);
  return (inside.kind === 'and' ? inside.of : [inside]).some(part => isLook(part) && leadsTo(part, by));
}

function declares(look: Look, by: readonly Expression[]): boolean {
  const used = aliasesOf({ expressions: by });
  if (look.kind === 'some-piece') return [look, ...(look.joins ?? [])].some(({ alias }) => used.has(alias));
  return [look.from, ...look.from.joins].some(({ alias }) => used.has(alias));
}
