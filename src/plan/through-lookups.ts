/**
 * Speeds up a search on a joined row, such as the code of a concept that a fact refers to. In: a condition on rows with
 * to-one joins. Out: the same condition on the rows' own columns, with the keys of the joined rows that satisfy it
 * (src/plan/key.ts). No key gives FALSE, a few become a list, and with many the join stays.
 * docs/decisions/0270-codes-one-join-away.md
 */
import type { JoinColumn } from '../mapping/model.ts';
import { and, conjuncts, FALSE, inSelects, or } from '../sql/construct.ts';
import type { ColumnExpression, Expression, FunctionName, Join, Predicate, Relation } from '../sql/expression.ts';
import { predicateKey } from '../sql/expression-key.ts';
import type { Identifier, TableName } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import { asksExactly, boundOf, freeAliases, isOf } from './bounds.ts';
import type { Environment } from './environment.ts';
import { isComparedAlike } from './in-selects.ts';
import { addPlaceholders, keysFirst, oursAmong } from './key.ts';
import { type PlanningContext, wordsFirst } from './words-first.ts';

/** A to-one join by key columns: `theirs` of the joined row, `ours` of rows before it. */
interface Link {
  readonly table: TableName;
  readonly alias: Identifier;
  readonly on: readonly JoinColumn[];
  /** A further condition on the joined row. */
  readonly where: Predicate;
}

/**
 * Rewrites the condition of `rows`, which has the joins that it needs. `mapping`: the one that the rows belong to.
 * Unknown keys are requested in `env.pending`, and conditions that need them are FALSE until then. Returns the same
 * object if nothing is one join away. `byKey`: rows are read in the order of their key, page by page.
 */
export function throughLookups(
  rows: Relation,
  mapping: string,
  env: Environment,
  { byKey = false }: { readonly byKey?: boolean } = {},
): Predicate {
  const going: PlanningContext = { mapping, env, known: new Set() };
  const narrowed = { ...rows, where: wordsFirst(rows, going) };
  const joined = throughJoins(narrowed, going);
  if (joined === narrowed.where) return joined;
  // Also serves an OR of words and of conditions that are by now on the rows' own columns.
  const sought = wordsFirst({ ...narrowed, where: joined }, going);
  return isWorthwhile(sought, narrowed, byKey, going) ? sought : narrowed.where;
}

/**
 * Adds bounds for picked rows. A picked row is one of several candidates: if the condition asks for one value of it,
 * the rows before it join some candidate with that value, which an index finds. The condition on the picked row stays.
 */
export function amongPicked({ joins, where }: Relation): Predicate {
  const bounds = joins.flatMap(join => {
    const link = join.pick && linkOf({ ...join, pick: undefined });
    const asked = conjuncts(where).filter(part => isOf(part, join.alias) && asksExactly(part) && rejectsNull(part));
    const pair = link?.on.find(({ theirs, ours }) => isComparedAlike(theirs.type, ours.type));
    if (!link || !pair || asked.length === 0) return [];
    const from = { table: link.table, alias: link.alias, joins: [], where: and(link.where, ...asked) };
    return [inSelects(pair.ours, [{ select: pair.theirs, from }])];
  });
  return bounds.length === 0 ? where : and(where, ...bounds);
}

/**
 * True if searching by keys is faster. One list of keys needs one index, and its rows come in the order of their key.
 * For keys in one column OR another the engine reads and sorts all matches: in a page by key that pays only if they are
 * few. If rows may match without any of the keys, the engine reads all rows anyway.
 */
function isWorthwhile(
  sought: Predicate,
  { table, alias, where }: Relation,
  byKey: boolean,
  { mapping, env }: PlanningContext,
): boolean {
  if (sought.kind === 'false') return true;
  const before = new Set(conjuncts(where));
  const exact = (part: Predicate): Predicate | undefined => (asksExactly(part) && isOf(part, alias) ? part : undefined);
  const bounds = conjuncts(sought).flatMap(part => (before.has(part) ? [] : (boundOf(part, exact) ?? [])));
  if (bounds.some(({ kind }) => kind !== 'or')) return true;
  const [either] = bounds;
  if (!either || !byKey) return either !== undefined;
  const rows = { table, alias, joins: [], where: either };
  return keysFirst(nameOf(rows, []), { mapping, from: () => rows, columns: [] }, env) !== 'many';
}

function throughJoins({ where, joins }: Relation, going: PlanningContext): Predicate {
  // A lookup may refer to those before it, so the last one comes first.
  return joins.toReversed().reduce(
    (condition, join) => {
      const link = linkOf(join);
      return link ? throughLink(condition, link, going) : condition;
    },
    throughChildren(where, going),
  );
}

/** Finds rows by their child rows, if the condition names a value of these, searches their lookups, or their words. */
function throughChildren(of: Predicate, going: PlanningContext): Predicate {
  switch (of.kind) {
    case 'and':
    case 'or': {
      const parts = of.of.map(part => throughChildren(part, going));
      if (parts.every((part, i) => part === of.of[i])) return of;
      return of.kind === 'and' ? and(...parts) : or(...parts);
    }
    case 'exists': {
      if (of.not || of.byRow) return of;
      const where = throughJoins({ ...of.from, where: wordsFirst(of.from, going) }, going);
      if (where.kind === 'false') return FALSE;
      if (where === of.from.where && !namesValue(where)) return of;
      // Many child rows are searched by their parent row, as before: an engine without statistics would search them by
      // concept for each row.
      return seekParents({ ...of.from, where }, going) ?? of;
    }
    default:
      return of;
  }
}

/** True if a column equals a value of the request, such as an identifier: an index may lead to the child rows. */
function namesValue(of: Predicate): boolean {
  switch (of.kind) {
    case 'and':
      return of.of.some(namesValue);
    case 'or':
      return of.of.every(namesValue);
    case 'equals':
    case 'in':
      return of.left.kind === 'column' && asksExactly(of);
    default:
      return false;
  }
}

/** Matches our rows whose columns equal the keys of some of these child rows. */
function seekParents(children: Relation, going: PlanningContext): Predicate | undefined {
  const own = new Set([children.alias, ...children.joins.map(({ alias }) => alias)]);
  const on: JoinColumn[] = [];
  const rest: Predicate[] = [];
  for (const part of conjuncts(children.where)) {
    const pair = pairOf(part, children.alias);
    if (pair && !own.has(pair.ours.alias)) on.push(pair);
    else if ([...freeAliases(part)].every(alias => own.has(alias))) rest.push(part);
    else return undefined;
  }
  return on.length === 0 ? undefined : seekRows(withNeededJoins({ ...children, where: and(...rest) }), on, going);
}

/** Drops left joins that nothing refers to any more. */
function withNeededJoins(relation: Relation): Relation {
  const joins: Join[] = [];
  for (const join of relation.joins.toReversed()) {
    const parts = [relation.where, ...joins.map(({ on }) => on)];
    if (join.kind === 'inner' || parts.some(part => freeAliases(part).has(join.alias))) joins.unshift(join);
  }
  return { ...relation, joins };
}

/** Returns the join as a link. Undefined unless key columns of rows before it alone decide which row is joined. */
function linkOf({
  table,
  alias,
  on,
  pick,
}: Pick<Join, 'table' | 'alias' | 'on'> & { readonly pick?: unknown }): Link | undefined {
  if (pick) return undefined;
  const pairs: JoinColumn[] = [];
  const own: Predicate[] = [];
  for (const part of conjuncts(on)) {
    const pair = pairOf(part, alias);
    if (pair) pairs.push(pair);
    else if (isOf(part, alias)) own.push(part);
    else return undefined;
  }
  return pairs.length === 0 ? undefined : { table, alias, on: pairs, where: and(...own) };
}

function pairOf(part: Predicate, alias: Identifier): JoinColumn | undefined {
  if (part.kind !== 'equals' || part.not) return undefined;
  const { left: theirs, right: ours } = part;
  if (theirs.kind !== 'column' || ours.kind !== 'column') return undefined;
  return theirs.alias === alias && ours.alias !== alias ? { theirs, ours } : undefined;
}

/**
 * Replaces the conditions on the joined row alone by conditions on our columns; returns the same object if it has none.
 */
function throughLink(of: Predicate, link: Link, going: PlanningContext): Predicate {
  if (isOf(of, link.alias)) return seek(of, link, going) ?? of;
  if (of.kind !== 'and' && of.kind !== 'or') return of;
  const joined = of.kind === 'and' ? and : or;
  const alone = of.of.filter(part => isOf(part, link.alias));
  const sought = alone.length === 0 ? undefined : seek(joined(...alone), link, going);
  // FALSE makes the other parts irrelevant, even if it is FALSE only because keys are not known yet.
  if (of.kind === 'and' && sought?.kind === 'false') return sought;
  const parts = of.of.map(part => (alone.includes(part) ? part : throughLink(part, link, going)));
  if (sought) return joined(sought, ...parts.filter(part => !alone.includes(part)));
  return parts.every((part, i) => part === of.of[i]) ? of : joined(...parts);
}

/** Returns the condition on our columns. Undefined if it holds without a joined row, or if the join must stay. */
function seek(of: Predicate, { table, alias, on, where }: Link, going: PlanningContext): Predicate | undefined {
  return rejectsNull(of) ? seekRows({ table, alias, joins: [], where: and(where, of) }, on, going) : undefined;
}

/**
 * Matches our rows whose columns equal the keys of some of these rows. Undefined if there are many, or if no request
 * names a value of them.
 */
function seekRows(
  rows: Relation,
  on: readonly JoinColumn[],
  { mapping, env, known }: PlanningContext,
): Predicate | undefined {
  if (!isAsked(rows.where, known)) return undefined;
  const columns = on.map(({ theirs }) => theirs);
  const name = nameOf(rows, columns);
  const keys = keysFirst(name, { mapping, from: () => rows, columns }, env);
  if (keys === undefined) return FALSE;
  if (keys === 'many') return undefined;
  const found = oursAmong(on, keys, env.keyPlaceholders?.get(name));
  addPlaceholders(found, known);
  return found;
}

function nameOf(rows: Relation, columns: readonly ColumnExpression[]): string {
  const named = columns.map(({ column }) => column).join();
  return `${rows.table.schema ?? ''} ${named} of ${predicateKey({ kind: 'exists', from: rows, not: false })}`;
}

/**
 * True if the condition compares with a code or text of the request; ranges leave too many rows. Ids do not count,
 * because each round plans them with other placeholders.
 */
function isAsked(of: Predicate, known: ReadonlySet<number>): boolean {
  let stable = true;
  walk(
    { predicates: [of] },
    {
      value({ placeholder }) {
        stable &&= typeof placeholder !== 'number' || known.has(placeholder);
      },
    },
  );
  return stable && asksExactly(of);
}

/** Functions that return NULL for NULL on every engine. */
const STRICT: ReadonlySet<FunctionName> = new Set([
  'rtrim',
  'trim',
  'upper',
  'fold',
  'digits',
  'number',
  'text',
  'uuid',
]);

/** True if the condition is false when all columns are NULL, as they are in an outer join without a row. */
function rejectsNull(of: Predicate): boolean {
  switch (of.kind) {
    case 'false':
      return true;
    case 'and':
      return of.of.some(rejectsNull);
    case 'or':
      return of.of.every(rejectsNull);
    case 'equals':
    case 'compare':
      return !of.not && (isNullForNull(of.left) || isNullForNull(of.right));
    case 'in':
      return !of.not && isNullForNull(of.left);
    case 'filled':
    case 'contains':
    case 'glob':
    case 'packed-date':
      return !of.not && isNullForNull(of.of);
    case 'null':
      return of.not && isNullForNull(of.of);
    default:
      return false;
  }
}

function isNullForNull(of: Expression): boolean {
  if (of.kind === 'column') return true;
  if (of.kind !== 'function' || !STRICT.has(of.name)) return false;
  const [first] = of.args;
  return typeof first === 'object' && isNullForNull(first);
}
