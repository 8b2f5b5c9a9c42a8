/** Writes numbers of tables and profiles in words. In: answers of the server. Out: texts. */
import { grouped, rowsInWords } from '../../wire/numbers.ts';
import type { WireProfile, WireRows } from '../../wire/tables.ts';

/** Returns `12,000`, `≈ 10,000,000` by statistics, `≤ 12,000` by row numbers. */
export function rowsText(rows: WireRows | undefined): string {
  if (rows === undefined) return '?';
  return `${{ exact: '', about: '≈ ', most: '≤ ' }[rows.kind]}${grouped(rows.count)}`;
}

/** Returns the same for a sentence. */
export function rowsWords(rows: WireRows | undefined): string {
  return rows === undefined ? 'an unknown number of rows' : rowsInWords(rows);
}

/** Describes the rows that a profile has read. */
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
