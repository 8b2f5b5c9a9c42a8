/** `lintel preview`: shows one row beside its resource, and the source of each element. */

import { plural } from '../common/plural.ts';
import { formOf } from '../law/forms.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { SqlValue } from '../sql/expression.ts';
import { facadeOf } from '../start/setup.ts';
import { ccdaPartOf } from '../workbench/ccda/part.ts';
import { lineageText } from '../workbench/lineage-text.ts';
import { type Preview, PreviewError, previewRow } from '../workbench/preview.ts';
import type { Source } from '../workbench/preview-elements.ts';
import type { WireCcda, WireCcdaSection } from '../workbench/wire/mapping.ts';
import {
  type Command,
  configOf,
  DATABASE,
  MAPPINGS,
  printJson,
  refuse,
  SCHEMA,
  type Terminal,
  unknownMapping,
} from './command.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

export const preview: Command = {
  summary: 'shows one row and its resource, with the source of each element',
  help: `Usage: lintel preview MAPPING KEY... [options]

Reads the row whose key columns hold KEY (one argument for each key column, in the order of the mapping's \`key\`), and
shows the resource that MAPPING makes of it: for each element the table and column, the codec, the row of the code map,
and the line of the pack; for each column of the row the elements that it makes; and what is wrong with the resource by
R4 and the profiles that it claims, by line.`,
  exits: ['the row is a resource', 'it is none (the reason is printed), there is no such row, or the pack has errors'],
  options: {
    ccda:
      'shows the sections of C-CDA documents that the resource gives, by which list of ccds.yaml, or why there is none; ' +
      'with --values their tables and XML',
    values:
      "shows what the row and the resource hold, which may be a patient's data; without it only the form of a stored " +
      'value (AAA^AAA, 9999-99-99)',
    json: 'prints one JSON object, which docs/workbench.md describes',
    ...DATABASE,
    ...MAPPINGS,
    ...SCHEMA,
  },
  positionals: [2, 20],
  async run(args, terminal) {
    const config = configOf(args, terminal);
    const [name = '', ...key] = args.positionals;
    const values = args.is('values');
    const previewIn = async ({ registry, database, changed, content }: LoadedSetup): Promise<number> => {
      const mapping = registry.mappings.find(one => one.name === name);
      if (mapping === undefined) throw unknownMapping(registry, name);
      const facade = facadeOf(registry, database, changed, config);
      const signal = new AbortController().signal;
      const shown = await previewRow(mapping, key, { registry, database, facade, now: Date.now(), signal });
      const { resource } = shown;
      const ccda = args.is('ccda') && resource ? await ccdaPartOf({ resource, facade, content, signal }) : undefined;
      if (args.json) printJson(asJson(shown, ccda, values), terminal);
      else print(shown, ccda, values, terminal);
      return shown.reason === undefined ? 0 : 1;
    };
    try {
      return (await withPack(config, terminal, previewIn)) ?? 1;
    } catch (error) {
      if (!(error instanceof PreviewError)) throw error;
      return refuse([error.message], terminal);
    }
  },
};

/** Returns a stored value, or only its form. */
function storedText(stored: SqlValue | undefined, values: boolean): string {
  if (stored === undefined) return 'computed by the database';
  if (stored === null || !values) return formOf(stored);
  return stored instanceof Uint8Array ? `0x${Buffer.from(stored).toString('hex')}` : JSON.stringify(stored);
}

function print(shown: Preview, ccda: WireCcda | undefined, values: boolean, terminal: Terminal): void {
  const { out } = terminal;
  out(
    shown.id === undefined
      ? `${shown.mapping}: no ${shown.type}`
      : `${shown.mapping}: ${shown.type}${values ? `/${shown.id}` : ''}`,
  );
  if (shown.reason !== undefined) out(`The row is no resource: ${shown.reason}`);
  out('\nRow');
  const width = Math.max(0, ...shown.columns.map(({ column }) => column.length));
  for (const { column, declared, stored, elements } of shown.columns) {
    const makes = elements.length === 0 ? '' : `  → ${elements.join(', ')}`;
    out(`  ${column.padEnd(width)}  ${declared.padEnd(14)}  ${storedText(stored, values)}${makes}`);
  }
  if (shown.elements.length > 0) out('\nElements');
  for (const one of shown.elements) {
    const valueText = values ? ` = ${JSON.stringify(one.value)}` : '';
    out(`  ${one.path}${valueText}`);
    const map = one.codeRow?.place ? `, row ${placeText(one.codeRow.place)}` : '';
    out(`    ${lineageText(one)}${map}  (${placeText(one.place)})`);
  }
  if (shown.issues.length > 0) out('\nValidation');
  for (const { severity, message, place: where } of shown.issues) {
    out(`  ${placeText(where)}: ${severity === 'warning' ? 'warning: ' : ''}${message}`);
  }
  if (values && shown.resource) out(`\n${JSON.stringify(shown.resource, undefined, 2)}`);
  if (ccda) printCcda(ccda, values, terminal);
}

function printCcda({ header, sections, notes }: WireCcda, values: boolean, { out }: Terminal): void {
  out('\nC-CDA');
  if (header !== undefined)
    out(values ? `  Header\n\n${header}\n` : '  Header: the patient whom each document is about');
  for (const section of sections) {
    const { title, code, lists, topics, rows, entries, xml } = section;
    const by = lists.length === 0 ? '' : `, by ${lists.map(list => `\`${list}\``).join(', ')} of ccds.yaml`;
    out(`  ${title} (${code})${by}`);
    out(`    documents: ${topics.join(', ')}`);
    out(
      `    ${plural(rows.length, 'row')} with ${filledIn(section).join(', ')}; ${entries} ${entries === 1 ? 'entry' : 'entries'}`,
    );
    if (values) out(`\n${xml}\n`);
  }
  for (const note of notes) out(`  ${note}`);
}

/** Returns the columns that have a value in any row. */
function filledIn({ columns, rows }: WireCcdaSection): readonly string[] {
  return columns.filter((_, i) => rows.some(cells => (cells[i] ?? '') !== ''));
}

function ccdaJson({ header, sections, notes }: WireCcda, values: boolean): object {
  return {
    notes,
    isInHeader: header !== undefined,
    ...(values ? { header: header ?? null } : {}),
    sections: sections.map(section => {
      const { title, code, lists, topics, rows, entries, xml } = section;
      return {
        ...{ title, code, lists, documents: topics, columns: filledIn(section), rows: rows.length, entries },
        ...(values ? { xml } : {}),
      };
    }),
  };
}

function asJson(shown: Preview, ccda: WireCcda | undefined, values: boolean): object {
  const stored = ({ table, column, stored: held }: Source): object => ({
    ...{ table, column },
    form: storedText(held, false),
    ...(values ? { stored: storedText(held, true) } : {}),
  });
  return {
    mapping: shown.mapping,
    type: shown.type,
    ...(values ? { id: shown.id ?? null } : {}),
    reason: shown.reason ?? null,
    columns: shown.columns.map(one => ({ ...stored(one), declared: one.declared, elements: one.elements })),
    elements: shown.elements.map(one => ({
      path: one.path,
      ...(values ? { value: one.value } : {}),
      kind: one.kind,
      sources: one.sources.map(stored),
      codec: one.codec ?? null,
      target: one.target ?? null,
      codeRow: one.codeRow ? { map: one.codeRow.map, ...(one.codeRow.place ?? {}) } : null,
      place: one.place,
    })),
    issues: shown.issues,
    ...(values ? { resource: shown.resource ?? null } : {}),
    ...(ccda ? { ccda: ccdaJson(ccda, values) } : {}),
  };
}
