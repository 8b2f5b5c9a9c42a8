/**
 * Completes text at the cursor in a file of a pack. In: the text, the position, and the names that the pack and the
 * database have. Out: options, each with its kind and meaning: keys of the language, elements with cardinality, type,
 * binding and HL7's short text, tables, columns with their declared type, codecs with their options, code maps,
 * systems, fragments, lists, mappings. Tests, guides and files of searches have options of their own.
 */
import { GUIDE_FILE } from '../../coverage/guide.ts';
import { CODECS, TEXT_STEPS } from '../../mapping/codecs/table.ts';
import { at, type Cursor, cursorIn, textAt } from '../../mapping/load/read/cursor.ts';
import { codesSchema, mappingFileSchema, packSchema, testSchema } from '../../mapping/load/read/schema.ts';
import { childOf, isResourceType, resourceTypes } from '../../r4/definitions.ts';
import { type Catalog, findTable, tableText } from '../../sql/catalog.ts';
import type { WireCompletion, WireOption } from '../wire/mapping.ts';
import type { Searched } from '../wire/search-text.ts';
import { elementOptions, valueOptions } from './elements.ts';
import { guideOptions } from './guide.ts';
import { schemaKeys } from './keys.ts';
import { holdsSearches, searchOptions } from './searches.ts';

export interface NamedMapping {
  readonly name: string;
  readonly type: string;
  readonly table: string;
  readonly key: readonly string[];
  /** File that contains it. */
  readonly file: string;
}

/** Names that the files of a pack define. */
export interface Names {
  readonly mappings: readonly NamedMapping[];
  readonly codeMaps: readonly string[];
  readonly fragments: readonly string[];
  readonly lists: readonly string[];
  /** URIs by alias. */
  readonly systems: Readonly<Record<string, string>>;
  /** True by the rules of `deny`: such a column is not offered. */
  readonly isDenied: (table: string, column: string) => boolean;
  readonly catalog: Catalog;
}

/** Maximum length of the list of options. */
const MOST = 200;

type Path = Cursor['path'];

/** Returns the options at an offset. `searched`: called only if the file contains searches. */
export async function complete(
  file: string,
  text: string,
  offset: number,
  names: Names,
  searched: () => Promise<Searched>,
): Promise<WireCompletion | undefined> {
  const cursor = cursorIn(text, offset);
  if (!cursor) return undefined;
  const base = file.replace(/^.*\//, '');
  const own = GUIDE_FILE.test(base)
    ? guideOptions(cursor)
    : holdsSearches(base)
      ? searchOptions(base, cursor, Object.keys(names.systems), await searched())
      : undefined;
  const found = (own?.options ?? optionsAt(base, cursor, names)).filter(({ label }) => !cursor.beside.has(label));
  const word = cursor.word.toLowerCase();
  const fits = found.filter(({ label }) => label.toLowerCase().includes(word.replace(/^.*\./, '')));
  // A short list is not filtered, because the page also matches letter by letter.
  const shown = found.length <= MOST ? found : fits;
  return { from: own?.from ?? cursor.from, options: shown.slice(0, MOST), isCut: found.length > MOST };
}

function optionsAt(base: string, cursor: Cursor, names: Names): readonly WireOption[] {
  if (!/\.ya?ml$/.test(base)) return [];
  const both = (keys: readonly WireOption[], values: () => readonly WireOption[]): readonly WireOption[] => {
    if (cursor.role === 'key') return keys;
    const found = values();
    if (cursor.role === 'value') return found.length > 0 ? found : keys.map(asBlock);
    // An item of a list of texts looks like the beginning of a map.
    return typeof cursor.path.at(-1) === 'number' && found.length > 0 ? found : keys;
  };
  if (base === 'pack.yaml') {
    return both(schemaKeys(packSchema, cursor.path), () => fragmentValues(cursor, names));
  }
  if (/(?:^|\.)codes\.ya?ml$/.test(base)) {
    return both(schemaKeys(codesSchema, cursor.path), () => codeValues(cursor, names));
  }
  if (/\.test\.ya?ml$/.test(base)) return both(testKeys(cursor, names), () => testValues(cursor, names));
  return both(mappingKeys(cursor, names), () => mappingValues(cursor, names));
}

/** Offers keys of a test: tables and columns of its rows, and elements of the expected resource. */
function testKeys({ path, document }: Cursor, names: Names): readonly WireOption[] {
  const [first, table, ...more] = path;
  if (first === 'rows') {
    if (table === undefined) return tableOptions(names).map(option => ({ ...option, key: true }));
    return more.every(step => typeof step === 'number') ? columnOptions(String(table), names, true) : [];
  }
  const type = first === 'resource' ? typeBelow(testedType(document, names), path.slice(1)) : undefined;
  return first === 'resource' ? elementsOrNone(type) : schemaKeys(testSchema, path);
}

function testValues({ path, document }: Cursor, names: Names): readonly WireOption[] {
  const [first, ...inner] = path;
  if (first === 'mapping') return mappingOptions(names);
  const type = testedType(document, names);
  if (first !== 'resource' || type === undefined) return [];
  return valueOptions(typeBelow(type, inner) ?? '', path, { resource: type });
}

/** Returns the type of the resource that a test expects. */
function testedType(document: unknown, { mappings }: Names): string | undefined {
  const written = textAt(document, ['resource', 'resourceType']);
  return written ?? mappings.find(({ name }) => name === textAt(document, ['mapping']))?.type;
}

/** Returns the type at a JSON path within a type. */
function typeBelow(type: string | undefined, path: Path): string | undefined {
  return path.reduce<string | undefined>((of, step) => {
    if (of === undefined || typeof step === 'number') return of;
    const child = childOf(of, step);
    return child?.type ?? child?.element.types[0];
  }, type);
}

function elementsOrNone(type: string | undefined): readonly WireOption[] {
  return type === undefined ? [] : elementOptions(type);
}

/** Puts a key on the next line, because a map starts there if a value is expected. */
function asBlock(option: WireOption): WireOption {
  return { ...option, opens: true };
}

function codeValues({ path, document }: Cursor, names: Names): readonly WireOption[] {
  const [name = '', member] = path;
  if (member === 'system') return systemOptions(names);
  if (member === 'table') return tableOptions(names);
  if (member === 'key' || member === 'code' || member === 'display' || member === 'pick')
    return columnOptions(textAt(document, [name, 'table']), names);
  return [];
}

/** Offers few values in fragments: columns depend on where the fragment is inserted. */
function fragmentValues({ path }: Cursor, names: Names): readonly WireOption[] {
  const last = path.findLast(step => typeof step === 'string');
  return last === 'via' ? codecOptions(names) : last === 'insert' ? plain(names.fragments, 'fragment') : [];
}

/** Keys whose values are columns of the current rows. */
const COLUMNS: ReadonlySet<string | number> = new Set([
  ...['from', 'key', 'one-per', 'split', 'order', 'pick', 'present', 'absent', 'changed', 'deleted-at', 'same-as'],
]);
const CONDITIONS: ReadonlySet<string | number> = new Set(['where', 'if', 'deleted', 'all', 'any', 'none']);

function mappingKeys(cursor: Cursor, names: Names): readonly WireOption[] {
  const { path, document } = cursor;
  const last = path.findLast(step => typeof step === 'string');
  const via = path.lastIndexOf('via');
  if (via >= 0) return viaKeys(path.slice(via + 1), names);
  if (last === 'on') return columnOptions(joinedTable(path, document, names), names, true);
  const keys = schemaKeys(mappingFileSchema, path);
  if (last !== undefined && CONDITIONS.has(last)) return [...rowColumns(path, document, names, true), ...keys];
  const type = typeAt(path, document);
  return type === undefined ? keys : [...elementOptions(type), ...keys];
}

/** Offers keys below `via`: names of codecs, or options of the current one. */
function viaKeys(path: Path, names: Names): readonly WireOption[] {
  const [name, ...inner] = path.filter(step => typeof step === 'string');
  if (name === undefined) return codecOptions(names).map(option => ({ ...option, key: true }));
  const codec = Object.hasOwn(CODECS, name)
    ? CODECS[name]
    : Object.hasOwn(TEXT_STEPS, name)
      ? TEXT_STEPS[name]
      : undefined;
  return codec ? schemaKeys(codec.options, inner) : [];
}

function mappingValues(cursor: Cursor, names: Names): readonly WireOption[] {
  const { path, document } = cursor;
  const last = path.findLast(step => typeof step === 'string');
  if (last === undefined) return [];
  if (path.includes('via')) return last === 'via' ? codecOptions(names) : [];
  if (last === 'resource') return plain(resourceTypes(), 'resource type');
  if (last === 'table') return tableOptions(names);
  if (last === 'insert') return plain(names.fragments, 'fragment of pack.yaml');
  if (last === 'in-list') return plain(names.lists, 'list of pack.yaml');
  if (last === 'ref') return mappingOptions(names);
  if (last === 'exists' && typeof path.at(-1) === 'string') return plain(['true', 'false'], 'flag');
  if (last === 'needs') {
    const type = typeAt(path.slice(0, path.lastIndexOf('needs')), document) ?? resourceOf(document, path);
    return type === undefined ? [] : elementOptions(type).map(({ key: _, ...option }) => option);
  }
  if (COLUMNS.has(last) || path.at(-2) === 'on') return rowColumns(path, document, names, false);
  const type = typeAt(path, document);
  return type === undefined
    ? []
    : [...valueOptions(type, path, document), ...(isCoded(type) ? systemCodes(names) : [])];
}

function isCoded(type: string): boolean {
  return type === 'CodeableConcept' || type === 'Coding';
}

function resourceOf(document: unknown, path: Path): string | undefined {
  const variant = path[0] === 'variants' ? textAt(document, [...path.slice(0, 2), 'resource']) : undefined;
  const found = variant ?? textAt(document, ['resource']);
  return found !== undefined && isResourceType(found) ? found : undefined;
}

/** Keys of a node whose value is a node for the same element. */
const SAME: ReadonlySet<string> = new Set(['elements', 'item', 'first', 'else', 'join']);
/** Keys of a node whose values are not elements of FHIR. */
const OTHER: ReadonlySet<string> = new Set([
  ...[
    'from',
    'via',
    'none',
    'if',
    'const',
    'each',
    'rows-as-text',
    'ref',
    'on',
    'exists',
    'as',
    'with',
    'template',
    'sql',
    'needs',
    'insert',
  ],
]);

/** Returns the FHIR type of the node at a path; undefined outside of elements. */
function typeAt(path: Path, document: unknown): string | undefined {
  const start = path[0] === 'variants' ? 2 : 0;
  if (path[start] !== 'elements') return undefined;
  let type = resourceOf(document, path);
  for (const [i, step] of path.entries()) {
    if (i <= start || typeof step === 'number' || type === undefined) continue;
    const named = childOf(type, step);
    // If an element has the same name as a key of the language, it is an element only under `elements`.
    if (SAME.has(step) && !(path[i - 1] === 'elements' && named)) continue;
    if (named) type = named.type ?? named.element.types[0];
    else if (OTHER.has(step) || step.startsWith('$')) return undefined;
    else return undefined;
  }
  return type;
}

/** Offers the columns of the innermost rows around a path, and of the lookups that are visible there. */
function rowColumns(path: Path, document: unknown, names: Names, key: boolean): readonly WireOption[] {
  // In `on`, the left side has columns of the joined table and the right side those of the surrounding rows.
  const around = path.at(-2) === 'on' ? path.slice(0, -3) : path;
  const own: WireOption[] = [];
  for (let length = around.length; length >= 0; length--) {
    const here = around.slice(0, length);
    for (const rows of length === 0 ? [['source']] : [here, [...here, 'each'], [...here, 'rows-as-text']]) {
      const table = textAt(document, [...rows, 'table']);
      if (table === undefined) continue;
      const lookups = at(document, [...rows, 'lookup']);
      if (own.length === 0) own.push(...columnOptions(table, names, key));
      if (typeof lookups === 'object' && lookups !== null) {
        for (const [alias, lookup] of Object.entries(lookups)) {
          const options = columnOptions(textAt(lookup, ['table']), names, key);
          own.push(...options.map(option => ({ ...option, label: `${alias}.${option.label}` })));
        }
      }
    }
  }
  return own;
}

/** Returns the table of the left side of `on`: the table beside it, or that of the referenced mapping. */
function joinedTable(path: Path, document: unknown, names: Names): string | undefined {
  const around = path.slice(0, path.lastIndexOf('on'));
  const ref = textAt(document, [...around, 'ref']) ?? textAt(document, [...around, 'ref', 0]);
  if (ref === undefined) return textAt(document, [...around, 'table']);
  return names.mappings.find(({ name }) => name === ref)?.table;
}

function columnOptions(table: string | undefined, { catalog, isDenied }: Names, key = false): readonly WireOption[] {
  const info = table === undefined ? undefined : findTable(catalog, table);
  return [...(info?.columns.values() ?? [])]
    .filter(({ name }) => !isDenied(info?.name ?? '', name))
    .map(({ name, declared, nullable }) => ({
      ...{ label: name, kind: 'column' as const, detail: `${declared}${nullable ? ' NULL' : ''}` },
      ...(key ? { key } : {}),
    }));
}

function tableOptions({ catalog }: Names): readonly WireOption[] {
  return [...catalog.tables.values()].map(info => ({
    ...{ label: tableText(info), kind: 'table' as const, detail: `${info.columns.size} columns` },
  }));
}

function codecOptions({ codeMaps }: Names): readonly WireOption[] {
  return [
    ...codeMaps.map(label => ({ label, kind: 'code map' as const, detail: 'code map' })),
    ...Object.keys(CODECS).map(label => ({ label, kind: 'codec' as const, detail: 'codec' })),
    ...Object.keys(TEXT_STEPS).map(label => ({ label, kind: 'codec' as const, detail: 'text step' })),
  ];
}

function mappingOptions({ mappings }: Names): readonly WireOption[] {
  return mappings.map(({ name, type, table }) => ({
    ...{ label: name, kind: 'mapping' as const, detail: type, info: `rows of ${table}` },
  }));
}

function systemOptions({ systems }: Names): readonly WireOption[] {
  return Object.entries(systems).map(([label, info]) => ({ label, kind: 'system' as const, info }));
}

function systemCodes({ systems }: Names): readonly WireOption[] {
  return Object.entries(systems).map(([alias, info]) => ({ label: `${alias}#`, kind: 'system' as const, info }));
}

function plain(labels: Iterable<string>, detail: string): readonly WireOption[] {
  return [...labels].map(label => ({ label, kind: 'value' as const, detail }));
}
