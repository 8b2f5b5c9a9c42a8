/**
 * A table of the words of some columns (docs/decisions/0316-an-index-of-words.md); each engine's folder writes its
 * statements. Lintel prints them for the database's administrator and never runs them.
 */
import type { ColumnInfo, TableInfo } from './catalog.ts';

export interface WordTable {
  /** As the catalog describes it. */
  readonly of: TableInfo;
  /** Of an engine that has schemas. */
  readonly schema: string | undefined;
  readonly key: readonly ColumnInfo[];
  /** Texts. */
  readonly columns: readonly ColumnInfo[];
}

/** The name of the table of words. */
export function wordTableName({ of }: Pick<WordTable, 'of'>): string {
  return `${of.name}_WORDS`;
}
