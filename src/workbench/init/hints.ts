/**
 * What kinds of records look like, and how well names fit them. In: hints.json, and names of tables and columns as
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
  /** Its columns are those of many tables, so only a name that says no more counts. */
  readonly onlyNamed?: true;
  /** Values that mean it in a column which tells kinds of records apart, in words. */
  readonly values?: readonly string[];
  /** Elements that FHIR requires and few tables have a column of, as they mostly are. */
  readonly constants?: Readonly<Record<string, string>>;
  readonly elements: readonly {
    readonly path: string;
    readonly columns: readonly string[];
    /** Whole names that say it where no column has a name of `columns`: the `date` of a visit. */
    readonly alone?: readonly string[];
    /** Further names in a table of several kinds of records: the `title` of each. */
    readonly shared?: readonly string[];
    /** Names of columns in a list that the table only has the key of, as the one who joins patients and allergens. */
    readonly joined?: readonly string[];
    readonly kind: string;
    /** Of the score; 0: good to have, and not missed. */
    readonly weight: number;
    /** Further names of a column in a table of such values alone, whose name says what they are. */
    readonly child?: readonly string[];
    /** What stands beside the column, as the system of a telephone number. */
    readonly with?: Readonly<Record<string, string>>;
    /** The code system whose codes the element wants. */
    readonly system?: string;
  }[];
  /** Words of tables of people, one of whom is this record: its `person_id` leads to the names. */
  readonly persons?: readonly string[];
  /** Elements that may have a table of their own, with a row for each value: several names of a patient. */
  readonly children?: readonly {
    /** Begins the paths of the elements. */
    readonly path: string;
    /** The elements that must be found there, at least so many. */
    readonly least: number;
    /** Where the columns say too little: names of the table, in words beside those of the record. */
    readonly tables?: readonly string[];
  }[];
  /** References to other kinds. */
  readonly references?: readonly {
    readonly path: string;
    /** The resource that is referred to. */
    readonly to: string;
    /** The tables that lead to the patient may have it, too: the order of a result is of the same visit. */
    readonly away?: true;
    /** Names of columns, in words. */
    readonly columns: readonly string[];
  }[];
}

const known: {
  readonly candidates: readonly Kind[];
  /** Words of the names of tables of several kinds of records, and of the columns that tell these apart. */
  readonly several: { readonly tables: readonly string[]; readonly columns: readonly string[] };
} = JSON.parse(readFileSync(new URL('./hints.json', import.meta.url), 'utf8'));

/** All kinds; patients come first. */
export const KINDS = known.candidates;

/** Words of keys beside those of their table. */
export const OF_KEYS: ReadonlySet<string> = new Set(['id', 'number', 'key', 'code']);

/** Tables of several kinds of records. */
export const SEVERAL = known.several;

/** The kind of this name. */
export function kindOf(name: string): Kind | undefined {
  return KINDS.find(one => one.name === name);
}

/** Which columns a kind of element takes. `patient`: a key of patients. */
const FITS: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  // Numbers and signs too, as telephone numbers are.
  string: ['text', 'integer', 'decimal'],
  date: ['date', 'datetime', 'instant', 'text', 'integer', 'decimal', 'float'],
  code: ['text', 'integer', 'decimal', 'bit'],
};

/** What the names of a schema say, and where its tables lead. */
export interface Names {
  readonly tables: readonly TableInfo[];
  readonly wordsOf: (name: string) => ReadonlySet<string>;
  readonly stepsOf: StepsOf;
  /** Steps to the rows that refer to a table by one column each. */
  readonly childrenOf: StepsOf;
}

/** A column that fits an element, and how well. */
export interface Found {
  readonly column: string;
  readonly declared: string;
  /** How well the name fits, from 0 to 1. */
  readonly score: number;
  /** Why the column was taken: `reads as "birth date"`. */
  readonly why: string;
  readonly type: ColumnInfo['type'];
}

/** The column whose name fits best. */
export function bestIn(
  table: TableInfo,
  texts: readonly string[],
  type: string,
  { wordsOf, stepsOf }: Names,
  taken: ReadonlySet<string> = new Set(),
): Found | undefined {
  const isKey = ({ name }: ColumnInfo): boolean =>
    stepsOf(table).some(({ isDeclared, on }) => isDeclared && on.some(([, ours]) => ours === name));
  // `modified_by`: whoever did it, and no date. A number that is the key of another table is no code.
  const isOther = (column: ColumnInfo): boolean =>
    type === 'date'
      ? wordsOf(column.name).has('by') || isKey(column)
      : type === 'code' && column.type?.kind === 'integer' && isKey(column);
  const [best] = [...table.columns.values()]
    .filter(column => !taken.has(column.name) && isIdentifier(column.name) && fits(column, type))
    .filter(column => !isOther(column))
    .map(column => ({ column, ...bestOf(texts, wordsOf(column.name)) }))
    .filter(({ score }) => score > 0)
    // Of two that fit alike, `start date` and `date`, the one whose text comes first.
    .toSorted((a, b) => b.score - a.score || texts.indexOf(a.words) - texts.indexOf(b.words));
  return best && found(best.column, best.score, `reads as "${best.words}"`);
}

/** A column that was found, with how well its name fits. */
export function found({ name, declared, type }: ColumnInfo, score: number, why: string): Found {
  return { column: name, declared, type, score: rounded(score), why };
}

function fits({ type, denied }: ColumnInfo, kind: string): boolean {
  if (denied || type === undefined) return false;
  // A flag, or any other small number, is no date.
  if (kind === 'date' && type.kind === 'integer' && type.bits < 32) return false;
  return FITS[kind]?.includes(type.kind) ?? true;
}

const OF_PEOPLE = ['first', 'last', 'maiden', 'birth', 'marital'];

/** The kind of record that a name means: the resource, and how well other names fit the kind. */
export function kindNamed(
  words: ReadonlySet<string>,
): { readonly resource: string; readonly fit: (words: ReadonlySet<string>) => number } | undefined {
  const fits = KINDS.map(kind => ({ kind, score: bestOf(kind.tables, words).score }));
  const [best] = fits.filter(({ score }) => score > 0).toSorted((a, b) => b.score - a.score);
  return best && { resource: best.kind.resource, fit: of => bestOf(best.kind.tables, of).score };
}

/** How well a name fits the best of several texts: all words of the text are there, and few others. */
export function bestOf(
  texts: readonly string[],
  words: ReadonlySet<string>,
): { readonly score: number; readonly words: string } {
  let best = { score: 0, words: '' };
  for (const text of texts) {
    const wanted = text.split(' ');
    if (!wanted.every(word => words.has(word))) continue;
    // The name of a person is none of a procedure, nor the date of birth its date, nor marriage the status of a stay.
    if (OF_PEOPLE.some(word => words.has(word) && !wanted.includes(word))) continue;
    // The type of an allergen is not its name, nor that of an address its street.
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
