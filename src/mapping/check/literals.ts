/**
 * Finds literals that no row has though rows have them in another case: `y` where the table says `Y`. A `deleted` with
 * such a literal would hide nothing. In: comparisons of text columns with literals. Out: warnings with the values of
 * the rows.
 */
import { plural } from '../../common/plural.ts';
import { among, and, call, value } from '../../sql/construct.ts';
import type { Report } from '../load/problem.ts';
import type { ScopedTest } from './parts.ts';
import { type Asking, countRows, isOwn, valuesOf } from './questions.ts';

/** Asked once per comparison, of the whole table. */
export async function checkLiterals(tests: readonly ScopedTest[], asking: Asking, report: Report): Promise<void> {
  for (const { scope, test, picks } of tests) {
    const { column, values, at } = test;
    if (column.type.kind !== 'text' || !at || !isOwn(column, scope)) continue;
    const { type } = column;
    const { table } = scope.lookups.find(({ alias }) => alias === column.alias) ?? scope;
    const asked = new Map(values.map(literal => [capitals(literal), String(literal)]));
    const inCapitals = call('upper', [call('trim', [column], type)], type);
    const texts = [...asked.keys()].map(text => value(text, type));
    const found = await valuesOf(asking, scope, column, among(inCapitals, texts));
    if (picks && found.length === 0 && (await countRows(asking, scope, and())) > 0) {
      report.warning('never-used', at, `no row of ${table.name} has ${values.join(' or ')} as ${column.column}`, {
        expected: 'a value of the column, or no condition on it',
      });
    }
    const written = new Set(values.map(literal => String(literal).trimEnd()));
    for (const [text, spellings] of Map.groupBy(found, ({ values: [raw] }) => capitals(raw ?? ''))) {
      const raws = spellings.map(({ values: [raw] }) => String(raw).trimEnd());
      const [other = ''] = raws;
      if (raws.some(raw => written.has(raw))) continue;
      const rows = spellings.reduce((sum, group) => sum + group.rows, 0);
      report.warning('never-used', at, `no row of ${table.name} has ${asked.get(text) ?? text} as ${column.column}`, {
        found: `${other} in ${plural(rows, 'row')}`,
        suggestion: other.trim(),
      });
    }
  }
}

function capitals(literal: string | number): string {
  return String(literal)
    .trim()
    .replace(/[a-z]/g, letter => letter.toUpperCase());
}
