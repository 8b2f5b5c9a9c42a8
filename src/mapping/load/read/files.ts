/**
 * Reads the files of a pack and of the packs that it extends. In: its folder. Out: YAML and CSV texts by path, sorted,
 * the base pack first, and a version that changes with any of them. Test files, hidden files and generated JSON Schemas
 * are left out. A file or subfolder that cannot be read, or that a link leads out of the folder, is one problem.
 */
import { createHash } from 'node:crypto';
import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createReport, type Problem } from '../problem.ts';
import { isOfFileSystem, leadsAway, packFolders } from './folders.ts';

export interface PackFile {
  /** Relative to the pack's folder, with `/`. */
  readonly path: string;
  readonly text: string;
  /** The level of the file's pack: 1 for the pack that the served one extends. Absent for the served pack. */
  readonly level?: number;
}

export interface PackFiles {
  readonly pack: PackFile | undefined;
  /** pack.yaml of the packs that it extends, the lowest first. */
  readonly bases?: readonly PackFile[];
  readonly codes: readonly PackFile[];
  readonly tables: readonly PackFile[];
  readonly mappings: readonly PackFile[];
  /** ccds.yaml: what goes into C-CDA documents. Read by src/ccda. */
  readonly ccds: PackFile | undefined;
  /** access.yaml: who may see what. Read by src/access. */
  readonly access?: PackFile | undefined;
  readonly lock: PackFile | undefined;
  readonly version: string;
  /** Time of the last change of any file, in milliseconds since the epoch. */
  readonly changed: number;
  /** The version of the database's schema, if it is not taken from pack.yaml. */
  readonly schema?: string;
  /** Problems of an `extends` or of a link. The files that it leads to are missing. */
  readonly problems?: readonly Problem[];
}

/** Maximum bytes of a file, ten times those of the hierarchy of ICD-10-CM. A pack is held in memory as a whole. */
const MAX_BYTES = 64_000_000;
/** Subfolders within subfolders; deeper ones are not read. */
export const MAX_DEPTH = 4;

/**
 * Reads the folder of a pack, and those of the packs that it extends. `schema` overrides that of pack.yaml. `unsaved`
 * overrides the texts of files by path, and may contain files that are not on disk. Throws the file system's error if a
 * folder cannot be read.
 */
export function readPackFiles(folder: string, schema?: string, unsaved?: ReadonlyMap<string, string>): PackFiles {
  const { folders, problems: wrong } = packFolders(folder);
  const report = createReport();
  report.take(wrong);
  const read = folders.map(({ path, prefix }, level) => {
    // A pack in a subfolder has its own files.
    const below = folders.map(other => other.prefix).filter(other => other !== prefix && other.startsWith(prefix));
    const { found, unread } = entriesUnder(path, isRead, level > 0);
    const isOwn = (one: string): boolean => !below.some(other => (prefix + one).startsWith(other));
    const refuse = (one: string, { kind, message, expected }: Unread): void => {
      const file = (prefix + one).replace(CONTROL, '\ufffd') || '.';
      report.error(kind, { file, line: 1, column: 1 }, message, expected === undefined ? {} : { expected });
    };
    for (const [one, why] of unread) if (isOwn(one)) refuse(one, why);
    const own = [...found].filter(([one]) => isOwn(one));
    const changed = own.map(([, mtimeMs]) => mtimeMs);
    const fresh = level === 0 ? [...(unsaved?.keys() ?? [])].filter(one => isNew(one) && !found.has(one)) : [];
    const files = [...own.map(([one]) => one), ...fresh].flatMap((one): PackFile | readonly [] => {
      const text =
        (level === 0 ? unsaved?.get(one) : undefined) ?? attempt(() => readFileSync(join(path, one), 'utf8'));
      if (typeof text === 'string') return { path: prefix + one, text, ...(level === 0 ? {} : { level }) };
      refuse(one, text);
      return [];
    });
    return { prefix, changed, files };
  });
  const files = read.toReversed().flatMap(one => one.files);
  const hash = createHash('sha256');
  for (const { path, text } of files) hash.update(`${path.length}:${path}${text.length}:${text}`);
  if (schema !== undefined) hash.update(`schema ${schema}`);
  const named = (test: RegExp): readonly PackFile[] => files.filter(({ path }) => test.test(path));
  const yaml = named(/\.ya?ml$/).filter(({ path }) => !/(^|\/)[^/]*\.test\.ya?ml$/.test(path));
  const isCodes = ({ path }: PackFile): boolean => /(^|\/)codes\.ya?ml$|\.codes\.ya?ml$/.test(path);
  /** Returns the file of that name of each pack, the lowest first. */
  const each = (name: string): readonly PackFile[] => {
    const paths = read.map(({ prefix }) => prefix + name);
    return files.filter(({ path }) => paths.includes(path));
  };
  const problems = report.problems();
  const packs = each('pack.yaml');
  const ccds = each('ccds.yaml');
  const access = each('access.yaml');
  const apart = [...packs, ...ccds, ...access];
  return {
    pack: packs.find(({ path }) => path === 'pack.yaml'),
    ...(folders.length > 1 ? { bases: packs.filter(({ path }) => path !== 'pack.yaml') } : {}),
    codes: yaml.filter(isCodes),
    tables: named(/\.csv$/),
    mappings: yaml.filter(file => !apart.includes(file) && !isCodes(file)),
    ccds: ccds.at(-1),
    access: access.at(-1),
    lock: files.find(({ path }) => path === 'schema.lock.json'),
    version: hash.digest('hex').slice(0, 16),
    changed: Math.max(0, ...read.flatMap(({ changed }) => changed)),
    ...(schema === undefined ? {} : { schema }),
    ...(problems.length > 0 ? { problems } : {}),
  };
}

const CONTROL = /\p{Cc}/gu;

/** True for a path that may be a file not yet on disk. */
function isNew(path: string): boolean {
  return /^\w[\w.-]*\.(?:ya?ml|csv)$/.test(path);
}

/** JSON that `lintel lock` writes and nobody edits. */
export const GENERATED: ReadonlySet<string> = new Set(['schema.lock.json', 'mapping.schema.json']);

/** True for a file that a pack is read from. */
function isRead(path: string): boolean {
  return /\.(?:ya?ml|csv)$/.test(path) || path === 'schema.lock.json';
}

/** Returns the paths of all files of a pack in one folder that can be read, including tests, lock and other JSON. */
export function pathsOfPack(folder: string): readonly string[] {
  const isOfPack = (path: string): boolean => isRead(path) || (path.endsWith('.json') && !GENERATED.has(path));
  return [...entriesUnder(folder, isOfPack).found.keys()];
}

/** Reads a file of a pack whose path is in `pathsOfPack`; undefined if it cannot be read any more. */
export function bytesOfPack(folder: string, path: string): Buffer | undefined {
  const bytes = attempt(() => readFileSync(join(folder, path)));
  return Buffer.isBuffer(bytes) ? bytes : undefined;
}

/** Why a file or a subfolder of a pack is not read. */
interface Unread {
  readonly kind: 'unreadable-file' | 'outside-pack';
  readonly message: string;
  readonly expected?: string;
}

interface Entries {
  /** Files by path, sorted, with the time of the last change in milliseconds since the epoch. */
  readonly found: ReadonlyMap<string, number>;
  readonly unread: ReadonlyMap<string, Unread>;
}

/** `isRootOptional`: whether an unreadable root is an entry of `unread`; else the file system's error is thrown. */
function entriesUnder(folder: string, isWanted: (path: string) => boolean, isRootOptional = false): Entries {
  const found: [string, number][] = [];
  const unread = new Map<string, Unread>();
  const walk = (inner: string, depth: number): void => {
    if (depth > MAX_DEPTH) return;
    const list = (): readonly Dirent[] => readdirSync(join(folder, inner), { withFileTypes: true });
    const entries = depth === 0 && !isRootOptional ? list() : attempt(list);
    if ('kind' in entries) {
      unread.set(inner, entries);
      return;
    }
    for (const entry of entries) {
      const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
      if (entry.name.startsWith('.')) continue;
      if (entry.isDirectory()) walk(path, depth + 1);
      else if (isWanted(path)) {
        const examined = attempt(() => examine(folder, path));
        if (typeof examined === 'number') found.push([path, examined]);
        else if (examined !== undefined) unread.set(path, examined);
      }
    }
  };
  walk('', 0);
  return { found: new Map(found.sort(([a], [b]) => (a < b ? -1 : 1))), unread };
}

/**
 * Returns the time of the last change of a file, or why it is not read. Undefined: it is no regular file; reading a
 * pipe would block until somebody writes, and reading a device might never end.
 */
function examine(folder: string, path: string): number | Unread | undefined {
  const stats = statSync(join(folder, path));
  if (!stats.isFile()) return undefined;
  // Messages and lists of files have one line for each.
  if (path.search(CONTROL) >= 0)
    return { kind: 'unreadable-file', message: 'a name with control characters', expected: 'letters, digits, _ - .' };
  if (leadsAway(folder, path))
    return {
      kind: 'outside-pack',
      message: 'the file is a link to a place outside',
      expected: 'a link to a file in this folder or beside it',
    };
  if (stats.size > MAX_BYTES) return { kind: 'unreadable-file', message: `file of more than ${MAX_BYTES} bytes` };
  return stats.mtimeMs;
}

/** Returns the result, or the error of the file system in words. */
function attempt<T>(act: () => T): T | Unread {
  try {
    return act();
  } catch (error) {
    if (!isOfFileSystem(error)) throw error;
    const [message, expected] = FAILURES[error.code] ?? [`the system reports ${error.code}`, 'a file that can be read'];
    return { kind: 'unreadable-file', message, expected };
  }
}

const FAILURES: Readonly<Record<string, readonly [message: string, expected: string]>> = {
  ENOENT: ['there is nothing: the file was removed, or is a link that leads nowhere', 'a file, or no link'],
  ELOOP: ['links that lead back to themselves', 'a link to a file'],
  EACCES: ['no permission to read it', 'permission for the user of this program'],
  EPERM: ['no permission to read it', 'permission for the user of this program'],
};
