/**
 * Runs the sections of a check one after the other. In: the pack, the database and options. Out: a report for the
 * text, the JSON and the page (report.ts, page.ts). Each section gets a share of the remaining time, by its weight.
 */
import { performance } from 'node:perf_hooks';
import { plural } from '../common/plural.ts';
import type { Facade } from '../facade.ts';
import type { Problem } from '../mapping/load/problem.ts';
import type { Mapping, Registry } from '../mapping/model.ts';
import type { Catalog } from '../sql/catalog.ts';
import { type Database, DatabaseError, within } from '../sql/database.ts';
import { createDifferences } from './differences.ts';
import { createRefusals } from './refusals.ts';
import { isOver, takeSample } from './sample.ts';
import type { CheckContext, CheckSection, Sampled, SectionResult } from './section.ts';

export interface CheckOptions {
  readonly registry: Registry;
  readonly database: Database;
  readonly catalog: Catalog;
  readonly facadeOver: (database: Database) => Facade;
  /** The mappings whose rows are examined. Default: all. */
  readonly mappings?: readonly Mapping[] | undefined;
  readonly now: number;
  readonly seed: number;
  /** Undefined: no limit. */
  readonly budgetSeconds: number | undefined;
  readonly values: boolean;
  readonly all: boolean;
  /** Called before each section runs, and with the progress of a long section. */
  readonly onStage?: (title: string) => void;
}

export interface SectionReport extends SectionResult {
  readonly name: string;
  readonly title: string;
  readonly seconds: number;
}

/** Runs all sections in order. Throws DatabaseError if the database does not answer. */
export async function runSections(
  sections: readonly CheckSection[],
  { registry, catalog, facadeOver, now, seed, budgetSeconds, values, all, onStage, ...options }: CheckOptions,
): Promise<readonly SectionReport[]> {
  const database = inExportLane(options.database);
  const facade = facadeOver(database);
  const { mappings = registry.mappings } = options;
  const ends = budgetSeconds === undefined ? undefined : performance.now() + budgetSeconds * 1000;
  const differences = createDifferences(values);
  const { refused, take } = createRefusals(registry);
  let sampled: Promise<Sampled> | undefined;
  const reports: SectionReport[] = [];
  for (const [i, section] of sections.entries()) {
    onStage?.(section.title);
    const begun = performance.now();
    const share =
      ends === undefined ? undefined : (Math.max(0, ends - begun) * weightOf(section)) / sumOf(sections.slice(i));
    const signal = share === undefined ? NEVER : within(share);
    const progress = (far: string): void => onStage?.(`${section.title} (${far})`);
    const asking = { registry, mappings, database, catalog, facade, now, seed, values, all, signal, refused, progress };
    const context: CheckContext = {
      ...asking,
      sampled() {
        sampled ??= takeSample(asking, differences.see).then(sample => ({
          ...sample,
          problems: differences.problems(),
        }));
        return sampled;
      },
      sample: async () => (await context.sampled()).resources,
    };
    const result = await resultOf(section, context);
    const seconds = (performance.now() - begun) / 1000;
    const notes = [...result.notes, ...overrun(seconds, share)];
    const problems = [...result.problems, ...take()];
    reports.push({ name: section.name, title: section.title, seconds, ...result, problems, notes });
  }
  return reports;
}

/**
 * Reports that a section exceeded its share, because SQLite does not interrupt a running statement. `share`:
 * milliseconds.
 */
function overrun(seconds: number, share: number | undefined): readonly string[] {
  const over = share === undefined ? 0 : Math.round(seconds - share / 1000);
  if (over < 1) return [];
  return [`This took ${plural(over, 'second')} longer than its time budget: a running statement is not interrupted.`];
}

function weightOf({ weight = 1 }: CheckSection): number {
  return weight;
}

function sumOf(sections: readonly CheckSection[]): number {
  return sections.reduce((sum, section) => sum + weightOf(section), 0);
}

const NEVER = new AbortController().signal;

/** Runs a section. If its time is over in the middle of a statement, the result says only that. */
async function resultOf(section: CheckSection, context: CheckContext): Promise<SectionResult> {
  try {
    return await section.run(context);
  } catch (error) {
    if (context.refused(error, `the section ${section.title}`)) return { problems: [], notes: [], tables: [] };
    if (!isOver(error, context.signal)) throw error;
    return { problems: [], notes: ['The time budget ended before the first statement was answered.'], tables: [] };
  }
}

/** Sends all statements to the export bulkhead, so that requests to the server do not wait for a check. */
function inExportLane(database: Database): Database {
  return {
    ...database,
    async query(plan, how) {
      try {
        return await database.query(plan, { ...how, bulkhead: 'export' });
      } catch (error) {
        if (error instanceof DatabaseError) error.mapping ??= how?.mapping;
        throw error;
      }
    },
    stream: (plan, size, how) => database.stream(plan, size, { ...how, bulkhead: 'export' }),
  };
}

/** Returns the problems of all sections. */
export function problemsOf(reports: readonly SectionReport[]): readonly Problem[] {
  return reports.flatMap(({ problems }) => problems);
}
