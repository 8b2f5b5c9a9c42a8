/** `lintel codes suggest`: lists the raw values that no code map has, with likely codes, for a person to review. */
import { escapeInLine } from '../common/markup.ts';
import { plural } from '../common/plural.ts';
import type { UnmappedColumn } from '../mapping/check/unmapped.ts';
import { type SuggestedColumn, suggestedLines } from '../workbench/codes-csv.ts';
import { suggestionsFor, vocabularyOf } from '../workbench/suggest.ts';
import { type Arguments, ArgumentsError, printJson, type Terminal } from './command.ts';
import { columnLine, unmappedOf } from './unmapped.ts';

type Value = SuggestedColumn['values'][number] & {
  /** Its meaning in a code list of the database. */
  readonly text: string | undefined;
};
type Suggested = Omit<UnmappedColumn, 'values'> & { readonly values: readonly Value[] };

/** Runs the action `suggest` of `lintel codes`. Resolves to the exit code. */
export async function suggest(args: Arguments, terminal: Terminal): Promise<number> {
  const least = Number(args.text('least') ?? 0.4);
  if (!(least >= 0 && least <= 1)) throw new ArgumentsError(['--least takes a number from 0 to 1']);
  const found = await unmappedOf(args, terminal, { withLists: true });
  if (found === undefined) return 1;
  const { registry, columns, lists } = found;
  const isGood = ({ score }: { readonly score: number }): boolean => score >= least;
  const vocabularies = new Map(registry.codeMaps.map(map => [map.name, vocabularyOf(map, registry)]));
  const suggested = columns.map(({ values, ...column }, i): Suggested => {
    const vocabulary = vocabularies.get(column.map);
    const shown = column.isCode || args.is('values') ? values : [];
    return {
      ...column,
      values: shown.map(one => ({
        ...one,
        text: lists[i]?.texts.get(one.value.trim()),
        suggestions: vocabulary ? suggestionsFor(one.value, vocabulary, lists[i]).filter(isGood) : [],
      })),
    };
  });
  if (args.json) printJson({ columns: suggested.map(asJson) }, terminal);
  else if (args.is('csv')) for (const line of suggestedLines(suggested)) terminal.exactly(line);
  else for (const line of textLines(suggested)) terminal.out(line);
  return 0;
}

function asJson({ at, ...column }: Suggested): object {
  const values = column.values.map(({ suggestions, text, ...value }) => ({
    ...value,
    ...(text !== undefined && { text }),
    suggestions: suggestions.map(one => ({ ...one, display: one.display ?? null })),
  }));
  return { ...column, values, place: at };
}

function textLines(columns: readonly Suggested[]): readonly string[] {
  if (columns.length === 0) return ['Every value that a code map reads has a row.'];
  return columns.flatMap(({ values, ...column }) => [
    columnLine(column),
    ...values.flatMap(({ value, text, rows, suggestions }) => [
      `  ${escapeInLine(value)}  ${text === undefined ? '' : `${JSON.stringify(text)}  `}${plural(rows, 'row')}${suggestions.length === 0 ? '; no suggestion' : ''}`,
      ...suggestions.map(
        ({ code, system, display, score, reason }) =>
          `    ${score.toFixed(2)}  ${code}${display === undefined ? '' : ` "${display}"`} of ${system}: ${reason}`,
      ),
    ]),
    ...(values.length === 0 && !column.isCode
      ? ['  not listed: the column holds more than a code; --values lists them']
      : []),
    ...(values.length > 0 && values.length < column.total.values
      ? [`  … and ${column.total.values - values.length} more`]
      : []),
  ]);
}
