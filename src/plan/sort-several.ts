/**
 * Sorting by texts of which a resource may have several: FHIR sorts by the one that comes first in the order asked for. In:
 * where each of them can come from. Out: parts of the rows, in each of which one of them comes first.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import { and, compare, type Expression, not, or, type Predicate } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { SortFace, SortPart } from './sort.ts';

/** One place that values come from: the rows that have one, and how they sort. */
export interface Candidate {
  readonly where: Predicate;
  readonly face: SortFace;
  /** The place is in child rows. */
  readonly isInRows: boolean;
}

/** Undefined where SQL cannot choose: only texts that stand in rows are compared with each other. */
export function partsOfSeveral(candidates: readonly Candidate[], descending: boolean): readonly SortPart[] | undefined {
  const chosen = candidates.map(candidate => (candidate.isInRows ? inRows(candidate, descending) : candidate));
  const texts = chosen.filter(one => one !== undefined && isText(one.face));
  const known = texts.filter(one => one !== undefined);
  // With case and without it are two orders.
  if (known.length !== chosen.length || new Set(known.map(({ face }) => foldsCase(face))).size > 1) return undefined;
  return known.map(({ where, face }, i) => {
    const [mine] = face.by;
    const first = known.map((other, j) => {
      const [theirs] = other.face.by;
      if (i === j || !mine || !theirs) return where;
      // Of equal ones the first counts.
      const op = descending ? (i < j ? '>=' : '>') : i < j ? '<=' : '<';
      return or(not(other.where), compare(mine, op, theirs));
    });
    return { where: and(...first), face };
  });
}

/** Texts whose keys are what is compared. */
function isText({ by, order }: SortFace): boolean {
  return by.length === 1 && by[0]?.type.kind === 'text' && (order.toKey(['x']) ?? 'x') === 'x';
}

function foldsCase({ by: [first] }: Pick<SortFace, 'by'>): boolean {
  return first?.kind === 'scalar'
    ? foldsCase({ by: [first.select] })
    : first?.kind === 'function' && first.name === 'upper';
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
