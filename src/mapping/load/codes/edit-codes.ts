/**
 * Edits rows of a code map in its files. In: the files of a pack, the name of a map, its new rows. Out: the new text of
 * each file.
 */
import { mapIn } from '../macros/extend.ts';
import { createReport } from '../problem.ts';
import type { PackFile, PackFiles } from '../read/files.ts';
import { readYaml } from '../read/read.ts';
import { child } from '../read/tree.ts';
import { type CodeEdit, CodeEditError } from './code-edit.ts';
import { editCsv, rawsIn } from './edit-csv-codes.ts';
import { editYaml, rowsIn } from './edit-yaml-codes.ts';

/** Returns the new texts by path. Throws CodeEditError. */
export function editCodeMap(files: PackFiles, name: string, edits: readonly CodeEdit[]): ReadonlyMap<string, string> {
  for (const edit of edits) checkEdit(edit);
  const csv = files.tables.find(({ path, level = 0 }) => level === 0 && mapIn(path) === name);
  const yaml = files.codes.find(file => (file.level ?? 0) === 0 && ownsMap(file, name));
  if (!csv && !yaml) throw new CodeEditError(`Code map ${name} is not of this pack, but of one below it`);
  const inCsv = csv ? rawsIn(csv) : new Set<string>();
  const inYaml = new Set(yaml ? rowsIn(yaml.text, name).keys() : []);
  // If the map has a CSV file, it is long, so new rows go there.
  const isOfCsv = ({ raw }: CodeEdit): boolean => inCsv.has(raw) || (csv !== undefined && !inYaml.has(raw));
  const changed = new Map<string, string>();
  const ofCsv = edits.filter(isOfCsv);
  const ofYaml = edits.filter(edit => !isOfCsv(edit));
  if (csv && ofCsv.length > 0) changed.set(csv.path, editCsv(csv, ofCsv));
  if (yaml && ofYaml.length > 0) changed.set(yaml.path, editYaml(yaml.text, name, ofYaml));
  return changed;
}

function checkEdit({ raw, rename = raw, to }: CodeEdit): void {
  if (raw.trim() === '' || rename.trim() === '') {
    throw new CodeEditError('A raw value is blank: `blank:` of the map says what NULL and blanks mean');
  }
  if (to && !/^\S+$/.test(to.code)) throw new CodeEditError('A code has no blanks and is not empty');
  if (to?.system !== undefined && !/^[^\s#]+$/.test(to.system)) {
    throw new CodeEditError('A system is an alias of pack.yaml or an address, without blanks and #');
  }
}

function ownsMap({ path, text }: PackFile, name: string): boolean {
  return readYaml(path, text, createReport()).some(tree => child(tree, name)?.kind === 'map');
}
