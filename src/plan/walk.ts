/**
 * Walks a search path through a mapping's element tree, and matches the primitives at its end. In: a node, the steps of
 * a compiled FHIRPath expression, and the test for the values there. Out: a Predicate that holds for a row exactly if
 * one of these values passes the test; undefined if SQL cannot decide it for one of them. Constants are decided while
 * planning, so that a mapping that cannot match is not queried.
 */

import { isBelow, upperAscii } from '../mapping/codecs/text.ts';
import type { Criterion, DigitsTest, StringMode } from '../mapping/criterion.ts';
import type { ConstantNode, Json, Node, ObjectNode } from '../mapping/model.ts';
import { childOf } from '../r4/definitions.ts';
import type { SearchPath, SearchStep } from '../r4/search-parameters.ts';
import { dateInterval } from '../search/dates.ts';
import type { Leaf } from '../search/types/search-type.ts';
import { withLists } from '../sql/alike.ts';
import { and, FALSE, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { fold, spacedWords } from '../sql/shared-functions.ts';
import { zoneOf } from '../time/zone.ts';
import { conditionPredicate } from './condition.ts';
import { complement, type Environment } from './environment.ts';
import { eachPredicate, earlierAbsent, notAbsent, objectPresent, presentPredicate } from './presence.ts';

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

/** Returns the JSON names of an element step: one, or those of a choice. */
function namesOf(node: Node, step: { readonly element: string; readonly type?: string }): readonly string[] {
  const child = childOf(node.type, step.element);
  if (!child) return [step.element];
  const names: string[] = [];
  for (const [name, type] of child.element.jsonNames) {
    if (step.type === undefined || step.type === type) names.push(name);
  }
  return names;
}

/** Continues in every member of that name, guarded by the conditions of the object around it. */
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

/** Returns a child of constant JSON as a node, so that paths lead through constants like through other nodes. */
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

/** Matches a primitive against any of several criteria; constants are decided while planning. */
export function primitiveAny(criteria: readonly Criterion[], env: Environment): Leaf {
  return node => {
    if (node.kind === 'constant')
      return criteria.some(criterion => constantSatisfies(node.json, criterion, env)) ? TRUE : FALSE;
    if (node.kind !== 'value') return undefined;
    const any = some(criteria.map(criterion => node.codec.match(node.from, criterion, env)));
    // A single value keeps the predicate of its codec.
    const matched = any && criteria.length > 1 ? withLists(any) : any;
    return matched && matched.kind !== 'false' ? and(matched, notAbsent(node, env)) : matched;
  };
}

/** Matches if the primitive is this text. */
export function exact(text: string, env: Environment): Leaf {
  return exactAny([text], env);
}

/** Matches if the primitive is one of these texts. */
export function exactAny(texts: readonly string[], env: Environment): Leaf {
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text })),
    env,
  );
}

/** Up to this many texts, a statement lists several spellings of each. */
const SPELLED_OUT = 8;

/** Matches if the primitive is one of these texts, ignoring the case of ASCII letters. */
export function anyCaseAny(texts: readonly string[], env: Environment): Leaf {
  const anyCase = texts.length > SPELLED_OUT ? 'listed' : 'alone';
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text, anyCase })),
    env,
  );
}

/** Matches a child element. */
export function child(node: Node, element: string, leaf: Leaf, env: Environment): Predicate | undefined {
  return along(node, [{ element }], leaf, env);
}

/** True if a constant of a mapping meets a criterion. */
export function constantSatisfies(json: Json, criterion: Criterion, env: Environment): boolean {
  if (json === null || typeof json === 'object') return false;
  const text = String(json);
  switch (criterion.kind) {
    case 'exact':
      return criterion.anyCase ? upperAscii(text) === upperAscii(criterion.text) : text === criterion.text;
    case 'string':
      return stringSatisfies(text, criterion.mode, criterion.text);
    case 'uri-below':
      return isBelow(text, criterion.text);
    case 'date': {
      const value = dateInterval(text, zoneOf(env.registry.pack.zone));
      if (!value) return false;
      return criterion.any.some(all =>
        all.every(({ edge, op, at }) => compares(edge === 'start' ? value.low : value.high, op, at)),
      );
    }
    case 'number': {
      const value = Number(text);
      return (
        !Number.isNaN(value) && criterion.any.some(all => all.every(({ op, at }) => compares(value, op, Number(at))))
      );
    }
    case 'digits': {
      const digits = text.replace(/[^0-9]/g, '');
      return criterion.any.some(one => passes(digits, /[xX#]/.test(text), one));
    }
  }
}

function stringSatisfies(text: string, mode: StringMode, wanted: string): boolean {
  switch (mode) {
    case 'exact':
      return text === wanted;
    case 'starts':
      return fold(text).startsWith(fold(wanted));
    case 'contains':
      return fold(text).includes(fold(wanted));
    case 'word':
      return spacedWords(text).includes(` ${wanted}`);
  }
}

function passes(found: string, extended: boolean, { digits, where }: DigitsTest): boolean {
  if (!/^[0-9]+$/.test(digits)) return false;
  if (where === 'whole') return found === digits;
  return where === 'end' ? found.endsWith(digits) : extended && found.startsWith(digits);
}

function compares(left: number, op: '<' | '<=' | '>' | '>=', right: number): boolean {
  switch (op) {
    case '<':
      return left < right;
    case '<=':
      return left <= right;
    case '>':
      return left > right;
    case '>=':
      return left >= right;
  }
}
