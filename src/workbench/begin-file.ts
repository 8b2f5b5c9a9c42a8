/**
 * Makes the initial text of a new file of a pack. In: its path, and the names that the pack and the database have. Out:
 * the text of its kind (mapping, codes, test, guide, …), filled in as far as the file name allows, and the position of
 * the next word.
 */
import { basename, resolve } from 'node:path';
import { GUIDE_FILE } from '../coverage/guide.ts';
import { resourceTypes } from '../r4/definitions.ts';
import { findColumn, findTable, type TableInfo, tableText } from '../sql/catalog.ts';
import { isIdentifier } from '../sql/identifier.ts';
import type { Names } from './completion/complete.ts';
import { kindNamed } from './init/hints.ts';
import { idText, packText } from './init/pack-text.ts';
import { wordsIn } from './init/words.ts';

export interface Beginning {
  readonly text: string;
  readonly offset: number;
}

/** Returns the initial text. `folder`: the folder of the pack. */
export function beginningOf(path: string, folder: string, names: Names): Beginning {
  const file = path.replace(/^.*\//, '');
  if (GUIDE_FILE.test(file)) return at(GUIDE);
  if (file.endsWith('.json')) return at('{}\n');
  if (file.endsWith('.csv')) return at('raw,code,display,system\n|');
  if (file === 'pack.yaml') return at(`${packText(basename(resolve(folder)), undefined)}${SYSTEMS}`);
  if (file === 'access.yaml') return at(ACCESS);
  if (file === 'ccds.yaml') return at('# The lists of documents: docs/ccds-documents.md\n|');
  const [, test] = /^(.*)\.test\.ya?ml$/.exec(file) ?? [];
  if (test !== undefined) return at(testText(test, path, names));
  const [, codes] = /^(?:(.*)\.)?codes\.ya?ml$/.exec(file) ?? [];
  if (/(?:^|\.)codes\.ya?ml$/.test(file)) return at(codesText(codes, names));
  return at(mappingText(file.replace(/\.ya?ml$/, ''), names));
}

/** Takes `|` as the position of the next word; default: the end. */
function at(text: string): Beginning {
  const offset = text.indexOf('|');
  return offset < 0 ? { text, offset: text.length } : { text: text.replace('|', ''), offset };
}

const GUIDE = `{
  "patient": {
    "type": "Patient|",
    "profile": "us-core-patient",
    "mustSupport": "name(family, given), birthDate",
    "shall": ["_id"]
  }
}
`;

const SYSTEMS = `# Names for systems of codes and of numbers:
systems:
  loinc: http://loinc.org
  ucum: http://unitsofmeasure.org
`;

const ACCESS = `# Which user sees which patients, as in
#   users:
#     Practitioner:
#       patients: Patient?general-practitioner={user}
# docs/access-rules.md
users: {|}
`;

/** Leaves the system to the editor if the name does not determine it. */
function codesText(name: string | undefined, { codeMaps }: Names): string {
  const isSex = name === 'sex' || name === 'gender' || (name === undefined && !codeMaps.includes('sex'));
  const map = name ?? (isSex ? 'sex' : 'name-of-the-map');
  const system = isSex ? 'http://hl7.org/fhir/administrative-gender|' : '|';
  return `# By name, as \`via\` has it. The view Codes fills in the rows.\n${map}:\n  system: ${system}\n  rows: {}\n`;
}

/** Makes a test with one row that has only its key, and the expected type. */
function testText(name: string, path: string, { mappings, catalog }: Names): string {
  const beside = path.replace(/\.test\.(ya?ml)$/, '.$1');
  const mapping = mappings.find(({ file }) => file === beside) ?? mappings.find(one => one.name === name);
  const head = '# Columns that are left out are NULL. Below a line `---` another test begins.\n';
  if (!mapping || mapping.table === '') return `${head}mapping: |\nrows: {}\nresource: {}\n`;
  const { table, key, type } = mapping;
  const info = findTable(catalog, table);
  const values = key.map(column => `${column}: ${someValue(info, column)}`);
  return `${head}mapping: ${mapping.name}\nrows:\n  ${table}: { ${values.join(', ')}| }\nresource: { resourceType: ${type} }\n`;
}

/** Returns an example value for a column. */
function someValue(info: TableInfo | undefined, column: string): string {
  const kind = info && findColumn(info, column)?.type?.kind;
  if (kind === 'date') return '2024-01-31';
  if (kind === 'datetime' || kind === 'instant') return '"2024-01-31 08:30:00"';
  if (kind === 'uuid') return '6FA459EA-EE8A-3CA4-894E-DB77E160355E';
  return kind === 'text' ? 'A1' : '1';
}

/** Makes a mapping with the type and table that the file name suggests. */
function mappingText(name: string, names: Names): string {
  const table = tableFor(name, names);
  const kind = kindNamed(wordsIn(name));
  const type = resourceTypes().find(one => one.toLowerCase() === bare(name)) ?? kind?.resource;
  const isShared = names.mappings.some(one => one.type === type);
  const head = `mapping: ${name}\nresource: ${type ?? '|'}\nsource:\n`;
  if (!table) return `${head}  table: ${type === undefined ? '' : '|'}\n  as: t\n  key: []\nid: ""\nelements:\n`;
  const key = keyOf(table, names);
  const rows = `  table: ${tableText(table)}\n  as: ${/^[a-z]/i.exec(table.name)?.[0].toLowerCase() ?? 't'}\n`;
  const id = idText(table, key, isShared ? `${name}-` : '');
  return `${head}${rows}  key: [${key.join(', ')}]\nid: ${id}\nelements:\n  ${type === undefined ? '' : '|'}\n`;
}

/** Finds the table of this name, singular or plural; else the table whose name fits records of this kind best. */
function tableFor(name: string, { catalog }: Names): TableInfo | undefined {
  const tables = [...new Set(catalog.tables.values())].filter(one => isIdentifier(one.name));
  const wordsOf = (of: string): string => [...wordsIn(of)].toSorted().join(' ');
  const same =
    tables.find(one => bare(one.name) === bare(name)) ??
    tables.find(one => wordsOf(name) !== '' && wordsOf(one.name) === wordsOf(name));
  if (same) return same;
  const kind = kindNamed(wordsIn(name));
  if (!kind) return undefined;
  const fits = tables.map(table => ({ table, fit: kind.fit(wordsIn(table.name)) })).filter(({ fit }) => fit > 0);
  const [best, next] = fits.toSorted((a, b) => b.fit - a.fit);
  return best && best.fit > (next?.fit ?? 0) ? best.table : undefined;
}

/** Returns the columns of the key, if they may be read. */
function keyOf(table: TableInfo, { isDenied }: Names): readonly string[] {
  const unique = table.indexes.find(index => index.unique)?.columns ?? [];
  const key = table.primaryKey.length > 0 ? table.primaryKey : unique;
  return key.some(column => !isIdentifier(column) || isDenied(table.name, column)) ? [] : key;
}

/** Makes `lab-result` and `LAB_RESULT` equal. */
function bare(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
