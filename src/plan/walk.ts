/**
 * Walks a search path through a mapping's element tree. In: a node, the steps of a compiled FHIRPath expression, and
 * the question to the values at its end. Out: a Predicate that holds for a row exactly if one of these values
 * satisfies the question; undefined if SQL cannot answer it for one of them.
 */
import type { ConstantNode, Json, Node, ObjectNode } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import type { SearchPath, SearchStep } from '../r4/search-parameters.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { and, FALSE, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { conditionPredicate } from './condition.ts';
import { complement, type Environment } from './environment.ts';
import { eachPredicate, earlierAbsent, objectPresent, presentPredicate } from './presence.ts';

export function along(node: Node, path: SearchPath, leaf: Leaf, env: Environment): Predicate | undefined {
  const inner = alongInside(node, path, leaf, env);
  if (!inner || !node.if) return inner;
  return and(conditionPredicate(node.if, env), inner);
}

function alongInside(node: Node, path: SearchPath, leaf: Leaf, env: Environment): Predicate | undefined {
  switch (node.kind) {
    case 'list':
      return some(node.items.map(item => along(item, path, leaf, env)));
    case 'each': {
      const item = along(node.item, path, leaf, env);
      return item && eachPredicate(node, item, env);
    }
    case 'first':
      return some(
        node.alternatives.map((alternative, i) => {
          const here = along(alternative, path, leaf, env);
          if (!here || here.kind === 'false' || !env.rules.firstExcludes) return here;
          return and(
            ...node.alternatives.slice(0, i).map(earlier => complement(presentPredicate(earlier, env), env)),
            here,
          );
        }),
      );
    case 'constant':
      if (Array.isArray(node.json)) return some(constantItems(node).map(item => along(item, path, leaf, env)));
      break;
    default:
      break;
  }
  const [step, ...rest] = path;
  return step ? takeStep(node, step, rest, leaf, env) : leaf(node);
}

function takeStep(node: Node, step: SearchStep, rest: SearchPath, leaf: Leaf, env: Environment): Predicate | undefined {
  if ('element' in step) {
    return some(namesOf(node, step).map(name => intoChild(node, name, child => along(child, rest, leaf, env), env)));
  }
  if ('where' in step) {
    const kept = along(
      node,
      [{ element: step.where.element }],
      value => constantEquals(value, step.where.equals, env),
      env,
    );
    const onward = along(node, rest, leaf, env);
    return kept && onward && (env.rules.sameItem ? and(kept, onward) : onward);
  }
  if ('resolves' in step) {
    if (node.kind === 'ref') {
      return env.registry.mapping(node.target).resource === step.resolves ? along(node, rest, leaf, env) : FALSE;
    }
    if (node.kind === 'constant') {
      return typeof referenceOf(node.json) === 'string' && referenceOf(node.json)?.startsWith(`${step.resolves}/`)
        ? along(node, rest, leaf, env)
        : FALSE;
    }
    return FALSE;
  }
  return undefined;
}

function constantEquals(node: Node, text: string, env: Environment): Predicate | undefined {
  if (node.kind === 'constant') return String(node.json) === text ? TRUE : FALSE;
  return node.kind === 'value' ? node.codec.match(node.from, { kind: 'exact', text }, env) : undefined;
}

function referenceOf(json: Json): string | undefined {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return undefined;
  const reference = (json as { readonly reference?: Json }).reference;
  return typeof reference === 'string' ? reference : undefined;
}

/** JSON names that an element step stands for: one, or those of a choice. */
function namesOf(node: Node, step: { readonly element: string; readonly type?: string }): readonly string[] {
  const child = childOf(node.type, step.element);
  if (!child) return [step.element];
  const names: string[] = [];
  for (const [name, type] of child.element.jsonNames) {
    if (step.type === undefined || step.type === type) names.push(name);
  }
  return names;
}

/** Continues in every member of that name; guards are those of the object around it. */
function intoChild(
  node: Node,
  name: string,
  onward: (child: Node) => Predicate | undefined,
  env: Environment,
): Predicate | undefined {
  if (node.kind === 'constant') {
    const child = constantChild(node, name);
    return child ? onward(child) : FALSE;
  }
  if (node.kind === 'ref') {
    const member = node.members.find(m => m.name === name);
    if (!member) return FALSE;
    const here = onward(member.node);
    return here && and(presentPredicate(node, env), here);
  }
  if (node.kind !== 'object') return FALSE;
  return some(
    node.members.map(member => {
      if (member.kind === 'element') {
        return member.name === name ? guarded(node, name, onward(member.node), env) : FALSE;
      }
      return some(
        member.alternatives.map((alternative, i) => {
          const child = alternative.find(named => named.name === name);
          if (!child) return FALSE;
          const here = guarded(node, name, onward(child.node), env);
          return here && here.kind !== 'false' ? and(earlierAbsent(member, i, env), here) : here;
        }),
      );
    }),
  );
}

function guarded(node: ObjectNode, name: string, here: Predicate | undefined, env: Environment): Predicate | undefined {
  return here && here.kind !== 'false' ? and(objectPresent(node, name, env), here) : here;
}

/** A child of constant JSON as a node, so that paths lead through constants as through anything else. */
function constantChild(node: ConstantNode, name: string): Node | undefined {
  const { json } = node;
  if (json === null || typeof json !== 'object' || Array.isArray(json) || !Object.hasOwn(json, name)) return undefined;
  const child = (json as Readonly<Record<string, Json>>)[name];
  if (child === undefined) return undefined;
  return { kind: 'constant', json: child, type: childOf(node.type, name)?.type ?? 'string', at: node.at };
}

function constantItems(node: ConstantNode): readonly Node[] {
  return Array.isArray(node.json) ? node.json.map(json => ({ ...node, json })) : [node];
}
