/**
 * The files of a pack. In: its folder. Out: YAML and CSV texts by path relative to the folder, sorted, and a version that
 * changes with any of them. Test files, hidden files and the generated JSON Schemas are left out, and what is no file.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface PackFile {
  /** Relative to the pack's folder, with `/`. */
  readonly path: string;
  readonly text: string;
}

export interface PackFiles {
  readonly pack: PackFile | undefined;
  readonly codes: readonly PackFile[];
  readonly tables: readonly PackFile[];
  readonly mappings: readonly PackFile[];
  /** What of the pack goes into documents; read by src/ccda. */
  readonly ccds: PackFile | undefined;
  readonly lock: PackFile | undefined;
  readonly version: string;
  /** When one of them was last changed: milliseconds since the epoch. */
  readonly changed: number;
}

const MAX_DEPTH = 4;

/** Reads a pack's folder. Throws the file system's error if the folder cannot be read. */
export function readPackFiles(folder: string): PackFiles {
  const paths = pathsUnder(folder, '', 0);
  const changed = Math.max(0, ...paths.map(path => statSync(join(folder, path)).mtimeMs));
  const files = paths.map(path => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
  const hash = createHash('sha256');
  for (const { path, text } of files) hash.update(`${path.length}:${path}${text.length}:${text}`);
  const named = (test: RegExp): readonly PackFile[] => files.filter(({ path }) => test.test(path));
  const yaml = named(/\.ya?ml$/).filter(({ path }) => !/(^|\/)[^/]*\.test\.ya?ml$/.test(path));
  const isCodes = ({ path }: PackFile): boolean => /(^|\/)codes\.ya?ml$|\.codes\.ya?ml$/.test(path);
  const isPack = ({ path }: PackFile): boolean => path === 'pack.yaml';
  const isCcds = ({ path }: PackFile): boolean => path === 'ccds.yaml';
  return {
    pack: yaml.find(isPack),
    codes: yaml.filter(isCodes),
    tables: named(/\.csv$/),
    mappings: yaml.filter(file => !isPack(file) && !isCodes(file) && !isCcds(file)),
    ccds: yaml.find(isCcds),
    lock: files.find(({ path }) => path === 'schema.lock.json'),
    version: hash.digest('hex').slice(0, 16),
    changed,
  };
}

function pathsUnder(folder: string, inner: string, depth: number): readonly string[] {
  if (depth > MAX_DEPTH) return [];
  const paths: string[] = [];
  for (const entry of readdirSync(join(folder, inner), { withFileTypes: true })) {
    const path = inner === '' ? entry.name : `${inner}/${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) paths.push(...pathsUnder(folder, path, depth + 1));
    else if ((/\.(ya?ml|csv)$/.test(path) || path === 'schema.lock.json') && isFile(join(folder, path)))
      paths.push(path);
  }
  return paths.sort((a, b) => (a < b ? -1 : 1));
}

/** Reading a pipe would wait for whoever writes into it, reading a device would not end. */
function isFile(path: string): boolean {
  return statSync(path).isFile();
}
