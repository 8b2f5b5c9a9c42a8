/**
 * Finds the folders of a pack: its own, and those of the packs that it extends (`extends` of pack.yaml). In: the pack's
 * folder. Out: folders in this order, and problems of an `extends`. A pack can extend only folders beside or below its
 * own. docs/mapping-language.md, "Extending another pack"
 */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { createReport, type Problem, type Report } from '../problem.ts';
import { readYaml } from './read.ts';
import { child, type ScalarTree } from './tree.ts';

export interface PackFolder {
  readonly path: string;
  /** Prefix of its files' paths, relative to the pack's own folder: `` or `../omop53/`. */
  readonly prefix: string;
}

export interface PackFolders {
  /** The pack's own folder first, then the one that it extends, and so on. */
  readonly folders: readonly PackFolder[];
  readonly problems: readonly Problem[];
}

const MOST = 8;
const BESIDE_OR_BELOW = /^(?:\.\.?\/)?(?:\w[\w.-]*\/)*\w[\w.-]*\/?$/;

/** Follows `extends` from pack to pack. Throws the file system's error if the pack's own folder cannot be read. */
export function packFolders(folder: string): PackFolders {
  const report = createReport();
  // Fails for a missing folder with the same error as the later reading of its files.
  readdirSync(folder);
  const seen = new Set([realpathSync(folder)]);
  const folders: PackFolder[] = [{ path: folder, prefix: '' }];
  for (let at = folders[0]; at; ) {
    const written = extendsOf(at);
    const path = written && baseOf(at, written, report);
    if (written === undefined || path === undefined) break;
    const real = realpathSync(path);
    if (seen.has(real)) report.error('circle', written.at, 'a pack extends itself', { found: written.text });
    else if (folders.length > MOST)
      report.error('outside-pack', written.at, `more than ${MOST} packs one upon another`);
    else {
      seen.add(real);
      at = { path, prefix: `${relative(resolve(folder), path).replaceAll(sep, '/')}/` };
      folders.push(at);
      continue;
    }
    break;
  }
  return { folders, problems: report.problems() };
}

function extendsOf({ path, prefix }: PackFolder): ScalarTree | undefined {
  const file = join(path, 'pack.yaml');
  // files.ts reports a file that cannot be read, or that a link leads outside.
  const text = unlessUnreadable(() =>
    isFile(file) && !leadsAway(path, 'pack.yaml') ? readFileSync(file, 'utf8') : undefined,
  );
  // Most packs extend none, and the whole file is parsed later.
  if (text === undefined || !text.includes('extends')) return undefined;
  const [document] = readYaml(`${prefix}pack.yaml`, text, createReport());
  const written = child(document, 'extends');
  return written?.kind === 'scalar' ? written : undefined;
}

function baseOf({ path }: PackFolder, { text, at }: ScalarTree, report: Report): string | undefined {
  if (!BESIDE_OR_BELOW.test(text)) {
    report.error('outside-pack', at, '`extends` names no folder beside or below this one', {
      expected: '`../name` or `name`',
      found: text || 'nothing',
    });
    return undefined;
  }
  const base = resolve(path, text);
  if (unlessUnreadable(() => isFile(join(base, 'pack.yaml'))) !== true) {
    report.error('outside-pack', at, 'no pack in the folder that `extends` names', {
      expected: 'a folder with a pack.yaml',
      found: text,
      among: packsIn(dirname(base)).map(name => text.replace(/[^/]+\/?$/, name)),
    });
    return undefined;
  }
  if (!leadsAway(path, text)) return base;
  report.error('outside-pack', at, '`extends` leaves the folder through a link', {
    expected: 'a folder that lies beside or below this one',
    found: text,
  });
  return undefined;
}

/**
 * True if links lead from a path within or beside a pack's folder to a place outside this folder and its parent. The
 * root of the file system does not count as a parent, because it contains everything.
 */
export function leadsAway(folder: string, path: string): boolean {
  const around = realpathSync(dirname(resolve(folder)));
  const real = realpathSync(resolve(folder, path));
  if (real === resolve(around, relative(dirname(resolve(folder)), resolve(folder, path)))) return false;
  const homes = [realpathSync(folder), ...(around === dirname(around) ? [] : [around])];
  return !homes.some(home => real.startsWith(home + sep));
}

function packsIn(folder: string): readonly string[] {
  const names = unlessUnreadable(() => readdirSync(folder)) ?? [];
  return names.filter(name => unlessUnreadable(() => isFile(join(folder, name, 'pack.yaml'))) === true);
}

function isFile(path: string): boolean {
  return statSync(path).isFile();
}

/** True for errors of the file system, such as ENOENT. */
export function isOfFileSystem(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error && typeof error.code === 'string';
}

function unlessUnreadable<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (!isOfFileSystem(error)) throw error;
    return undefined;
  }
}
