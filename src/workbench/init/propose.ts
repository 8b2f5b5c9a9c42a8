/**
 * Proposes tables for a new pack. In: the catalog of a database, and its declared foreign keys. Out: for each kind of
 * record (hints.json) the tables that may hold it, each with a score, the columns that may make its elements, and the
 * reasons. This file examines names, types and keys; evidence.ts examines rows, and pack-text.ts writes proposals as
 * comments. A person decides.
 */
import { getOrInsert } from '../../common/caches.ts';
import { idCodec, LONGEST, longestKey } from '../../mapping/id-rule.ts';
import type { Catalog, ColumnInfo, IndexInfo, TableInfo } from '../../sql/catalog.ts';
import { findColumn, tableText } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import { elementsAround, sameKey, WRITERS } from './children.ts';
import { withConcept } from './concepts.ts';
import { bestIn, bestOf, type Found, found, KINDS, type Kind, kindOf, type Names, OF_KEYS, rounded } from './hints.ts';
import { childrenIn, isSame, type Step, type Surveys, stepsIn } from './parents.ts';
import type { Only } from './several.ts';
import { wordsIn } from './words.ts';

export interface ProposedElement extends Found {
  readonly path: string;
  readonly kind: string;
  readonly system?: string;
  /** Constants beside the column, by name. */
  readonly with?: Readonly<Record<string, string>>;
  /** Steps to the column's table, if it is another one. */
  readonly join?: readonly Step[];
  /** A reference to the row of another mapping for which all these columns are equal. */
  readonly reference?: {
    readonly mapping: string;
    readonly on: readonly (readonly [theirs: string, ours: string])[];
  };
  /** Step to the child rows that have the column. */
  readonly child?: Step;
  /** Alternatives with other tables, next best first. */
  readonly otherwise?: readonly ProposedElement[];
}

export interface Proposal {
  /** Name of the proposed mapping, such as `patients`. */
  readonly kind: string;
  readonly resource: string;
  readonly table: string;
  readonly info: TableInfo;
  /** From 0 to 1, two decimals. */
  readonly score: number;
  /** The score of the table's name, from 0 to 1. */
  readonly named: number;
  /** Factor of the score for what speaks against the table; 1 for nothing. */
  readonly factor: number;
  readonly reasons: readonly string[];
  readonly key: readonly string[];
  /** The rows of this kind, if the table holds several kinds of records. */
  readonly only?: Only;
  /** True if the table declares no key and this column has the name of one. */
  readonly isKeyGuessed: boolean;
  readonly elements: readonly ProposedElement[];
}

/** Minimum score of a candidate. */
const LEAST = 0.4;
/** The same if the name of the table says nothing: nearly all columns must fit. */
const UNNAMED = 0.55;
/** Maximum number of candidates per kind whose rows are examined. */
const MOST = 6;
/** Weight of a column one step away: by a declared foreign key, and by names. */
const DECLARED = 0.95;
const GUESSED = 0.9;
/** Weight of a name that many columns have. */
const WHOLE_NAME = 0.7;
/** Maximum number of steps to the patient of a row: from a result by its order to the visit. */
const STEPS = 2;
/** Weight of a column that names a patient but whose foreign key leads to another table. */
const ASTRAY = 0.5;
/** Weight of a table of people that refers to patients: their relatives, or the members of a plan. */
const RELATED = 0.6;
/** Weight of a table without a key: a person must find out its key. */
const KEYLESS = 0.9;
/** Score for rows that a column marks as this kind: nearly that of a table of its own. */
const SAID = 0.9;
/** Names of columns that lead to other records: to the performer or the place, and not to the subject. */
const REFERENCES = [...new Set(KINDS.flatMap(({ references = [] }) => references.flatMap(({ columns }) => columns)))];
/** Share of the table's name in the score; the columns have the rest. */
const NAME_SHARE = 0.4;

/** Reads the names of a catalog. `surveys`: declared foreign keys, by the catalog's key of the table. */
export function namesIn(catalog: Catalog, surveys: Surveys): Names {
  const words = new Map<string, ReadonlySet<string>>();
  const wordsOf = (name: string): ReadonlySet<string> => {
    return getOrInsert(words, name, () => wordsIn(name));
  };
  const tables = [...new Set(catalog.tables.values())].filter(
    ({ name, isHistory }) => isIdentifier(name) && !isHistory,
  );
  const stepsOf = stepsIn(catalog, surveys, wordsOf, table => keyIn(table, wordsOf));
  return { tables, wordsOf, stepsOf, childrenOf: childrenIn(tables, stepsOf) };
}

/** Returns candidates of each kind, best first. */
export function proposalsFor(names: Names): readonly Proposal[] {
  const { tables } = names;
  const candidates = (kind: Kind, patients: ReadonlySet<TableInfo>): readonly Proposal[] =>
    tables
      .map(table => proposalOf(kind, table, { ...names, patients }))
      .filter(({ score, named, elements }) => score >= (named > 0 ? LEAST : UNNAMED) && elements.length > 0)
      .filter(({ named }) => kind.onlyNamed !== true || named === 1)
      .toSorted((a, b) => b.score - a.score || (a.table < b.table ? -1 : 1))
      .slice(0, MOST);
  const [first, ...others] = KINDS;
  const people = first ? withoutRelated(candidates(first, new Set()), names) : [];
  const patients = people.filter(({ score }) => score >= LEAST);
  const known = new Set(patients.map(({ info }) => info));
  return [...patients, ...others.flatMap(kind => candidates(kind, known))];
}

interface Around extends Names {
  /** Tables that may hold patients. */
  readonly patients: ReadonlySet<TableInfo>;
}

/**
 * Returns the key: the declared one; a unique number instead if ids of that key may be too long; else that of a unique
 * index; else a first column with the name of a key.
 */
function keyIn(table: TableInfo, wordsOf: Names['wordsOf']): readonly string[] {
  const unique = table.indexes.filter(index => index.unique);
  // A nullable column may lack values in some rows, such as UUIDs that were added later.
  const isFilled = (name: string): boolean => findColumn(table, name)?.nullable === false;
  if (table.primaryKey.length > 0) {
    const isNumber = ({ columns: [only, ...more] }: IndexInfo): boolean =>
      only !== undefined && more.length === 0 && isFilled(only) && findColumn(table, only)?.type?.kind === 'integer';
    return (fitsId(table, table.primaryKey) ? undefined : unique.find(isNumber))?.columns ?? table.primaryKey;
  }
  const chosen = unique.find(({ columns }) => columns.every(isFilled)) ?? unique[0];
  if (chosen) return chosen.columns;
  const [first] = table.columns.values();
  if (!first || first.denied || !['integer', 'text', 'uuid'].includes(first.type?.kind ?? '')) return [];
  const [words, own] = [[...wordsOf(first.name)], wordsOf(table.name)];
  // `orden` of `ordenes`: for unknown plurals a common beginning suffices.
  const isOwn = (word: string): boolean =>
    own.has(word) || [...own].some(one => word.length > 3 && (one.startsWith(word) || word.startsWith(one)));
  const isKey = words.some(word => OF_KEYS.has(word)) && words.every(word => OF_KEYS.has(word) || isOwn(word));
  return isKey ? [first.name] : [];
}

/** True if ids of the key are short enough, not counting escapes in texts. */
function fitsId(table: TableInfo, key: readonly string[]): boolean {
  const parts = key.map(name => {
    const type = findColumn(table, name)?.type;
    const codec = type && idCodec(undefined, type);
    return codec ? longestKey(type, codec) : Number.POSITIVE_INFINITY;
  });
  return parts.reduce((sum, part) => sum + part, key.length - 1) <= LONGEST;
}

/**
 * Lowers the score of tables of other people. If a table refers to another candidate, the other is likelier the
 * patients'. If two tables share a key and one key refers to the other, the referring table is likelier: a person may
 * be no patient.
 */
function withoutRelated(patients: readonly Proposal[], names: Names): readonly Proposal[] {
  return patients.map(proposal => {
    const { info, key, score } = proposal;
    const others = patients.filter(other => other.info !== info && other.score >= score * RELATED);
    const away = names
      .stepsOf(info)
      .find(
        ({ table, on, isDeclared }) =>
          others.some(other => other.info === table) &&
          !on.some(([, ours]) => key.length === 1 && isSame(ours, key[0] ?? '')) &&
          !on.some(([, ours]) => !isDeclared && isUnique(info, ours)),
      );
    const [[, ours] = []] = away?.on ?? [];
    if (away && ours !== undefined)
      return less(proposal, `its ${ours} refers to ${tableText(away.table)}, so it may hold people around patients`);
    const part = others.find(other => other.named > 0 && sameKey(other.info, other.key, names)?.table === info);
    return part ? less(proposal, `${part.table} shares its key, so it may hold people who are no patients`) : proposal;
  });
}

/** True if the column alone identifies the rows of its table: a number that the table gives out itself. */
function isUnique({ indexes }: TableInfo, column: string): boolean {
  return indexes.some(({ unique, columns: [only, ...more] }) => {
    return unique && more.length === 0 && only !== undefined && isSame(only, column);
  });
}

function less(proposal: Proposal, reason: string): Proposal {
  return scored({ ...proposal, factor: proposal.factor * RELATED, reasons: [...proposal.reasons, reason] });
}

/** Makes the proposal of a table for a kind. `only`: the rows of this kind, if a column distinguishes them. */
export function proposalOf(kind: Kind, table: TableInfo, names: Around, only?: Only): Proposal {
  const { wordsOf, stepsOf } = names;
  const named = only ? { score: SAID, words: '' } : bestOf(kind.tables, wordsOf(table.name));
  const taken = new Set<string>(only ? [only.column] : []);
  const own = kind.elements.flatMap((element): readonly ProposedElement[] => {
    const { path, joined = [], kind: type, system, with: fixed } = element;
    const columns = only ? [...element.columns, ...(element.shared ?? [])] : element.columns;
    const more = { ...(system === undefined ? {} : { system }), ...(fixed === undefined ? {} : { with: fixed }) };
    const isPatient = type === 'patient';
    const ours = isPatient
      ? patientIn(table, columns, names)
      : (bestIn(table, columns, type, names, taken) ?? byWholeName(table, element, names, taken));
    const steps = stepsOf(table);
    // A code with a declared foreign key stands for the text in that list.
    const list =
      ours && steps.filter(({ isDeclared, on }) => isDeclared && on.some(([, column]) => column === ours.column));
    const away = isPatient
      ? ours
        ? []
        : patientsAway(table, columns, names)
      : textsAway(list ?? steps.filter(step => !isOfOther(step, kind, names)), joined, type, names);
    const [best, ...otherwise] = away.toSorted((a, b) => b.score - a.score);
    if (ours && !best) {
      taken.add(ours.column);
      return [{ path, kind: type, ...ours, ...more }];
    }
    if (!best) return [];
    const rest = otherwise.map(one => ({ path, kind: type, ...one, ...more }));
    return [{ path, kind: type, ...best, ...more, ...(rest.length > 0 ? { otherwise: rest } : {}) }];
  });
  const key = keyIn(table, wordsOf);
  const coded = only ? own : withConcept(kind, table, own, names, one => keyIn(one, wordsOf));
  const all = [...coded, ...elementsAround(kind, table, key, own, names)];
  const paths = new Set(kind.elements.map(({ path }) => path));
  const elements = [
    ...kind.elements.flatMap(({ path }) => all.filter(one => one.path === path)),
    ...all.filter(({ path }) => !paths.has(path)),
  ];
  const isKeyGuessed = table.primaryKey.length === 0 && key.length > 0;
  return scored({
    ...{ kind: kind.name, resource: kind.resource, table: tableText(table), info: table, elements, isKeyGuessed },
    ...{ named: named.score, score: 0, key, factor: table.primaryKey.length > 0 ? 1 : KEYLESS },
    ...(only ? { only } : {}),
    reasons: [
      ...(only ? [] : [named.score > 0 ? `the name reads as "${named.words}"` : 'the name says nothing']),
      ...(table.primaryKey.length > 0 ? [] : ['the table declares no primary key']),
    ],
  });
}

/** Finds the patient of a row: by a declared foreign key, whatever its name, else by name. */
function patientIn(table: TableInfo, columns: readonly string[], names: Around): Found | undefined {
  const { wordsOf, stepsOf, patients } = names;
  const declared = stepsOf(table).filter(step => step.isDeclared && step.on.length === 1 && !isOfWriter(step, wordsOf));
  const [leading] = declared
    .filter(step => patients.has(step.table) && step.table !== table)
    .flatMap(step => {
      const [[theirs, ours] = []] = step.on;
      const column = ours === undefined ? undefined : findColumn(table, ours);
      if (!column || column.denied) return [];
      const why = `declared foreign key to ${tableText(step.table)}.${theirs}`;
      return [{ name: bestOf(columns, wordsOf(column.name)).score, one: found(column, 1, why) }];
    })
    .toSorted((a, b) => b.name - a.name);
  if (leading) return leading.one;
  const named = bestIn(table, columns, 'patient', names) ?? namedAsKey(table, names);
  const astray = named && declared.find(({ on }) => on[0]?.[1] === named.column);
  if (!named || !astray || patients.size === 0) return named;
  const why = `${named.why}, and its declared foreign key leads to ${tableText(astray.table)}`;
  return { ...named, score: rounded(ASTRAY * named.score), why };
}

/** Finds a column by its whole name, if no better one was found. */
function byWholeName(
  table: TableInfo,
  { wholeNames = [], kind }: Kind['elements'][number],
  names: Names,
  taken: ReadonlySet<string>,
): Found | undefined {
  const best = wholeNames.length === 0 ? undefined : bestIn(table, wholeNames, kind, names, taken);
  return best && names.wordsOf(best.column).size === 1
    ? { ...best, score: rounded(WHOLE_NAME * best.score) }
    : undefined;
}

/** True for a step by the author of a row (`voided_by`): it leads to a user, never to the patient. */
function isOfWriter({ on }: Step, wordsOf: Names['wordsOf']): boolean {
  return on.some(([, ours]) => WRITERS.some(word => wordsOf(ours).has(word)));
}

/** Finds a column with the name of the patients' key, such as `CLIENT_NO`. */
function namedAsKey(table: TableInfo, { stepsOf, patients }: Around): Found | undefined {
  const step = stepsOf(table).find(
    ({ table: to, on, isDeclared }) => !isDeclared && on.length === 1 && to !== table && patients.has(to),
  );
  const [[theirs, ours] = []] = step?.on ?? [];
  const column = ours === undefined ? undefined : findColumn(table, ours);
  if (!step || !column || column.denied) return undefined;
  return found(column, GUESSED, `may be ${tableText(step.table)}.${theirs}, by the names`);
}

/** Finds the patient over other tables: a result belongs to its order, and the order to a visit. */
function patientsAway(
  table: TableInfo,
  columns: readonly string[],
  names: Around,
): readonly (Found & { readonly join: readonly Step[] })[] {
  const { stepsOf, patients } = names;
  const reached = new Set([table, ...patients]);
  let ends: readonly { readonly join: readonly Step[]; readonly share: number }[] = [{ join: [], share: 1 }];
  for (let depth = 0; depth < STEPS; depth++) {
    ends = ends.flatMap(({ join, share }) =>
      stepsOf(join.at(-1)?.table ?? table)
        .filter(step => !reached.has(step.table) && !isOfWriter(step, names.wordsOf))
        .map(step => ({ join: [...join, step], share: share * (step.isDeclared ? DECLARED : GUESSED) })),
    );
    for (const { join } of ends) for (const step of join) reached.add(step.table);
    const away = ends.flatMap(({ join, share }) => {
      const end = join.at(-1)?.table;
      const theirs = end && patientIn(end, columns, names);
      return theirs ? [{ ...theirs, score: rounded(share * theirs.score), join }] : [];
    });
    if (away.length > 0) return away;
  }
  return [];
}

const OF_PATIENTS = ['patient id', 'patient number', 'patient'];

/** Finds a text in a list of which the table has only the key. */
function textsAway(
  steps: readonly Step[],
  joined: readonly string[],
  type: string,
  names: Around,
): readonly (Found & { readonly join: readonly Step[] })[] {
  if (joined.length === 0) return [];
  const { wordsOf, patients } = names;
  const isElsewhere = (ours: string): boolean =>
    wordsOf(ours).has('patient') || bestOf(REFERENCES, wordsOf(ours)).score > 0;
  return (
    steps
      .filter(({ table, on }) => !patients.has(table) && !on.some(([, ours]) => isElsewhere(ours)))
      // A table with a patient has records, such as orders, and no terms.
      .filter(({ table }) => !patientIn(table, OF_PATIENTS, names))
      .flatMap(step => {
        const theirs = bestIn(step.table, joined, type, names);
        if (!theirs) return [];
        return [
          { ...theirs, score: rounded((step.isDeclared ? DECLARED : GUESSED) * theirs.score), join: [step] as const },
        ];
      })
  );
}

/**
 * True for the list of another element's codes, such as a status, and for that of a value (`value_coded`): it does not
 * name what the record is about.
 */
function isOfOther({ on }: Step, { elements }: Kind, { wordsOf }: Names): boolean {
  const isOther = (words: ReadonlySet<string>): boolean =>
    words.has('value') ||
    elements.some(({ system, columns }) => system !== undefined && bestOf(columns, words).score > 0);
  return on.some(([, ours]) => isOther(wordsOf(ours)));
}

/** Computes the score of a proposal from its name and its elements. */
export function scored(proposal: Proposal): Proposal {
  const { named, elements, factor } = proposal;
  const wanted = kindOf(proposal.kind)?.elements ?? [];
  const scores = new Map(elements.map(({ path, score }) => [path, score]));
  const whole = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const had = wanted.reduce((sum, { path, weight }) => sum + weight * (scores.get(path) ?? 0), 0);
  return { ...proposal, score: rounded(factor * (NAME_SHARE * named + (1 - NAME_SHARE) * (had / whole))) };
}

/**
 * Returns the columns of the patients' table that a patient column may refer to, likeliest first: the one of the same
 * name (`PATIENT_IEN` and `PatientIEN` are the same), the key, and other columns that identify a patient alone, such as
 * a number beside the key.
 */
export function patientColumns({ info, key }: Proposal, column: string): readonly string[] {
  const same = (findColumn(info, column) ?? alike(info, column))?.name;
  const others = [...info.columns.values()].map(({ name }) => name).filter(name => isUnique(info, name));
  return [...new Set([...(same === undefined ? [] : [same]), ...(key.length === 1 ? key : []), ...others])];
}

function alike({ columns }: TableInfo, wanted: string): ColumnInfo | undefined {
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  return [...columns.values()].find(({ name }) => plain(name) === plain(wanted));
}

/**
 * Returns the columns that join the rest of a key of several columns, as `[theirs, ours]`: those of the same name, such
 * as the site that gave out a number. `theirs`: the column of the key that is joined already. Undefined if `from` lacks
 * one of them. If `theirs` is no part of the key, the columns of an index with it count as a key that `from` may have;
 * empty if there is none.
 */
export function restOfKey(
  { key, info }: Proposal,
  theirs: string,
  from: TableInfo,
): readonly (readonly [string, string])[] | undefined {
  const rest = (columns: readonly string[]): readonly (readonly [string, string])[] | undefined => {
    const pairs = columns
      .filter(name => !isSame(name, theirs))
      .map(name => [name, (findColumn(from, name) ?? alike(from, name))?.name ?? ''] as const);
    return pairs.every(([, ours]) => ours !== '') ? pairs : undefined;
  };
  const has = (columns: readonly string[]): boolean => columns.some(name => isSame(name, theirs));
  if (has(key)) return rest(key);
  const indexed = info.indexes.filter(({ columns }) => has(columns)).flatMap(({ columns }) => [rest(columns) ?? []]);
  return indexed.toSorted((a, b) => b.length - a.length)[0] ?? [];
}

/** Returns the elements of the kind for which no column was found. */
export function missingIn({ kind, elements }: Proposal): readonly string[] {
  const wanted = kindOf(kind)?.elements ?? [];
  const missed = wanted.filter(({ weight }) => weight > 0);
  return missed.map(({ path }) => path).filter(path => !elements.some(one => one.path === path));
}
