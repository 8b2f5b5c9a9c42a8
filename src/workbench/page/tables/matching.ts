/** Filters and sorts the list of tables. In: tables, their sizes, the typed text. Out: rows of the list. */
import type { WireRows, WireTable } from '../../wire/tables.ts';

export type SortBy = 'name' | 'rows' | 'columns' | 'mapped';

export interface Wanted {
  /** Words, each of which must occur in the name of the table or of one of its columns. */
  readonly text: string;
  readonly show: 'all' | 'mapped' | 'unmapped';
  readonly by: SortBy;
  readonly descending: boolean;
}

export interface Listed {
  readonly table: WireTable;
  readonly rows: WireRows | undefined;
  /** Columns that match a word. */
  readonly hits: readonly string[];
}

export function matching(
  tables: readonly WireTable[],
  sizes: Readonly<Record<string, WireRows>>,
  { text, show, by, descending }: Wanted,
): readonly Listed[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = tables.flatMap((table): readonly Listed[] => {
    if (show !== 'all' && (show === 'mapped') !== table.mapped.length > 0) return [];
    const name = table.name.toLowerCase();
    const missing = words.filter(word => !name.includes(word));
    const hits =
      missing.length === 0 ? [] : table.columns.filter(one => missing.some(word => one.toLowerCase().includes(word)));
    const isIt = missing.every(word => hits.some(one => one.toLowerCase().includes(word)));
    return isIt ? [{ table, hits, rows: sizes[table.id] }] : [];
  });
  const sign = descending ? -1 : 1;
  return found.toSorted((a, b) => sign * compare(a, b, by) || (a.table.name < b.table.name ? -1 : 1));
}

function compare(a: Listed, b: Listed, by: SortBy): number {
  switch (by) {
    case 'name':
      return a.table.name.toLowerCase() < b.table.name.toLowerCase() ? -1 : 1;
    case 'rows':
      return (a.rows?.count ?? -1) - (b.rows?.count ?? -1);
    case 'columns':
      return a.table.columns.length - b.table.columns.length;
    case 'mapped':
      return a.table.mapped.length - b.table.mapped.length;
  }
}
