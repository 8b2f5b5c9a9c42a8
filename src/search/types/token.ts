/**
 * Search type `token`: a code with its system, in Codings, Identifiers, ContactPoints and primitives.
 * https://hl7.org/fhir/R4/search.html#token
 */
import { hasCase } from '../../mapping/codecs/text.ts';
import type { Node } from '../../mapping/model.ts';
import { childOf, elementAt, isPrimitive, requiredValueSet, type ValueSet } from '../../r4/definitions.ts';
import type { SearchPath } from '../../r4/search-parameters.ts';
import { ANY_CASE_SYSTEMS } from '../../r4/systems.ts';
import { every, FALSE, not, some, TRUE } from '../../sql/construct.ts';
import type { Predicate } from '../../sql/expression.ts';
import type { Modifier, TokenValue, TypedValue } from '../query.ts';
import { splitEscaped, unescaped, type ValueContext, wrong } from '../values.ts';
import { type Asking, type Leaf, type Of, paths, type SearchType } from './search-type.ts';

export const TOKEN: SearchType = {
  read: readToken,
  parts: {
    CodeableConcept: paths('coding', 'text'),
    Coding: paths('system', 'code', 'display'),
    Identifier: paths('system', 'value', 'type'),
    ContactPoint: paths('value'),
  },
};

/** Reads `code`, `system|code`, `|code` or `system|`. */
export function readToken(text: string): TokenValue {
  const parts = splitEscaped(text, '|');
  const [first = '', ...rest] = parts;
  if (rest.length === 0) return { kind: 'token', system: undefined, code: unescaped(first) };
  const code = unescaped(rest.join('|'));
  return { kind: 'token', system: unescaped(first), code: code === '' ? undefined : code };
}

/** Reads the value of `:of-type`: `system|code|value` of an Identifier. */
export function readTypedIdentifier(text: string, context: ValueContext): Of<'typed-identifier'> {
  const [system = '', code = '', value = '', ...more] = splitEscaped(text, '|').map(unescaped);
  if (code === '' || value === '' || more.length > 0) throw wrong(context, 'system|code|value');
  return { kind: 'typed-identifier', type: { kind: 'token', system: system === '' ? undefined : system, code }, value };
}

export function tokenLeaf(tokens: readonly TokenValue[], modifier: Modifier | undefined, ask: Asking): Leaf {
  return modifier === 'identifier'
    ? node => ask.child(node, 'identifier', identifier => tokensMatch(identifier, tokens, ask))
    : node => tokensMatch(node, tokens, ask);
}

export function typedIdentifierLeaf({ type, value }: Of<'typed-identifier'>, ask: Asking): Leaf {
  return node =>
    every([
      ask.child(node, 'type', coded => tokensMatch(coded, [type], ask)),
      ask.child(node, 'value', codesAny([value], ask)),
    ]);
}

/** A data type with the two halves of a token. */
interface Pair {
  readonly system: string;
  readonly code: string;
  /** Codes are compared in any case if this element has one of these values. */
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

/** A UUID is equal in either case, alone and as a URN. RFC 9562 section 4 */
const UUID = /^(?:urn:uuid:)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Matches tokens of one system. Both halves must belong to the same Coding or Identifier. Code undefined: any. */
function pairMatches(
  node: Node,
  names: Pair,
  wanted: string | undefined,
  codes: readonly (string | undefined)[],
  ask: Asking,
): Predicate | undefined {
  const known = codes.filter(code => code !== undefined);
  const code = known.length < codes.length ? TRUE : codesMatch(node, names, wanted, known, ask);
  if (wanted === undefined) return code;
  if (!ask.sameItem) return code;
  if (wanted !== '') return every([code, ask.child(node, names.system, ask.exact(wanted))]);
  const system = ask.child(node, names.system, ask.present);
  return every([code, ask.present(node), system && not(system)]);
}

/** Matches one of some codes. Case counts, unless the kind of code or its system says that it does not. */
function codesMatch(
  node: Node,
  { system, code, anyCase }: Pair,
  wanted: string | undefined,
  codes: readonly string[],
  ask: Asking,
): Predicate | undefined {
  const exactly = ask.child(node, code, codesAny(codes, ask));
  const cased = codes.filter(hasCase);
  if (anyCase === undefined || cased.length === 0) return exactly;
  if (anyCase.element === system && wanted !== undefined)
    return anyCase.values.includes(wanted) ? ask.child(node, code, ask.anyCase(...codes)) : exactly;
  const beside = ask.child(node, anyCase.element, ask.exact(...anyCase.values));
  if (beside?.kind === 'false') return exactly;
  const freely = (some: readonly string[]) => ask.child(node, code, ask.anyCase(...some));
  return beside?.kind === 'true' ? freely(codes) : some([exactly, every([beside, freely(cased)])]);
}

/** Matches codes exactly, UUIDs in any case. */
function codesAny(codes: readonly string[], ask: Asking): Leaf {
  const [uuids, others] = [codes.filter(code => UUID.test(code)), codes.filter(code => !UUID.test(code))];
  if (uuids.length === 0) return ask.exact(...codes);
  return node => some([ask.exact(...others)(node), ask.anyCase(...uuids)(node)]);
}

/** Matches one of these tokens: codes of Codings, values of Identifiers and ContactPoints, primitives. */
function tokensMatch(node: Node, tokens: readonly TokenValue[], ask: Asking): Predicate | undefined {
  if (node.type === 'CodeableConcept') return ask.child(node, 'coding', coding => tokensMatch(coding, tokens, ask));
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
          ask,
        ),
      ),
    );
  }
  if (!isPrimitive(node.type)) return undefined;
  // A primitive has no system; that of a required binding was removed by `asAskedAt`.
  const here = tokens.filter(({ system }) => !system);
  if (here.some(({ code }) => code === undefined)) return ask.present(node);
  const [free, cased] = [here.filter(({ anyCase }) => anyCase), here.filter(({ anyCase }) => !anyCase)];
  const codesOf = (some: readonly TokenValue[]) => some.flatMap(({ code }) => code ?? []);
  return some([
    cased.length === 0 ? FALSE : codesAny(codesOf(cased), ask)(node),
    free.length === 0 ? FALSE : ask.anyCase(...codesOf(free))(node),
  ]);
}

/**
 * Prepares a token for a `code` element, which has no system of its own: a searched system must be among those of its
 * required binding. Returns none otherwise, so nothing matches.
 */
export function asAskedAt(resource: string, path: SearchPath, token: TypedValue): readonly TypedValue[] {
  if (token.kind !== 'token') return [token];
  const names = path.flatMap(step => ('element' in step ? [step.element] : []));
  const parent = [resource, ...names.slice(0, -1)].join('.');
  const last = names.at(-1) ?? '';
  if (elementAt([resource, ...names].join('.'))?.type !== 'code') return [token];
  const parentType = names.length === 1 ? resource : elementAt(parent)?.type;
  const systems = parentType === undefined ? [] : impliedSystems(parentType, last);
  const isAnyCase = systems.length > 0 && systems.every(({ system }) => ANY_CASE_SYSTEMS.includes(system));
  const asked: TokenValue = isAnyCase ? { ...token, anyCase: true } : token;
  if (token.system === undefined || token.system === '') return [asked];
  const implied = systems.find(({ system }) => system === token.system);
  if (implied === undefined) return [];
  const alone = { ...asked, system: undefined };
  if (systems.length === 1) return [alone];
  const { codes } = implied;
  if (token.code === undefined) return [...(codes ?? [])].map(code => ({ ...alone, code }));
  return codes === undefined || codes.has(token.code) ? [alone] : [];
}

/** Returns the systems that a `code` element under this parent implies by its required binding. */
function impliedSystems(parentType: string, element: string): ValueSet['systems'] {
  const definition = childOf(parentType, element)?.element;
  return (definition && requiredValueSet(definition))?.systems ?? [];
}

/** Matches `:text` of a token: the texts of a CodeableConcept, Coding or Identifier. */
export function textsMatch(node: Node, texts: readonly string[], ask: Asking): Predicate | undefined {
  const leaf = ask.primitive(...texts.map(text => ({ kind: 'string', mode: 'starts', text }) as const));
  switch (node.type) {
    case 'CodeableConcept':
      return some([
        ask.child(node, 'text', leaf),
        ask.child(node, 'coding', coding => ask.child(coding, 'display', leaf)),
      ]);
    case 'Coding':
      return ask.child(node, 'display', leaf);
    case 'Identifier':
      return ask.child(node, 'type', type => textsMatch(type, texts, ask));
    default:
      return undefined;
  }
}
