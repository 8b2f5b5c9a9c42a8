/**
 * Finds tables that hold several kinds of records, distinguished by a column such as `type`. In: the names of a schema,
 * and a function that profiles rows. Out: for each kind that a value of the column names (hints.json) a proposal for
 * its rows; for tables whose values say too little, a line with the values; for tables whose codes begin with a system
 * (`LOINC:2345-7` of i2b2), a line with the systems. Because a wrong list of allergies is worse than none, all words of
 * table, column and value must be known, and at least two values must name kinds.
 */
import { plural } from '../../common/plural.ts';
import type { ColumnProfile, Counted } from '../../profile/column.ts';
import type { TableProfile } from '../../profile/table.ts';
import { type ColumnInfo, findColumn, type TableInfo, tableText } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import { bestIn, KINDS, type Kind, type Names, OF_KEYS, SEVERAL } from './hints.ts';
import { type Proposal, proposalOf } from './propose.ts';
import { requiredWithout } from './required.ts';
import { pairsIn, type Reader } from './shares.ts';
import { wordsIn } from './words.ts';

/** The condition for the rows of one kind: the column has one of these values. */
export interface Only {
  readonly column: string;
  /** As stored in the column. */
  readonly values: readonly string[];
  /** If the column holds the keys of a list: its table, and its names for them. */
  readonly names?: { readonly table: string; readonly words: readonly string[] };
}

export interface Several {
  readonly proposals: readonly Proposal[];
  /** Tables that have proposals here. */
  readonly tables: ReadonlySet<TableInfo>;
  /** Decisions for a person, in sentences. */
  readonly undecided: readonly string[];
}

/** Profiles the named columns of a table; undefined if they cannot be read. */
export type ProfileRows = (table: TableInfo, columns: readonly string[]) => Promise<TableProfile | undefined>;

/** Maximum number of tables examined. */
const MOST_TABLES = 20;
/** Maximum number of values of a column that distinguishes kinds. */
const MOST_VALUES = 30;
/** Minimum weight of an element that gives the subject of a record. */
const TELLING = 2;
/** Names of columns with the names of a list's items. */
const NAMES_OF_ITEMS = ['name', 'text', 'title', 'kind', 'kind name', 'kind text', 'type', 'type name', 'type text'];

/** Finds the proposals. `patients`: tables that may hold patients. */
export async function severalIn(
  reader: Reader,
  names: Names,
  patients: ReadonlySet<TableInfo>,
  profile: ProfileRows,
): Promise<Several> {
  const proposals: Proposal[] = [];
  const undecided: string[] = [];
  const tables = new Set<TableInfo>();
  const possible = names.tables.flatMap(table => {
    const column = patients.has(table) || !isOfSeveral(table, names) ? undefined : kindColumn(table, names);
    return column ? [{ table, column }] : [];
  });
  for (const { table, column } of possible.slice(0, MOST_TABLES)) {
    if (reader.signal.aborted) break;
    const read = await profile(table, [column.name]);
    const [of] = read?.columns ?? [];
    const { frequent = [], distinct } = of?.profile ?? {};
    if (!read || !of?.profile || !distinct || distinct.count < 2 || distinct.count > MOST_VALUES) continue;
    if (frequent.length === 0) continue;
    const split = await splitBy(reader, { table, column, of: of.profile, frequent, read }, { ...names, patients });
    if (split.proposals.length > 0) tables.add(table);
    proposals.push(...split.proposals);
    undecided.push(...split.undecided);
  }
  const coded = names.tables.flatMap(table => {
    const isOther = patients.has(table) || tables.has(table) || !isOfSeveral(table, names);
    const column = isOther ? undefined : codeColumn(table, names);
    return column ? [{ table, column }] : [];
  });
  for (const { table, column } of coded.slice(0, MOST_TABLES)) {
    if (reader.signal.aborted) break;
    const [of] = (await profile(table, [column.name]))?.columns ?? [];
    const { prefixes = [] } = of?.profile ?? {};
    if (prefixes.length > 1 && hasPatientIn({ table, column }, { ...names, patients }))
      undecided.push(prefixesText(table, column, prefixes));
  }
  return { proposals, tables, undecided };
}

/** True if every word of the table's name is typical of tables with several kinds of records. */
function isOfSeveral({ name }: TableInfo, { wordsOf }: Names): boolean {
  const words = [...wordsOf(name)];
  return words.length > 0 && words.every(word => SEVERAL.tables.includes(word));
}

/** Finds a column such as `TYPE`, `OBS_TYPE`, `KIND_ID`. */
function kindColumn(table: TableInfo, { wordsOf }: Names): ColumnInfo | undefined {
  const isMeant = ({ name }: ColumnInfo): boolean => {
    const words = [...wordsOf(name)];
    const isOne = (word: string): boolean => SEVERAL.columns.includes(word);
    return words.some(isOne) && words.every(word => isOne(word) || SEVERAL.tables.includes(word) || OF_KEYS.has(word));
  };
  const isFit = ({ name, type, denied }: ColumnInfo): boolean =>
    !denied && isIdentifier(name) && (type?.kind === 'text' || type?.kind === 'integer');
  const found = [...table.columns.values()].filter(column => isFit(column) && isMeant(column));
  return found.toSorted((a, b) => wordsOf(a.name).size - wordsOf(b.name).size)[0];
}

/** Finds the column with the subject of a row, such as `CONCEPT_CD`, `ITEM_CODE`, `CODE`. */
function codeColumn(table: TableInfo, { wordsOf }: Names): ColumnInfo | undefined {
  const found = [...table.columns.values()].filter(({ name, type, denied }) => {
    const words = [...wordsOf(name)];
    const isMeant = words.includes('code') || words.includes('concept');
    const isWhole = words.every(word => OF_KEYS.has(word) || word === 'concept' || SEVERAL.tables.includes(word));
    return !denied && isIdentifier(name) && type?.kind === 'text' && isMeant && isWhole;
  });
  return found.toSorted((a, b) => wordsOf(a.name).size - wordsOf(b.name).size)[0];
}

interface Split {
  readonly table: TableInfo;
  readonly column: ColumnInfo;
  readonly of: ColumnProfile;
  /** Its values, if they may be shown. */
  readonly frequent: readonly Counted[];
  readonly read: TableProfile;
}

type Around = Parameters<typeof proposalOf>[2];

async function splitBy(reader: Reader, split: Split, around: Around): Promise<Omit<Several, 'tables'>> {
  const { table, column, frequent } = split;
  const list = column.type?.kind === 'integer' ? await listOf(reader, table, column, around) : undefined;
  if (column.type?.kind === 'integer' && !list) return { proposals: [], undecided: [] };
  const wordFor = ({ what }: Counted): string => list?.words.get(what) ?? what;
  const kinds = Map.groupBy(frequent, value => kindMeant(wordFor(value)));
  const known = [...kinds].flatMap(([kind, values]) => (kind ? [{ kind, values }] : []));
  const made = known.map(({ kind, values }) => {
    const names = list && { table: list.table, words: values.map(wordFor) };
    const only: Only = { column: column.name, values: values.map(({ what }) => what), ...(names ? { names } : {}) };
    const proposal = proposalOf(kind, table, around, only);
    return { values, proposal, lacks: lackIn(kind, proposal) };
  });
  const hasPatient = made.some(({ proposal }) => proposal.elements.some(({ kind }) => kind === 'patient'));
  if (known.length < 2) return { proposals: [], undecided: hasPatientIn(split, around) ? [undecidedText(split)] : [] };
  if (!hasPatient) return { proposals: [], undecided: [] };
  const complete = made.filter(({ lacks }) => lacks === undefined);
  const proposals = complete.map(({ proposal, values }) => ({
    ...proposal,
    reasons: [...reasonsOf(split, values, made, kinds.get(undefined) ?? []), ...proposal.reasons],
  }));
  return { proposals, undecided: [] };
}

/** Returns the kind that a value names. All words must match: `no allergy` is no allergy. */
function kindMeant(value: string): Kind | undefined {
  if (!/^[\p{L}\s_./-]+$/u.test(value)) return undefined;
  const words = wordsIn(value);
  const isWhole = (phrase: string): boolean => {
    const wanted = phrase.split(' ');
    return wanted.length === words.size && wanted.every(word => words.has(word));
  };
  return KINDS.find(({ values = [] }) => values.some(isWhole));
}

/** Returns what a proposal lacks; undefined if nothing. */
function lackIn(kind: Kind, { elements }: Proposal): string | undefined {
  const isDistinctive = kind.elements.some(
    ({ path, kind: type, weight }) =>
      weight >= TELLING && type !== 'patient' && type !== 'date' && elements.some(one => one.path === path),
  );
  if (!elements.some(one => one.kind === 'patient')) return 'no column says whose it is';
  if (!isDistinctive) return 'no column says what it is about';
  const required = requiredWithout(kind, elements);
  return required.length > 0 ? `FHIR requires ${required.join(', ')}, and no column looks like it` : undefined;
}

interface Made {
  readonly values: readonly Counted[];
  readonly lacks: string | undefined;
}

function reasonsOf(
  { column, of, read, frequent }: Split,
  own: readonly Counted[],
  made: readonly Made[],
  unknown: readonly Counted[],
): readonly string[] {
  const rows = own.reduce((sum, one) => sum + one.rows, 0);
  const whole = read.sample === undefined ? plural(read.read, 'row') : `a sample of ${plural(read.read, 'row')}`;
  const others = made.filter(({ values, lacks }) => values !== own && lacks === undefined);
  const lacking = made.flatMap(({ values, lacks }) =>
    lacks === undefined ? [] : values.map(value => `${countedText(value)}: ${lacks}`),
  );
  const rare = of.distinct.count - frequent.length;
  const empty = of.nulls + of.blanks;
  const left = [
    ...unknown.map(countedText),
    ...lacking,
    ...(rare > 0 ? [`${plural(rare, 'value')} in fewer rows`] : []),
    ...(empty > 0 ? [`${plural(empty, 'row')} without a value`] : []),
  ];
  return [
    `${column.name} is ${own.map(({ what }) => JSON.stringify(what)).join(' or ')} in ${rows} of ${whole}`,
    ...(others.length > 0
      ? [`mappings of their own: ${others.flatMap(({ values }) => values.map(countedText)).join(', ')}`]
      : []),
    ...(left.length > 0 ? [`not mapped: ${left.join('; ')}`] : []),
  ];
}

function countedText({ what, rows }: Counted): string {
  return `${what} (${plural(rows, 'row')})`;
}

/** True if rows have a patient. */
function hasPatientIn({ table, column }: Pick<Split, 'table' | 'column'>, around: Around): boolean {
  const only: Only = { column: column.name, values: [] };
  const [kind] = KINDS.filter(({ values = [] }) => values.length > 0);
  return kind !== undefined && proposalOf(kind, table, around, only).elements.some(one => one.kind === 'patient');
}

/** Maximum number of prefixes that are listed. */
const TOLD = 12;

function prefixesText(table: TableInfo, { name }: ColumnInfo, prefixes: readonly Counted[]): string {
  const [{ what } = { what: '' }] = prefixes;
  const more = prefixes.length > TOLD ? ` and ${prefixes.length - TOLD} more` : '';
  return (
    `${name} of ${tableText(table)} has a code system before each code: ${prefixes.slice(0, TOLD).map(countedText).join(', ')}${more}. ` +
    `Write a mapping of each kind, with \`where: { ${name}: { matches: "${what}*" } }\` in its source and ` +
    `\`code: { from: ${name}, via: [{ prefix: "${what}" }, code] }\` in the coding`
  );
}

function undecidedText({ table, column, frequent }: Split): string {
  const values = frequent.map(countedText).join(', ');
  return (
    `${column.name} of ${tableText(table)} tells kinds of rows apart, and says too little of what they are: ${values}. ` +
    `Write a mapping of each kind, with \`where: { ${column.name}: … }\` in its source`
  );
}

/** Returns the names that a list has for the keys in a column; undefined if there is no such list. */
async function listOf(
  reader: Reader,
  table: TableInfo,
  { name }: ColumnInfo,
  names: Names,
): Promise<{ readonly table: string; readonly words: ReadonlyMap<string, string> } | undefined> {
  for (const { table: list, on } of names.stepsOf(table)) {
    const [[theirs, ours] = [], ...more] = on;
    if (theirs === undefined || ours !== name || more.length > 0 || !findColumn(list, theirs)) continue;
    const text = bestIn(list, NAMES_OF_ITEMS, 'text', names);
    const words = text && (await pairsIn(reader, list, theirs, text.column, MOST_VALUES));
    if (words) return { table: tableText(list), words };
  }
  return undefined;
}
