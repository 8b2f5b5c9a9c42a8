/** Converts problems, mappings and previews for the page. */
import { type Problem, placeText, problemLine } from '../../mapping/load/problem.ts';
import type { Mapping, Position } from '../../mapping/model.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { printTable } from '../../sql/identifier.ts';
import { lineageText } from '../lineage-text.ts';
import type { Preview } from '../preview.ts';
import type { PreviewElement } from '../preview-elements.ts';
import type { WireElement, WireMapping, WirePlace, WirePreview, WireProblem } from '../wire/mapping.ts';
import type { Served } from './desk.ts';

export function placeOf({ file, line, column }: Position): WirePlace {
  return { file, line, column };
}

export function problemOf(problem: Problem): WireProblem {
  const { severity, position, found, suggestion } = problem;
  const text = problemLine(problem)
    .replace(`${placeText(position)}: `, '')
    .replace(/^(warning|notice): /, '');
  return {
    ...{ severity, text, place: placeOf(position) },
    ...(found === undefined || suggestion === undefined ? {} : { fix: { found, suggestion } }),
  };
}

export function mappingOf({ name, resource, source, at }: Mapping): WireMapping {
  const key = source.key.filter(({ alias }) => alias === source.alias).map(({ column }) => column);
  return { name, type: resource, place: placeOf(at), table: printTable(source.table), key };
}

/** Converts a preview. `served`: the pack that made it. */
export function previewOf(shown: Preview, { stale, placeNow }: Pick<Served, 'stale' | 'placeNow'>): WirePreview {
  const here = (place: Position): WirePlace => placeOf(placeNow(place));
  return {
    ...{ mapping: shown.mapping, type: shown.type, reason: shown.reason, resource: shown.resource, stale },
    columns: shown.columns.map(({ table, column, declared, stored, elements }) => ({
      ...{ table, column, declared, elements },
      stored: storedText(stored),
    })),
    elements: shown.elements.map(element => elementOf(element, here)),
    issues: shown.issues.map(({ severity, message, place }) => ({ severity, message, place: here(place) })),
  };
}

function elementOf(element: PreviewElement, here: (place: Position) => WirePlace): WireElement {
  const { path, sources, place, codeRow } = element;
  return {
    ...{ path, lineage: lineageText(element), place: here(place) },
    sources: sources.map(({ table, column }) => ({ table, column })),
    codeRow: codeRow?.place && here(codeRow.place),
  };
}

/** Returns the stored value as text, bytes as `0x…`; undefined if the database computes it. */
function storedText(stored: SqlValue | undefined): string | null | undefined {
  if (stored === undefined || stored === null) return stored;
  return stored instanceof Uint8Array ? `0x${Buffer.from(stored).toString('hex')}` : String(stored);
}
