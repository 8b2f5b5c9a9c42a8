/**
 * Keeps the last warnings and errors of the log for the start page. In: a log. Out: the same log, and the messages. Of
 * their fields only `problem` is kept, which describes a problem of a mapping; others may contain a patient's values.
 */
import type { Log } from '../log.ts';

export interface LoggedProblem {
  /** ISO instant. */
  readonly at: string;
  readonly message: string;
}

/** Wraps a log. `most`: maximum number of kept messages; the oldest are dropped first. */
export function rememberProblems(
  log: Log,
  most = 20,
): { readonly log: Log /** The newest first. */; readonly problems: () => readonly LoggedProblem[] } {
  const kept: LoggedProblem[] = [];
  const remembering =
    (write: Log['warn']): Log['warn'] =>
    (message, fields, same) => {
      const problem = fields?.['problem'];
      const text = typeof problem === 'string' ? `${message}: ${problem}` : message;
      kept.unshift({ at: new Date().toISOString(), message: text });
      if (kept.length > most) kept.length = most;
      write(message, fields, same);
    };
  return {
    log: { ...log, warn: remembering(log.warn), error: remembering(log.error) },
    problems: () => kept,
  };
}
