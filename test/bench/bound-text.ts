/**
 * Converts a statement for a hand-written program. In: the facade's statement. Out: its text, and its parameters as
 * node:sqlite takes them.
 */
import type { SQLInputValue } from 'node:sqlite';
import type { Statement } from '../../src/sql/plan.ts';

export interface BoundText {
  readonly sql: string;
  readonly bound: readonly SQLInputValue[];
}

/** Binds like the adapter: numbers passed as text become numbers. */
export function boundText({ text, parameters }: Statement): BoundText {
  const bound = parameters.map(({ value, type }) =>
    typeof value === 'string' && type.kind === 'integer' ? BigInt(value) : value,
  );
  return { sql: text, bound };
}
