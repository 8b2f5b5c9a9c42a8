/**
 * Checks the form of rows again after another program has written to the database: one row in a new form disproves its
 * column's form. In: a function that checks, and what to do if a form is disproved. Out: checks, one after the other,
 * and a promise for requests that must wait for the result.
 */

export interface FormsWatchOptions {
  /** Minimum milliseconds between two checks. */
  readonly pause: number;
  /** True if a column has another form. Never throws. */
  readonly look: () => Promise<boolean>;
  readonly changed: () => Promise<unknown>;
}

export interface FormsWatch {
  /**
   * Checks at once, because a fetched row shows that a column has another form. Several calls before that count as one.
   */
  doubt(): void;
  /** Resolves when a doubt has been checked and handled. Undefined: there is none. */
  settled(): Promise<void> | undefined;
  /** Resolves when no check is running, and none will follow. */
  stop(): Promise<void>;
}

/**
 * The pause is at least this many times as long as a check, so that checks take little time from a program that writes
 * all day.
 */
const SHARE = 50;
/** Maximum changes handled at once; further ones wait for the next check. */
const AT_ONCE = 5;

/** Starts checking after the first pause. */
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
    // While the mappings are loaded again, a row may show another form of another column.
    for (let times = 0; times < AT_ONCE && (await isOtherwise()) && !stopped; times++) await changed();
    rest(Math.max(pause, longest * SHARE));
  };
  /** Checks after the running check has ended. */
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
