/**
 * The interface of a section of `lintel check`, which proves something on the rows of the database. In: the pack, the
 * database, a sample of resources and a share of the time. Out: problems with their place in the pack, and tables of
 * numbers; no value of a row unless the user asked for values.
 */
import type { Facade } from '../facade.ts';
import type { Problem } from '../mapping/load/problem.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import type { Catalog } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import type { Refused } from './refusals.ts';

export interface CheckSection {
  /** The key of the section in `--json`. */
  readonly name: string;
  readonly title: string;
  /** Its part of the time, beside the others'. Default 1. */
  readonly weight?: number;
  run(context: CheckContext): Promise<SectionResult>;
}

export interface SectionResult {
  readonly problems: readonly Problem[];
  /** What was looked at and what was not reached, one sentence each. */
  readonly notes: readonly string[];
  readonly tables: readonly Table[];
}

/** Numbers for a person and for `--json`: cells are texts or numbers, never values of rows. */
export interface Table {
  /** A key in `--json`, unique in the section: `rows`, `elements`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Names for a note: the first of them, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const most = 12;
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export interface CheckContext {
  readonly registry: Registry;
  /** Those whose rows are looked at. */
  readonly mappings: readonly Mapping[];
  /** Every statement goes to the export bulkhead. */
  readonly database: Database;
  /** The schema as the pack was loaded against it. */
  readonly catalog: Catalog;
  /** The whole pipeline over the same database. */
  readonly facade: Facade;
  /** The present instant of the whole check, in milliseconds since the epoch. */
  readonly now: number;
  /** What is drawn at random is drawn by this number. */
  readonly seed: number;
  /** Messages may hold values of rows. */
  readonly values: boolean;
  /** No sampling: every row is looked at, however long it takes. */
  readonly all: boolean;
  /** Aborted when the section's share of the time is over; statements take it along. */
  readonly signal: AbortSignal;
  /** Where a part of the section ends with an error: whether the other parts may go on. */
  readonly refused: Refused;
  /** Resources of every mapping, chosen once for all sections: spread over the key, strangest rows first. */
  sample(): Promise<readonly SampledResource[]>;
  /** The same with what comparing its rows with their resources has shown. */
  sampled(): Promise<Sampled>;
}

export interface SampledResource {
  readonly mapping: Mapping;
  readonly id: string;
  /** As it is served. */
  readonly json: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Sampled {
  readonly resources: readonly SampledResource[];
  /** Rows that were compared. */
  readonly rows: number;
  /** Of them, those that depend on what only the engine can read. */
  readonly unjudged: number;
  /** Mappings that the time did not suffice for. */
  readonly unreached: readonly string[];
  /** Mappings with more branches than rows are looked for, each with the number of the others. */
  readonly cut: readonly string[];
  /** Differences between rows and resources. */
  readonly problems: readonly Problem[];
}
