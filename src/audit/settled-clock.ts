/**
 * Says whether the wall clock can be believed: it has not been set for an hour. What is removed for its age is gone
 * for good, and a machine that begins in the wrong year mostly knows the right one minutes later.
 */

/** Milliseconds: by which the clock was set if it differs by more, and after which it is believed. */
const SET = 60_000;
const SETTLED = 3_600_000;

/** `wall`: milliseconds since the epoch; `steady`: milliseconds that never go back. */
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
