/**
 * Plans tokens for the data types that have them. In: tokens, or the words of `:text`. Out: a Predicate; undefined if
 * SQL cannot answer it.
 * https://hl7.org/fhir/R4/search.html#token
 */

import { hasCase } from '../mapping/codecs/any-case.ts';
import type { Node } from '../mapping/model.ts';
import { childOf, isPrimitive, requiredValueSet, type ValueSet } from '../r4/definitions.ts';
import { ANY_CASE_SYSTEMS } from '../r4/systems.ts';
import type { TokenValue } from '../search/query.ts';
import { FALSE, not, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment } from './environment.ts';
import { presentPredicate } from './presence.ts';
import { anyCaseAny, child, exact, exactAny, presenceLeaf, primitiveAny } from './primitive.ts';
import { every, type Leaf, some } from './walk.ts';

/** A data type with the two halves of a token. */
interface Pair {
  readonly system: string;
  readonly code: string;
  /** Codes are compared in any case beside these values of an element. */
  readonly anyCase?: { readonly element: string; readonly values: readonly string[] };
}

const PAIRS: Readonly<Record<string, Pair>> = {
  Coding: {
    system: 'system',
    code: 'code',
    anyCase: { element: 'system', values: ANY_CASE_SYSTEMS },
  },
  Identifier: { system: 'system', code: 'value' },
  ContactPoint: { system: 'use', code: 'value', anyCase: { element: 'system', values: ['email'] } },
};

/** A UUID is the same in either case, alone and as a URN. RFC 9562 section 4 */
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Some tokens of one system; both halves are asked of the same Coding or Identifier. Code undefined: any. */
function pairMatches(
  node: Node,
  names: Pair,
  wanted: string | undefined,
  codes: readonly (string | undefined)[],
  env: Environment,
): Predicate | undefined {
  const known = codes.filter(code => code !== undefined);
  const code = known.length < codes.length ? TRUE : codesMatch(node, names, wanted, known, env);
  if (wanted === undefined) return code;
  if (!env.rules.sameItem) return code;
  if (wanted !== '') return every([code, child(node, names.system, exact(wanted, env), env)]);
  const system = child(node, names.system, presenceLeaf(env), env);
  return every([code, presentPredicate(node, env), system && not(system)]);
}

/** One of some codes; case counts unless the kind of code, or the system beside it, says that it does not. */
function codesMatch(
  node: Node,
  { system, code, anyCase }: Pair,
  wanted: string | undefined,
  codes: readonly string[],
  env: Environment,
): Predicate | undefined {
  const exactly = child(node, code, codesAny(codes, env), env);
  const cased = codes.filter(hasCase);
  if (anyCase === undefined || cased.length === 0) return exactly;
  if (anyCase.element === system && wanted !== undefined)
    return anyCase.values.includes(wanted) ? child(node, code, anyCaseAny(codes, env), env) : exactly;
  const beside = child(node, anyCase.element, exactAny(anyCase.values, env), env);
  if (beside?.kind === 'false') return exactly;
  const freely = (some: readonly string[]) => child(node, code, anyCaseAny(some, env), env);
  return beside?.kind === 'true' ? freely(codes) : some([exactly, every([beside, freely(cased)])]);
}

/** Codes as they stand, UUIDs in any case. */
export function codesAny(codes: readonly string[], env: Environment): Leaf {
  const [uuids, others] = [codes.filter(code => UUID.test(code)), codes.filter(code => !UUID.test(code))];
  if (uuids.length === 0) return exactAny(codes, env);
  return node => some([exactAny(others, env)(node), anyCaseAny(uuids, env)(node)]);
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
  const [free, cased] = [here.filter(({ anyCase }) => anyCase), here.filter(({ anyCase }) => !anyCase)];
  const codesOf = (some: readonly TokenValue[]) => some.flatMap(({ code }) => code ?? []);
  return some([
    cased.length === 0 ? FALSE : codesAny(codesOf(cased), env)(node),
    free.length === 0 ? FALSE : anyCaseAny(codesOf(free), env)(node),
  ]);
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
