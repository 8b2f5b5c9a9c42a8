/**
 * Writes raw values without a row, with likely codes, as a CSV list to review: `lintel codes suggest --csv` and the
 * page write the same. In: columns with their values. Out: lines.
 */
import { csvField } from '../mapping/load/read/csv.ts';
import type { Suggestion } from './suggest.ts';

export interface SuggestedColumn {
  readonly map: string;
  readonly table: string;
  readonly column: string;
  readonly values: readonly {
    readonly value: string;
    readonly rows: number;
    readonly suggestions: readonly Suggestion[];
  }[];
}

/** Writes the lines. Codes left blank must be filled in: `lintel codes import` refuses them. */
export function suggestedLines(columns: readonly SuggestedColumn[]): readonly string[] {
  const rows = columns.flatMap(({ map, table, column, values }) =>
    values.map(({ value, rows: count, suggestions: [best, ...others] }) => [
      ...[value, best?.code ?? '', best?.display ?? '', best?.system ?? ''],
      ...[best === undefined ? '' : String(best.score), best?.reason ?? ''],
      others.map(({ code, score }) => `${code} ${score}`).join('; '),
      ...[map, table, column, String(count)],
    ]),
  );
  return [
    'raw,code,display,system,score,reason,others,map,table,column,rows',
    ...rows.map(row => row.map(csvField).join(',')),
  ];
}
