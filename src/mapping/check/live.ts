/**
 * Checks a pack against a live database for what only rows can prove: literals in another case, ambiguous orders, `sql`
 * that the engine refuses, references that lead nowhere. In: a registry and a database. Out: problems with numbers of
 * rows. It sends only SELECTs, one after the other.
 */
import { plural } from '../../common/plural.ts';
import { type Catalog, findTable } from '../../sql/catalog.ts';
import { among, and, call, equals, exists, isNull, not, TRUE, value } from '../../sql/construct.ts';
import { type Database, DatabaseError } from '../../sql/database.ts';
import type { ColumnExpression, Order } from '../../sql/expression.ts';
import { renameExpression, renameRelation } from '../../sql/rename.ts';
import { aliasesOf } from '../../sql/walk.ts';
import { createReport, type Problem, visible } from '../load/problem.ts';
import { tablesOf } from '../load/rows/tables-used.ts';
import type { ChildRows, Lookup, Position, Registry, Scope } from '../model.ts';
import { fixedColumns, isPromised } from '../promised.ts';
import { checkDrift } from './drift.ts';
import {
  partsOf,
  type ScopedChildRows,
  type ScopedLookup,
  type ScopedRef,
  type ScopedTest,
  type ScopedValue,
  sourcesOf,
} from './parts.ts';
import {
  aliasesIn,
  askedAt,
  type Checking,
  countDuplicates,
  countRows,
  hasKey,
  isClosed,
  isOwn,
  manyOf,
  type RowReaders,
  valuesOf,
} from './questions.ts';
import { checkNumbers, checkSharedIds } from './shared-ids.ts';
import type { TimeBudget } from './time-budget.ts';
import { checkIds, checkKey, checkLookup, checkReference, exactly, joinedBy } from './unique.ts';
import { checkCodes } from './unmapped.ts';
import { checkCodesOfPieces, checkPieces } from './unmapped-pieces.ts';
import { reached, replaced } from './way.ts';
import { checkWords } from './words.ts';

export interface LiveCheck {
  readonly registry: Registry;
  readonly database: Database;
  /** `rowReaders` of src/plan/row-readers.ts. */
  readonly readers: RowReaders;
  /** The schema that the pack was written for, if it has a lock. */
  readonly locked?: Catalog;
  /** Undefined: counting has no time limit. */
  readonly timeBudget?: TimeBudget;
  /** Called with what is counted next. */
  readonly onStage?: (what: string) => void;
}

/** Returns all problems that the rows show. Throws DatabaseError if the database does not answer. */
export async function checkLive(check: LiveCheck): Promise<readonly Problem[]> {
  const { registry, database, readers, locked, onStage = () => {} } = check;
  const report = createReport();
  const catalog = await database.catalog({ tables: [...tablesOf(registry), ...(locked?.tables.keys() ?? [])] });
  let stage = '';
  const asking: Checking = {
    ...{ ...readers, database, catalog, report },
    ...(check.timeBudget ? { timeBudget: check.timeBudget } : {}),
    onPlace: ({ file, line }) => onStage(`${stage} (${file}:${line})`),
  };
  if (locked) checkDrift(locked, catalog, report);
  const parts = partsOf(registry);
  const { lookups, refs, children, pieces, expressions, tests } = parts;
  const about = (at: Position, ask: () => Promise<void>): Promise<void> => askedAt(at, asking, ask);
  stage = 'keys';
  for (const mapping of sourcesOf(registry)) await about(mapping.at, () => checkKey(mapping, asking));
  stage = 'ids';
  for (const mapping of registry.mappings) await about(mapping.at, () => checkIds(mapping, asking));
  await checkSharedIds(registry, asking);
  await checkNumbers(registry, asking);
  stage = 'lookups';
  for (const one of lookups) await about(one.lookup.at, () => checkLookup(one, asking));
  for (const one of lookups) await about(one.lookup.at, () => checkOrders([one], [], asking));
  for (const one of children) await about(one.at, () => checkOrders([], [one], asking));
  stage = 'references';
  for (const { node } of refs) await about(node.at, () => checkReference(node, registry, asking));
  for (const one of refs) await about(one.node.at, () => checkTargets([one], registry, asking));
  stage = 'literals';
  for (const one of tests) if (one.test.at) await about(one.test.at, () => checkLiterals([one], asking));
  stage = 'SQL of the mappings';
  for (const one of expressions) await about(one.node.at, () => checkExpressions([one], asking));
  stage = 'tables of words';
  for (const one of registry.pack.words ?? []) await about(one.at, () => checkWords([one], asking));
  stage = 'codes';
  await checkCodes(parts, registry, asking);
  await checkCodesOfPieces(parts, asking);
  for (const one of pieces) await about(one.at, () => checkPieces(one, asking));
  return report.problems();
}

/**
 * Finds literals that no row has, although rows have them in another case: `y` if the table has `Y`. A `deleted` with
 * such a literal would hide nothing. In: comparisons of text columns with literals. Out: warnings with the values of
 * the rows.
 * It runs one statement per comparison, over the whole table.
 */
export async function checkLiterals(tests: readonly ScopedTest[], asking: Checking): Promise<void> {
  const { report } = asking;
  for (const { scope, test, picks } of tests) {
    const { column, values, at } = test;
    if (column.type.kind !== 'text' || !at || !isOwn(column, scope)) continue;
    const { type } = column;
    const { table } = scope.lookups.find(({ alias }) => alias === column.alias) ?? scope;
    const asked = new Map(values.map(literal => [capitals(literal), String(literal)]));
    const inCapitals = call('upper', [call('trim', [column], type)], type);
    const texts = [...asked.keys()].map(text => value(text, type));
    const found = await valuesOf(asking, scope, column, among(inCapitals, texts));
    if (picks && found.length === 0 && (await countRows(asking, scope, and())) > 0) {
      report.warning('never-used', at, `no row of ${table.name} has ${values.join(' or ')} as ${column.column}`, {
        expected: 'a value of the column, or no condition on it',
      });
    }
    const written = new Set(values.map(literal => String(literal).trimEnd()));
    for (const [text, spellings] of Map.groupBy(found, ({ values: [raw] }) => capitals(raw ?? ''))) {
      const raws = spellings.map(({ values: [raw] }) => String(raw).trimEnd());
      const [other = ''] = raws;
      if (raws.some(raw => written.has(raw))) continue;
      const rows = spellings.reduce((sum, group) => sum + group.rows, 0);
      report.warning(
        'never-used',
        at,
        `no row of ${table.name} has ${visible(asked.get(text) ?? text)} as ${column.column}`,
        {
          found: `${other} in ${plural(rows, 'row')}`,
          suggestion: other.trim(),
        },
      );
    }
  }
}

function capitals(literal: string | number): string {
  return String(literal)
    .trim()
    .replace(/[a-z]/g, letter => letter.toUpperCase());
}

interface Ordered {
  readonly rows: Scope;
  readonly on: Lookup['on'] | ChildRows['on'];
  readonly order: readonly Order[];
  readonly at: Position;
}

/**
 * Finds ambiguous orders: a `pick` of lookups or an `order` of child rows in which several rows of one parent are
 * equal.
 * The engine then chooses anew in each statement, and a search or sort may use another row than the resource shows. In:
 * lookups and `each` nodes. Out: warnings with numbers, never with values. Pages are not affected, because they use the
 * key. It runs one statement per lookup with `pick`, and per `each` with `order`.
 */
export async function checkOrders(
  lookups: readonly ScopedLookup[],
  children: readonly ScopedChildRows[],
  asking: Checking,
): Promise<void> {
  for (const { lookup } of lookups) {
    const { table, alias, where, on, pick, at } = lookup;
    const ordered = { rows: { table, alias, where, lookups: [] }, on, order: pick, at };
    await checkOrder(`\`pick\` of lookup ${alias}`, ordered, asking);
  }
  for (const { from, at } of children) {
    const ordered = { rows: from.scope, on: from.on, order: from.order, at };
    await checkOrder('`order`', ordered, asking);
  }
}

/** Rows without a value to order by count as equal. */
async function checkOrder(what: string, { rows, on, order, at }: Ordered, asking: Checking): Promise<void> {
  const { catalog, report } = asking;
  const theirs = on.map(joinedBy);
  const columns = order.flatMap(columnOf);
  if (order.length === 0 || !isClosed(rows)) return;
  if (isPromised(rows, [...exactly(on), ...columns, ...fixedColumns(rows)], findTable(catalog, rows.table), true))
    return;
  const tied = await countDuplicates(asking, rows, [...theirs, ...columns], TRUE, theirs);
  if (tied === 0) return;
  report.warning(
    'unstable-order',
    at,
    `${what} is the same in several rows, ${manyOf(tied, 'time')}: the engine decides which comes first`,
    {
      expected: 'a further column that distinguishes them',
    },
  );
}

function columnOf({ by }: Order): readonly ColumnExpression[] {
  return by.kind === 'column' ? [by] : [];
}

/**
 * Checks `sql` expressions, which only the engine understands. In: the `sql` values of the mappings, including those
 * with alternatives. Out: an error if the engine refuses one, for its syntax or for some row, because that row would
 * fail every search; a warning if no row gives a value. It computes each `sql` for all rows of its scope.
 */
export async function checkExpressions(expressions: readonly ScopedValue[], asking: Checking): Promise<void> {
  const { report } = asking;
  for (const { scope, node } of expressions) {
    if (!isClosed(scope)) continue;
    const raw = node.from.filter(from => from.kind === 'raw');
    const own = new Set<string>(aliasesIn(scope));
    // Within an `each` it may read an enclosing row, and then it cannot be computed in this scope alone.
    if ([...aliasesOf({ expressions: raw })].some(alias => !own.has(alias))) continue;
    try {
      for (const expression of raw) await countRows(asking, scope, isNull(expression));
    } catch (error) {
      if (!(error instanceof DatabaseError) || error.reason !== 'failed') throw error;
      report.error(
        'statement-refused',
        node.at,
        `the database cannot compute this \`sql\`: ${error.words ?? error.message}`,
      );
      continue;
    }
    const given = node.codec.present(node.from, asking.clock);
    if ((await countRows(asking, scope, given)) > 0) continue;
    const rows = await countRows(asking, scope, TRUE);
    if (rows > 0) report.warning('never-used', node.at, `this \`sql\` gives no value in any of ${plural(rows, 'row')}`);
  }
}

/**
 * Finds references that lead nowhere: none of the rows with a key finds a row of the target, so the join is probably
 * wrong. In: the references of the mappings. Out: warnings. A few rows without a target are normal, and so are those
 * for which another alternative of a `first` gives the element.
 */
export async function checkTargets(refs: readonly ScopedRef[], registry: Registry, asking: Checking): Promise<void> {
  const { report } = asking;
  for (const ref of refs) {
    const { scope, node } = ref;
    if (!isClosed(scope) || !node.on.every(({ ours }) => isOwn(ours, scope))) continue;
    const target = registry.mapping(node.target).source;
    const theirs = node.on.map(on => on.theirs);
    const { relation, aliases } = renameRelation(asking.readScope(target, and(), asking.clock, theirs));
    const joined = node.on.map(on => equals(renameExpression(on.theirs, aliases), on.ours));
    const keyed = and(reached(ref, asking), ...node.on.map(hasKey));
    const found = exists({ ...relation, where: and(...joined, relation.where) });
    if ((await countRows(asking, scope, and(keyed, found))) > 0) continue;
    const rows = await countRows(asking, scope, and(keyed, not(replaced(ref, asking))));
    if (rows === 0) continue;
    report.warning(
      'dangling-reference',
      node.at,
      `no reference to ${node.target} finds a row of ${target.table.name}`,
      {
        expected: 'columns with the same content on both sides',
        found: `${plural(rows, 'row')} with ${node.on.map(on => on.ours.column).join(' and ')}`,
      },
    );
  }
}
