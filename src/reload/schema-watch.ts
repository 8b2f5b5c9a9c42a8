/**
 * Checks the schema when a statement misses a table or column. In: such statements, and a function that looks. Out: a
 * look at once, then one after each pause while something is missing; never two at a time.
 */

export interface SchemaWatchOptions {
  /** Milliseconds between the end of a look and the next. */
  readonly pause: number;
  /** `whole`: nothing is missing. Never throws. */
  readonly look: () => Promise<'whole' | 'lacking'>;
}

export interface SchemaWatch {
  /** A statement named what is not there: looks at once, or after the pause. */
  missed(): void;
  /** It is known that something is missing: looks after the pause. */
  lacking(): void;
  /** Resolves when no look is under way any more, and none will be. */
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
