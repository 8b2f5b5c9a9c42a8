/**
 * When those who wait for an answer have waited long enough. A signal tells that when it is over; a statement that
 * runs on the calling thread has to know before, for nothing else runs meanwhile. In: a signal, and an instant as
 * performance.now() has it. Out: that instant.
 */
const instants = new WeakMap<AbortSignal, number>();

/** The work that the signal ends is over at `instant`; where several wait for it, at the latest of theirs. */
export function endsAt(signal: AbortSignal, instant: number): void {
  instants.set(signal, Math.max(instant, instants.get(signal) ?? instant));
}

/** Undefined where nobody has said so. */
export function deadlineOf(signal: AbortSignal | undefined): number | undefined {
  return signal && instants.get(signal);
}
