/**
 * An error that ends a process or a command, as a person reads it. In: the error. Out: what can be mended in full, anything
 * else without its message, which may hold anything.
 */
import { ConfigError } from './config.ts';
import { describeError } from './log.ts';
import { FhirError } from './outcome.ts';
import { DatabaseError } from './sql/database.ts';

export function tellError(error: unknown, note: (text: string) => void): void {
  if (error instanceof ConfigError) {
    note([`${error.message}:`, ...error.problems.map(problem => `  ${problem}`)].join('\n'));
  } else if (error instanceof DatabaseError) {
    note(`The database: ${error.message}`);
  } else if (error instanceof FhirError) {
    note(error.message);
  } else if (isSystemError(error)) {
    note(`The system refuses: ${error.message}`);
  } else {
    const { kind, at } = describeError(error);
    note(`Unexpected ${kind} at ${at}`);
  }
}

/** Of the file system or the network: a port that is taken, a folder that is not there. */
function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
