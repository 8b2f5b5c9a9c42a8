/**
 * Tokens, asked of the data types that have them. In: tokens, or the words of `:text`. Out: a Predicate; undefined where it
 * cannot be asked.
 * https://hl7.org/fhir/R4/search.html#token
 */
import type { Node } from '../mapping/model.ts';
import { childOf, isPrimitive, requiredValueSet, type ValueSet } from '../r4/definitions.ts';
import type { TokenValue } from '../search/query.ts';
import { FALSE, not, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { child, exact, exactAny, presenceLeaf, primitiveAny } from './primitive.ts';
import { every, some } from './walk.ts';

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

/** Some of these tokens: codes of Codings, values of Identifiers and ContactPoints, primitives. */
export function tokensMatch(node: Node, tokens: readonly TokenValue[], env: Environment): Predicate | undefined {
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
  const here = tokens.filter(({ system }) => !system);
  if (here.some(({ code }) => code === undefined)) return presentPredicate(node, env);
  const codes = here.flatMap(({ code }) => code ?? []);
  return codes.length === 0 ? FALSE : exactAny(codes, env)(node);
}

/** The systems that a `code` element under this parent implies by its required binding. */
export function impliedSystems(parentType: string, element: string): ValueSet['systems'] {
  const definition = childOf(parentType, element)?.element;
  return (definition && requiredValueSet(definition))?.systems ?? [];
}

/** `:text` on a token: the texts of a CodeableConcept, Coding or Identifier. */
export function textsMatch(node: Node, texts: readonly string[], env: Environment): Predicate | undefined {
  const leaf = primitiveAny(
    texts.map(text => ({ kind: 'string', mode: 'starts', text })),
    env,
  );
  switch (node.type) {
    case 'CodeableConcept':
      return some([
        child(node, 'text', leaf, env),
        child(node, 'coding', coding => child(coding, 'display', leaf, env), env),
      ]);
    case 'Coding':
      return child(node, 'display', leaf, env);
    case 'Identifier':
      return child(node, 'type', type => textsMatch(type, texts, env), env);
    default:
      return undefined;
  }
}
