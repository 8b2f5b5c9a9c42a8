/**
 * Chooses the share of a long suite that one run covers. Many similar cases, such as each value of each search
 * parameter, find the same faults: `npm test` runs a share of them, a different one each day, and the CI runs all
 * (TEST_ALL=1).
 */

/** True: run every case, however long it takes. */
export const ASKS_ALL = process.env['TEST_ALL'] !== undefined;

/** Number of the day; TEST_DAY repeats a day. */
export const TEST_DAY = Number(process.env['TEST_DAY'] ?? Math.floor(Date.now() / 86_400_000));

/**
 * Returns one in `oneIn` of the items of each kind, at least one of a kind; with TEST_ALL=1 all of them. Each item left
 * out today is in the share of one of the next `oneIn - 1` days.
 */
export function shareOf<T>(items: readonly T[], oneIn: number, kindOf: (item: T) => unknown = () => ''): readonly T[] {
  if (ASKS_ALL) return items;
  const kinds = [...Map.groupBy(items, kindOf).values()];
  return kinds.flatMap(of => {
    const every = Math.min(oneIn, of.length);
    return of.filter((_, i) => (i + TEST_DAY) % every === 0);
  });
}

/** Returns how many of the random cases to try: a sixth, or all with TEST_ALL=1. */
export function runsOf(all: number): number {
  return ASKS_ALL ? all : Math.ceil(all / 6);
}
