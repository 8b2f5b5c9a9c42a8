/**
 * Sorting by values of which a resource may have several: FHIR sorts by the one that comes first in the order asked for. In:
 * where each of them can come from. Out: parts of the rows, in each of which one of them comes first.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import { and, type Expression, not, or, type Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { SortFace, SortPart } from './sort.ts';
import { compareFaces } from './sort-compare.ts';

/** One place that values come from: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** The place is in child rows. */
  readonly isInRows: boolean;
}

/** Undefined where SQL cannot choose: values that no expression compares, or child rows that sort by several. */
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
  return parts.length === candidates.length ? parts : undefined;
}

/** The first value of the child rows: of those that the presence of the value looks into. */
function inRows({ where, face }: Candidate, descending: boolean): Candidate | undefined {
  const [select, ...more] = face.by;
  const parts = where.kind === 'and' ? where.of : [where];
  const looks = parts.flatMap(part => (part.kind === 'exists' && !part.not && !part.byRow ? [part] : []));
  const [rows, ...others] = looks;
  if (!select || more.length > 0 || !rows || others.length > 0) return undefined;
  const order = [{ by: select, descending }];
  const first: Expression = { kind: 'scalar', select, from: rows.from, order, type: select.type };
  return { where, face: { ...face, by: [first], apart: expressionKey(first) }, isInRows: true };
}
