/**
 * Renames the files of an export for people. In: a complete job. Out: `Type.ndjson` and `manifest.json` in a folder,
 * without files of an earlier export.
 */

import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../common/reason.ts';
import { type JobView, manifest, type OutputFile, outputFiles } from '../export/manifest.ts';
import { outputFile } from '../export/store.ts';
import { operationOutcome } from '../outcome.ts';

interface PlacedFile {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

type Placed = Readonly<Record<'output' | 'deleted' | 'error', readonly PlacedFile[]>>;

const MANIFEST = 'manifest.json';

/** Places the files of an export. `from`: the folder of the job. Returns the number of files with resources. */
export function placeExport(view: JobView, from: string, folder: string): number {
  const before = filesOf(join(folder, MANIFEST));
  const placed = placeFiles(view, from, folder);
  const now = new Set(Object.values(placed).flatMap(list => list.map(({ url }) => url)));
  for (const name of before) if (!now.has(name)) rmSync(join(folder, name), { force: true });
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify({ ...manifest(view, false), ...placed }, undefined, 2)}\n`);
  return placed.output.length;
}

/** Returns the files that a manifest names, if they have our names. */
function filesOf(file: string): readonly string[] {
  if (!existsSync(file)) return [];
  const names = readFileSync(file, 'utf8').matchAll(/"url": "([A-Za-z]+(?:-deleted)?(?:-\d+)?\.ndjson)"/g);
  return [...names].map(([, name = '']) => name);
}

/** Moves the files out of the job: `Type.ndjson`, `Type-deleted.ndjson`; numbered if there are several. */
function placeFiles(view: JobView, from: string, folder: string): Placed {
  const files = outputFiles(view);
  const place = ({ type, list, about, name, count }: OutputFile): PlacedFile => {
    const [part = '', number = ''] = name.split('-');
    const several = files.filter(one => one.about === about && one.list === list).length > 1;
    const stem = list === 'deleted' ? `${about}-deleted` : about;
    const url = several ? `${stem}-${Number(number) + 1}.ndjson` : `${stem}.ndjson`;
    moveFile(outputFile(from, Number(part), Number(number)), join(folder, url));
    return { type, url, count };
  };
  const output = files.filter(({ list }) => list === 'output').map(place);
  const deleted = files.filter(({ list }) => list === 'deleted').map(place);
  if (view.errors.length === 0) return { output, deleted, error: [] };
  const lines = view.errors.map(issue => `${JSON.stringify(operationOutcome([issue]))}\n`);
  writeFileSync(join(folder, 'OperationOutcome.ndjson'), lines.join(''));
  return {
    output,
    deleted,
    error: [{ type: 'OperationOutcome', url: 'OperationOutcome.ndjson', count: lines.length }],
  };
}

function moveFile(from: string, to: string): void {
  if (existsSync(to)) rmSync(to);
  try {
    renameSync(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    copyFileSync(from, to);
  }
}
