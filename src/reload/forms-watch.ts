/**
 * Checks the form of rows again after another program has written to the database: one row of a new form disproves its
 * column's form. In: a function that looks, and what to do if a form is disproved. Out: looks, one after the other,
 * and a promise for requests that must wait for the result.
 */

export interface FormsWatchOptions {
  /** Milliseconds between two looks at least. */
  readonly pause: number;
  /** Whether some column is written otherwise. Never throws. */
  readonly look: () => Promise<boolean>;
  readonly changed: () => Promise<unknown>;
}

export interface FormsWatch {
  /** A fetched row shows that a column is written otherwise: looks at once. Several calls before that are one. */
  doubt(): void;
  /** While a doubt is looked into, and what follows from it is done: resolves then. Undefined: there is none. */
  settled(): Promise<void> | undefined;
  /** Resolves when no look is under way any more, and none will be. */
  stop(): Promise<void>;
}

/** A look takes its time from who writes all day: after a long one the pause is as many times as long. */
const SHARE = 50;
/** Changes that are followed at once; what is written otherwise after that has to wait for the next look. */
const AT_ONCE = 5;

/** Begins to look after the first pause. */
export function watchForms({ pause, look, changed }: FormsWatchOptions): FormsWatch {
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();
  let doubted: Promise<void> | undefined;

  const rest = (milliseconds: number): void => {
    clearTimeout(timer);
    if (!stopped) timer = setTimeout(() => begin(), milliseconds).unref();
  };
  const once = async (): Promise<void> => {
    let longest = 0;
    const isOtherwise = async (): Promise<boolean> => {
      const begun = performance.now();
      const otherwise = await look();
      longest = Math.max(longest, performance.now() - begun);
      return otherwise;
    };
    // While the mappings are made anew, a row may show another column to be written otherwise.
    for (let times = 0; times < AT_ONCE && (await isOtherwise()) && !stopped; times++) await changed();
    rest(Math.max(pause, longest * SHARE));
  };
  /** After the look that is under way. */
  const begin = (): Promise<void> => {
    clearTimeout(timer);
    looking = looking.then(() => (stopped ? undefined : once()));
    return looking;
  };
  rest(pause);
  return {
    doubt() {
      if (doubted !== undefined || stopped) return;
      const own = begin().finally(() => {
        if (doubted === own) doubted = undefined;
      });
      doubted = own;
    },
    settled: () => doubted,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await looking;
    },
  };
}
