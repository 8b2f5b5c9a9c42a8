/**
 * Passes the deadline of a request to statements. A signal aborts other work when the time is over; a statement on the
 * calling thread blocks the signal and must know the instant beforehand. In: a signal, and an instant of
 * performance.now(). Out: that instant.
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
