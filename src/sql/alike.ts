/**
 * Turns disjunctions of comparisons into lists. In: an OR whose parts compare the same operand, or keys of several
 * columns. Out: an equal predicate that compares with a list, so that the engine computes the operand once and can use
 * an index.
 */
import { among, and, conjuncts, equals, or } from './construct.ts';
import type { ColumnExpression, Expression, Predicate } from './expression.ts';
import { expressionKey, predicateKey } from './expression-key.ts';

type Comparison = Extract<Predicate, { readonly kind: 'equals' | 'in' | 'contains' }>;

/** A part of an OR, seen as a frame around its one comparison with a value of the request. */
export interface Framed {
  /** Equal for parts that differ only in the values of the comparison. */
  readonly key: string;
  readonly comparison: Comparison;
  /** Returns the part with another comparison in it. */
  around(comparison: Predicate): Predicate;
}

/** Merges the parts of an OR that have equal frames; leaves all else unchanged. */
export function withLists(predicate: Predicate): Predicate {
  if (predicate.kind !== 'or') return predicate;
  const groups = Map.groupBy(
    predicate.of.map(part => ({ part, framed: framedPart(part) })),
    ({ part, framed }) => framed?.key ?? part,
  );
  return or(
    ...[...groups.values()].map(group => {
      const [first] = group;
      const alike = group.flatMap(({ framed }) => framed ?? []);
      return first && group.length === 1 ? first.part : joined(alike);
    }),
  );
}

function joined(alike: readonly Framed[]): Predicate {
  const [first] = alike;
  return first
    ? first.around(
        listed(
          first.comparison,
          alike.map(({ comparison }) => comparison),
        ),
      )
    : or();
}

/** Returns one comparison with the values of all. */
function listed(first: Comparison, all: readonly Comparison[]): Predicate {
  if (first.kind === 'contains') {
    const texts = all.flatMap(one => (one.kind === 'contains' ? one.texts : []));
    return { ...first, texts: [...new Set(texts)] };
  }
  const values = new Map(all.flatMap(valuesOf).map(value => [expressionKey(value), value]));
  return among(first.left, [...values.values()]);
}

/** Returns the frame of a part; undefined if it has no such comparison, or several. */
export function framedPart(part: Predicate): Framed | undefined {
  if (part.kind !== 'and') return framedComparison(part);
  const frames = part.of.map(framedComparison);
  const [only, ...more] = frames.filter(frame => frame !== undefined);
  // If two comparisons differ, a list for each would match more than the OR.
  if (!only || more.length > 0) return undefined;
  const at = frames.indexOf(only);
  return {
    key: `and(${part.of.map((one, i) => (i === at ? only.key : predicateKey(one))).join()})`,
    comparison: only.comparison,
    around: comparison => and(...part.of.with(at, comparison)),
  };
}

function framedComparison(part: Predicate): Framed | undefined {
  const around = (comparison: Predicate): Predicate => comparison;
  switch (part.kind) {
    case 'contains':
      return part.not ? undefined : { key: `${part.where} of ${expressionKey(part.of)}`, comparison: part, around };
    case 'equals':
    case 'in':
      if (part.not || !valuesOf(part).every(isAsked)) return undefined;
      return { key: `in ${expressionKey(part.left)}`, comparison: part, around };
    default:
      return undefined;
  }
}

function valuesOf(comparison: Comparison): readonly Expression[] {
  if (comparison.kind === 'equals') return [comparison.right];
  return comparison.kind === 'in' ? comparison.values : [];
}

/** True for a value of the request. Constants of a mapping do not count: they do not differ between equal parts. */
function isAsked(of: Expression): boolean {
  return of.kind === 'value' && of.value !== null && !of.constant;
}

/** A key column (or an expression of columns), and the value to compare it with. */
export interface KeyOperand {
  readonly column: Expression;
  readonly value: Expression;
}

/** The most combinations of listed values, because an engine may seek each of them. */
const SEEKS_AT_MOST = 2000;
/** The most values in all lists beside the OR: SQL Server takes 2,100 parameters. */
const LISTED_AT_MOST = 500;

/**
 * Returns the rows with one of these keys, all of the same columns in the same order. Adds a list of values for each
 * column, because SQLite uses no index for a long OR of conjunctions of texts.
 */
export function amongKeys(keys: readonly (readonly KeyOperand[])[]): Predicate {
  const [first = []] = keys;
  if (first.length === 1) return listOf(keys, 0);
  const whole = or(...keys.map(key => and(...key.map(({ column, value }) => equals(column, value)))));
  return whole.kind === 'or' ? and(...listsBeside(keys), whole) : whole;
}

/** Returns the lists of the columns: always the first one's, and others while their combinations are few. */
function listsBeside(keys: readonly (readonly KeyOperand[])[]): readonly Predicate[] {
  const lists: Predicate[] = [];
  let seeks = 1;
  let listed = 0;
  for (const at of (keys[0] ?? []).keys()) {
    const values = distinct(keys, at).size;
    if (lists.length > 0 && (seeks * values > SEEKS_AT_MOST || listed + values > LISTED_AT_MOST)) continue;
    seeks *= values;
    listed += values;
    lists.push(listOf(keys, at));
  }
  return lists;
}

function listOf(keys: readonly (readonly KeyOperand[])[], at: number): Predicate {
  const values = distinct(keys, at);
  const [first] = values.values();
  return first
    ? among(
        first.column,
        [...values.values()].map(({ value }) => value),
      )
    : or();
}

function distinct(keys: readonly (readonly KeyOperand[])[], at: number): ReadonlyMap<string, KeyOperand> {
  return new Map(
    keys.flatMap(key => {
      const one = key[at];
      return one ? [[expressionKey(one.value), one] as const] : [];
    }),
  );
}

/** The most values of a list: longer ones save engines little, and a statement has a limit of parameters. */
const MOST_VALUES = 64;

/** By column: the values that it can have in rows that satisfy a condition. */
type Lists = ReadonlyMap<string, { readonly column: ColumnExpression; readonly values: readonly Expression[] }>;

/**
 * Adds to a condition the list of all values that its alternatives name for one column, because no engine sees that all
 * of them compare the same column. Returns the same object if there are no alternatives, or if one of them does not
 * limit the column.
 */
export function withColumnValues(of: Predicate): Predicate {
  const parts = conjuncts(of);
  if (!parts.some(part => part.kind === 'or')) return of;
  const said = new Set(parts.flatMap(part => [...namedIn(part).keys()]));
  const more = [...listsIn(of)].filter(([key, { values }]) => !said.has(key) && values.length <= MOST_VALUES);
  return more.length > 0 ? and(...more.map(([, { column, values }]) => among(column, values)), of) : of;
}

function listsIn(of: Predicate): Lists {
  switch (of.kind) {
    case 'and':
      // If a column has several lists, each is valid by itself, so one is enough.
      return new Map(of.of.flatMap(part => [...listsIn(part)]));
    case 'or': {
      const [first, ...others] = of.of.map(listsIn);
      return new Map(
        [...(first ?? [])].flatMap(([key, { column, values }]) => {
          const lists = others.map(other => other.get(key)?.values);
          if (!lists.every(list => list !== undefined)) return [];
          const all = new Map([values, ...lists].flat().map(value => [expressionKey(value), value]));
          return [[key, { column, values: [...all.values()] }] as const];
        }),
      );
    }
    default:
      return namedIn(of);
  }
}

function namedIn(of: Predicate): Lists {
  if ((of.kind !== 'equals' && of.kind !== 'in') || of.not || of.left.kind !== 'column') return new Map();
  const values = of.kind === 'in' ? of.values : [of.right];
  if (!values.every(value => value.kind === 'value')) return new Map();
  return new Map([[expressionKey(of.left), { column: of.left, values }]]);
}
