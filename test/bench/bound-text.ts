/**
 * A statement for a program by hand. In: what the facade sends. Out: its text, and its parameters as node:sqlite takes
 * them.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Statement } from '../../src/sql/plan.ts';

export interface BoundText {
  readonly sql: string;
  readonly bound: readonly SQLInputValue[];
}

/** As the adapter binds it: numbers that travel as text are numbers. */
export function boundText({ text, parameters }: Statement): BoundText {
  const bound = parameters.map(({ value, type }) =>
    typeof value === 'string' && type.kind === 'integer' ? BigInt(value) : value,
  );
  return { sql: text, bound };
}
