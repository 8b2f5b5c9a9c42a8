/**
 * Describes kinds of records, and scores how well names fit them. In: hints.json, and names of tables and columns as
 * words. Out: kinds, the column of a table that fits an element best, and scores from 0 to 1.
 */
import { readFileSync } from 'node:fs';
import type { ColumnInfo, TableInfo } from '../../sql/catalog.ts';
import { isIdentifier } from '../../sql/identifier.ts';
import type { StepsOf } from './parents.ts';

/** A kind of record, and the names that its table and columns may have. */
export interface Kind {
  readonly name: string;
  readonly resource: string;
  /** Names of tables, in words. */
  readonly tables: readonly string[];
  /** Many tables have such columns, so the table's name must match exactly. */
  readonly onlyNamed?: true;
  /** Words of the values by which a column marks rows of this kind. */
  readonly values?: readonly string[];
  /** Required elements for which few tables have a column, with their usual value. */
  readonly constants?: Readonly<Record<string, string>>;
  readonly elements: readonly {
    readonly path: string;
    readonly columns: readonly string[];
    /** Names that count only as a whole, if no column has a name of `columns`: the `date` of a visit. */
    readonly wholeNames?: readonly string[];
    /** Further names in a table of several kinds of records: the `title` of each. */
    readonly shared?: readonly string[];
    /** Names of columns in a joined list, if the table has only its key: a table that joins patients and allergens. */
    readonly joined?: readonly string[];
    readonly kind: string;
    /** Its part of the score; 0: useful but not missed. */
    readonly weight: number;
    /** Further names in a child table that holds only such values, because its name says what they are. */
    readonly child?: readonly string[];
    /** Constants beside the column, such as the system of a telephone number. */
    readonly with?: Readonly<Record<string, string>>;
    /** The code system that the element requires. */
    readonly system?: string;
  }[];
  /** Words of tables of people, if the record is a person: its `person_id` leads to the names. */
  readonly persons?: readonly string[];
  /** Elements that may have a table of their own with a row per value, such as several names of a patient. */
  readonly children?: readonly {
    /** Prefix of the paths of the elements. */
    readonly path: string;
    /** Minimum number of elements that must be found there. */
    readonly least: number;
    /** Names of the table, in words in addition to the record's name, if the columns say too little. */
    readonly tables?: readonly string[];
  }[];
  /** References to other kinds. */
  readonly references?: readonly {
    readonly path: string;
    /** The resource type of the target. */
    readonly to: string;
    /** The column may also be in the tables on the way to the patient: a result's order belongs to the same visit. */
    readonly onPatientPath?: true;
    /** Names of columns, in words. */
    readonly columns: readonly string[];
  }[];
}

const known: {
  readonly candidates: readonly Kind[];
  /** Words of names of tables with several kinds of records, and of the columns that distinguish these. */
  readonly several: { readonly tables: readonly string[]; readonly columns: readonly string[] };
} = JSON.parse(readFileSync(new URL('./hints.json', import.meta.url), 'utf8'));

/** All kinds; patients come first. */
export const KINDS = known.candidates;

/** Words of keys, in addition to those of their table. */
export const OF_KEYS: ReadonlySet<string> = new Set(['id', 'number', 'key', 'code']);

/** Words for tables of several kinds of records. */
export const SEVERAL = known.several;

/** Returns the kind of this name. */
export function kindOf(name: string): Kind | undefined {
  return KINDS.find(one => one.name === name);
}

/** Types of columns that fit a kind of element. `patient`: a key of patients. */
const FITS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  // Also numbers, for values such as telephone numbers.
  string: ['text', 'integer', 'decimal'],
  date: ['date', 'datetime', 'instant', 'text', 'integer', 'decimal', 'float'],
  code: ['text', 'integer', 'decimal', 'bit'],
};

/** The tables of a schema, the words of names, and where the tables lead. */
export interface Names {
  readonly tables: readonly TableInfo[];
  readonly wordsOf: (name: string) => ReadonlySet<string>;
  readonly stepsOf: StepsOf;
  /** Steps to the rows that refer to a table by one column. */
  readonly childrenOf: StepsOf;
}

/** A column that fits an element, with its score. */
export interface Found {
  readonly column: string;
  readonly declared: string;
  /** How well the name fits, from 0 to 1. */
  readonly score: number;
  /** Why the column was taken: `reads as "birth date"`. */
  readonly why: string;
  readonly type: ColumnInfo['type'];
}

/** Returns the column whose name fits best. */
export function bestIn(
  table: TableInfo,
  texts: readonly string[],
  type: string,
  { wordsOf, stepsOf }: Names,
  taken: ReadonlySet<string> = new Set(),
): Found | undefined {
  const isKey = ({ name }: ColumnInfo): boolean =>
    stepsOf(table).some(({ isDeclared, on }) => isDeclared && on.some(([, ours]) => ours === name));
  // `modified_by` is a person and no date. A number that is the key of another table is no code.
  const isOther = (column: ColumnInfo): boolean =>
    type === 'date'
      ? wordsOf(column.name).has('by') || isKey(column)
      : type === 'code'
        ? column.type?.kind === 'integer' && isKey(column)
        : type === 'text' && wordsOf(column.name).has('date');
  const [best] = [...table.columns.values()]
    .filter(column => !taken.has(column.name) && isIdentifier(column.name) && fits(column, type))
    .filter(column => !isOther(column))
    .map(column => ({ column, ...bestOf(texts, wordsOf(column.name)) }))
    .filter(({ score }) => score > 0)
    // Among equal scores (`start date` and `date`), the text that is listed first wins.
    .toSorted((a, b) => b.score - a.score || texts.indexOf(a.words) - texts.indexOf(b.words));
  return best && found(best.column, best.score, `reads as "${best.words}"`);
}

/** Makes the result for a column, with the score of its name. */
export function found({ name, declared, type }: ColumnInfo, score: number, why: string): Found {
  return { column: name, declared, type, score: rounded(score), why };
}

function fits({ type, denied }: ColumnInfo, kind: string): boolean {
  if (denied || type === undefined) return false;
  // A flag or another small number is no date.
  if (kind === 'date' && type.kind === 'integer' && type.bits < 32) return false;
  return FITS[kind]?.includes(type.kind) ?? true;
}

const OF_PEOPLE = ['first', 'last', 'maiden', 'birth', 'marital'];

/** Returns the kind of record that a name means: its resource, and a function that scores other names for it. */
export function kindNamed(
  words: ReadonlySet<string>,
): { readonly resource: string; readonly fit: (words: ReadonlySet<string>) => number } | undefined {
  const fits = KINDS.map(kind => ({ kind, score: bestOf(kind.tables, words).score }));
  const [best] = fits.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  return best && { resource: best.kind.resource, fit: of => bestOf(best.kind.tables, of).score };
}

/**
 * Scores how well a name fits the best of several texts: the name must have all words of the text, and the fewer others
 * the better.
 */
export function bestOf(
  texts: readonly string[],
  words: ReadonlySet<string>,
): { readonly score: number; readonly words: string } {
  let best = { score: 0, words: '' };
  for (const text of texts) {
    const wanted = text.split(' ');
    if (!wanted.every(word => words.has(word))) continue;
    // The name of a person is not that of a procedure, a birth date not the date of a record, a marital status not the
    // status of a stay.
    if (OF_PEOPLE.some(word => words.has(word) && !wanted.includes(word))) continue;
    // The type of an allergen is not its name, and the type of an address not its street.
    if (['type', 'kind'].some(word => words.has(word) && !wanted.includes(word))) continue;
    // The id of a result is not its value.
    if (words.has('id') && !wanted.includes('id') && wanted[0] !== 'patient') continue;
    const score = 0.6 + 0.4 * Math.min(1, wanted.length / words.size);
    if (score > best.score) best = { score, words: text };
  }
  return best;
}

export function rounded(score: number): number {
  return Math.round(score * 100) / 100;
}
