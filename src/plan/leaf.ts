/**
 * What a typed search value asks of a value of a FHIR data type: the data types of a search parameter taken apart into
 * questions to primitives. In: a typed value. Out: a Leaf for src/plan/walk.ts.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { Criterion } from '../mapping/criterion.ts';
import type { Node } from '../mapping/model.ts';
import { childOf, isPrimitive, requiredValueSet } from '../r4/definitions.ts';
import type { Modifier, TokenValue, TypedValue } from '../search/query.ts';
import { and, FALSE, not, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { constantSatisfies } from './constant.ts';
import { dateEdges, numberEdges } from './edges.ts';
import type { Environment } from './environment.ts';
import { notAbsent, presentPredicate } from './presence.ts';
import { referenceLeaf } from './reference.ts';
import { along, every, type Leaf, some } from './walk.ts';

/** The leaf that asks for one of some values, those of a kind together: what stands around them is asked for once. */
export function leafForAny(values: readonly TypedValue[], modifier: Modifier | undefined, env: Environment): Leaf {
  const tokens = modifier === 'identifier' ? [] : values.filter(value => value.kind === 'token');
  const texts = modifier === 'text' ? [] : values.filter(value => value.kind === 'string').map(({ text }) => text);
  const references = values.filter(value => value.kind === 'reference');
  const together = new Set([
    ...(tokens.length > 0 ? ['token'] : []),
    ...(texts.length > 0 ? ['string'] : []),
    ...(references.length > 0 ? ['reference'] : []),
  ]);
  const leaves = [
    ...(tokens.length > 0 ? [(node: Node) => tokensMatch(node, tokens, env)] : []),
    ...(texts.length > 0 ? [stringLeaf(texts, modifier, env)] : []),
    ...(references.length > 0 ? [referenceLeaf(references, env)] : []),
    ...values.filter(({ kind }) => !together.has(kind)).map(value => leafFor(value, modifier, env)),
  ];
  return node => some(leaves.map(leaf => leaf(node)));
}

/** The leaf that asks for one value of a parameter. */
export function leafFor(value: TypedValue, modifier: Modifier | undefined, env: Environment): Leaf {
  switch (value.kind) {
    case 'token':
      return modifier === 'identifier'
        ? node => child(node, 'identifier', identifier => tokensMatch(identifier, [value], env), env)
        : node => tokensMatch(node, [value], env);
    case 'typed-identifier':
      return node =>
        every([
          child(node, 'type', type => tokensMatch(type, [value.type], env), env),
          child(node, 'value', exact(value.value, env), env),
        ]);
    case 'string':
      return modifier === 'text' ? node => textMatches(node, value.text, env) : stringLeaf([value.text], modifier, env);
    case 'uri':
      return modifier === 'below'
        ? primitive({ kind: 'uri-below', text: value.uri }, env)
        : primitive({ kind: 'exact', text: value.uri }, env);
    case 'date':
      return node => dateMatches(node, value, env);
    case 'number':
      return primitive({ kind: 'number', any: numberEdges(value) }, env);
    case 'quantity':
      return node => quantityMatches(node, value, env);
    case 'reference':
      return referenceLeaf([value], env);
    case 'foreign-reference':
      // A canonical is an address as it stands.
      return node => (isPrimitive(node.type) ? exact(value.url, env)(node) : FALSE);
    case 'digits':
      return node =>
        isPrimitive(node.type) ? primitive(value, env)(node) : child(node, 'value', primitive(value, env), env);
    case 'composite':
      return () => undefined;
  }
}

/** The leaf that asks whether there is a value at all. */
export function presenceLeaf(env: Environment): Leaf {
  return node => presentPredicate(node, env);
}

/** Asks a primitive; constants are decided here and now. */
export function primitive(criterion: Criterion, env: Environment): Leaf {
  return primitiveAny([criterion], env);
}

function primitiveAny(criteria: readonly Criterion[], env: Environment): Leaf {
  return node => {
    if (node.kind === 'constant')
      return criteria.some(criterion => constantSatisfies(node.json, criterion, env)) ? TRUE : FALSE;
    if (node.kind !== 'value') return undefined;
    const matched = some(criteria.map(criterion => node.codec.match(node.from, criterion, env)));
    return matched && matched.kind !== 'false' ? and(matched, notAbsent(node, env)) : matched;
  };
}

function exact(text: string, env: Environment): Leaf {
  return exactAny([text], env);
}

function exactAny(texts: readonly string[], env: Environment): Leaf {
  return primitiveAny(
    texts.map(text => ({ kind: 'exact', text })),
    env,
  );
}

function child(node: Node, element: string, leaf: Leaf, env: Environment): Predicate | undefined {
  return along(node, [{ element }], leaf, env);
}

/** The names of the two halves of a token in a data type. */
const PAIRS: Readonly<Record<string, { readonly system: string; readonly code: string }>> = {
  Coding: { system: 'system', code: 'code' },
  Identifier: { system: 'system', code: 'value' },
  ContactPoint: { system: 'use', code: 'value' },
};

/** Some tokens of one system; both halves are asked of the same Coding or Identifier. Code undefined: any. */
function pairMatches(
  node: Node,
  names: { readonly system: string; readonly code: string },
  wanted: string | undefined,
  codes: readonly (string | undefined)[],
  env: Environment,
): Predicate | undefined {
  const known = codes.filter(code => code !== undefined);
  const code = known.length < codes.length ? TRUE : child(node, names.code, exactAny(known, env), env);
  if (wanted === undefined) return code;
  if (!env.rules.sameItem) return code;
  if (wanted !== '') return every([code, child(node, names.system, exact(wanted, env), env)]);
  const system = child(node, names.system, presenceLeaf(env), env);
  return every([code, presentPredicate(node, env), system && not(system)]);
}

function tokensMatch(node: Node, tokens: readonly TokenValue[], env: Environment): Predicate | undefined {
  if (node.type === 'CodeableConcept') return child(node, 'coding', coding => tokensMatch(coding, tokens, env), env);
  const names = PAIRS[node.type];
  if (names) {
    const bySystem = Map.groupBy(tokens, ({ system }) => system);
    return some(
      [...bySystem].map(([system, members]) =>
        pairMatches(
          node,
          names,
          system,
          members.map(({ code }) => code),
          env,
        ),
      ),
    );
  }
  if (!isPrimitive(node.type)) return undefined;
  // A primitive has no system; that of a required binding is known to src/plan/filter.ts, which removes it beforehand.
  const codes = tokens.flatMap(({ code, system }) => (code === undefined || system ? [] : [code]));
  return codes.length === 0 ? FALSE : exactAny(codes, env)(node);
}

/** The systems that a `code` element under this parent implies by its required binding. */
export function impliedSystems(parentType: string, element: string): readonly string[] {
  const definition = childOf(parentType, element)?.element;
  const bound = definition && requiredValueSet(definition);
  return bound ? bound.systems.map(({ system }) => system) : [];
}

const NAME_PARTS = ['family', 'given', 'prefix', 'suffix', 'text'];
const ADDRESS_PARTS = ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'];

function stringLeaf(texts: readonly string[], modifier: Modifier | undefined, env: Environment): Leaf {
  const mode = modifier === 'exact' || modifier === 'contains' ? modifier : 'starts';
  const leaf = primitiveAny(
    texts.map(text => ({ kind: 'string', mode, text })),
    env,
  );
  return node => {
    if (node.type === 'HumanName') return some(NAME_PARTS.map(part => child(node, part, leaf, env)));
    if (node.type === 'Address') return some(ADDRESS_PARTS.map(part => child(node, part, leaf, env)));
    return isPrimitive(node.type) ? leaf(node) : undefined;
  };
}

/** `:text` on a token: the texts of a CodeableConcept, Coding or Identifier. */
function textMatches(node: Node, text: string, env: Environment): Predicate | undefined {
  const leaf = primitive({ kind: 'string', mode: 'starts', text }, env);
  switch (node.type) {
    case 'CodeableConcept':
      return some([
        child(node, 'text', leaf, env),
        child(node, 'coding', coding => child(coding, 'display', leaf, env), env),
      ]);
    case 'Coding':
      return child(node, 'display', leaf, env);
    case 'Identifier':
      return child(node, 'type', type => textMatches(type, text, env), env);
    default:
      return undefined;
  }
}

function dateMatches(
  node: Node,
  value: TypedValue & { readonly kind: 'date' },
  env: Environment,
): Predicate | undefined {
  const any = dateEdges(value, env);
  if (node.type === 'Period') {
    const open = (element: string): Predicate | undefined => {
      const there = child(node, element, presenceLeaf(env), env);
      return there && not(there);
    };
    return every([
      presentPredicate(node, env),
      some(
        any.map(conjunction =>
          every(
            conjunction.map(edge => {
              const element = edge.edge;
              const met = child(node, element, primitive({ kind: 'date', any: [[edge]] }, env), env);
              // A missing start lies before, a missing end after every instant.
              const unbounded = (element === 'start' && edge.op === '<') || (element === 'end' && edge.op === '>');
              return unbounded ? some([met, open(element)]) : met;
            }),
          ),
        ),
      ),
    ]);
  }
  if (node.type === 'Timing') {
    return some([
      child(node, 'event', event => dateMatches(event, value, env), env),
      along(node, [{ element: 'repeat' }, { element: 'bounds', type: 'Period' }], p => dateMatches(p, value, env), env),
    ]);
  }
  return isPrimitive(node.type) ? primitive({ kind: 'date', any }, env)(node) : undefined;
}

function quantityMatches(
  node: Node,
  value: TypedValue & { readonly kind: 'quantity' },
  env: Environment,
): Predicate | undefined {
  if (isPrimitive(node.type)) return undefined;
  const number = child(node, 'value', primitive({ kind: 'number', any: numberEdges(value.number) }, env), env);
  const { system, code } = value;
  if (code === undefined) {
    return system === undefined || system === ''
      ? number
      : every([number, child(node, 'system', exact(system, env), env)]);
  }
  const coded = child(node, 'code', exact(code, env), env);
  if (system === undefined || system === '') {
    return every([number, some([coded, child(node, 'unit', exact(code, env), env)])]);
  }
  return every([number, coded, child(node, 'system', exact(system, env), env)]);
}
