/**
 * Splits a part into slices: everything, chunks of members, or chunks of referenced ids. In: a task. Out: its slices,
 * in an order that a restart reproduces.
 */
import type { Members } from './compartment.ts';
import { isEverybody } from './job.ts';
import type { PartTask } from './part-task.ts';
import { wantedIds } from './references.ts';
import { membersFile, readLines } from './store.ts';

/** The condition that a slice is narrowed to. */
export type Slice =
  | { readonly kind: 'all' }
  | { readonly kind: 'members'; readonly members: Members }
  | { readonly kind: 'ids'; readonly ids: readonly string[] };

/** Maximum members, or ids, in one statement. */
const SLICE = 250;

/** The slices of a part in order. */
export interface Slices {
  at(index: number): Slice | undefined;
  count(): number;
  /** Adds slices if there are more, after all are finished; false: there are none. */
  extend(): boolean;
}

export function slicesOf({ folder, part, job, parts }: PartTask): Slices {
  const { level } = job.request;
  const single = (slice: Slice): Slices => ({
    at: index => (index === 0 ? slice : undefined),
    count: () => 1,
    extend: () => false,
  });
  switch (part.scope) {
    case 'all':
      return single({ kind: 'all' });
    case 'groups':
      return single(
        level.kind === 'group' && level.id !== undefined ? { kind: 'ids', ids: [level.id] } : { kind: 'all' },
      );
    case 'compartments': {
      if (isEverybody(job.request)) return single({ kind: 'members', members: 'every' });
      const members = chunks(readLines(membersFile(folder)), part.content === 'blocks' ? 1 : SLICE);
      return {
        at: index => {
          const ids = members[index];
          return ids && { kind: 'members', members: { key: String(index), ids } };
        },
        count: () => members.length,
        extend: () => false,
      };
    }
    case 'referenced': {
      const wanted = wantedIds(folder, part, parts);
      const slices = (): readonly (readonly string[])[] => wanted.rounds.flatMap(ids => chunks(ids, SLICE));
      let known = slices();
      return {
        at: index => {
          const ids = known[index];
          return ids && { kind: 'ids', ids };
        },
        count: () => known.length,
        extend() {
          const more = wanted.extend();
          known = slices();
          return more;
        },
      };
    }
  }
}

/** Splits items into lists of `size`; the last may be shorter. */
export function chunks<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
