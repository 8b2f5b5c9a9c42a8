/**
 * Finds searches and sorts that no index serves. In: the parameters that a type offers, its mappings, the catalog. Out:
 * per search parameter the columns that no index begins with. It is a remark and no problem: with a patient such a
 * search reads only the patient's rows; alone it reads the whole table.
 * docs/mapping-language.md
 */

import { childrenOf } from '../mapping/children.ts';
import type { Condition, EachNode, Mapping, Node, Registry, Scope, WordIndex } from '../mapping/model.ts';
import { scopesOf } from '../mapping/piece-lookups.ts';
import type { Offered } from '../search/offers.ts';
import { type Catalog, findTable, type IndexInfo, unfitIn } from '../sql/catalog.ts';
import { isTrimmed } from '../sql/column-type.ts';
import type { ColumnExpression, Expression, Predicate, Relation } from '../sql/expression.ts';
import { type Identifier, printTable } from '../sql/identifier.ts';
import type { SqlPlan } from '../sql/plan.ts';
import { walk } from '../sql/walk.ts';
import { type Environment, environment } from './environment.ts';
import { LISTED_AT_MOST } from './key.ts';
import { leavesOf } from './offers.ts';
import { sortParts } from './sort.ts';
import { FULL_VISIBILITY } from './visibility.ts';

export interface WithoutIndex {
  /** The code of the search parameter. */
  readonly code: string;
  /** `TABLE.COLUMN`, sorted; with ` computed` at the end if an index would not help either. */
  readonly columns: readonly string[];
}

/** Mappings of a type, the registry that contains their targets, and their tables. */
interface Mapped {
  readonly mappings: readonly Mapping[];
  readonly registry: Registry;
  readonly catalog: Catalog;
}

/** Returns parameters that compare columns unchanged (`indexed`) and that no index serves. */
export function searchesWithoutIndex(offered: readonly Offered[], mapped: Mapped): readonly WithoutIndex[] {
  const plain = offered.filter(one => one.inverse === 'indexed' && one.parameter.code !== '_id');
  return withoutIndex(plain, mapped, searchUses);
}

/** Returns the columns that a search by a parameter compares, and those that lead from them to our rows. */
export function searchUses(mapping: Mapping, { parameter }: Offered, env: Environment): readonly Use[] {
  return leavesOf(mapping, parameter, env).flatMap(node => usesOf(node, mapping));
}

function usesOf(node: Node, mapping: Mapping): readonly Use[] {
  if (node.kind === 'ref') return withLinks({ columns: node.on.map(({ ours }) => ours), computed: false }, mapping);
  return node.kind === 'value' ? withLinks({ columns: node.from.flatMap(columnsIn), computed: false }, mapping) : [];
}

/**
 * Returns the columns without an index that a search by one value of a mapping compares; undefined if it compares no
 * column.
 */
export function valueWithoutIndex(node: Node, mapping: Mapping, catalog: Catalog): WithoutIndex['columns'] | undefined {
  const uses = usesOf(node, mapping);
  return uses.length === 0 ? undefined : columnsWithoutIndex(uses, tablesByAlias(mapping), catalog);
}

/**
 * Adds the join columns: a search finds the joined row first (src/plan/through-lookups.ts), then our rows by the
 * columns of the join.
 */
function withLinks(use: Use, mapping: Mapping): readonly Use[] {
  const scopes = [mapping.source, ...eachIn(mapping.root).flatMap(({ from }) => scopesOf(from))];
  const aliases = new Set<string>(use.columns.map(({ alias }) => alias));
  const links = scopes
    .flatMap(({ lookups }) => lookups)
    .filter(({ alias, pick }) => aliases.has(alias) && pick.length === 0)
    .map(({ on }): Use => ({ columns: on.map(({ ours }) => ours), computed: false }));
  return [use, ...links.filter(({ columns }) => columns.length > 0).flatMap(link => withLinks(link, mapping))];
}

/** Returns sortable parameters whose columns no index begins with: a page of the whole type sorts every row. */
export function sortsWithoutIndex(offered: readonly Offered[], mapped: Mapped): readonly WithoutIndex[] {
  return withoutIndex(
    offered.filter(one => one.sortable),
    mapped,
    sortUses,
  );
}

/** Returns the columns that a sort by a parameter orders by. */
export function sortUses(mapping: Mapping, { parameter }: Offered, env: Environment): readonly Use[] {
  const faces = (sortParts(mapping, parameter, env) ?? []).flatMap(({ face }) => face ?? []);
  return faces.map(({ by }) => ({
    columns: by.flatMap(columnsIn),
    computed: by.some(({ kind }) => kind !== 'column'),
  }));
}

/** Columns that are compared together: an index that begins with one of them narrows the rows. */
export interface Use {
  readonly columns: readonly ColumnExpression[];
  /** True if a function is applied to a column before it is compared. */
  readonly computed: boolean;
}

function withoutIndex(
  offered: readonly Offered[],
  { mappings, registry, catalog }: Mapped,
  usesOf: (mapping: Mapping, one: Offered, env: Environment) => readonly Use[],
): readonly WithoutIndex[] {
  const env = environment(registry, 0, FULL_VISIBILITY);
  const tables = new Map(mappings.map(mapping => [mapping, tablesByAlias(mapping)]));
  return offered.flatMap(one => {
    const names = [...tables].flatMap(([mapping, byAlias]) =>
      columnsWithoutIndex(usesOf(mapping, one, env), byAlias, catalog),
    );
    return names.length === 0 ? [] : [{ code: one.parameter.code, columns: [...new Set(names)].sort() }];
  });
}

function columnsWithoutIndex(
  uses: readonly Use[],
  byAlias: ReadonlyMap<string, string>,
  catalog: Catalog,
): readonly string[] {
  const names = new Set<string>();
  for (const { columns, computed } of uses) {
    // Pieces of a separated column have an alias without a table, so no index contains them.
    const known = columns.flatMap(({ alias, column }) => {
      const table = byAlias.get(alias);
      return table === undefined ? [] : [{ table, column }];
    });
    if (!computed && known.some(({ table, column }) => isIndexed(catalog, table, column))) continue;
    for (const { table, column } of known)
      names.add(`${table}.${column}${computed ? ' computed' : unfitText(catalog, table, column)}`);
  }
  return [...names].sort();
}

/** True if some index begins with the column, in the collation of comparisons. */
export function isIndexed(catalog: Catalog, table: string, column: string): boolean {
  return indexesOn(catalog, table, column).some(index => unfitIn(index, column) === undefined);
}

/**
 * True if an index finds rows of a table by one of the columns: it begins with that column, or with columns that the
 * condition fixes to one value.
 */
export function findsRows(
  { table, alias, where }: Pick<Scope, 'table' | 'alias' | 'where'>,
  columns: readonly ColumnExpression[],
  catalog: Catalog,
): boolean {
  const fixed = new Set(fixedIn(where, alias).map(({ column }) => column.toLowerCase()));
  const asked = new Set(columns.map(({ column }) => column.toLowerCase()));
  return (findTable(catalog, table)?.indexes ?? []).some(index => {
    const names = index.columns.map(column => column.toLowerCase());
    const at = names.findIndex(column => !fixed.has(column) || asked.has(column));
    return asked.has(names[at] ?? '') && names.slice(0, at + 1).every(column => unfitIn(index, column) === undefined);
  });
}

/** Returns the columns that have one fixed value in every row that satisfies the condition, with that value. */
export function fixedIn(
  condition: Condition,
  alias: Identifier,
): readonly { readonly column: Identifier; readonly value: unknown }[] {
  if (condition.kind === 'all') return condition.of.flatMap(one => fixedIn(one, alias));
  const isOne = condition.kind === 'is' && condition.values.length === 1 && condition.column.alias === alias;
  return isOne ? [{ column: condition.column.column, value: condition.values[0] }] : [];
}

/** Describes an index on the column that cannot be used because of its collation. */
function unfitText(catalog: Catalog, table: string, column: string): string {
  const [index] = indexesOn(catalog, table, column);
  const unfit = index && unfitIn(index, column);
  return unfit ? ` (index ${index.name} is ${unfit.collation}, comparisons are ${unfit.needed})` : '';
}

function indexesOn(catalog: Catalog, table: string, column: string): readonly IndexInfo[] {
  const indexes = findTable(catalog, table)?.indexes ?? [];
  return indexes.filter(({ columns: [first] }) => first?.toLowerCase() === column.toLowerCase());
}

/** False for tests that no index serves: for any value, for a pattern, and for all values but some. */
function canSeek(of: Predicate): boolean {
  switch (of.kind) {
    case 'null':
    case 'filled':
    case 'glob':
    case 'packed-date':
      return false;
    case 'compare':
    case 'equals':
    case 'in':
      return !of.not;
    default:
      return true;
  }
}

/**
 * Finds indexes that a statement would use if their collation were right: those that begin with a column that it
 * compares. In: a plan and the catalog of some tables. Out: one line each, with the cure.
 */
export async function unfitIndexes(
  { from }: SqlPlan,
  catalogOf: (tables: readonly string[]) => Promise<Catalog>,
): Promise<readonly string[]> {
  const tables = new Map<string, string>();
  const columns = new Map<string, ColumnExpression>();
  walk(
    { relations: [from] },
    {
      enter: naming(tables),
      predicate: canSeek,
      column: column => void columns.set(`${column.alias}.${column.column}`, column),
    },
  );
  const catalog = await catalogOf([...tables.values()]);
  const lines = [...columns.values()].flatMap(({ alias, column, type }) => {
    const table = tables.get(alias) ?? '';
    if (isTrimmed(type) || isIndexed(catalog, table, column)) return [];
    return indexesOn(catalog, table, column).map(index => {
      const { collation = '', needed = '' } = unfitIn(index, column) ?? {};
      return `index ${index.name} of ${table} (${column}) is not used: it is COLLATE ${collation}, comparisons are ${needed}; an index on (${column} COLLATE ${needed}) would serve`;
    });
  });
  return [...new Set(lines)];
}

/** Beginning of the lines of `foldedTexts` about texts that are in no table of words. */
export const NO_WORDS = 'no index has the words of';

/**
 * Lists the texts that a statement compares by words or without case, and which table of words has them. In: a plan,
 * the tables of words of the pack, and whether the engine has such tables. Out: one line per table of words that is
 * used, and one per table with texts that no table of words has.
 */
export function foldedTexts(
  { from }: SqlPlan,
  indexes: readonly WordIndex[],
  hasWordTables: boolean,
): readonly string[] {
  const tables = new Map<string, string>();
  const found = new Map<string, Set<string>>();
  walk(
    { relations: [from] },
    {
      enter: naming(tables),
      function: call => {
        if (call.name !== 'words' && call.name !== 'fold') return;
        for (const { alias, column } of columnsIn(call)) {
          const table = tables.get(alias) ?? alias;
          found.set(table, (found.get(table) ?? new Set()).add(column));
        }
      },
    },
  );
  return [...found]
    .toSorted()
    .flatMap(([table, columns]) => wordsLines(table, [...columns].toSorted(), indexes, hasWordTables));
}

/** Returns a visitor that records the table of each alias. */
function naming(tables: Map<string, string>): (relation: Relation) => true {
  return ({ table, alias, joins }) => {
    tables.set(alias, printTable(table));
    for (const join of joins) tables.set(join.alias, printTable(join.table));
    return true;
  };
}

function wordsLines(
  table: string,
  columns: readonly string[],
  indexes: readonly WordIndex[],
  hasWordTables: boolean,
): readonly string[] {
  const own = indexes.filter(({ of }) => printTable(of).toLowerCase() === table.toLowerCase());
  const indexOf = (column: string): WordIndex | undefined => own.find(one => one.columns.has(column.toLowerCase()));
  const lines = own.flatMap(index => {
    const served = columns.filter(column => indexOf(column) === index);
    if (served.length === 0) return [];
    const { file, line } = index.at;
    return `the words of ${namesIn(table, served)} are sought in ${index.table.name} (${file}:${line}); where it has them for more than ${LISTED_AT_MOST} rows, these are looked at one by one`;
  });
  const without = columns.filter(column => indexOf(column) === undefined);
  if (without.length === 0) return lines;
  const cure = `; \`lintel words ${table} ${without.join(' ')}\` prints the CREATE statements of one`;
  return [
    ...lines,
    `${NO_WORDS} ${namesIn(table, without)}: they are looked at in each row that the other conditions leave${hasWordTables ? cure : ''}`,
  ];
}

function namesIn(table: string, columns: readonly string[]): string {
  return columns.map(column => `${table}.${column}`).join(', ');
}

/** Returns the table behind each alias of a mapping's source, lookups and child rows. */
function tablesByAlias(mapping: Mapping): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const see = ({ table, alias, lookups }: Scope): void => {
    found.set(alias, table.name);
    for (const lookup of lookups) found.set(lookup.alias, lookup.table.name);
  };
  see(mapping.source);
  for (const { from } of eachIn(mapping.root)) scopesOf(from).forEach(see);
  return found;
}

export function eachIn(node: Node): readonly EachNode[] {
  if (node.kind === 'each') return [node, ...eachIn(node.item)];
  return childrenOf(node).flatMap(eachIn);
}

/** Returns the columns that a value is made of; for a sub-select those of the selected expression. */
function columnsIn(expression: Expression): readonly ColumnExpression[] {
  if (expression.kind === 'scalar') return columnsIn(expression.select);
  if (expression.kind === 'first-piece') return columnsIn(expression.of);
  const found: ColumnExpression[] = [];
  walk({ expressions: [expression] }, { column: column => void found.push(column) });
  return found;
}
