/**
 * Asks a value of a FHIR data type whether it matches a search value: takes the data type apart into questions to
 * primitives. In: a typed value. Out: a Leaf for src/plan/walk.ts.
 * https://hl7.org/fhir/R4/search.html#ptypes
 */
import type { Criterion, DateEdge } from '../mapping/criterion.ts';
import type { Node } from '../mapping/model.ts';
import { isPrimitive } from '../r4/definitions.ts';
import type { Modifier, TypedValue } from '../search/query.ts';
import { framedPart } from '../sql/alike.ts';
import { UNICODE } from '../sql/column-type.ts';
import { call, constant, FALSE, not, TRUE } from '../sql/construct.ts';
import type { Expression, Predicate } from '../sql/expression.ts';
import { wordsIn } from '../sql/words.ts';
import { bearingLeaf, DATES } from './bearing.ts';
import { dateEdges, type Edges, numberEdges, rangeEdges } from './edges.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { child, exact, exactAny, presenceLeaf, primitive, primitiveAny } from './primitive.ts';
import { referenceLeaf, writtenReferenceLeaf } from './reference.ts';
import { codesAny, textsMatch, tokensMatch } from './token.ts';
import { along, every, type Leaf, some } from './walk.ts';

/** The leaf that asks for one of some values, those of a kind together: what stands around them is asked for once. */
export function leafForAny(values: readonly TypedValue[], modifier: Modifier | undefined, env: Environment): Leaf {
  const leaves: Leaf[] = [];
  const ask = <Kind extends TypedValue['kind']>(
    kind: Kind,
    leafOf: (members: readonly Of<Kind>[]) => Leaf | readonly Leaf[],
  ): void => {
    const members = values.filter((value): value is Of<Kind> => value.kind === kind);
    if (members.length > 0) leaves.push(...[leafOf(members)].flat());
  };
  ask('token', tokens =>
    modifier === 'identifier'
      ? node => child(node, 'identifier', identifier => tokensMatch(identifier, tokens, env), env)
      : node => tokensMatch(node, tokens, env),
  );
  ask('string', strings =>
    stringLeaf(
      strings.map(({ text }) => text),
      modifier,
      env,
    ),
  );
  ask('reference', references => {
    const [made, written] = [referenceLeaf(references, env), writtenReferenceLeaf(references, env)];
    return node => (node.kind === 'object' ? child(node, 'reference', written, env) : made(node));
  });
  ask('typed-identifier', identifiers => identifiers.map(identifier => typedIdentifierLeaf(identifier, env)));
  ask('uri', uris =>
    primitiveAny(
      uris.map(({ uri }) => ({ kind: modifier === 'below' ? 'uri-below' : 'exact', text: uri })),
      env,
    ),
  );
  ask('date', dates => {
    const any = dates.flatMap(date => dateEdges(date, env));
    return node => dateMatches(node, any, env);
  });
  ask('number', numbers => primitive({ kind: 'number', any: numbers.flatMap(numberEdges) }, env));
  ask('quantity', quantities =>
    [...Map.groupBy(quantities, ({ system, code }) => JSON.stringify([system, code])).values()].map(
      alike => node => quantitiesMatch(node, alike, env),
    ),
  );
  // A canonical is an address as it stands.
  ask('foreign-reference', references => {
    const leaf = exactAny(
      references.map(({ url }) => url),
      env,
    );
    return node => (isPrimitive(node.type) ? leaf(node) : FALSE);
  });
  ask('digits', tests => {
    const leaf = primitive({ kind: 'digits', any: tests.flatMap(({ any }) => any) }, env);
    return node => (isPrimitive(node.type) ? leaf(node) : child(node, 'value', leaf, env));
  });
  ask('composite', () => () => undefined);
  return node => some(leaves.map(leaf => leaf(node)));
}

type Of<Kind extends TypedValue['kind']> = Extract<TypedValue, { readonly kind: Kind }>;

function typedIdentifierLeaf({ type, value }: Of<'typed-identifier'>, env: Environment): Leaf {
  return node =>
    every([
      child(node, 'type', coded => tokensMatch(coded, [type], env), env),
      child(node, 'value', codesAny([value], env), env),
    ]);
}

const NAME_PARTS = ['family', 'given', 'prefix', 'suffix', 'text'];
const ADDRESS_PARTS = ['line', 'city', 'district', 'state', 'postalCode', 'country', 'text'];

function stringLeaf(texts: readonly string[], modifier: Modifier | undefined, env: Environment): Leaf {
  if (modifier === 'text') return node => textsMatch(node, texts, env);
  if (modifier === 'exact' || modifier === 'contains')
    return inParts(
      texts.map(text => [{ kind: 'string', mode: modifier, text }]),
      env,
    );
  return inParts(texts.map(criteriaOf), env);
}

/** More words than names have are no question for words: such a text is looked for as it begins. */
const MOST_WORDS = 8;

/** What a value of a string search asks for, all of it: words that begin so; else the text as it begins. */
function criteriaOf(text: string): readonly Criterion[] {
  const words = [...new Set(wordsIn(text))];
  if (words.length === 0 || words.length > MOST_WORDS) return [{ kind: 'string', mode: 'starts', text }];
  return words.map(word => ({ kind: 'string', mode: 'word', text: word }));
}

/** One of some conjunctions holds, each for the parts of one name or address together, or for one text. */
function inParts(any: readonly (readonly Criterion[])[], env: Environment): Leaf {
  // What is one comparison each is one comparison with a list.
  const single = any.flatMap(all => (all.length === 1 ? all : []));
  const several = any.filter(all => all.length > 1);
  const oneByOne = several.map(all => all.map(criterion => primitive(criterion, env)));
  return node => {
    const together = several.length > ONE_BY_ONE ? inOneText(node, several, env) : undefined;
    return some([
      single.length === 0 ? FALSE : ofParts(node, primitiveAny(single, env), env),
      ...(together ? [together] : oneByOne.map(leaves => every(leaves.map(leaf => ofParts(node, leaf, env))))),
    ]);
  };
}

/** More values of several words than these are one comparison where they can be. */
const ONE_BY_ONE = 4;

/**
 * Values of several words each, asked of all parts of a name or address as one text: a list of hundreds is then one comparison per row.
 * Undefined where the parts do not all stand in the row as texts.
 */
function inOneText(node: Node, any: readonly (readonly Criterion[])[], env: Environment): Predicate | undefined {
  const texts = any.map(all => all.map(one => (one.kind === 'string' ? ` ${one.text}` : '')).join(''));
  let isFixed = false;
  const ask = primitive({ kind: 'string', mode: 'word', text: 'probe' }, env);
  const probed = ofParts(
    node,
    part => {
      isFixed ||= part.kind !== 'value';
      return ask(part);
    },
    env,
  );
  if (!probed || isFixed || any.flat().some(one => one.kind !== 'string' || one.mode !== 'word')) return undefined;
  const parts = (probed.kind === 'or' ? probed.of : [probed]).map(wordsPart);
  const known = parts.filter(part => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  const blank = constant(' ', UNICODE);
  const whole = call(
    'concat',
    known.flatMap((part, i) => (i === 0 ? [part] : [blank, part])),
    UNICODE,
  );
  const of = call('words', [known.length === 1 && known[0] ? known[0] : whole], UNICODE);
  return { kind: 'contains', of, where: 'words', texts: [...new Set(texts)], not: false };
}

/** The text whose words a predicate looks into, empty where its other conditions do not hold; undefined for any other predicate. */
function wordsPart(part: Predicate): Expression | undefined {
  const framed = framedPart(part);
  const of = framed?.comparison.kind === 'contains' ? framed.comparison.of : undefined;
  const text = of?.kind === 'function' && of.name === 'words' ? of.args[0] : undefined;
  if (!framed || text === undefined || typeof text === 'number') return undefined;
  const when = framed.around(TRUE);
  return { kind: 'choice', of: [{ when, give: text }], otherwise: constant('', UNICODE), type: UNICODE };
}

function ofParts(node: Node, leaf: Leaf, env: Environment): Predicate | undefined {
  if (node.type === 'HumanName') return some(NAME_PARTS.map(part => child(node, part, leaf, env)));
  if (node.type === 'Address') return some(ADDRESS_PARTS.map(part => child(node, part, leaf, env)));
  return isPrimitive(node.type) ? leaf(node) : undefined;
}

function dateMatches(node: Node, any: Edges<DateEdge>, env: Environment): Predicate | undefined {
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
      child(node, 'event', event => dateMatches(event, any, env), env),
      along(node, [{ element: 'repeat' }, { element: 'bounds', type: 'Period' }], p => dateMatches(p, any, env), env),
    ]);
  }
  // Of a choice, a text or an age is no date.
  return DATES.has(node.type) ? primitive({ kind: 'date', any }, env)(node) : FALSE;
}

/** Quantities of one system and code. */
function quantitiesMatch(node: Node, quantities: readonly Of<'quantity'>[], env: Environment): Predicate | undefined {
  const [first] = quantities;
  if (!first || isPrimitive(node.type)) return undefined;
  if (node.type === 'Range') return rangeMatches(node, first, quantities, env);
  const any = quantities.flatMap(quantity => numberEdges(quantity.number));
  return every([child(node, 'value', primitive({ kind: 'number', any }, env), env), unitMatches(node, first, env)]);
}

/** A range with some end: a missing low lies below, a missing high above every number; the unit is that of each end. */
function rangeMatches(
  node: Node,
  unit: Of<'quantity'>,
  quantities: readonly Of<'quantity'>[],
  env: Environment,
): Predicate | undefined {
  const ofEnd = (end: 'low' | 'high', leaf: Leaf): Predicate | undefined =>
    along(node, [{ element: end }, { element: 'value' }], leaf, env);
  const open = (end: 'low' | 'high'): Predicate | undefined => {
    const there = ofEnd(end, presenceLeaf(env));
    return there && not(there);
  };
  const any = quantities.flatMap(({ number }) => rangeEdges(number));
  return every([
    bearingLeaf('quantity', env)(node),
    some(
      any.map(conjunction =>
        every(
          conjunction.map(({ end, edge }) => {
            const met = ofEnd(end, primitive({ kind: 'number', any: [[edge]] }, env));
            const unbounded = edge.op.startsWith(end === 'low' ? '<' : '>');
            return unbounded ? some([met, open(end)]) : met;
          }),
        ),
      ),
    ),
    ...(['low', 'high'] as const).map(end =>
      some([open(end), child(node, end, quantity => unitMatches(quantity, unit, env), env)]),
    ),
  ]);
}

/** The unit of a quantity is that of the question: its code with its system, or code or unit where no system is asked for. */
function unitMatches(node: Node, { system, code }: Of<'quantity'>, env: Environment): Predicate | undefined {
  const anySystem = system === undefined || system === '';
  if (code === undefined) return anySystem ? TRUE : child(node, 'system', exact(system, env), env);
  const coded = child(node, 'code', exact(code, env), env);
  if (anySystem) return some([coded, child(node, 'unit', exact(code, env), env)]);
  return every([coded, child(node, 'system', exact(system, env), env)]);
}
