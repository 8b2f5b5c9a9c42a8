/**
 * Reads and writes the files of the pack that the workbench edits. In: paths as the browser sends them. Out: texts with
 * the hash of the file on the disk, or a PackFileError. Nothing outside the folder is written, not even through a link.
 * A file behind a link is shown, because it is served too, but cannot be changed here; nor can other JSON than guides,
 * because a `package.json` in the folder is read by programs that run what it says.
 */

import { isUtf8 } from 'node:buffer';
import { hash, randomBytes } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../common/reason.ts';
import { GUIDE_FILE, guideProblems } from '../../coverage/guide.ts';
import { createReport, type Problem } from '../../mapping/load/problem.ts';
import { bytesOfPack, GENERATED, pathsOfPack, readPackFiles } from '../../mapping/load/read/files.ts';
import { readJson } from '../../mapping/load/read/json.ts';
import type { Unsaved, WireFile } from '../wire/mapping.ts';

/** `refused`: no such file is allowed. `changed`: another program has written it since it was read. */
export class PackFileError extends Error {
  readonly reason: 'refused' | 'changed';

  constructor(reason: 'refused' | 'changed', message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Allows letters, digits, `_`, `-` and `.`, but no hidden file; as deep as packs are read. */
const PATH = /^(?:\w[\w.-]{0,100}\/){0,4}\w[\w.-]{0,100}\.(?:ya?ml|csv|json)$/;

/** Returns all files of a pack that a person edits, tests included, and those of the packs below. */
export function filesOf(folder: string): readonly WireFile[] {
  const own = pathsOfPack(folder).filter(path => PATH.test(path));
  const { bases = [], codes, tables, mappings } = readPackFiles(folder);
  const below = [...bases, ...codes, ...tables, ...mappings].filter(({ level = 0 }) => level > 0);
  return [
    ...own.flatMap(path => {
      const bytes = bytesOfPack(folder, path);
      if (bytes === undefined) return [];
      const text = bytes.toString('utf8');
      // A text in another encoding is read-only: saving it as shown would lose letters.
      return { path, text, hash: hashOf(text), fixed: !isOwn(folder, path) || !isUtf8(bytes) };
    }),
    ...below.map(({ path, text }) => ({ path, text, hash: hashOf(text), fixed: true })),
  ];
}

/** Returns the problems of guides, and syntax errors of other JSON files. `unsaved`: texts by path. */
export function jsonProblems(folder: string, unsaved: Unsaved): readonly Problem[] {
  const report = createReport();
  report.take(guideProblems(folder, unsaved));
  for (const path of pathsOfPack(folder)) {
    if (!path.endsWith('.json') || GUIDE_FILE.test(path) || GENERATED.has(path)) continue;
    readJson(path, unsaved[path] ?? bytesOfPack(folder, path)?.toString('utf8') ?? '{}', report);
  }
  return report.problems();
}

/** Returns the hashes of all these files. Throws PackFileError if a file disappears meanwhile. */
export function hashesOf(folder: string): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(filesOf(folder).map(({ path, hash }) => [path, hash]));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    throw new PackFileError('changed', 'Another program is changing the files of the pack');
  }
}

/** Reads a file from the disk; undefined if there is none. Throws PackFileError. */
export function readFileOf(folder: string, path: string): WireFile | undefined {
  const place = placeOf(folder, path);
  if (!statusOf(place)) return undefined;
  const bytes = readFileSync(place);
  const text = bytes.toString('utf8');
  return { path, text, hash: hashOf(text), fixed: !isUtf8(bytes) };
}

/** Writes a file atomically. `before`: the hash of the replaced file; undefined for a new one. Throws PackFileError. */
export function saveFile(folder: string, path: string, text: string, before: string | undefined): WireFile {
  const place = placeOf(folder, path);
  const there = readFileOf(folder, path);
  if (there?.hash !== before) {
    const how = there === undefined ? 'was removed' : before === undefined ? 'is there already' : 'was changed';
    throw new PackFileError('changed', `${path} ${how} by another program`);
  }
  if (there?.fixed) throw new PackFileError('refused', `${path} is not UTF-8: save it as UTF-8 with another program`);
  mkdirSync(dirname(place), { recursive: true });
  const temporary = join(dirname(place), `.${randomBytes(6).toString('hex')}.tmp`);
  try {
    writeFileSync(temporary, text, { flag: 'wx' });
    renameSync(temporary, place);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  return { path, text, hash: hashOf(text), fixed: false };
}

/** True if the workbench may write the file. */
function isOwn(folder: string, path: string): boolean {
  try {
    placeOf(folder, path);
    return true;
  } catch (error) {
    if (error instanceof PackFileError) return false;
    throw error;
  }
}

/**
 * Returns the absolute path of a file of the pack, whether it exists or not. Throws PackFileError for any other path.
 */
function placeOf(folder: string, path: string): string {
  const refused = new PackFileError('refused', 'The path is not a YAML or CSV file or a guide of the pack');
  if (!PATH.test(path) || (path.endsWith('.json') && !GUIDE_FILE.test(path))) throw refused;
  const root = realpathSync(folder);
  const place = join(root, path);
  // From the top down, because nothing can be examined below a file.
  for (const { index } of path.matchAll(/\//g)) {
    if (!(statusOf(join(root, path.slice(0, index)))?.isDirectory() ?? true)) throw refused;
  }
  if (!(statusOf(place)?.isFile() ?? true)) throw refused;
  return place;
}

/** Returns the status of a link itself, not of its target. */
function statusOf(place: string): Stats | undefined {
  return lstatSync(place, { throwIfNoEntry: false });
}

function hashOf(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 24);
}
