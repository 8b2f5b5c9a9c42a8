/**
 * Looks again at how rows are written when somebody has written into the database: a row of a new form takes the proof from its
 * column. In: a way to look, and what to do where a column is written otherwise than before. Out: looks, one after the other.
 */

export interface FormsWatchOptions {
  /** Milliseconds between two looks at least. */
  readonly pause: number;
  /** Whether some column is written otherwise. Never throws. */
  readonly look: () => Promise<boolean>;
  readonly changed: () => Promise<unknown>;
}

/** A look takes its time from who writes all day: after a long one the pause is as many times as long. */
const SHARE = 50;

/** Resolves when no look is under way any more, and none will be. */
export function watchForms({ pause, look, changed }: FormsWatchOptions): { stop(): Promise<void> } {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();
  const rest = (milliseconds: number): void => {
    if (!stopped) timer = setTimeout(begin, milliseconds).unref();
  };
  const begin = (): void => {
    const begun = performance.now();
    looking = look().then(async otherwise => {
      const took = performance.now() - begun;
      if (otherwise && !stopped) await changed();
      rest(Math.max(pause, took * SHARE));
    });
  };
  rest(pause);
  return {
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
