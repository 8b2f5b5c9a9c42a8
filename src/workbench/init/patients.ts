/**
 * Compares columns that name patients with the keys of tables that may hold them. In: a database, candidates for
 * patients, and proposals of other records. Out: how many values of a sample are such keys. Every read is limited in
 * rows, and in time by the signal.
 */
import type { TableInfo } from '../../sql/catalog.ts';
import { CONTRADICTED, type ElementEvidence, LEAST_FOUND, NEARLY_ALL } from './column-evidence.ts';
import { type Proposal, patientColumns } from './propose.ts';
import { type Reader, shareAmong } from './shares.ts';

/** Maximum number of tables of records whose patients are looked up. */
const MOST_RECORDS = 3;

interface Held {
  readonly theirs: string;
  /** Of a sample of the values, how many the column holds. */
  readonly share: number;
}

/** Returns how many values of a sample are keys of patients. Undefined if it cannot be determined, or not in time. */
export async function amongPatients(
  look: Reader,
  info: TableInfo,
  column: string,
  patients: Proposal,
): Promise<(Pick<ElementEvidence, 'note' | 'fit'> & { readonly theirs: string }) | undefined> {
  const held = await heldBy(look, info, column, patients);
  if (!held) return undefined;
  const { theirs, share } = held;
  const note = `${percent(share)} of a sample are ${theirs} of ${patients.table}`;
  return { note, fit: share < LEAST_FOUND ? CONTRADICTED : 1, theirs };
}

/**
 * Returns why a table holds no patients, by candidate: other records do not name its keys, but those of another
 * candidate. A table of contacts may read as one of people, too.
 */
export async function heldKeys(
  look: Reader,
  people: readonly Proposal[],
  all: readonly Proposal[],
): Promise<ReadonlyMap<Proposal, string>> {
  const records = new Map(
    all.flatMap(({ info, elements }) => {
      const own = elements.find(({ kind, join, child }) => kind === 'patient' && !join && !child);
      return own && !people.some(one => one.info === info) ? [[info, own.column] as const] : [];
    }),
  );
  const shares = new Map<Proposal, number>();
  for (const one of people.length > 1 ? people : []) {
    const found: number[] = [];
    for (const [info, column] of [...records].slice(0, MOST_RECORDS)) {
      const held = await heldBy(look, info, column, one);
      if (held) found.push(held.share);
    }
    if (found.length > 0) shares.set(one, found.reduce((sum, share) => sum + share, 0) / found.length);
  }
  if (![...shares.values()].some(share => share >= NEARLY_ALL)) return new Map();
  const unheld = [...shares].filter(([, share]) => share < LEAST_FOUND);
  return new Map(unheld.map(([one, share]) => [one, `${percent(share)} of a sample of other records name its rows`]));
}

/** Returns the first column that holds most values, else the one that holds most of all. */
async function heldBy(look: Reader, info: TableInfo, column: string, patients: Proposal): Promise<Held | undefined> {
  let best: Held | undefined;
  for (const theirs of patientColumns(patients, column)) {
    const share = await shareAmong(look, { info, column }, patients.info, theirs);
    if (share !== undefined && (!best || share > best.share)) best = { theirs, share };
    if (best && best.share >= LEAST_FOUND) return best;
  }
  return best;
}

function percent(share: number): string {
  return `${Math.round(100 * share)} %`;
}
