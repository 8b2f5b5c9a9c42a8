/**
 * Smart constructors of expressions and predicates: they fold constants (`TRUE AND x` becomes `x`). In: parts, some of
 * which may be undefined for `some` and `every`, because SQL cannot answer them. Out: a tree of expression.ts.
 */
import { type ColumnType, INTEGER } from './column-type.ts';
import type { Expression, FunctionName, Operator, Predicate, Relation, SqlValue, SubSelect } from './expression.ts';
import { expressionKey, predicateKey } from './expression-key.ts';

export const TRUE: Predicate = { kind: 'true' };
export const FALSE: Predicate = { kind: 'false' };

export function value(content: SqlValue, type: ColumnType): Expression {
  return { kind: 'value', value: content, type };
}

/** Returns a value of a mapping or a codec, the same for all requests. */
export function constant(content: SqlValue, type: ColumnType): Expression {
  return { kind: 'value', value: content, type, constant: true };
}

/** Returns a value that each use of the plan supplies; `content` is the first use's. */
export function placeholderFor(content: SqlValue, type: ColumnType, placeholder: number): Expression {
  return { kind: 'value', value: content, type, placeholder };
}

export function call(name: FunctionName, args: readonly (Expression | number)[], type: ColumnType): Expression {
  const [first] = args;
  // A text that is trimmed already stays as it is.
  if (name === 'trim' && typeof first === 'object' && first.kind === 'function' && first.name === 'trim') return first;
  return { kind: 'function', name, args, type };
}

export function flag(when: Predicate): Expression {
  return { kind: 'flag', when, type: INTEGER };
}

/** Returns the expression if the predicate holds, else NULL. */
export function given(when: Predicate, of: Expression): Expression {
  return { kind: 'choice', of: [{ when, give: of }], type: of.type };
}

/** Conjunction, flattened and folded: FALSE if one part is FALSE, without TRUE parts and duplicates. */
export function and(...parts: readonly Predicate[]): Predicate {
  return combine('and', parts);
}

/** Disjunction, flattened and folded likewise. */
export function or(...parts: readonly Predicate[]): Predicate {
  return combine('or', parts);
}

function combine(kind: 'and' | 'or', parts: readonly Predicate[]): Predicate {
  const neutral = kind === 'and' ? 'true' : 'false';
  const absorbing = kind === 'and' ? FALSE : TRUE;
  const flat: Predicate[] = [];
  const add = (part: Predicate): boolean => {
    if (part.kind === absorbing.kind) return false;
    if (part.kind === neutral) return true;
    if (part.kind === kind) return part.of.every(add);
    flat.push(part);
    return true;
  };
  if (!parts.every(add)) return absorbing;
  const kept = flat.length > 1 ? distinct(flat) : flat;
  if (kind === 'and') knownNotNull(kept);
  if (kept.length === 0) return kind === 'and' ? TRUE : FALSE;
  const [only] = kept;
  return kept.length === 1 && only ? only : { kind, of: kept };
}

/** Removes duplicates and keeps the order. */
function distinct(predicates: readonly Predicate[]): Predicate[] {
  const byKey = new Map<string, Predicate>();
  for (const predicate of predicates) {
    const key = predicateKey(predicate);
    if (!byKey.has(key)) byKey.set(key, predicate);
  }
  return [...byKey.values()];
}

/** Shortens `x IS NOT NULL AND (x <> v OR x IS NULL)` to `x <> v`: the conjunction already excludes NULL. */
function knownNotNull(parts: Predicate[]): void {
  const notNull = new Set(parts.flatMap(p => (p.kind === 'null' && p.not ? [expressionKey(p.of)] : [])));
  if (notNull.size === 0) return;
  parts.forEach((part, i) => {
    if (part.kind !== 'equals' || !part.not || part.right.kind !== 'value' || part.left.type.kind === 'text') return;
    if (part.right.value === null || !notNull.has(expressionKey(part.left))) return;
    parts[i] = compare(part.left, '<>', part.right);
  });
}

/** Returns the exact complement, for NULL too. */
export function not(predicate: Predicate): Predicate {
  switch (predicate.kind) {
    case 'true':
      return FALSE;
    case 'false':
      return TRUE;
    case 'and':
      return or(...predicate.of.map(not));
    case 'or':
      return and(...predicate.of.map(not));
    default:
      return { ...predicate, not: !predicate.not };
  }
}

export function equals(left: Expression, right: Expression): Predicate {
  return { kind: 'equals', left, right, not: false };
}

export function compare(left: Expression, op: Operator, right: Expression): Predicate {
  return { kind: 'compare', left, op, right, not: false };
}

/** Compares with a list; folds to `equals` for one value and to FALSE for none. */
export function among(left: Expression, values: readonly Expression[]): Predicate {
  const [first] = values;
  if (!first) return FALSE;
  return values.length === 1 ? equals(left, first) : { kind: 'in', left, values, not: false };
}

export function isNull(of: Expression): Predicate {
  if (of.kind === 'column' && of.notNull) return FALSE;
  return { kind: 'null', of, not: false };
}

export function filled(of: Expression): Predicate {
  return { kind: 'filled', of, not: false };
}

export function glob(of: Expression, pattern: string): Predicate {
  return { kind: 'glob', of, pattern, not: false };
}

/** Compares with values of relations. Drops relations that have no rows; folds to FALSE if none remains. */
export function inSelects(left: Expression, of: readonly SubSelect[]): Predicate {
  const possible = of.filter(({ from }) => from.where.kind !== 'false');
  return possible.length === 0 ? FALSE : { kind: 'in-selects', left, of: possible, not: false };
}

export function exists(from: Relation, how: { readonly searches?: true } = {}): Predicate {
  return from.where.kind === 'false' ? FALSE : { kind: 'exists', from, ...how, not: false };
}

/** Disjunction; undefined if SQL cannot express one of the parts. */
export function some(parts: readonly (Predicate | undefined)[]): Predicate | undefined {
  return parts.every(part => part !== undefined) ? or(...parts) : undefined;
}

/** Conjunction likewise; FALSE if one part is FALSE, even if SQL cannot express another. */
export function every(parts: readonly (Predicate | undefined)[]): Predicate | undefined {
  if (parts.some(part => part?.kind === 'false')) return FALSE;
  return parts.every(part => part !== undefined) ? and(...parts) : undefined;
}

/** Returns the parts of a conjunction; any other predicate is its only part. */
export function conjuncts(predicate: Predicate): readonly Predicate[] {
  return predicate.kind === 'and' ? predicate.of : [predicate];
}

/** Separates the conjuncts that all predicates share from those of each, so that one scan serves all. */
export function factor(predicates: readonly Predicate[]): {
  readonly common: readonly Predicate[];
  readonly specific: readonly Predicate[];
} {
  const lists = predicates.map(conjuncts);
  const [first = [], ...others] = lists.map(list => new Map(list.map(part => [predicateKey(part), part] as const)));
  const shared = new Set([...new Map(first).keys()].filter(key => others.every(other => other.has(key))));
  return {
    common: [...first].flatMap(([key, part]) => (shared.has(key) ? [part] : [])),
    specific: lists.map(list => and(...list.filter(part => !shared.has(predicateKey(part))))),
  };
}

/** True if the column has a value: not NULL, and for texts not blank either. */
export function hasValue(column: Expression): Predicate {
  return column.type.kind === 'text' ? filled(column) : not(isNull(column));
}
