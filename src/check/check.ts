/**
 * Checks a pack against its lock, or against a database and its rows. In: the configuration and options. Out: every
 * problem of the pack in the order of its files, and the sections that examine rows.
 */
import { performance } from 'node:perf_hooks';
import { OPEN_ACCESS } from '../auth/access.ts';
import { checkCustodian } from '../ccda/check-custodian.ts';
import { nowAndThen } from '../common/now-and-then.ts';
import type { Config } from '../config/config.ts';
import { guideProblems } from '../coverage/guide.ts';
import { checkLive } from '../mapping/check/live.ts';
import { createTimeBudget } from '../mapping/check/time-budget.ts';
import { readLock } from '../mapping/load/pack/lock.ts';
import type { LoadedPack } from '../mapping/load/pack/pack.ts';
import { comparePositions, createReport, type Problem } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { rowReaders } from '../plan/row-readers.ts';
import type { Catalog } from '../sql/catalog.ts';
import { facadeOf, loadWhole, setUp } from '../start/setup.ts';
import { type CheckOptions, problemsOf, runSections, type SectionReport } from './run.ts';
import type { CheckSection } from './section.ts';

export interface Checked {
  readonly pack: LoadedPack;
  readonly catalog: Catalog | undefined;
  /** Empty without a database, and if the pack has errors. */
  readonly sections: readonly SectionReport[];
}

/** Checks a pack against schema.lock.json, without a database. */
export function checkLocked({ mappings, schema }: Config): Checked {
  const files = readPackFiles(mappings, schema);
  const { lock } = files;
  const catalog = lock && readLock(lock.path, lock.text, createReport());
  const { pack } = loadWhole(files, undefined);
  return { pack: withGuides(pack, mappings), catalog, sections: [] };
}

export type RowOptions = Pick<CheckOptions, 'seed' | 'budgetSeconds' | 'values' | 'all'> & {
  /** The mappings whose rows are examined. Default: all. May throw. */
  readonly chosenIn?: (registry: Registry) => readonly Mapping[];
};

/** Least time limit in seconds for the counts before the sections; a third of a larger budget replaces it. */
const LEAST_SECONDS = 10;
/** Share of the budget for these counts, and share that is left for the sections if they take longer. */
const SHARES = { counts: 1 / 3, sections: 1 / 2 } as const;

/** Returns the seconds that the counts before the sections may take. */
export function secondsOfCounts(budget: number): number {
  return Math.max(budget * SHARES.counts, LEAST_SECONDS);
}

/** Returns the seconds of the budget that are left for the sections. */
export function secondsOfSections(budget: number, spent: number): number {
  return Math.max(budget - spent, budget * SHARES.sections);
}

/** At most so many uncounted places are named. */
const NAMED = 10;

/**
 * Checks a pack against the schema and the rows of the database. `note` is called with the current step when it takes a
 * while. Throws DatabaseError.
 */
export async function checkRows(
  config: Config,
  sections: readonly CheckSection[],
  options: RowOptions,
  note: (text: string) => void,
): Promise<Checked> {
  const begun = performance.now();
  const { database, pack, catalog, content, changed } = await setUp(config, note);
  try {
    const { registry } = pack;
    if (!registry) return { pack: withGuides(pack, config.mappings), catalog, sections: [] };
    const mappings = options.chosenIn?.(registry);
    const now = Date.now();
    const say = nowAndThen(note);
    const { budgetSeconds } = options;
    const timeBudget =
      budgetSeconds === undefined ? undefined : createTimeBudget(secondsOfCounts(budgetSeconds) * 1000);
    const counted = performance.now();
    const shown = await checkLive({
      ...{ registry, database, readers: rowReaders(registry, now) },
      ...(timeBudget ? { timeBudget } : {}),
      onStage: stage => say(`Counting: ${stage}`),
    });
    const late = lateCounts(timeBudget?.late ?? [], (performance.now() - counted) / 1000);
    const spent = (performance.now() - begun) / 1000;
    const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
    const facadeOver = (over: typeof database) => facadeOf(registry, over, changed, { ...config, clock: () => now });
    const custodian = content ? await checkCustodian(content, facadeOver(database), context) : [];
    const written = pack.problems.filter(({ provenBy }) => provenBy !== 'rows');
    const before = [...written, ...shown, ...custodian];
    // Skipped if the pack has errors: findings about rows would only be consequences.
    const ran = hasErrors(before)
      ? []
      : await runSections(sections, {
          registry,
          database,
          catalog,
          facadeOver,
          now,
          mappings,
          ...options,
          budgetSeconds: budgetSeconds === undefined ? undefined : secondsOfSections(budgetSeconds, spent),
          onStage: title => say(`Checking: ${title}`),
        });
    const problems = [...before, ...problemsOf(ran)];
    const reports = [...unseenIn(catalog), ...late, ...ran];
    return { pack: withGuides({ registry, problems }, config.mappings), catalog, sections: reports };
  } finally {
    await database.close();
  }
}

/** Reports the parts of the schema that the login cannot see, as a section of its own. */
function unseenIn({ unseen = [] }: Catalog): readonly SectionReport[] {
  if (unseen.length === 0) return [];
  return [{ name: 'login', title: 'Login', seconds: 0, problems: [], notes: unseen, tables: [] }];
}

/** Reports the counts that ran out of time, as a section of its own. */
function lateCounts(late: readonly Position[], seconds: number): readonly SectionReport[] {
  if (late.length === 0) return [];
  const places = [...new Set(late.map(({ file, line }) => `${file}:${line}`))];
  const more = places.length > NAMED ? ` and ${places.length - NAMED} more` : '';
  const notes = [
    `Not counted in the time: ${places.slice(0, NAMED).join(', ')}${more}. ` +
      'lintel indexes prints the indexes that are missing; --budget gives more time.',
  ];
  return [{ name: 'counts', title: 'Keys, references and codes', seconds, problems: [], notes, tables: [] }];
}

function hasErrors(problems: readonly Problem[]): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

/** Adds the problems of guides. This comes last, because they prevent neither serving the pack nor checking rows. */
function withGuides({ registry, problems }: LoadedPack, folder: string): LoadedPack {
  const all = [...problems, ...guideProblems(folder)];
  return { registry, problems: all.toSorted((a, b) => comparePositions(a.position, b.position)) };
}
