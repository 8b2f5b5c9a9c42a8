/**
 * How much of a long suite one run asks. Many like questions, such as each value of each search parameter, find the
 * same faults: `npm test` asks a share of them, other ones each day, and the CI asks all (TEST_ALL=1).
 */

/** Everything is asked, as long as it takes. */
export const ASKS_ALL = process.env['TEST_ALL'] !== undefined;

/** Numbers the day; TEST_DAY repeats one. */
export const TEST_DAY = Number(process.env['TEST_DAY'] ?? Math.floor(Date.now() / 86_400_000));

/**
 * One in `oneIn` of the items of each kind, at least one of a kind; all of them where everything is asked. What is left
 * out today is asked on one of the next `oneIn - 1` days.
 */
export function shareOf<T>(items: readonly T[], oneIn: number, kindOf: (item: T) => unknown = () => ''): readonly T[] {
  if (ASKS_ALL) return items;
  const kinds = [...Map.groupBy(items, kindOf).values()];
  return kinds.flatMap(of => {
    const every = Math.min(oneIn, of.length);
    return of.filter((_, i) => (i + TEST_DAY) % every === 0);
  });
}

/** How many of so many random cases are tried: a quarter, or all where everything is asked. */
export function runsOf(all: number): number {
  return ASKS_ALL ? all : Math.ceil(all / 4);
}
