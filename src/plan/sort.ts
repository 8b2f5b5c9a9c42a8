/**
 * Sorting, per mapping. In: a search parameter. Out: the SQL expressions that order a mapping's rows by it; undefined
 * where the mapping cannot (repeating elements, several candidates, a codec without an order).
 * https://hl7.org/fhir/R4/search.html#sort
 */
import type { OrderFace } from '../mapping/codecs/codec.ts';
import type { Mapping, Node, ValueNode } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';

export interface SortFace {
  readonly by: readonly Expression[];
  readonly order: OrderFace;
  /** Rows that have a value; TRUE if all served rows do. Missing values sort last, in both directions. */
  readonly present: Predicate;
}

/** Null: the mapping never emits the element, so all its rows sort as missing. */
export function sortFace(mapping: Mapping, parameter: SearchParameter, env: Environment): SortFace | null | undefined {
  const found: ValueNode[] = [];
  for (const path of parameter.paths ?? []) {
    const names = path.flatMap(step => ('element' in step ? [step.element] : []));
    if (names.length !== path.length) return undefined;
    if (!collect(mapping.root, names, found)) return undefined;
  }
  const [node, ...others] = found;
  if (!node) return null;
  if (others.length > 0 || !node.codec.order) return undefined;
  const order = node.codec.order;
  return { by: order.by(node.from), order, present: presentPredicate(node, env) };
}

/** Value nodes that single elements lead to. False: the element repeats or depends on alternatives. */
function collect(node: Node, names: readonly string[], found: ValueNode[]): boolean {
  const [name, ...rest] = names;
  if (name === undefined) {
    if (node.kind === 'value' && !node.if) return found.push(node) > 0;
    if (node.kind === 'object' && node.type === 'Period') return collect(node, ['start'], found);
    return false;
  }
  if (node.kind !== 'object' || node.if) return false;
  const wanted = childOf(node.type, name)?.element.jsonNames;
  for (const member of node.members) {
    if (member.kind === 'choice') {
      if (member.alternatives.some(a => a.some(n => wanted?.has(n.name)))) return false;
    } else if (wanted?.has(member.name) && !collect(member.node, rest, found)) return false;
  }
  return true;
}
