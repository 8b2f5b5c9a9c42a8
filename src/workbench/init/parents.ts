/**
 * Finds steps from a table to rows that it refers to. In: the tables of a catalog and their declared foreign keys. Out:
 * for each table its declared steps, then those that names suggest for columns without a declared foreign key.
 */
import { memoized } from '../../common/caches.ts';
import { type Catalog, findColumn, type TableInfo } from '../../sql/catalog.ts';
import type { ForeignKey, TableSurvey } from '../../sql/database.ts';
import { isIdentifier } from '../../sql/identifier.ts';

export interface Step {
  readonly table: TableInfo;
  /** Pairs of a column of `table` and ours. */
  readonly on: readonly (readonly [theirs: string, ours: string])[];
  /** True for a declared foreign key; false if only the names fit. */
  readonly isDeclared: boolean;
}

export type StepsOf = (table: TableInfo) => readonly Step[];

export type Surveys = ReadonlyMap<string, TableSurvey>;

type WordsOf = (name: string) => ReadonlySet<string>;

/**
 * A key name that so many tables have, such as ID, suggests no step. The last column of a composite key counts, too: it
 * numbers the rows of its own table, as IEN does in all files of VistA behind the number of the station.
 */
const SHARED_KEY = 5;

/** Returns the steps of each table. `keyOf`: the key columns of a table. */
export function stepsIn(
  catalog: Catalog,
  surveys: Surveys,
  wordsOf: WordsOf,
  keyOf: (table: TableInfo) => readonly string[],
): StepsOf {
  const declared = declaredIn(catalog, surveys);
  const guessed = guessedIn([...new Set(catalog.tables.values())], wordsOf, keyOf);
  return memoized(table => {
    const own = declared(table);
    const isKnown = (ours: string): boolean => own.some(({ on }) => on.some(([, column]) => isSame(column, ours)));
    return [...own, ...guessed(table).filter(({ on }) => !on.some(([, ours]) => isKnown(ours)))];
  });
}

/** Returns the reverse steps: from a table to the rows that refer to it by one column. */
export function childrenIn(tables: readonly TableInfo[], stepsOf: StepsOf): StepsOf {
  let children: ReadonlyMap<TableInfo, readonly Step[]> | undefined;
  return table => {
    children ??= new Map(
      [
        ...Map.groupBy(
          tables.flatMap(child => stepsOf(child).map(step => ({ child, step }))),
          ({ step }) => step.table,
        ),
      ].map(([parent, steps]) => [parent, steps.flatMap(({ child, step }) => turned(child, step))]),
    );
    return children.get(table) ?? [];
  };
}

function turned(child: TableInfo, { on, table, isDeclared }: Step): readonly Step[] {
  const [[theirs, ours] = []] = on;
  if (theirs === undefined || ours === undefined || on.length > 1 || child === table) return [];
  return [{ table: child, on: [[ours, theirs]], isDeclared }];
}

/** Returns the declared foreign keys that a mapping can use. */
function declaredIn(catalog: Catalog, surveys: Surveys): StepsOf {
  const byTable = new Map([...catalog.tables].map(([key, info]) => [info, surveys.get(key)?.foreignKeys ?? []]));
  return table =>
    (byTable.get(table) ?? []).flatMap((key: ForeignKey): readonly Step[] => {
      const other = catalog.tables.get(key.table);
      const theirs = key.theirs.length > 0 ? key.theirs : (other?.primaryKey ?? []);
      if (!other || !isIdentifier(other.name) || theirs.length !== key.columns.length) return [];
      const on = key.columns.flatMap((ours, i): readonly (readonly [string, string])[] => {
        const [mine, its] = [findColumn(table, ours), findColumn(other, theirs[i] ?? '')];
        return mine && its && [mine, its].every(({ name }) => isIdentifier(name)) ? [[its.name, mine.name]] : [];
      });
      return on.length === key.columns.length ? [{ table: other, on, isDeclared: true }] : [];
    });
}

/**
 * Guesses steps by the names of keys, because legacy databases seldom declare foreign keys. Such a column has the name
 * of the key, or that of the table followed by `id` (`allergy_id` of `allergies`).
 */
function guessedIn(
  tables: readonly TableInfo[],
  wordsOf: WordsOf,
  keyOf: (table: TableInfo) => readonly string[],
): StepsOf {
  const keyed = tables.flatMap(table => {
    const [key, ...more] = keyOf(table);
    return key === undefined || more.length > 0 || !isIdentifier(table.name) || !isIdentifier(key)
      ? []
      : [{ table, key }];
  });
  const byKey = Map.groupBy(keyed, ({ key }) => key.toLowerCase());
  const numbered = Map.groupBy(tables, table => keyOf(table).at(-1)?.toLowerCase());
  const bare = keyed.filter(({ key }) => isJust(wordsOf(key), ['id']));
  const byName = Map.groupBy(bare, ({ table }) => [...wordsOf(table.name), 'id'].toSorted().join(' '));
  return table =>
    [...table.columns.values()].flatMap(({ name: ours }) => {
      if (!isIdentifier(ours)) return [];
      const words = wordsOf(ours);
      const same = isJust(words, ['id']) ? [] : (byKey.get(ours.toLowerCase()) ?? []);
      const owners = [
        ...((numbered.get(ours.toLowerCase()) ?? []).length < SHARED_KEY ? same : []),
        ...(byName.get([...words].toSorted().join(' ')) ?? []).filter(owner => !same.includes(owner)),
      ];
      return owners
        .filter(owner => owner.table !== table)
        .map(owner => ({ table: owner.table, on: [[owner.key, ours] as const], isDeclared: false }));
    });
}

function isJust(words: ReadonlySet<string>, wanted: readonly string[]): boolean {
  return words.size === wanted.length && wanted.every(word => words.has(word));
}

export function isSame(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
