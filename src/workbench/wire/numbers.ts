/** Writes numbers of tables and of their profiles in words, for the page and for commands. */
import type { WireCounted, WireRows } from './tables.ts';

export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}

const BEFORE: Readonly<Record<WireRows['kind'], string>> = { exact: '', about: 'about ', most: 'at most ' };

/** Returns `12`, `about 10,000,000` by statistics, `at most 12,000` by row numbers. */
export function countInWords({ count, kind }: WireRows): string {
  return `${BEFORE[kind]}${grouped(count)}`;
}

export function rowsInWords(rows: WireRows): string {
  return `${countInWords(rows)} ${rows.count === 1 ? 'row' : 'rows'}`;
}

/** Returns `12%` of the rows that were read; `<1%` for few; empty for none. */
export function share(rows: number, of: number): string {
  if (rows === 0 || of === 0) return '';
  const percent = (rows * 100) / of;
  return percent < 1 ? '<1%' : percent > 99 && rows < of ? '>99%' : `${Math.round(percent)}%`;
}

/** Returns the first items of a list with their shares, and the number of further ones. */
export function listText(list: readonly WireCounted[], of: number, most: number): string {
  const shown = list.slice(0, most).map(({ what, rows }) => `${what} ${share(rows, of)}`);
  return [...shown, ...(list.length > most ? [`${list.length - most} more`] : [])].join(', ');
}
