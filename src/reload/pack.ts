/**
 * Holds the mappings that are served, and replaces them. In: a function that makes a version of a checked pack. Out:
 * the version that is served now. A pack on disk that has errors is reported and not served.
 */
import type { Refused } from '../http/context.ts';
import { describeError, type Log } from '../log.ts';
import { type Problem, problemLine } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import type { Registry } from '../mapping/model.ts';
import { type Database, DatabaseError } from '../sql/database.ts';
import { isAsSeen } from '../start/seen-schema.ts';
import { type CheckedPack, checkAgainst } from '../start/setup.ts';
import { tellProblem } from './problems.ts';

/** A pack without errors. */
export interface SoundPack extends CheckedPack {
  readonly registry: Registry;
}

/**
 * `same`: as served already; `later`: the schema could not be asked; `lacking`: it no longer has what the mappings that
 * are served need.
 */
export type Outcome = 'swapped' | 'same' | 'refused' | 'lacking' | 'later';

export interface LivePack<T> {
  current(): T;
  refused(): Refused | undefined;
  /** What the schema lacks for the version that is served. */
  lacking(): Refused | undefined;
  /** The schema has all that the mappings of the version that is served need: none is left out. */
  isWhole(): boolean;
  /**
   * `always`: somebody asked for it. Then also where no file has changed, for the schema of the database may have; and
   * where mappings of the version before are gone, which otherwise are taken for files that are not all written yet.
   * Never throws.
   */
  reload(always?: boolean): Promise<Outcome>;
  /** Checks the files that are served, not those on disk, against the schema where that has changed. Never throws. */
  look(): Promise<Outcome>;
  /** Likewise where the schema has not changed: rows are written otherwise. Never throws. */
  again(): Promise<Outcome>;
}

export interface LiveOptions<T> {
  readonly folder: string;
  /** Version of the schema, instead of pack.yaml's. */
  readonly schema?: string | undefined;
  /** Take what works of a pack that has errors. */
  readonly degraded?: boolean;
  readonly database: Database;
  readonly log: Log;
  readonly first: SoundPack;
  /** Everything that depends on the mappings; what is under way keeps the old one to its end. */
  readonly make: (pack: SoundPack) => T;
  /** Told how each attempt ended, and whether it was for the files or for the schema alone. */
  readonly tell: (outcome: Outcome, of: 'files' | 'schema') => void;
}

export function livePack<T>({
  folder,
  schema: version,
  degraded = false,
  database,
  log,
  first,
  make,
  tell,
}: LiveOptions<T>): LivePack<T> {
  let { files, schema } = first;
  let isWhole = isComplete(first.pack);
  let names = mappingsOf(first.registry);
  let current = make(first);
  let refused: Refused | undefined;
  let lacking: Refused | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const refuse = (problems: readonly string[], outcome: 'refused' | 'later'): Outcome => {
    // What is tried again and again is told once.
    if (outcome === 'later' && refused?.problems[0] === problems[0]) return outcome;
    log.error('the mappings on disk are refused', { problems: problems.length, serving: files.version });
    refused = { at: new Date().toISOString(), problems };
    return outcome;
  };

  const miss = (problems: readonly string[]): Outcome => {
    log.error('the database lacks what the mappings need', { problems: problems.length, serving: files.version });
    lacking = { at: new Date().toISOString(), problems };
    isWhole = false;
    return 'lacking';
  };

  const check = async (found: PackFiles, isOnPurpose: boolean): Promise<Outcome> => {
    const begun = performance.now();
    const isServed = found.version === files.version;
    const checked = await checkAgainst(database, found, { degraded, ...(isServed ? { before: schema } : {}) });
    const { registry, problems } = checked.pack;
    const first = firstOf(problems);
    for (const problem of first) tellProblem(problem, log);
    if (registry === undefined) {
      const more = problems.length - first.length;
      const rest = more === 0 ? [] : [`and ${more} more; lintel check lists them all`];
      const told = [...first.map(problemLine), ...rest];
      if (!isServed) return refuse(told, 'refused');
      schema = checked.schema;
      return miss(told);
    }
    const left = new Set([...mappingsOf(registry), ...unservedOf(checked.pack)]);
    const gone = names.filter(name => !left.has(name));
    if (gone.length > 0 && !isServed && !isOnPurpose) return refuse([goneText(gone)], 'refused');
    // Between two long turns, those who wait are answered.
    await new Promise(resolve => setImmediate(resolve));
    const before = files.version;
    current = make({ ...checked, registry });
    ({ files, schema } = checked);
    names = mappingsOf(registry);
    const wasWhole = isWhole;
    isWhole = isComplete(checked.pack);
    lacking = undefined;
    if (isWhole && !wasWhole) log.info('the database has what the mappings need', { version: files.version });
    log.info('mappings swapped', {
      version: files.version,
      before,
      mappings: registry.mappings.length,
      ...(gone.length > 0 && !isServed ? { gone: gone.join(', ') } : {}),
      ...(isWhole ? {} : { unserved: unservedOf(checked.pack).join(', ') }),
      ms: Math.round(performance.now() - begun),
    });
    return 'swapped';
  };

  const attempt = async (always: boolean): Promise<Outcome> => {
    const found = read(folder, version);
    if (found === undefined) return refuse(['The folder of the mappings cannot be read'], 'later');
    const isServed = found.version === files.version;
    if (isServed && refused !== undefined)
      log.info('the mappings on disk are those that are served', { version: files.version });
    if (isServed) refused = undefined;
    if (isServed && !always) return 'same';
    const outcome = await check(found, always);
    if (outcome === 'swapped') refused = undefined;
    return outcome;
  };

  const reload = async (always: boolean): Promise<Outcome> => {
    try {
      return await attempt(always);
    } catch (error) {
      if (error instanceof DatabaseError) return refuse([uncheckedText(error)], 'later');
      return refuse([`Loading the mappings failed: ${tellUnexpected(error, log)}`], 'refused');
    }
  };

  const look = async (always: boolean): Promise<Outcome> => {
    try {
      return !always && (await isAsSeen(database, schema)) ? 'same' : await check(files, true);
    } catch (error) {
      // Whether the database is there, others tell.
      if (!(error instanceof DatabaseError)) tellUnexpected(error, log);
      return 'later';
    }
  };

  /** One after the other. */
  const inTurn = (of: 'files' | 'schema', action: () => Promise<Outcome>): Promise<Outcome> => {
    const run = last.then(action);
    last = run;
    void run.then(outcome => tell(outcome, of));
    return run;
  };

  return {
    current: () => current,
    refused: () => refused,
    lacking: () => lacking,
    isWhole: () => isWhole,
    reload: (always = false) => inTurn('files', () => reload(always)),
    look: () => inTurn('schema', () => look(false)),
    again: () => inTurn('schema', () => look(true)),
  };
}

function mappingsOf({ mappings }: Registry): readonly string[] {
  return mappings.map(({ name }) => name);
}

/** Files that are copied one by one are a sound pack of fewer mappings for a while. */
function goneText(names: readonly string[]): string {
  return (
    `No longer in the pack: ${names.join(', ')}. The previous version stays in use, because the files may not all be written yet. ` +
    'If these mappings were deleted on purpose, send SIGHUP to the server or start it anew.'
  );
}

function unservedOf(pack: SoundPack['pack']): readonly string[] {
  return pack.registry === undefined ? [] : (pack.unserved ?? []);
}

function isComplete(pack: SoundPack['pack']): boolean {
  return unservedOf(pack).length === 0;
}

function tellUnexpected(error: unknown, log: Log): string {
  const { kind, at } = describeError(error);
  log.error('unexpected error', { kind, at });
  return `unexpected ${kind} at ${at}`;
}

/** A database that is there and locked or slow is not told to be away. */
function uncheckedText({ reason, told, message }: DatabaseError): string {
  const why =
    reason === 'failed' ? `The database refuses a statement (${message})` : (told ?? 'The database does not answer');
  return `${why}, so the mappings cannot be checked against its schema`;
}

/** Undefined while the folder is being replaced. */
function read(folder: string, schema: string | undefined): PackFiles | undefined {
  try {
    return readPackFiles(folder, schema);
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
