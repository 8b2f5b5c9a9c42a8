/**
 * Edits rows of a code map in a CSV file. In: the file and its new rows. Out: the new text. Other lines stay as they
 * are.
 * A column that a row needs is added.
 */
import { csvField, readCsv } from '../read/csv.ts';
import type { PackFile } from '../read/files.ts';
import { type CodeEdit, CodeEditError } from './code-edit.ts';

const FIELDS = ['raw', 'code', 'display', 'system'] as const;

interface Row {
  readonly fields: readonly string[];
  /** Index of its line, from 0. */
  readonly from: number;
  readonly next: number;
}

/** Returns the raw values of the rows of a file. */
export function rawsIn(file: PackFile): ReadonlySet<string> {
  return new Set(rowsOf(file).keys());
}

function headingsOf({ text }: PackFile): readonly string[] {
  return readCsv(text)[0]?.fields.map(field => field.trim().toLowerCase()) ?? [];
}

/** Returns the rows by raw value, each with its lines. */
function rowsOf(file: PackFile): ReadonlyMap<string, Row> {
  const [, ...records] = readCsv(file.text);
  const at = headingsOf(file).indexOf('raw');
  const lines = file.text.split(/\r?\n/).length;
  return new Map(
    records.map(({ fields, line }, i) => {
      const next = records[i + 1];
      const row = { fields, from: line - 1, next: next ? next.line - 1 : lines };
      return [(fields[at] ?? '').replace(/ +$/, ''), row] as const;
    }),
  );
}

/** Returns the text with these rows. Throws CodeEditError. */
export function editCsv(file: PackFile, edits: readonly CodeEdit[]): string {
  const [header] = readCsv(file.text);
  const headings = headingsOf(file);
  if (header && !(headings.includes('raw') && headings.includes('code'))) {
    throw new CodeEditError(`${file.path} is not a code map: its first line has no raw and code`);
  }
  const end = /\r\n/.test(file.text) ? '\r\n' : '\n';
  const needs = FIELDS.filter(
    field => field === 'raw' || field === 'code' || edits.some(({ to }) => (to?.[field] ?? '') !== ''),
  );
  const names = [...headings, ...needs.filter(field => !headings.includes(field))];
  const lines = file.text.split(/\r?\n/);
  const places = rowsOf(file);
  const replaced = new Map<number, { readonly until: number; readonly text: string | undefined }>();
  const added: string[] = [];
  for (const { raw, rename = raw, to } of edits) {
    const there = places.get(raw);
    const row = to && { raw: rename, code: to.code, display: to.display ?? '', system: to.system ?? '' };
    const text = row
      ? names.map((name, i) => csvField(isField(name) ? row[name] : (there?.fields[i] ?? ''))).join(',')
      : undefined;
    if (!there) {
      if (text !== undefined) added.push(text);
      continue;
    }
    let until = there.next;
    while (until > there.from + 1 && lines[until - 1]?.trim() === '') until -= 1;
    replaced.set(there.from, { until, text });
  }
  const kept: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const own = replaced.get(i);
    if (!own) kept.push(lines[i] ?? '');
    else {
      if (own.text !== undefined) kept.push(own.text);
      i = own.until - 1;
    }
  }
  if (header && names.length > headings.length) {
    const at = header.line - 1;
    kept[at] = `${kept[at] ?? ''},${names.slice(headings.length).join(',')}`;
  }
  while (kept.length > 0 && kept.at(-1)?.trim() === '') kept.pop();
  return `${[...(header ? [] : [names.join(',')]), ...kept, ...added].join(end)}${end}`;
}

function isField(name: string): name is (typeof FIELDS)[number] {
  return FIELDS.some(field => field === name);
}
