/**
 * What a typed search value asks of a value of a FHIR data type: the data types of a search parameter taken apart into
 * questions to primitives. In: a typed value. Out: a Leaf for src/plan/walk.ts.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { Node } from '../mapping/model.ts';
import { isPrimitive } from '../r4/definitions.ts';
import type { Modifier, TypedValue } from '../search/query.ts';
import { FALSE, not } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { dateEdges, numberEdges } from './edges.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { child, exact, presenceLeaf, primitive, primitiveAny } from './primitive.ts';
import { referenceLeaf } from './reference.ts';
import { textMatches, tokensMatch } from './token.ts';
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
