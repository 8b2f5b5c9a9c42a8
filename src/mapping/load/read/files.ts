/**
 * Reads the files of a pack and of the packs that it extends. In: its folder. Out: YAML and CSV texts by path, sorted,
 * the base pack first, and a version that changes with any of them. Test files, hidden files and generated JSON Schemas
 * are left out. A link that leads out of the folder is an error.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createReport, type Problem } from '../problem.ts';
import { leadsAway, packFolders } from './folders.ts';

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
    const own = pathsUnder(path, isRead).filter(one => !below.some(other => (prefix + one).startsWith(other)));
    const away = new Set(own.filter(one => leadsAway(path, one)));
    const large = new Set(own.filter(one => !away.has(one) && isLarge(join(path, one))));
    const paths = own.filter(one => !away.has(one) && !large.has(one));
    for (const one of large)
      report.error(
        'unreadable-file',
        { file: prefix + one, line: 1, column: 1 },
        `file of more than ${MAX_BYTES} bytes`,
      );
    for (const one of away)
      report.error(
        'outside-pack',
        { file: prefix + one, line: 1, column: 1 },
        'the file is a link to a place outside',
        {
          expected: 'a link to a file in this folder or beside it',
        },
      );
    const changed = paths.map(one => statSync(join(path, one)).mtimeMs);
    const fresh = level === 0 ? [...(unsaved?.keys() ?? [])].filter(one => isNew(one) && !own.includes(one)) : [];
    const files = [...paths, ...fresh].map(
      (one): PackFile => ({
        path: prefix + one,
        text: (level === 0 ? unsaved?.get(one) : undefined) ?? readFileSync(join(path, one), 'utf8'),
        ...(level === 0 ? {} : { level }),
      }),
    );
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
  return pathsUnder(folder, isOfPack).filter(path => !leadsAway(folder, path) && !isLarge(join(folder, path)));
}

function pathsUnder(folder: string, isWanted: (path: string) => boolean, inner = '', depth = 0): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  const paths: string[] = [];
  for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
    const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) paths.push(...pathsUnder(folder, isWanted, path, depth + 1));
    else if (isWanted(path) && isFile(join(folder, path))) paths.push(path);
  }
  return paths.sort((a, b) => (a < b ? -1 : 1));
}

/** True for regular files. Reading a pipe would block until somebody writes, and reading a device might never end. */
function isFile(path: string): boolean {
  return statSync(path).isFile();
}

function isLarge(path: string): boolean {
  return statSync(path).size > MAX_BYTES;
}
