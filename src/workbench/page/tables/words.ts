/**
 * Numbers of tables and profiles in words. In: what the server tells. Out: texts.
 */
import type { WireCounted, WireProfile, WireRows } from '../../wire/tables.ts';

/** `12,000`, `≈ 10,000,000` by statistics, `≤ 12,000` by row numbers. */
export function rowsText(rows: WireRows | undefined): string {
  if (rows === undefined) return '?';
  return `${{ exact: '', about: '≈ ', most: '≤ ' }[rows.kind]}${grouped(rows.count)}`;
}

/** The same for a sentence. */
export function rowsWords(rows: WireRows | undefined): string {
  if (rows === undefined) return 'an unknown number of rows';
  const before = { exact: '', about: 'about ', most: 'at most ' }[rows.kind];
  return `${before}${grouped(rows.count)} ${rows.count === 1 ? 'row' : 'rows'}`;
}

/** `12%` of the rows that were read; `<1%` for few; empty for none. */
export function share(rows: number, of: number): string {
  if (rows === 0 || of === 0) return '';
  const percent = (rows * 100) / of;
  return percent < 1 ? '<1%' : percent > 99 && rows < of ? '>99%' : `${Math.round(percent)}%`;
}

/** What a profile is of. */
export function profileText({ read, rows, sample, milliseconds }: WireProfile): string {
  const time = `in ${(milliseconds / 1000).toFixed(1)} s`;
  if (sample === undefined) {
    return read === 0
      ? 'The table has no rows.'
      : `All ${grouped(read)} ${read === 1 ? 'row was' : 'rows were'} read, ${time}.`;
  }
  if (read === 0) return 'No row was read: the time budget ended before the first.';
  return `A sample: ${grouped(read)} of ${rowsWords(rows)}, ${sample}, ${time}. Shares are estimates.`;
}

/** The first of a list with their shares, and how many there are more. */
export function listText(list: readonly WireCounted[], of: number, most: number): string {
  const shown = list.slice(0, most).map(({ what, rows }) => `${what} ${share(rows, of)}`);
  return [...shown, ...(list.length > most ? [`${list.length - most} more`] : [])].join(', ');
}

export function grouped(number: number): string {
  return number.toLocaleString('en-US');
}
