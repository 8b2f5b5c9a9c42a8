/**
 * Writes the files of a new pack. In: proposals. Out: texts by file name. All but pack.yaml are comments: a line with
 * one `#` is YAML of the mapping language and takes effect once a person removes the `#`; text after `##` then stays a
 * comment.
 */

import { idCodec } from '../../mapping/id-rule.ts';
import { elementsOf } from '../../r4/definitions.ts';
import { COMPARTMENT_TYPE } from '../../r4/search-parameters.ts';
import { type ColumnInfo, findColumn, type TableInfo, tableText } from '../../sql/catalog.ts';
import type { ColumnType } from '../../sql/column-type.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import { rowsInWords } from '../wire/numbers.ts';
import type { RawCode } from './column-evidence.ts';
import type { Candidates, SeenElement, SeenProposal } from './evidence.ts';
import { kindOf } from './hints.ts';
import type { Step } from './parents.ts';
import { missingIn, patientColumns, restOfKey } from './propose.ts';
import { firstOf, makes, requiredOf } from './required.ts';
import type { Only } from './several.ts';
import { wordsIn } from './words.ts';

export interface NewPack {
  readonly name: string;
  /** Undefined if unknown. */
  readonly zone: string | undefined;
}

/** Returns the files of the pack, by name. */
export function packFiles({ proposals, undecided }: Candidates, { name, zone }: NewPack): ReadonlyMap<string, string> {
  const files = new Map([['pack.yaml', packText(name, zone)]]);
  const patients = proposals.find(({ resource }) => resource === COMPARTMENT_TYPE);
  const codes = new Map<string, readonly string[]>();
  for (const [kind, own] of Map.groupBy(proposals, one => one.kind)) {
    // Mappings of the same resource must not share ids, so their ids get a prefix.
    const isShared = proposals.some(one => one.kind !== kind && one.resource === own[0]?.resource);
    const prefix = isShared ? `${kind[0]}-` : '';
    const named = own.map((proposal, i) => ({ ...proposal, prefix, mapping: i === 0 ? kind : `${kind}-${i + 1}` }));
    files.set(`${kind}.yaml`, `${named.flatMap((one, i) => proposalLines(one, i, patients)).join('\n')}\n`);
    for (const [map, lines] of named.flatMap(codeMapsOf)) if (!codes.has(map)) codes.set(map, lines);
  }
  if (undecided.length > 0) files.set('undecided.yaml', `${undecided.map(line => `## ${line}`).join('\n')}\n`);
  if (codes.size > 0) files.set('codes.yaml', `${[...codes.values()].flat().join('\n')}\n`);
  return files;
}

interface Named extends SeenProposal {
  readonly mapping: string;
  /** Prefix of its ids. */
  readonly prefix: string;
}

/** Writes a new pack.yaml. */
export function packText(name: string, zone: string | undefined): string {
  return [
    ...[`name: ${JSON.stringify(name)}`, `title: ${JSON.stringify(name)}`],
    ...(zone === undefined ? ['# The zone is not known: write the IANA zone of the local times in the database.'] : []),
    `zone: ${JSON.stringify(zone ?? 'UTC')}`,
    '# Columns that are never read, such as passwords:',
    '# deny: ["*.PASSWORD", "*.SSN"]',
    '',
  ].join('\n');
}

function proposalLines(proposal: Named, index: number, patients: SeenProposal | undefined): readonly string[] {
  const { mapping, prefix, resource, table, info, score, rows, reasons, key, isKeyGuessed, elements } = proposal;
  const stamp = elements.find(({ path }) => path === STAMP);
  const joins = joinsOf(elements);
  const children = childrenOf(elements);
  const missing = missingIn(proposal);
  const typeOf = (column: string) => findColumn(info, column)?.type?.kind;
  const isFit = (column: string): boolean => {
    const type = findColumn(info, column)?.type;
    return type !== undefined && idCodec(undefined, type) !== undefined;
  };
  const parts = key.filter(isFit);
  const texts = key.filter(column => typeOf(column) === 'text');
  return [
    ...(index > 0 ? ['#', '# ---'] : []),
    `## Candidate ${index + 1} for ${resource}, score ${score.toFixed(2)}: table ${table}${rowsText(rows)}`,
    ...reasons.map(reason => `##   ${reason}`),
    ...(missing.length > 0 ? [`##   no column found for ${missing.join(', ')}`] : []),
    ...[`# mapping: ${mapping}`, `# resource: ${resource}`, '# source:', `#   table: ${table}`, '#   as: t'],
    ...(key.length > 0
      ? [`#   key: [${key.join(', ')}]${isKeyGuessed ? '  ## not declared: make sure that it is unique' : ''}`]
      : ['#   key: []  ## write columns that are unique together']),
    ...(proposal.only ? [onlyLine(proposal.only)] : []),
    ...(stamp ? [changedLine(stamp, info)] : []),
    ...deletedLines(info),
    ...(joins.size > 0 ? ['#   lookup:', ...[...joins].map(([alias, join]) => joinLine(alias, join))] : []),
    ...(texts.length > 1
      ? ['## An id has 64 characters at most: two UUIDs do not fit, and a view can give a short key']
      : []),
    ...key
      .filter(column => !isFit(column))
      .map(
        column =>
          `##   ${column}, a ${findColumn(info, column)?.declared}, cannot be used in an id: a view can give a key`,
      ),
    `# id: ${idText(info, parts, prefix)}`,
    ...neededLines(resource, elements),
    '# elements:',
    ...treeLines(
      treeOf(elements.filter(one => one !== stamp)),
      resource,
      (name, element) => elementText(name, element, { mapping, resource, joins, children, patients, info }),
      child => eachText(child, children),
    ),
    ...requiredLines(proposal),
  ];
}

/**
 * Returns the id of rows with this key, in quotes. If several parts are texts, they are escaped, so that different keys
 * never have the same id.
 */
export function idText(info: TableInfo, key: readonly string[], prefix = ''): string {
  const isText = (column: string): boolean => findColumn(info, column)?.type?.kind === 'text';
  const isEscaped = key.filter(isText).length > 1;
  return `"${prefix}${key.map(column => (isEscaped && isText(column) ? `{${column}|escaped}` : `{${column}}`)).join('-')}"`;
}

function rowsText(rows: SeenProposal['rows']): string {
  return rows === undefined ? '' : `, ${rowsInWords(rows)}`;
}

/**
 * Writes `needs`, because rows without the elements that FHIR requires are not served. The same holds for the patient:
 * rows of a patient who is left out would belong to nobody.
 */
function neededLines(resource: string, elements: readonly SeenElement[]): readonly string[] {
  const required = requiredOf(resource).flatMap(name => makes(elements, name) ?? []);
  const patients = elements.filter(({ kind }) => kind === 'patient');
  const names = new Set([...required, ...patients].map(({ path }) => firstOf(path)));
  return names.size > 0 ? [`# needs: [${[...names].join(', ')}]`] : [];
}

/** Writes required elements that no column makes: a constant if the kind has one, else a comment. */
function requiredLines({ kind, resource, elements, info }: SeenProposal): readonly string[] {
  const why = `FHIR requires it, and no column of ${info.name} looks like it`;
  const { constants = {} } = kindOf(kind) ?? {};
  const end = [...info.columns.values()].find(({ name, denied }) => !denied && wordsIn(name).has('end'));
  const unless = end === undefined ? '' : `; rows with ${end.name} may be over`;
  return [...new Set([...requiredOf(resource), ...Object.keys(constants)])]
    .filter(name => makes(elements, name) === undefined)
    .map(name => {
      const said = constants[name];
      if (said === undefined) return `##   ${name}: ${why}`;
      return `#   ${name}: ${said}  ## ${why}: make sure that this holds${unless}`;
    });
}

/** Writes the condition that selects the rows of the mapping. */
function onlyLine({ column, values, names }: Only): string {
  const [first = ''] = values;
  const list = values.length === 1 ? rawText(first) : `[${values.map(rawText).join(', ')}]`;
  const why = names === undefined ? '' : `  ## ${names.words.join(', ')} in ${names.table}`;
  return `#   where: { ${column}: ${list} }${why}`;
}

/** Elements by the parts of their paths. */
type Tree = Map<string, Tree | SeenElement>;

function treeOf(elements: readonly SeenElement[]): Tree {
  const root: Tree = new Map();
  for (const element of elements) {
    const parts = element.path.split('.');
    const last = parts.pop() ?? element.path;
    let at = root;
    for (const part of parts) {
      const next = at.get(part);
      const below: Tree = next instanceof Map ? next : new Map();
      at.set(part, below);
      at = below;
    }
    at.set(last, element);
  }
  return root;
}

/** An item of a list, as in `telecom[phone]`. */
const ITEM = /^(\w+)\[\w+\]$/;

type Lines = (name: string, element: SeenElement) => readonly string[];

/**
 * Writes the lines of a tree. `path`: of its resource or element. `each`: writes the child rows of which an element has
 * items.
 */
function treeLines(tree: Tree, path: string, text: Lines, each: (child: Step) => string, depth = 1): readonly string[] {
  const indent = '  '.repeat(depth);
  const lists = new Set<string>();
  return [...tree].flatMap(([name, below]) => {
    if (!(below instanceof Map)) return text(`${indent}${name}`, below);
    const leaves = [...below.values()].flatMap(one => (one instanceof Map ? [] : [one]));
    const child = leaves.find(one => one.child !== undefined)?.child;
    const list = ITEM.exec(name)?.[1] ?? (child && name);
    const inner = `${path}.${list ?? name}`;
    if (list === undefined) {
      // Required children: without one of them the whole element is absent.
      const needed = requiredOf(inner).filter(one => below.has(one));
      const needs = needed.length > 0 ? [`# ${indent}  needs: [${needed.join(', ')}]`] : [];
      return [`# ${indent}${name}:`, ...needs, ...treeLines(below, inner, text, each, depth + 1)];
    }
    const head = lists.has(list) ? [] : [`# ${indent}${list}:`];
    lists.add(list);
    const constants = leaves.flatMap(one => Object.entries(one.with ?? {}));
    const within = depth + (child ? 3 : 2);
    const lines = [
      ...(child ? [`# ${indent}    each: ${each(child)}`, `# ${indent}    elements:`] : []),
      ...constants.map(([key, value]) => `# ${'  '.repeat(within)}${key}: ${value}`),
      ...treeLines(below, inner, text, each, within),
    ];
    const dash = `# ${indent}  - `;
    return [...head, ...lines.map((line, i) => (i === 0 ? `${dash}${line.slice(dash.length)}` : line))];
  });
}

interface Surroundings {
  readonly mapping: string;
  readonly resource: string;
  readonly joins: ReadonlyMap<string, Joined>;
  readonly children: ReadonlyMap<TableInfo, string>;
  readonly patients: SeenProposal | undefined;
  /** Table of the mapping. */
  readonly info: TableInfo;
}

/**
 * Writes the lines of an element. A result such as `<5` needs a number and a comparator; without the comparator it
 * would be served as 5.
 */
function elementText(name: string, element: SeenElement, around: Surroundings): readonly string[] {
  const { path, seen, column } = element;
  const isDay = elementsOf(around.resource).some(one => one.name === path && one.types.includes('date'));
  // A date without a time is mostly stored as midnight in UTC.
  if (isDay && (seen?.via === 'epoch' || seen?.via === 'julian'))
    return elementText(name, { ...element, seen: { ...seen, via: `{ ${seen.via}: { zone: UTC } }` } }, around);
  if (element.kind === 'system' && !seen?.codes?.length)
    return [`##${name}: ${column} says it: a code map makes addresses of its values; ${whyText(element)}`];
  const line = `# ${name}: ${nodeText(element, around)}  ## ${whyText(element)}`;
  if (seen?.via !== 'comparator-number.value') return [line];
  const from = nodeText(element, around).replace('comparator-number.value', 'comparator-number.comparator');
  return [line, `# ${name.replace(/value$/, 'comparator')}: ${from}`];
}

/** The time of the last change; it becomes `changed` of the source and not an element. */
const STAMP = 'meta.lastUpdated';

/** Words that may accompany `deleted` in the name of a flag. */
const OF_FLAGS: ReadonlySet<string> = new Set([
  'deleted',
  'is',
  'flag',
  'record',
  'row',
  'indicator',
  'fl',
  'yn',
  'on',
]);

function isMoment(type: ColumnType | undefined): boolean {
  return type?.kind === 'datetime' || type?.kind === 'instant';
}

/** Finds a flag that marks deleted rows, and a date of deletion. */
function deletionIn(info: TableInfo): {
  readonly flag?: ColumnInfo | undefined;
  readonly date?: ColumnInfo | undefined;
} {
  const columns = [...info.columns.values()].filter(
    ({ name, type, denied }) => isIdentifier(name) && type && !denied && wordsIn(name).has('deleted'),
  );
  const flag = columns.find(
    ({ name, type }) => type?.kind !== 'date' && [...wordsIn(name)].every(word => OF_FLAGS.has(word)),
  );
  const date = columns.find(({ name, type }) => (type?.kind === 'date' || isMoment(type)) && !wordsIn(name).has('by'));
  return { flag, date };
}

/**
 * Writes `deleted` of a source: by a flag, else by the date. The value of a flag that is a text must be chosen by a
 * person. A moment beside a flag is the time of the deletion.
 */
function deletedLines(info: TableInfo): readonly string[] {
  const { flag, date } = deletionIn(info);
  const why = ({ declared, name }: { readonly declared: string; readonly name: string }): string =>
    `  ## ${name}, ${declared}, reads as "deleted": make sure of it`;
  const when = date && isMoment(date.type) ? [`#   deleted-at: ${date.name}${why(date)}`] : [];
  if (flag?.type?.kind === 'integer' || flag?.type?.kind === 'bit')
    return [`#   deleted: { ${flag.name}: "1" }${why(flag)}`, ...when];
  if (flag && !isMoment(flag.type))
    return [`##   deleted: { ${flag.name}: … } with the value that means so, if one does${why(flag)}`];
  return date ? [`#   deleted: { present: [${date.name}] }${why(date)}`] : [];
}

interface Joined {
  readonly step: Step;
  /** Alias of the table on our side; undefined: the mapping's own rows. */
  readonly from: string | undefined;
  /** True if a row without a match is no resource. */
  readonly required: boolean;
}

/** Finds the time at which a row was created, of the same type as that of its changes. */
function createdIn(info: TableInfo, stamp: SeenElement): ColumnInfo | undefined {
  return [...info.columns.values()].find(({ name, type, denied }) => {
    const words = wordsIn(name);
    const isCreated = ['created', 'creation', 'inserted'].some(word => words.has(word)) && !words.has('by');
    return isIdentifier(name) && !denied && isCreated && type?.kind === stamp.type?.kind;
  });
}

/**
 * Writes `changed` of a source, if a codec makes an instant of the column. Where a row that was never changed has no
 * such time, it is new since it was created.
 */
function changedLine(stamp: SeenElement, info: TableInfo): string {
  const { column, seen, type } = stamp;
  const why = `  ## ${whyText(stamp)}`;
  const via = seen?.via === undefined ? undefined : momentVia(seen.via, type);
  if (via !== undefined) return `#   changed: { from: ${column}, via: ${via} }${why}`;
  const created = findColumn(info, column)?.nullable ? createdIn(info, stamp) : undefined;
  const columns = created ? `[${created.name}, ${column}]` : column;
  return isMoment(type) && seen?.via === undefined
    ? `#   changed: ${columns}${why}`
    : `##   changed: ${column} may be the time of the last change, and no codec makes a moment of it${why}`;
}

/** Turns a codec of dates into one of instants, with midnight for days without a time. */
function momentVia(via: string, type: ColumnType | undefined): string | undefined {
  if (/\b(?:epoch|julian)\b/.test(via)) return via;
  // A column with fractions of days has times.
  if (/\bdays:/.test(via) && type?.kind !== 'integer') return via;
  const [, before = '', name, since = '', behind = ''] =
    /^(\[.*, )?(?:\{ )?(ymd8|ymd14|dtm|iso|yddd|horolog|days)(?:: \{ (since: [\d-]+) \} \})?(\])?$/.exec(via) ?? [];
  return name && `${before}{ ${name}: { ${since && `${since}, `}at: "00:00" } }${behind}`;
}

/** Assigns aliases to the steps that lead to the columns of elements: `j`, `j2`. */
function joinsOf(elements: readonly SeenElement[]): ReadonlyMap<string, Joined> {
  const found = new Map<string, Joined>();
  for (const { join = [], kind } of elements) {
    let from: string | undefined;
    for (const step of join) {
      const known = aliasOf(found, step, from);
      const alias = known ?? (found.size === 0 ? 'j' : `j${found.size + 1}`);
      found.set(alias, { step, from, required: found.get(alias)?.required === true || kind === 'patient' });
      from = alias;
    }
  }
  return found;
}

function aliasOf(joins: ReadonlyMap<string, Joined>, { table, on }: Step, from: string | undefined) {
  const text = (pairs: Step['on']): string => pairs.map(pair => pair.join()).join();
  return [...joins].find(
    ([, one]) => one.step.table === table && one.from === from && text(one.step.on) === text(on),
  )?.[0];
}

/** Assigns aliases to the tables whose rows become items: `c`, `c2`. */
function childrenOf(elements: readonly SeenElement[]): ReadonlyMap<TableInfo, string> {
  const tables = [...new Set(elements.flatMap(({ child }) => (child ? [child.table] : [])))];
  return new Map(tables.map((table, i) => [table, i === 0 ? 'c' : `c${i + 1}`]));
}

/** Writes the child rows: without deleted ones, preferred ones first. */
function eachText({ table, on, isDeclared }: Step, aliases: ReadonlyMap<TableInfo, string>): string {
  const pairs = on.map(([theirs, ours]) => `${theirs}: ${ours}`).join(', ');
  const { flag, date } = deletionIn(table);
  const where =
    flag?.type?.kind === 'integer' || flag?.type?.kind === 'bit'
      ? `, where: { ${flag.name}: { not: "1" } }`
      : date
        ? `, where: { absent: [${date.name}] }`
        : '';
  const preferred = [...table.columns.values()].find(
    ({ name, type }) => ['integer', 'bit'].includes(type?.kind ?? '') && wordsIn(name).has('preferred'),
  );
  const order = [...(preferred ? [`-${preferred.name}`] : []), ...table.primaryKey.filter(isIdentifier)].join(', ');
  const kinds = [...table.columns.values()].find(({ name }) => wordsIn(name).has('type'));
  const remarks = [
    ...(isDeclared ? [] : ['by the names alone']),
    ...(kinds ? [`${kinds.name} says of which kind`] : []),
  ];
  const why = remarks.length > 0 ? `  ## ${remarks.join('; ')}` : '';
  return `{ table: ${tableText(table)}, as: ${aliases.get(table)}, on: { ${pairs} }${where}${order && `, order: [${order}]`} }${why}`;
}

/** Returns the alias of the table that has an element's column. */
function lastAlias(joins: ReadonlyMap<string, Joined>, join: readonly Step[] = []): string | undefined {
  return join.reduce<string | undefined>((from, step) => aliasOf(joins, step, from), undefined);
}

function joinLine(alias: string, { step: { table, on, isDeclared }, from, required }: Joined): string {
  const ours = (column: string): string => (from === undefined ? column : `${from}.${column}`);
  const pairs = on.map(([theirs, column]) => `${theirs}: ${ours(column)}`).join(', ');
  const more = required ? ', required: true' : '';
  return `#     ${alias}: { table: ${tableText(table)}, on: { ${pairs} }${more} }${isDeclared ? '' : '  ## by the names alone'}`;
}

/** Returns `score 0.97: reads as "birth date"; 98 % filled; yyyymmdd`. */
function whyText({ score, why, declared, seen }: SeenElement): string {
  const note = seen ? `; ${seen.note}` : '';
  return `${declared}, score ${score.toFixed(2)}: ${why}${note}`;
}

function nodeText(element: SeenElement, { mapping, joins, children, patients, info }: Surroundings): string {
  const { column, kind, join, child, seen } = element;
  const alias = child ? children.get(child.table) : lastAlias(joins, join);
  const from = alias === undefined ? column : `${alias}.${column}`;
  if (element.reference) {
    const { mapping: to, on } = element.reference;
    return refText(to, on, alias);
  }
  if (kind === 'patient') {
    const theirs = seen?.theirs ?? (patients && patientColumns(patients, column)[0]) ?? column;
    const rest = (patients && restOfKey(patients, theirs, child?.table ?? join?.at(-1)?.table ?? info)) ?? [];
    return refText(patients?.kind ?? 'patients', [[theirs, column], ...rest], alias);
  }
  if (seen?.codes) return `{ from: ${from}, via: ${codeMapName(mapping, element)} }`;
  if (kind === 'key' || kind === 'code') return `{ from: ${from}, via: code }`;
  return seen?.via === undefined ? `{ from: ${from} }` : `{ from: ${from}, via: ${seen.via} }`;
}

/** Writes a reference. `alias`: of our columns; undefined: they are of the mapping's own rows. */
function refText(to: string, on: Step['on'], alias: string | undefined): string {
  const pairs = on.map(([theirs, ours]) => `${theirs}: ${alias === undefined ? ours : `${alias}.${ours}`}`);
  return `{ ref: ${to}, on: { ${pairs.join(', ')} } }`;
}

/** Names a code map. That of a table of concepts is shared, because its code systems are the same for all mappings. */
function codeMapName(mapping: string, { path, kind, column, join }: SeenElement): string {
  const table = kind === 'system' ? join?.at(-1)?.table.name : undefined;
  const name = table === undefined ? `${mapping}-${path.replaceAll('.', '-')}` : `${table}-${column}`;
  return table === undefined ? name : name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

/** Returns code maps by name, with their lines. */
function codeMapsOf({ mapping, elements }: Named): readonly (readonly [string, readonly string[]])[] {
  return elements.flatMap(element => {
    const { column, kind, system, seen } = element;
    if (!seen?.codes?.length || (system === undefined && kind !== 'system')) return [];
    const name = codeMapName(mapping, element);
    const lines = [
      `## ${column} as it stands in a sample of rows; a person must decide what each means:`,
      `# ${name}:`,
      ...(system === undefined ? [] : [`#   system: ${system}`]),
      '#   rows:',
      ...seen.codes.map(codeLine),
      '#',
    ];
    return [[name, lines] as const];
  });
}

function codeLine({ what, rows, text, suggestion }: RawCode): string {
  const raw = rawText(what);
  const { code, reason, isLikely } = suggestion ?? { code: 'absent', reason: 'nothing is suggested', isLikely: false };
  const remark = suggestion ? `${isLikely ? 'suggested' : `perhaps ${code}`}: ${reason}` : reason;
  const means = text === undefined ? '' : ` of ${JSON.stringify(text)}`;
  return `#     ${raw}: ${isLikely ? code : 'absent'}  ## ${rows} rows${means}; ${remark}`;
}

/** Writes a value of the database as YAML. */
function rawText(value: string): string {
  return /^[A-Za-z][\w-]*$/.test(value) ? value : JSON.stringify(value);
}
