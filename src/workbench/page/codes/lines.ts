/**
 * Computes the lines of the table of a code map: first raw values without a row in the map, then the rows of the map;
 * in both parts those with the most rows in the database first. In: rows of the map, values of the columns. Out: lines.
 */
import type { WireCodeMap, WireCodeRow, WireHeld, WireSuggestion } from '../../wire/codes.ts';

export interface Line {
  readonly raw: string;
  /** Number of rows in the database; undefined if not counted. */
  readonly count: number | undefined;
  /** Undefined if the value has no row in the map. */
  readonly row: WireCodeRow | undefined;
  readonly suggestions: readonly WireSuggestion[];
}

export function linesOf(map: WireCodeMap, rows: readonly WireCodeRow[], held: WireHeld | undefined): readonly Line[] {
  const keyOf = (raw: string): string => (map.fold ? raw.replace(/[a-z]/g, letter => letter.toUpperCase()) : raw);
  const counts = new Map<string, number>();
  const unknown = new Map<string, Pick<Line, 'raw' | 'suggestions'>>();
  const mapped = new Set(rows.map(({ raw }) => keyOf(raw)));
  for (const column of held?.columns.filter(({ isCode }) => isCode) ?? []) {
    for (const { value, rows: count } of [...column.known, ...column.unknown]) {
      counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + count);
    }
    for (const { value, suggestions } of [...column.unknown, ...withoutRow(column.known)]) {
      if (map.kind === 'rows' && mapped.has(keyOf(value))) continue;
      if (!unknown.has(keyOf(value))) unknown.set(keyOf(value), { raw: value, suggestions });
    }
  }
  const byCount = (a: Line, b: Line): number => (b.count ?? 0) - (a.count ?? 0);
  return [
    ...[...unknown].map(([key, one]): Line => ({ ...one, count: counts.get(key), row: undefined })).toSorted(byCount),
    ...rows
      .map(
        (row): Line => ({
          ...{ raw: row.raw, row, suggestions: [] },
          count: held && (counts.get(keyOf(row.raw)) ?? 0),
        }),
      )
      .toSorted(byCount),
  ];
}

/** Returns the number of database rows whose value has no row in the current map. */
export function rowsWithout(lines: readonly Line[], { columns }: WireHeld): number {
  const listed = lines.reduce((sum, { row, count = 0 }) => (row === undefined ? sum + count : sum), 0);
  const beyond = columns.reduce((sum, { isCode, total, unknown }) => {
    return sum + total.rows - (isCode ? unknown.reduce((rows, one) => rows + one.rows, 0) : 0);
  }, 0);
  return listed + beyond;
}

/** Lists values that had a row when they were counted, because they may have lost it since. */
function withoutRow(known: WireHeld['columns'][number]['known']) {
  return known.map(({ value }) => ({ value, suggestions: [] }));
}
