/**
 * Finds the meanings of a column's codes in the database: in a code list table, with a row per code. In: a column, and
 * the names of the schema. Out: the list, with its texts by raw value. Every read is limited in rows, and in time by
 * the signal.
 */
import { type Catalog, findTable, type TableInfo, tableText } from '../../sql/catalog.ts';
import type { Meanings } from '../suggest.ts';
import { bestIn, type Names } from './hints.ts';
import { namesIn } from './propose.ts';
import { pairsIn, type Reader } from './shares.ts';

/** `name` is the table, such as `ZC_SEX`. */
export type CodeList = Meanings;

/** Names of columns with the meaning of a code. */
const TEXTS = ['name', 'description', 'title', 'label', 'display', 'text', 'meaning'];
/** Words of codes and lists, besides their subject: `SEX_C` and `ZC_SEX`, `sex_cd` and `lu_sex`. */
const OF_LISTS: ReadonlySet<string> = new Set(
  'c cd code id key number zc zh lu lkp lkup lookup list ref dict cat'.split(' '),
);
/** A table with more rows is no list of codes. */
const MOST_ROWS = 2000;
/** Minimum share of the column's values that the list must have. */
const LEAST_FOUND = 0.8;

/** Returns the first list that has most of these values as keys; undefined if there is none. */
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
  /** True if the column holds the code and nothing else. */
  readonly isCode: boolean;
  readonly values: readonly { readonly value: string }[];
}

/** Returns the lists of several columns, in their order; undefined for a column without one. */
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
 * Returns candidates in this order: tables that the column refers to by a foreign key or by names; tables with the same
 * subject in their name; the only table whose name contains a subject of two words or more: `ZC_DISP_ENC_TYPE` for
 * `ENC_TYPE_C`.
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
