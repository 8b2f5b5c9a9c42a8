/**
 * Chooses a column that holds dates. In: the element of a date with the column whose name fits best, and how a column
 * is profiled. Out: the element with the best named column whose rows are not something else, or none.
 */
import type { ColumnProfile } from '../../profile/column.ts';
import { CONTRADICTED, evidenceOf } from './column-evidence.ts';
import { bestIn, kindOf, type Names } from './hints.ts';
import type { Proposal, ProposedElement } from './propose.ts';

/** Maximum number of columns that are tried. */
const MOST = 4;

/** `taken`: columns that make other elements; columns that were tried are added. */
export async function withDates(
  { kind, info }: Proposal,
  element: ProposedElement,
  names: Names,
  taken: Set<string>,
  profile: (column: string) => Promise<ColumnProfile | undefined>,
): Promise<ProposedElement | undefined> {
  const { path, join, child } = element;
  if (element.kind !== 'date' || join || child) return element;
  const { columns = [] } = kindOf(kind)?.elements.find(one => one.path === path) ?? {};
  for (let best = element, tries = 1; ; tries++) {
    const of = await profile(best.column);
    if (!of || of.values === 0 || evidenceOf(best, of).fit !== CONTRADICTED) return best;
    taken.add(best.column);
    const next = tries < MOST ? bestIn(info, columns, 'date', names, taken) : undefined;
    if (!next) return undefined;
    taken.add(next.column);
    best = { ...element, ...next };
  }
}
