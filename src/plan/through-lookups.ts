/**
 * Speeds up a search on a joined row, such as the code of a concept that a fact refers to. In: a condition on rows
 * with to-one joins. Out: the same condition on the rows' own columns, with the keys of the joined rows that satisfy
 * it (src/plan/key.ts). No key: no row. A few keys: a list. Many: the join stays.
 * docs/decisions/0270-codes-one-join-away.md
 */
import type { JoinColumn } from '../mapping/model.ts';
import { and, conjuncts, FALSE, or, taken } from '../sql/construct.ts';
import type { ColumnExpression, Expression, FunctionName, Join, Predicate, Relation } from '../sql/expression.ts';
import { predicateKey } from '../sql/expression-key.ts';
import type { Identifier, TableName } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import { asksExactly, boundOf, freeAliases, isOf } from './bounds.ts';
import type { Environment } from './environment.ts';
import { addPlaceholders, keysFirst, oursAmong } from './key.ts';
import { isComparedAlike } from './taken.ts';
import { type PlanningContext, wordsFirst } from './words-first.ts';

/** A to-one join by key columns: `theirs` of the joined row, `ours` of rows before it. */
interface Link {
  readonly table: TableName;
  readonly alias: Identifier;
  readonly on: readonly JoinColumn[];
  /** What the joined row must be besides. */
  readonly where: Predicate;
}

/**
 * `rows`: the condition and the joins that it needs. `mapping`: whose rows they are. Keys that are not known yet are
 * asked for in `env.pending`, and what needs them is FALSE until then. The same object where nothing is one join away.
 * `byKey`: rows are read in the order of their key, some at a time.
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
  // Words of the rows themselves, or of what is known of the rows by now.
  const sought = wordsFirst({ ...narrowed, where: joined }, going);
  return isWorthwhile(sought, narrowed, byKey, going) ? sought : narrowed.where;
}

/**
 * A picked row is one of those that it is picked among. So where one value of it is asked for, the rows before it join
 * some row that has the value, which an index finds; the condition on the picked row stays.
 */
export function amongPicked({ joins, where }: Relation): Predicate {
  const bounds = joins.flatMap(join => {
    const link = join.pick && linkOf({ ...join, pick: undefined });
    const asked = conjuncts(where).filter(part => isOf(part, join.alias) && asksExactly(part) && rejectsNull(part));
    const pair = link?.on.find(({ theirs, ours }) => isComparedAlike(theirs.type, ours.type));
    if (!link || !pair || asked.length === 0) return [];
    const from = { table: link.table, alias: link.alias, joins: [], where: and(link.where, ...asked) };
    return [taken(pair.ours, [{ select: pair.theirs, from }])];
  });
  return bounds.length === 0 ? where : and(where, ...bounds);
}

/**
 * One list of keys is one index, in the order of the row's key. Of keys that stand in one column or in another all rows
 * are read and sorted: for a page in that order only if there are few. And where rows may match without any of the
 * keys, all are read, keys or not.
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
  // A lookup may refer to those before it, so the last is gone through first.
  return joins.toReversed().reduce(
    (condition, join) => {
      const link = linkOf(join);
      return link ? throughLink(condition, link, going) : condition;
    },
    throughChildren(where, going),
  );
}

/** Child rows of which one value is named, whose lookups are gone through, or whose words are sought: their rows. */
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
      // Many are looked for by their row, as they were: an engine without statistics would go by the concept for each
      // row.
      return seekParents({ ...of.from, where }, going) ?? of;
    }
    default:
      return of;
  }
}

/** A column as it stands is a value of a request, as that of an identifier is: an index may lead to the child rows. */
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

/** Our columns hold the keys of some of these child rows. */
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

/** Without left joins that nothing refers to any more. */
function withNeededJoins(relation: Relation): Relation {
  const joins: Join[] = [];
  for (const join of relation.joins.toReversed()) {
    const parts = [relation.where, ...joins.map(({ on }) => on)];
    if (join.kind === 'inner' || parts.some(part => freeAliases(part).has(join.alias))) joins.unshift(join);
  }
  return { ...relation, joins };
}

/** Undefined: which row is joined is not said by key columns of rows before it alone. */
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
 * What is asked of the joined row alone gives way to what that says of our columns; the same object where nothing does.
 */
function throughLink(of: Predicate, link: Link, going: PlanningContext): Predicate {
  if (isOf(of, link.alias)) return seek(of, link, going) ?? of;
  if (of.kind !== 'and' && of.kind !== 'or') return of;
  const joined = of.kind === 'and' ? and : or;
  const alone = of.of.filter(part => isOf(part, link.alias));
  const sought = alone.length === 0 ? undefined : seek(joined(...alone), link, going);
  // Nothing else needs to be asked for beside what is FALSE, also where keys are not known yet.
  if (of.kind === 'and' && sought?.kind === 'false') return sought;
  const parts = of.of.map(part => (alone.includes(part) ? part : throughLink(part, link, going)));
  if (sought) return joined(sought, ...parts.filter(part => !alone.includes(part)));
  return parts.every((part, i) => part === of.of[i]) ? of : joined(...parts);
}

/** Undefined: the condition holds without a joined row, or the join is to stay. */
function seek(of: Predicate, { table, alias, on, where }: Link, going: PlanningContext): Predicate | undefined {
  return rejectsNull(of) ? seekRows({ table, alias, joins: [], where: and(where, of) }, on, going) : undefined;
}

/** Our columns hold the keys of some of these rows. Undefined: there are many, or no request asks for one of them. */
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
 * A code or a text of a request is asked for: ranges leave too many rows. No value is an id's: those are planned in
 * other placeholders each round.
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

/** Functions that give NULL for NULL on every engine. */
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

/** Never holds where all columns are NULL, as an outer join without a row has them. */
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
