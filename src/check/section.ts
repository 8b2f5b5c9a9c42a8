/**
 * Defines a section of `lintel check`, which proves something on the rows of the database. In: the pack, the database,
 * a sample of resources and a share of the time. Out: problems with their place in the pack, and tables of numbers; no
 * value of a row unless the user asked for values.
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
  /** Its share of the time, relative to the other sections. Default 1. */
  readonly weight?: number;
  run(context: CheckContext): Promise<SectionResult>;
}

export interface SectionResult {
  readonly problems: readonly Problem[];
  /** What was examined and what was not reached, one sentence each. */
  readonly notes: readonly string[];
  readonly tables: readonly Table[];
}

/** Numbers for people and for `--json`. Cells are texts or numbers, never values of rows. */
export interface Table {
  /** Key in `--json`, unique in the section: `rows`, `elements`. */
  readonly name: string;
  readonly title: string;
  readonly columns: readonly string[];
  readonly rows: readonly (readonly (string | number)[])[];
}

/** Lists names for a note: the first ones, and how many more there are. */
export function someOf(names: readonly string[]): string {
  const most = 12;
  const shown = names.slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

export interface CheckContext {
  readonly registry: Registry;
  /** The mappings whose rows are examined. */
  readonly mappings: readonly Mapping[];
  /** Every statement goes to the export bulkhead. */
  readonly database: Database;
  /** The schema as the pack was loaded against it. */
  readonly catalog: Catalog;
  /** The whole pipeline over the same database. */
  readonly facade: Facade;
  /** The present instant of the whole check, in milliseconds since the epoch. */
  readonly now: number;
  /** Seed of all random choices. */
  readonly seed: number;
  /** True if messages may contain values of rows. */
  readonly values: boolean;
  /** True if every row is examined, however long it takes, instead of a sample. */
  readonly all: boolean;
  /** Aborted when the section's share of the time is over; pass it to every statement. */
  readonly signal: AbortSignal;
  /** Takes an error of a part of the section; true if the other parts may continue. */
  readonly refused: Refused;
  /** Reports the progress of a long section, such as `300 of 5000`. */
  readonly progress: (far: string) => void;
  /** Resources of every mapping, chosen once for all sections: spread over the key, strangest rows first. */
  sample(): Promise<readonly SampledResource[]>;
  /** Returns the same sample, with the differences between its rows and resources. */
  sampled(): Promise<Sampled>;
}

export interface SampledResource {
  readonly mapping: Mapping;
  readonly id: string;
  /** The JSON as served. */
  readonly json: string;
  readonly resource: Readonly<Record<string, unknown>>;
}

export interface Sampled {
  readonly resources: readonly SampledResource[];
  /** Rows that were compared. */
  readonly rows: number;
  /** How many of them depend on an expression which only the engine can evaluate. */
  readonly unjudged: number;
  /** Sources that the time budget did not reach. */
  readonly unreached: readonly string[];
  /** Mappings with too many branches, each with the number of branches left out. */
  readonly cut: readonly string[];
  /** Differences between rows and resources. */
  readonly problems: readonly Problem[];
}
