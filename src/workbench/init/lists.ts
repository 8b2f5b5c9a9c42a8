/**
 * Finds what the codes of a column mean where the database says it: in a table of a code list, with a row for each
 * code. In: a column, and what the names of the schema say. Out: the list, and its texts by the raw values. Every read
 * is bounded in rows, and in time by the signal.
 */
import { type Catalog, findTable, type TableInfo, tableText } from '../../sql/catalog.ts';
import type { Meanings } from '../suggest.ts';
import { bestIn, type Names } from './hints.ts';
import { namesIn } from './propose.ts';
import { pairsIn, type Reader } from './shares.ts';

/** `name` is the table, such as `ZC_SEX`. */
export type CodeList = Meanings;

/** Columns that say in words what a code means. */
const TEXTS = ['name', 'description', 'title', 'label', 'display', 'text', 'meaning'];
/** Words of a code or of its list, beside those of what the code is of: `SEX_C` and `ZC_SEX`, `sex_cd` and `lu_sex`. */
const OF_LISTS: ReadonlySet<string> = new Set(
  'c cd code id key number zc zh lu lkp lkup lookup list ref dict cat'.split(' '),
);
/** A table of more rows is no list of codes. */
const MOST_ROWS = 2000;
/** Of the values of the column so many have to be there. */
const LEAST_FOUND = 0.8;

/** The list that has most of these values as keys; undefined: there is none. */
export async function listOf(
  reader: Reader,
  { info, column }: { readonly info: TableInfo; readonly column: string },
  values: readonly string[],
  names: Names,
): Promise<CodeList | undefined> {
  for (const [list, key] of possibleLists(info, column, names)) {
    const text = bestIn(list, TEXTS, 'text', names, new Set([key]))?.column;
    const texts = text === undefined ? undefined : await pairsIn(reader, list, key, text, MOST_ROWS);
    const found = values.filter(one => texts?.get(one.trim()));
    if (texts && found.length > 0 && found.length >= LEAST_FOUND * values.length)
      return { name: tableText(list), texts };
  }
  return undefined;
}

interface HeldCodes {
  readonly table: string;
  readonly column: string;
  /** The column holds the code and nothing else. */
  readonly isCode: boolean;
  readonly values: readonly { readonly value: string }[];
}

/** The lists of several columns, in their order; undefined of a column that has none. */
export async function listsOf(
  reader: Reader,
  catalog: Catalog,
  columns: readonly HeldCodes[],
): Promise<readonly (CodeList | undefined)[]> {
  const names = namesIn(catalog, new Map());
  const lists: (CodeList | undefined)[] = [];
  for (const { table, column, isCode, values } of columns) {
    const info = isCode ? findTable(catalog, table) : undefined;
    const raws = values.map(({ value }) => value);
    lists.push(info && raws.length > 0 ? await listOf(reader, { info, column }, raws, names) : undefined);
  }
  return lists;
}

type Keyed = readonly [table: TableInfo, key: string];

/**
 * Tables that the column refers to by a declared foreign key or by names, then those that are named like it, and last
 * the only one whose name has two words and more of the column's: `ZC_DISP_ENC_TYPE` of `ENC_TYPE_C`.
 */
function possibleLists(info: TableInfo, column: string, { tables, stepsOf, wordsOf }: Names): readonly Keyed[] {
  const led = stepsOf(info).flatMap(({ table, on }): readonly Keyed[] => {
    const [[theirs, ours] = [], ...more] = on;
    return theirs !== undefined && ours === column && more.length === 0 ? [[table, theirs]] : [];
  });
  const subjectOf = (name: string): ReadonlySet<string> =>
    new Set([...wordsOf(name)].filter(word => !OF_LISTS.has(word)));
  const wanted = subjectOf(column);
  const named = tables.flatMap((table): readonly Keyed[] => {
    const [key, ...more] = table.primaryKey;
    const isList = key !== undefined && more.length === 0 && table !== info && wanted.size > 0;
    const of = subjectOf(table.name);
    return isList && [...wanted].every(word => of.has(word)) ? [[table, key]] : [];
  });
  const same = named.filter(([{ name }]) => subjectOf(name).size === wanted.size);
  const wider = named.filter(one => !same.includes(one));
  return [...led, ...same, ...(wanted.size > 1 && wider.length === 1 ? wider : [])];
}
