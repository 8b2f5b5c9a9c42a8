/**
 * Makes keys of expressions and predicates: equal texts for equal trees. By these keys a column is fetched once and a
 * predicate used once. They are not SQL. A long key is replaced by its digest: otherwise each predicate with the codes
 * of a large code map, and each predicate around it, would keep a text of hundreds of kilobytes.
 */
import { hash } from 'node:crypto';
import type { Expression, Join, Order, Predicate, Relation } from './expression.ts';

/** Limit of characters of a key; longer ones become digests. */
const LONGEST = 300;

function short(key: string): string {
  return key.length > LONGEST ? `#${hash('sha256', key, 'base64url')}` : key;
}

/** Likewise for fetched values: the unchanged column differs from its canonical text. */
export function fetchKey(expression: Expression): string {
  const key = expressionKey(expression);
  const { type } = expression;
  return expression.kind === 'column' && 'form' in type && type.form?.kind === 'any' ? `${key}~` : key;
}

export function expressionKey(expression: Expression): string {
  switch (expression.kind) {
    case 'column':
      return `${expression.alias}.${expression.column}`;
    case 'value':
      // Two placeholders may have equal values in one use and different ones in another.
      if (expression.placeholder !== undefined)
        return `?${typeof expression.placeholder === 'number' ? expression.placeholder : expression.placeholder.name}`;
      return `=${expression.value instanceof Uint8Array ? Buffer.from(expression.value).toString('hex') : JSON.stringify(expression.value)}`;
    case 'function':
      return `${expression.name}(${expression.args.map(a => (typeof a === 'number' ? a : expressionKey(a))).join()})`;
    case 'flag':
      return `flag(${predicateKey(expression.when)})`;
    case 'choice': {
      const choices = expression.of.map(({ when, give }) => `${predicateKey(when)}>${expressionKey(give)}`);
      return short(`choice(${choices.join('|')}|${expression.otherwise ? expressionKey(expression.otherwise) : ''})`);
    }
    case 'scalar':
      return `scalar(${expressionKey(expression.select)}|${relationKey(expression.from)}${orderKey(expression.order)})`;
    case 'first-piece': {
      const { select, of, by, alias, joins, where, order } = expression;
      return `piece(${expressionKey(select)}|${expressionKey(of)},${by},${alias},${joinsKey(joins)}${predicateKey(where)}${orderKey(order)})`;
    }
    case 'raw':
      return `raw(${expression.parts.map(p => (typeof p === 'string' ? p : expressionKey(p))).join('|')})`;
  }
}

function orderKey(orders: readonly Order[] = []): string {
  return orders
    .map(({ by, descending, native }) => `|${expressionKey(by)}${descending ? '-' : ''}${native ? '~' : ''}`)
    .join('');
}

/** Lists of values are immutable, and all uses of a code map share one list of its raw values. */
const lists = new WeakMap<readonly Expression[], string>();

function listKey(values: readonly Expression[]): string {
  const known = lists.get(values) ?? short(values.map(expressionKey).join());
  lists.set(values, known);
  return known;
}

/**
 * Predicates are immutable, and planning compares the same ones many times. Short keys are not cached: for a list of
 * hundreds of ids, caching each comparison costs more than it saves.
 */
const keys = new WeakMap<Predicate, string>();
/** Keys of fewer characters are not cached. */
const KEPT = 100;

export function predicateKey(predicate: Predicate): string {
  const known = keys.get(predicate);
  if (known !== undefined) return known;
  const whole = makePredicateKey(predicate);
  if (whole.length < KEPT) return whole;
  const made = short(whole);
  keys.set(predicate, made);
  return made;
}

function makePredicateKey(predicate: Predicate): string {
  const sign = 'not' in predicate && predicate.not ? '!' : '';
  switch (predicate.kind) {
    case 'true':
    case 'false':
      return predicate.kind;
    case 'and':
    case 'or':
      return `${predicate.kind}(${predicate.of.map(predicateKey).join()})`;
    case 'compare':
      return `${sign}${expressionKey(predicate.left)}${predicate.native ? '~' : ''}${predicate.op}${expressionKey(predicate.right)}`;
    case 'equals':
      return `${sign}${expressionKey(predicate.left)}==${expressionKey(predicate.right)}`;
    case 'in':
      return `${sign}${expressionKey(predicate.left)} in ${listKey(predicate.values)}`;
    case 'contains':
      return `${sign}contains(${expressionKey(predicate.of)},${predicate.where},${JSON.stringify(predicate.texts)})`;
    case 'glob':
      return `${sign}glob(${expressionKey(predicate.of)},${JSON.stringify(predicate.pattern)})`;
    case 'exists':
      return `${sign}exists(${relationKey(predicate.from)})`;
    case 'in-selects': {
      const selects = predicate.of.map(({ select, from }) => `${expressionKey(select)} of ${relationKey(from)}`);
      return `${sign}${expressionKey(predicate.left)} in-selects ${selects.join('|')}`;
    }
    case 'some-piece':
      return `${sign}piece(${expressionKey(predicate.of)},${predicate.by},${predicate.alias},${joinsKey(predicate.joins)}${predicateKey(predicate.where)})`;
    case 'raw':
      return `${sign}raw(${predicate.parts.map(p => (typeof p === 'string' ? p : expressionKey(p))).join('|')})`;
    case 'null':
    case 'filled':
    case 'packed-date':
      return `${sign}${predicate.kind}(${expressionKey(predicate.of)})`;
  }
}

function joinsKey(joins: readonly Join[] = []): string {
  return joins
    .map(j => {
      const pick = j.pick?.map(o => `${expressionKey(o.by)}${o.descending ? '-' : '+'}`).join();
      return `${j.kind} ${j.table.name} ${j.alias} ${predicateKey(j.on)} ${pick ?? ''}`;
    })
    .join();
}

function relationKey(relation: Relation): string {
  return `${relation.table.name} ${relation.alias} ${joinsKey(relation.joins)} ${predicateKey(relation.where)}`;
}
