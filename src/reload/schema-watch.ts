/**
 * Checks the schema when a statement misses a table or column. In: such statements, and a function that checks. Out: a
 * check at once, then one after each pause while something is missing; never two at a time.
 */

export interface SchemaWatchOptions {
  /** Milliseconds between the end of a check and the next. */
  readonly pause: number;
  /** Checks the schema; `whole`: nothing is missing. Never throws. */
  readonly look: () => Promise<'whole' | 'lacking'>;
}

export interface SchemaWatch {
  /** A statement named a missing object: checks at once, or after the current pause. */
  missed(): void;
  /** Something is known to be missing: checks after the pause. */
  lacking(): void;
  /** Resolves when no check is running, and none will follow. */
  stop(): Promise<void>;
}

export function watchSchema({ pause, look }: SchemaWatchOptions): SchemaWatch {
  let state: 'idle' | 'busy' | 'stopped' = 'idle';
  let wanted = false;
  let timer: NodeJS.Timeout | undefined;
  let looking = Promise.resolve();

  const rest = (): void => {
    if (state === 'stopped') return;
    state = 'busy';
    timer = setTimeout(() => {
      state = 'idle';
      if (wanted) begin();
    }, pause).unref();
  };
  const begin = (): void => {
    state = 'busy';
    wanted = false;
    looking = look().then(found => {
      wanted ||= found === 'lacking';
      rest();
    });
  };

  return {
    missed() {
      wanted = true;
      if (state === 'idle') begin();
    },
    lacking() {
      wanted = true;
      if (state === 'idle') rest();
    },
    async stop() {
      state = 'stopped';
      clearTimeout(timer);
      await looking;
    },
  };
}
