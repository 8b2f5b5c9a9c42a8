/**
 * Says whether the wall clock can be trusted: it has not been set for an hour. Expired records are removed permanently,
 * and a machine that starts in the wrong year mostly has the right one minutes later.
 */

/** Milliseconds: a larger difference means that the clock was set; and the time after which it is trusted. */
const SET = 60_000;
const SETTLED = 3_600_000;

/**
 * Returns a test of the wall clock. `wall`: milliseconds since the epoch; `steady`: milliseconds of a monotonic clock.
 */
export function settledClock(
  wall: () => number = Date.now,
  steady: () => number = () => performance.now(),
): () => boolean {
  let difference = wall() - steady();
  let since = steady();
  return () => {
    const now = wall() - steady();
    if (Math.abs(now - difference) > SET) {
      difference = now;
      since = steady();
    }
    return steady() - since >= SETTLED;
  };
}
