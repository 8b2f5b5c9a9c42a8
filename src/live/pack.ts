/**
 * The mappings that are served, and how others take their place. In: what to make of a pack that was checked. Out: the
 * version that is served now. A pack on disk that has errors changes nothing but what is told of it.
 */
import type { Refused } from '../http/context.ts';
import { describeError, type Log } from '../log.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/files.ts';
import { formatProblem, type Problem } from '../mapping/load/problem.ts';
import type { Registry } from '../mapping/model.ts';
import { type CheckedPack, checkAgainst } from '../setup.ts';
import { type Database, DatabaseError } from '../sql/database.ts';

/** A pack without errors. */
export interface SoundPack extends CheckedPack {
  readonly registry: Registry;
}

/** `same`: as served already; `later`: the schema could not be asked. */
export type Outcome = 'swapped' | 'same' | 'refused' | 'later';

export interface LivePack<T> {
  current(): T;
  refused(): Refused | undefined;
  /** `always`: also where no file has changed, for the schema of the database may have. Never throws. */
  reload(always?: boolean): Promise<Outcome>;
}

export interface LiveOptions<T> {
  readonly folder: string;
  /** Take what works of a pack that has errors. */
  readonly degraded?: boolean;
  readonly database: Database;
  readonly log: Log;
  readonly first: SoundPack;
  /** Everything that depends on the mappings; what is under way keeps the old one to its end. */
  readonly make: (pack: SoundPack) => T;
  /** Told how each attempt ended. */
  readonly tell: (outcome: Outcome) => void;
}

export function livePack<T>({
  folder,
  degraded = false,
  database,
  log,
  first,
  make,
  tell,
}: LiveOptions<T>): LivePack<T> {
  let files = first.files;
  let current = make(first);
  let refused: Refused | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const refuse = (problems: readonly string[], outcome: 'refused' | 'later'): Outcome => {
    // What is tried again and again is told once.
    if (outcome === 'later' && refused?.problems[0] === problems[0]) return outcome;
    log.error('the mappings on disk are refused', { problems: problems.length, serving: files.version });
    refused = { at: new Date().toISOString(), problems };
    return outcome;
  };

  const attempt = async (always: boolean): Promise<Outcome> => {
    const begun = performance.now();
    const found = read(folder);
    if (found === undefined) return refuse(['The folder of the mappings cannot be read'], 'later');
    if (found.version === files.version && !always) {
      if (refused !== undefined) log.info('the mappings on disk are those that are served', { version: files.version });
      refused = undefined;
      return 'same';
    }
    const checked = await checkAgainst(database, found, { degraded });
    const { registry, problems } = checked.pack;
    const first = firstOf(problems);
    for (const problem of first) tellProblem(problem, log);
    if (registry === undefined) {
      const more = problems.length - first.length;
      const rest = more === 0 ? [] : [`and ${more} more; lintel check tells them all`];
      return refuse([...first.map(formatProblem), ...rest], 'refused');
    }
    // Between two long turns, those who wait are answered.
    await new Promise(resolve => setImmediate(resolve));
    const before = files.version;
    current = make({ ...checked, registry });
    files = found;
    refused = undefined;
    log.info('mappings swapped', {
      version: files.version,
      before,
      mappings: registry.mappings.length,
      ms: Math.round(performance.now() - begun),
    });
    return 'swapped';
  };

  const reload = async (always: boolean): Promise<Outcome> => {
    try {
      return await attempt(always);
    } catch (error) {
      if (error instanceof DatabaseError) return refuse([AWAY], 'later');
      const { kind, at } = describeError(error);
      log.error('unexpected error', { kind, at });
      return refuse([`Loading the mappings failed: unexpected ${kind} at ${at}`], 'refused');
    }
  };

  return {
    current: () => current,
    refused: () => refused,
    reload(always = false) {
      const run = last.then(() => reload(always));
      last = run;
      void run.then(tell);
      return run;
    },
  };
}

const AWAY = 'The database does not answer, so the mappings cannot be checked against its schema';

/** Undefined while the folder is being replaced. */
function read(folder: string): PackFiles | undefined {
  try {
    return readPackFiles(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/** Problems that are told: one slip in a large file may make thousands. */
const TOLD = 200;

/** Errors before warnings. */
function firstOf(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= TOLD) return problems;
  const isError = ({ severity }: Problem): boolean => severity === 'error';
  return [...problems.filter(isError), ...problems.filter(one => !isError(one))].slice(0, TOLD);
}

function tellProblem(problem: Problem, log: Log): void {
  const { file, line, column } = problem.position;
  const tell = problem.severity === 'error' ? log.error : log.warn;
  tell('mapping problem', { at: `${file}:${line}:${column}`, problem: formatProblem(problem) });
}
