/**
 * Writes disjunctions of comparisons as lists. In: an OR whose parts compare the same operand, or keys of several
 * columns. Out: an equal predicate that compares with a list, so that the engine computes the operand once, and uses an
 * index.
 */
import { among, and, conjuncts, equals, or } from './construct.ts';
import type { ColumnExpression, Expression, Predicate } from './expression.ts';
import { expressionKey, predicateKey } from './expression-key.ts';

type Comparison = Extract<Predicate, { readonly kind: 'equals' | 'in' | 'contains' }>;

/** A part of an OR by the one comparison in it with what a request says. */
export interface Framed {
  /** The same for parts that differ in nothing but the values of the comparison. */
  readonly key: string;
  readonly comparison: Comparison;
  /** The part with another comparison. */
  around(comparison: Predicate): Predicate;
}

/** Parts of an OR that are alike become one; all else is left as it is. */
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
      return first && group.length === 1 ? first.part : together(alike);
    }),
  );
}

function together(alike: readonly Framed[]): Predicate {
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

/** One comparison with all that several are made with. */
function listed(first: Comparison, all: readonly Comparison[]): Predicate {
  if (first.kind === 'contains') {
    const texts = all.flatMap(one => (one.kind === 'contains' ? one.texts : []));
    return { ...first, texts: [...new Set(texts)] };
  }
  const values = new Map(all.flatMap(valuesOf).map(value => [expressionKey(value), value]));
  return among(first.left, [...values.values()]);
}

/** Undefined where the part has no such comparison, or several. */
export function framedPart(part: Predicate): Framed | undefined {
  if (part.kind !== 'and') return framedComparison(part);
  const frames = part.of.map(framedComparison);
  const [only, ...more] = frames.filter(frame => frame !== undefined);
  // Two may differ together, and a list of each would then ask for less.
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

/** By a request: in what the mapping says, parts that are alike do not differ. */
function isAsked(of: Expression): boolean {
  return of.kind === 'value' && of.value !== null && !of.constant;
}

/** A key column (or what is made of it), and what it is compared with. */
export interface KeyOperand {
  readonly column: Expression;
  readonly value: Expression;
}

/** An engine may seek each combination of the lists: no more of them than this. */
const SEEKS_AT_MOST = 2000;
/** Of the lists beside the OR together: SQL Server takes 2,100 parameters. */
const LISTED_AT_MOST = 500;

/**
 * Rows with one of these keys; all keys are of the same columns, in the same order. SQLite uses no index for a long OR
 * of conjunctions of texts, so the values of each column stand beside it as a list.
 */
export function amongKeys(keys: readonly (readonly KeyOperand[])[]): Predicate {
  const [first = []] = keys;
  if (first.length === 1) return listOf(keys, 0);
  const whole = or(...keys.map(key => and(...key.map(({ column, value }) => equals(column, value)))));
  return whole.kind === 'or' ? and(...listsBeside(keys), whole) : whole;
}

/** The columns' own lists, the first column's always; further ones as long as their combinations are few. */
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

/** Lists that are longer save no engine much, and a statement has a limit of parameters. */
const MOST_VALUES = 64;

/** By column: the values of which it has one in each row that satisfies a condition. */
type Lists = ReadonlyMap<string, { readonly column: ColumnExpression; readonly values: readonly Expression[] }>;

/**
 * A condition behind the list of a column's values that its alternatives name between them: no engine sees that all of
 * them ask for the same column. The same object where there are no alternatives, or one of them leaves the column open.
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
      // Of several lists of a column each is true by itself.
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
