/**
 * Fetches something that changes rarely: one fetch at a time, again only when it is old, and after a failure not
 * before a pause.
 */

export interface Ages {
  /** Milliseconds after which it is asked for again. */
  readonly fresh: number;
  /** Milliseconds after which what was known no longer counts where nobody answers. */
  readonly stale: number;
  /** Milliseconds after a failure in which nobody is asked. */
  readonly pause: number;
}

/** `clock`: milliseconds since the epoch. The function rejects as `ask` did where nothing that counts is known. */
export function askedOnce<T>(
  ask: () => Promise<T>,
  ages: Ages,
  clock: () => number = () => Date.now(),
): () => Promise<T> {
  let known: { readonly value: T; readonly at: number } | undefined;
  let failed: { readonly error: unknown; readonly at: number } | undefined;
  let flying: Promise<T> | undefined;
  const fetch = async (): Promise<T> => {
    try {
      const value = await ask();
      known = { value, at: clock() };
      failed = undefined;
      return value;
    } catch (error) {
      failed = { error, at: clock() };
      throw error;
    } finally {
      flying = undefined;
    }
  };
  return async () => {
    const now = clock();
    if (known !== undefined && now - known.at < ages.fresh) return known.value;
    const usable = known !== undefined && now - known.at < ages.stale ? known : undefined;
    if (failed !== undefined && now - failed.at < ages.pause) {
      if (usable !== undefined) return usable.value;
      throw failed.error;
    }
    flying ??= fetch();
    if (usable === undefined) return flying;
    // Whoever asks does not wait for what is good enough.
    flying.catch(() => {});
    return usable.value;
  };
}
