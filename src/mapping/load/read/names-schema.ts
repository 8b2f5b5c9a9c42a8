/**
 * Makes the JSON Schema that completes the tables and columns of one database in a YAML editor. In: a catalog and the
 * denied columns. Out: JSON text for the first line of a mapping: `# yaml-language-server: $schema=./NAME`. The editor
 * accepts other names, because they may be macros or aliases; `lintel check` reports unknown ones.
 */
import { type Catalog, tableText } from '../../../sql/catalog.ts';
import type { Settings } from '../pack/settings.ts';
import { editorSchemas } from './json-schema.ts';

/** Keys whose values are columns. */
const OF_COLUMNS: ReadonlySet<string> = new Set(['from', 'key', 'changed', 'order', 'split', 'on']);
const [TEXT, TEXTS] = ['#/definitions/text', '#/definitions/texts'];

type Json = { [name: string]: unknown };

/** Returns the schema as JSON text. `deny`: that of the pack's settings. */
export function namesSchema(catalog: Catalog, deny: Settings['deny']): string {
  const schema = JSON.parse(editorSchemas()['mapping.json'] ?? '{}') as Json;
  const { tables, columns } = namesIn(catalog, deny);
  const named = (names: readonly string[]): Json => ({ anyOf: [{ enum: names }, { $ref: TEXT }] });
  const column = { $ref: '#/definitions/column' };
  const definitions = {
    ...(rewritten(schema['definitions'], undefined) as Json),
    table: named(tables),
    column: named(columns),
    columns: { anyOf: [column, { type: 'array', items: column }, { $ref: TEXTS }] },
  };
  return `${JSON.stringify({ ...(rewritten(schema, undefined) as Json), definitions }, undefined, 2)}\n`;
}

/** Copies the schema so that editors complete texts under keys of tables and columns. */
function rewritten(schema: unknown, of: 'table' | 'column' | undefined): unknown {
  if (Array.isArray(schema)) return schema.map(one => rewritten(one, of));
  if (typeof schema !== 'object' || schema === null) return schema;
  const entries = Object.entries(schema).map(([name, part]): [string, unknown] => {
    if (name === 'properties') return [name, withProperties(part)];
    if (name === '$ref' && of !== undefined) return [name, refOf(part, of)];
    return [name, rewritten(part, of)];
  });
  return Object.fromEntries(entries);
}

function withProperties(properties: unknown): unknown {
  return Object.fromEntries(
    Object.entries(properties as Json).map(([name, part]) => [
      name,
      rewritten(part, name === 'table' ? 'table' : OF_COLUMNS.has(name) ? 'column' : undefined),
    ]),
  );
}

function refOf(ref: unknown, of: 'table' | 'column'): unknown {
  if (ref === TEXT) return `#/definitions/${of}`;
  return ref === TEXTS && of === 'column' ? '#/definitions/columns' : ref;
}

function namesIn(
  { tables }: Catalog,
  deny: Settings['deny'],
): { readonly tables: string[]; readonly columns: string[] } {
  const columns = new Set<string>();
  const seen = new Set<string>();
  for (const table of tables.values()) {
    seen.add(tableText(table));
    for (const column of table.columns.values()) {
      if (deny(table.schema?.name, table.name, column.name) === undefined) columns.add(column.name);
    }
  }
  return { tables: [...seen].toSorted(), columns: [...columns].toSorted() };
}
