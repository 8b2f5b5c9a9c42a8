/**
 * Holds the mappings that are served, and replaces them. In: a function that makes a version of a checked pack. Out:
 * the version that is served now. A pack on disk with errors is reported and not served.
 */

import { namesOfHidden } from '../auth/rules.ts';
import { codeOf } from '../common/reason.ts';
import type { Refused } from '../http/context.ts';
import { describeError, type Log } from '../log.ts';
import { type Problem, problemLine } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import type { Registry } from '../mapping/model.ts';
import { type Database, DatabaseError } from '../sql/database.ts';
import { isAsSeen } from '../start/seen-schema.ts';
import { type CheckedPack, checkAgainst } from '../start/setup.ts';
import { logProblem } from './problems.ts';

/** A pack without errors. */
export interface SoundPack extends CheckedPack {
  readonly registry: Registry;
}

/**
 * `same`: already served; `later`: the schema could not be read; `lacking`: it no longer has what the served mappings
 * need.
 */
export type Outcome = 'swapped' | 'same' | 'refused' | 'lacking' | 'later';

export interface LivePack<T> {
  current(): T;
  refused(): Refused | undefined;
  /** Returns what the schema lacks for the served version. */
  lacking(): Refused | undefined;
  /** True if the schema has everything that the served mappings need, and none is left out. */
  isWhole(): boolean;
  /**
   * Loads the files on disk if they have changed. `always`: on request, even if no file has changed, because the schema
   * of the database may have; and even if mappings of the version before are gone, or rules that hide data, which is
   * otherwise taken for files not completely written yet. Never throws.
   */
  reload(always?: boolean): Promise<Outcome>;
  /** Checks the served files, not those on disk, against the schema if it has changed. Never throws. */
  look(): Promise<Outcome>;
  /** Does the same even if the schema is unchanged: rows have another form. Never throws. */
  again(): Promise<Outcome>;
}

export interface LiveOptions<T> {
  readonly folder: string;
  /** Schema version that replaces the one in pack.yaml. */
  readonly schema?: string | undefined;
  /** Serve the working mappings of a pack that has errors. */
  readonly degraded?: boolean;
  readonly database: Database;
  readonly log: Log;
  readonly first: SoundPack;
  /** Makes everything that depends on the mappings; requests in progress keep the old version to their end. */
  readonly make: (pack: SoundPack) => T;
  /** Called with the outcome of each attempt, and whether it was for the files or only for the schema. */
  readonly onOutcome: (outcome: Outcome, of: 'files' | 'schema') => void;
}

export function livePack<T>({
  folder,
  schema: version,
  degraded = false,
  database,
  log,
  first,
  make,
  onOutcome,
}: LiveOptions<T>): LivePack<T> {
  let { files, schema } = first;
  let isWhole = isComplete(first.pack);
  let names = [...mappingsOf(first.registry), ...rulesOf(first)];
  let current = make(first);
  let refused: Refused | undefined;
  let lacking: Refused | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const refuse = (problems: readonly string[], outcome: 'refused' | 'later'): Outcome => {
    // A repeated failure is logged once.
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
    for (const problem of first) logProblem(problem, log);
    if (registry === undefined) {
      const more = problems.length - first.length;
      const rest = more === 0 ? [] : [`and ${more} more; lintel check lists them all`];
      const lines = [...first.map(problemLine), ...rest];
      if (!isServed) return refuse(lines, 'refused');
      schema = checked.schema;
      return miss(lines);
    }
    const left = new Set([...mappingsOf(registry), ...unservedOf(checked.pack), ...rulesOf(checked)]);
    const gone = names.filter(name => !left.has(name));
    if (gone.length > 0 && !isServed && !isOnPurpose) return refuse([goneText(gone)], 'refused');
    // Lets waiting requests run between two long tasks.
    await new Promise(resolve => setImmediate(resolve));
    const before = files.version;
    current = make({ ...checked, registry });
    ({ files, schema } = checked);
    names = [...mappingsOf(registry), ...rulesOf(checked)];
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
      return refuse([`Loading the mappings failed: ${logUnexpected(error, log)}`], 'refused');
    }
  };

  const look = async (always: boolean): Promise<Outcome> => {
    try {
      return !always && (await isAsSeen(database, schema)) ? 'same' : await check(files, true);
    } catch (error) {
      // Other parts report whether the database is reachable.
      if (!(error instanceof DatabaseError)) logUnexpected(error, log);
      return 'later';
    }
  };

  /** Runs actions one after the other. */
  const inTurn = (of: 'files' | 'schema', action: () => Promise<Outcome>): Promise<Outcome> => {
    const run = last.then(action);
    last = run;
    void run.then(outcome => onOutcome(outcome, of));
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

/** Names the rules without which more is visible, and the file that they are in. */
function rulesOf({ files, access }: Pick<SoundPack, 'files' | 'access'>): readonly string[] {
  return [...(files.access ? [files.access.path] : []), ...namesOfHidden(access)];
}

/** Explains a pack with fewer mappings or rules, which may be one whose files are being copied one by one. */
function goneText(names: readonly string[]): string {
  return (
    `No longer in the pack: ${names.join(', ')}. The previous version stays in use, because the files may not all be written yet. ` +
    'If this was deleted on purpose, send SIGHUP to the server or start it anew.'
  );
}

function unservedOf(pack: SoundPack['pack']): readonly string[] {
  return pack.registry === undefined ? [] : (pack.unserved ?? []);
}

function isComplete(pack: SoundPack['pack']): boolean {
  return unservedOf(pack).length === 0;
}

function logUnexpected(error: unknown, log: Log): string {
  const { kind, at } = describeError(error);
  log.error('unexpected error', { kind, at });
  return `unexpected ${kind} at ${at}`;
}

/** Explains why the schema could not be read. A locked or slow database is not called unreachable. */
function uncheckedText({ reason, publicText, message }: DatabaseError): string {
  const why =
    reason === 'failed'
      ? `The database refuses a statement (${message})`
      : (publicText ?? 'The database does not answer');
  return `${why}, so the mappings cannot be checked against its schema`;
}

/** Reads the pack; undefined while the folder is being replaced. */
function read(folder: string, schema: string | undefined): PackFiles | undefined {
  try {
    return readPackFiles(folder, schema);
  } catch (error) {
    if (codeOf(error) !== undefined) return undefined;
    throw error;
  }
}

/** Maximum number of logged problems: one mistake in a large file may cause thousands. */
const TOLD = 200;

/** Returns the first problems, errors before warnings. */
function firstOf(problems: readonly Problem[]): readonly Problem[] {
  if (problems.length <= TOLD) return problems;
  const isError = ({ severity }: Problem): boolean => severity === 'error';
  return [...problems.filter(isError), ...problems.filter(one => !isError(one))].slice(0, TOLD);
}
