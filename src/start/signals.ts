/**
 * Handles SIGINT and SIGTERM. Ctrl+C in a terminal reaches every process of a command, and npm and bin/lintel.mjs pass
 * it on, so that one signal may arrive several times within a moment.
 */
const STOPPING = ['SIGINT', 'SIGTERM'] as const;
const MOMENT_MILLISECONDS = 500;

export interface StopSignal {
  /** Resolves with the first signal. */
  readonly signalled: Promise<string>;
  /** Restores the default behavior of the signals. */
  forget(): void;
}

/** Reports the first signal. A second one ends the process at once, unless it follows within a moment. */
export function stopSignal(): StopSignal {
  const { promise, resolve } = Promise.withResolvers<string>();
  let first: number | undefined;
  const receive = (signal: string): void => {
    first ??= performance.now();
    resolve(signal);
    if (performance.now() - first > MOMENT_MILLISECONDS) process.exit(1);
  };
  for (const signal of STOPPING) process.on(signal, receive);
  return {
    signalled: promise,
    forget() {
      for (const signal of STOPPING) process.off(signal, receive);
    },
  };
}
