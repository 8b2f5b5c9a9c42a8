/**
 * Proposes tables for a pack that is begun. In: the catalog of a database. Out: for each kind of record (hints.json)
 * the tables that may hold it, each with a score, the columns that may make its elements, and the reasons. This file
 * looks at names, types and keys; evidence.ts looks at rows, and pack-text.ts writes proposals as comments. A person
 * decides.
 */
import { readFileSync } from 'node:fs';
import type { Catalog, ColumnInfo, TableInfo } from '../../sql/catalog.ts';
import { findColumn, tableText } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';

interface Hints {
  /** A word of a name to the words that it stands for. */
  readonly abbreviations: Readonly<Record<string, string>>;
  readonly candidates: readonly Kind[];
}

interface Kind {
  readonly name: string;
  readonly resource: string;
  /** Names of tables, in words. */
  readonly tables: readonly string[];
  readonly elements: readonly {
    readonly path: string;
    readonly columns: readonly string[];
    /** Names of columns in a list that the table only has the key of, as the one who joins patients and allergens. */
    readonly joined?: readonly string[];
    readonly kind: string;
    /** Of the score; 0: good to have, and not missed. */
    readonly weight: number;
    /** What stands beside the column, as the system of a telephone number. */
    readonly with?: Readonly<Record<string, string>>;
    /** The code system whose codes the element wants. */
    readonly system?: string;
  }[];
}

export interface ProposedElement {
  readonly path: string;
  readonly kind: string;
  readonly column: string;
  readonly declared: string;
  /** How well the name fits, from 0 to 1. */
  readonly score: number;
  /** The words that the name was taken for. */
  readonly words: string;
  readonly type: ColumnInfo['type'];
  readonly system?: string;
  /** Constants beside it, by name. */
  readonly with?: Readonly<Record<string, string>>;
  /** The column is of another table, one join away. */
  readonly join?: Join;
  /** Other tables that such a join may lead to, next best first. */
  readonly otherwise?: readonly ProposedElement[];
}

/** `ours` leads to the row of `table` whose key `theirs` is. */
interface Join {
  readonly table: TableInfo;
  readonly theirs: string;
  readonly ours: string;
}

export interface Proposal {
  /** `patients`: the name of the mapping that is proposed. */
  readonly kind: string;
  readonly resource: string;
  readonly table: string;
  readonly info: TableInfo;
  /** From 0 to 1, two decimals. */
  readonly score: number;
  /** Of the score, what the name of the table gives: from 0 to 1. */
  readonly named: number;
  readonly reasons: readonly string[];
  readonly key: readonly string[];
  readonly elements: readonly ProposedElement[];
}

/** Tables that score less are no candidates. */
const LEAST = 0.4;
/** Candidates of one kind whose rows are worth a look. */
const MOST = 6;
/** What a column that is one join away counts, against one of the table itself. */
const JOINED = 0.9;
/** A table without a key may be one, and somebody has to find out what its key is. */
const KEYLESS = 0.9;
/** Of the score: the name of the table; the columns have the rest. */
const NAME_SHARE = 0.4;

const hints: Hints = JSON.parse(readFileSync(new URL('./hints.json', import.meta.url), 'utf8'));

/** Which columns a kind of element takes. `patient`: a key of patients. */
const FITS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  // Numbers and signs too, as telephone numbers are.
  string: ['text', 'integer', 'decimal'],
  date: ['date', 'datetime', 'text', 'integer', 'decimal', 'float'],
  code: ['text', 'integer', 'decimal', 'bit'],
};

/** Candidates of each kind, best first. */
export function proposalsFor(catalog: Catalog): readonly Proposal[] {
  const words = new Map<string, ReadonlySet<string>>();
  const wordsOf = (name: string): ReadonlySet<string> => {
    const known = words.get(name) ?? wordsIn(name);
    words.set(name, known);
    return known;
  };
  const tables = [...new Set(catalog.tables.values())].filter(({ name }) => isIdentifier(name));
  const names: Names = { wordsOf, parentsOf: parentsIn(tables, wordsOf) };
  return hints.candidates.flatMap(kind =>
    tables
      .map(table => proposalOf(kind, table, names))
      .filter(({ score, elements }) => score >= LEAST && elements.length > 0)
      .toSorted((a, b) => b.score - a.score || (a.table < b.table ? -1 : 1))
      .slice(0, MOST),
  );
}

interface Names {
  readonly wordsOf: (name: string) => ReadonlySet<string>;
  /** Tables whose key is one column that this table has, too. */
  readonly parentsOf: (table: TableInfo) => readonly Join[];
}

/** A key that stands in so many tables, such as ID, leads nowhere. */
const SHARED_KEY = 5;

/**
 * By the names of keys: legacy databases seldom declare foreign keys. They spell such a column like the key that it
 * means, or as the name of the table with `id` behind it (`allergy_id` of `allergies`).
 */
function parentsIn(tables: readonly TableInfo[], wordsOf: Names['wordsOf']): Names['parentsOf'] {
  const keyed = tables.filter(({ primaryKey }) => primaryKey.length === 1);
  const byKey = Map.groupBy(keyed, ({ primaryKey: [key = ''] }) => key.toLowerCase());
  const bare = keyed.filter(({ primaryKey: [key = ''] }) => isJust(wordsOf(key), ['id']));
  const byName = Map.groupBy(bare, ({ name }) => [...wordsOf(name), 'id'].toSorted().join(' '));
  return table =>
    [...table.columns.values()].flatMap(({ name: ours }) => {
      const words = wordsOf(ours);
      const same = isJust(words, ['id']) ? [] : (byKey.get(ours.toLowerCase()) ?? []);
      const owners = [
        ...(same.length < SHARED_KEY ? same : []),
        ...(byName.get([...words].toSorted().join(' ')) ?? []).filter(owner => !same.includes(owner)),
      ];
      return owners
        .filter(owner => owner !== table)
        .map(owner => ({ table: owner, theirs: owner.primaryKey[0] ?? '', ours }));
    });
}

function isJust(words: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return words.size === wanted.length && wanted.every(word => words.has(word));
}

function proposalOf(kind: Kind, table: TableInfo, { wordsOf, parentsOf }: Names): Proposal {
  const named = bestOf(kind.tables, wordsOf(table.name));
  const taken = new Set<string>();
  const elements: ProposedElement[] = [];
  const bestIn = (of: TableInfo, texts: readonly string[], type: string) =>
    [...of.columns.values()]
      .filter(column => !(of === table && taken.has(column.name)) && isIdentifier(column.name) && fits(column, type))
      .map(column => ({ column, ...bestOf(texts, wordsOf(column.name)) }))
      .filter(({ score }) => score > 0)
      .toSorted((a, b) => b.score - a.score)[0];
  for (const { path, columns, joined = [], kind: type, system, with: beside } of kind.elements) {
    const more = { ...(system === undefined ? {} : { system }), ...(beside === undefined ? {} : { with: beside }) };
    const own = bestIn(table, columns, type);
    if (own) {
      taken.add(own.column.name);
      elements.push({ path, kind: type, ...found(own), ...more });
      continue;
    }
    // What has no patient of its own belongs to something that has one: a result to its order. A text may stand in a
    // list.
    const wanted = type === 'patient' ? columns : joined;
    const parents = parentsOf(table).filter(({ ours }) => type === 'patient' || !wordsOf(ours).has('patient'));
    if (wanted.length > 0) {
      const [best, ...otherwise] = parents
        .flatMap((join): readonly ProposedElement[] => {
          const theirs = bestIn(join.table, wanted, type);
          if (!theirs) return [];
          const element = found({ ...theirs, score: JOINED * theirs.score });
          return [{ path, kind: type, ...element, ...more, join }];
        })
        .toSorted((a, b) => b.score - a.score);
      if (best) elements.push({ ...best, ...(otherwise.length > 0 ? { otherwise } : {}) });
    }
  }
  return scored({
    ...{ kind: kind.name, resource: kind.resource, table: tableText(table), info: table, elements },
    ...{ named: named.score, score: 0, key: table.primaryKey },
    reasons: [
      named.score > 0 ? `the name reads as "${named.words}"` : 'the name says nothing',
      ...(table.primaryKey.length > 0 ? [] : ['the table declares no primary key']),
    ],
  });
}

function found({
  column,
  score,
  words,
}: {
  readonly column: ColumnInfo;
  readonly score: number;
  readonly words: string;
}) {
  return { column: column.name, declared: column.declared, type: column.type, score: rounded(score), words };
}

/** The proposal with the score that its name and its elements give. */
export function scored(proposal: Proposal): Proposal {
  const { named, elements, key } = proposal;
  const wanted = hints.candidates.find(({ name }) => name === proposal.kind)?.elements ?? [];
  const scores = new Map(elements.map(({ path, score }) => [path, score]));
  const whole = wanted.reduce((sum, { weight }) => sum + weight, 0);
  const had = wanted.reduce((sum, { path, weight }) => sum + weight * (scores.get(path) ?? 0), 0);
  const score = NAME_SHARE * named + (1 - NAME_SHARE) * (had / whole);
  return { ...proposal, score: rounded(key.length > 0 ? score : KEYLESS * score) };
}

/** The column of patients that a column which means a patient leads to: the one of the same name, or else the key. */
export function patientColumn({ info, key }: Proposal, column: string): string | undefined {
  return findColumn(info, column)?.name ?? (key.length === 1 ? key[0] : undefined);
}

/** Elements that the kind has and no column was found for. */
export function missingIn({ kind, elements }: Proposal): readonly string[] {
  const wanted = hints.candidates.find(({ name }) => name === kind)?.elements ?? [];
  const missed = wanted.filter(({ weight }) => weight > 0);
  return missed.map(({ path }) => path).filter(path => !elements.some(one => one.path === path));
}

function fits({ type, denied }: ColumnInfo, kind: string): boolean {
  if (denied || type === undefined) return false;
  return FITS[kind]?.includes(type.kind) ?? true;
}

/** How well a name fits the best of several texts: all words of the text are there, and few others. */
function bestOf(
  texts: readonly string[],
  words: ReadonlySet<string>,
): { readonly score: number; readonly words: string } {
  let best = { score: 0, words: '' };
  for (const text of texts) {
    const wanted = text.split(' ');
    if (!wanted.every(word => words.has(word))) continue;
    // The id of a result is not its value.
    if (words.has('id') && !wanted.includes('id') && wanted[0] !== 'patient') continue;
    const score = 0.6 + 0.4 * Math.min(1, wanted.length / words.size);
    if (score > best.score) best = { score, words: text };
  }
  return best;
}

/** `LST_NM`, `lastName`: last, name. */
export function wordsIn(name: string): ReadonlySet<string> {
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(part => part !== '');
  return new Set(parts.flatMap(part => expanded(part).split(' ')));
}

/** A word without its abbreviation and its plural: `dx` is diagnosis, `allergies` is allergy. */
function expanded(part: string): string {
  const known = (word: string): string | undefined =>
    Object.hasOwn(hints.abbreviations, word) ? hints.abbreviations[word] : undefined;
  const one = singular(part);
  return known(part) ?? known(one) ?? one;
}

/** Words that end like a plural and are none: `status`, `address`, `diagnosis`. */
const NO_PLURAL = /(?:ss|us|is)$/;

function singular(word: string): string {
  if (word.length < 4 || !word.endsWith('s') || NO_PLURAL.test(word)) return word;
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`;
  if (word === 'diagnoses') return 'diagnosis';
  return /(?:ss|x|ch|sh)es$/.test(word) ? word.slice(0, -2) : word.slice(0, -1);
}

export function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
