/**
 * Collects what a check leaves out because the database refuses a statement. In: errors, and what was being checked.
 * Out: errors at the mappings that the statements are for. The rest of the check continues.
 */
import { createReport, type Problem } from '../mapping/load/problem.ts';
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { DatabaseError } from '../sql/database.ts';
import { someOf } from './section.ts';

/**
 * Takes an error, and what it left unchecked, such as `searches by Patient.name`. Returns true if the database refused
 * a statement: it is reported, at `of` if the error names no mapping. Returns false for any other error, which the
 * caller must throw.
 */
export type Refused = (error: unknown, ended: string, of?: Mapping) => boolean;

export interface Refusals {
  readonly refused: Refused;
  /** Returns an error for each mapping and message since the last call. */
  take(): readonly Problem[];
}

const PACK: Position = { file: 'pack.yaml', line: 1, column: 1 };

export function createRefusals(registry: Registry): Refusals {
  const refusals = new Map<
    string,
    { readonly error: DatabaseError; readonly at: Position; readonly ended: Set<string> }
  >();
  return {
    refused(error, ended, of) {
      if (!(error instanceof DatabaseError) || error.reason !== 'failed') return false;
      const { at } = registry.mappings.find(({ name }) => name === error.mapping) ?? of ?? { at: PACK };
      const key = JSON.stringify([at, error.message, error.words]);
      const known = refusals.get(key);
      if (known) known.ended.add(ended);
      else refusals.set(key, { error, at, ended: new Set([ended]) });
      return true;
    },
    take() {
      const report = createReport();
      for (const { error, at, ended } of refusals.values())
        report.error(
          'statement-refused',
          at,
          `the database refuses a statement: ${error.message}; not checked: ${someOf([...ended])}`,
          error.words === undefined ? {} : { found: error.words },
        );
      refusals.clear();
      return report.problems();
    },
  };
}
