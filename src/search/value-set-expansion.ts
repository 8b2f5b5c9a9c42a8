/**
 * Replaces the value of a modifier by the values that it means: `:in` a value set by its codes, `:below` and `:above` a
 * code by its descendants or ancestors, `:above` a URI by its prefixes.
 *
 * In: a value as written. Out: the values to search. Throws a FhirError that names the parameter if the server does not
 * know the value set or hierarchy. https://hl7.org/fhir/R4/search.html#token
 */
import { FhirError } from '../outcome.ts';
import { codesAbove, codesBelow, codesOfValueSet, type Hierarchies, systemsWithHierarchy } from '../r4/terminology.ts';
import type { Modifier, TypedValue } from './query.ts';
import { readToken } from './types/token.ts';
import { LIMITS, type ParseContext, unescaped, type ValueContext } from './values.ts';

interface Expansion {
  /** The modifier of the replaced values. */
  readonly modifier: 'not' | undefined;
  values(text: string, name: ValueContext, context: ParseContext): readonly TypedValue[];
}

/** By type of the parameter and modifier. */
const EXPANSIONS: Readonly<Record<string, Expansion>> = {
  'token:in': { modifier: undefined, values: codesIn },
  'token:not-in': { modifier: 'not', values: codesIn },
  'token:below': { modifier: undefined, values: (text, name, context) => related(text, name, codesBelow, context) },
  'token:above': { modifier: undefined, values: (text, name, context) => related(text, name, codesAbove, context) },
  'uri:above': { modifier: undefined, values: addressesAbove },
};

export function expansionOf(type: string, modifier: Modifier): Expansion | undefined {
  const key = `${type}:${modifier}`;
  return Object.hasOwn(EXPANSIONS, key) ? EXPANSIONS[key] : undefined;
}

function codesIn(text: string, { name }: ValueContext, { offers }: ParseContext): readonly TypedValue[] {
  const [url = ''] = unescaped(text).split('|');
  const codes = offers.valueSet(url) ?? codesOfValueSet(url);
  if (codes === undefined)
    throw new FhirError('unsupported-search', `${name}: the codes of this value set are not known here`, {
      parameter: name,
    });
  return bounded(
    codes.flatMap(([system, own]) => own.map(code => ({ kind: 'token', system, code }) as const)),
    name,
  );
}

type Related = (system: string, code: string, more?: Hierarchies) => readonly string[] | undefined;

function related(
  text: string,
  { name }: ValueContext,
  find: Related,
  { offers: { hierarchies } }: ParseContext,
): readonly TypedValue[] {
  const { system: named, code = '' } = readToken(text);
  const systems = named === undefined ? systemsWithHierarchy(code, hierarchies) : [named];
  const found = systems.flatMap(system =>
    (find(system, code, hierarchies) ?? []).map(one => ({ kind: 'token', system, code: one }) as const),
  );
  if (found.length === 0)
    throw new FhirError('unsupported-search', `${name}: no hierarchy with this code is known here`, {
      parameter: name,
    });
  return bounded(found, name);
}

/** Returns the URI and every one that it is below, with and without a slash at the end. */
function addressesAbove(text: string, { name }: ValueContext): readonly TypedValue[] {
  const uri = unescaped(text);
  const found = [uri];
  const root = /^[a-z][a-z0-9+.-]*:\/\/[^/]+/i.exec(uri)?.[0].length ?? 1;
  for (let at = uri.lastIndexOf('/'); at >= root; at = uri.lastIndexOf('/', at - 1)) {
    found.push(uri.slice(0, at + 1), uri.slice(0, at));
  }
  return bounded(
    [...new Set(found)].map(one => ({ kind: 'uri', uri: one }) as const),
    name,
  );
}

function bounded(values: readonly TypedValue[], name: string): readonly TypedValue[] {
  if (values.length <= LIMITS.values) return values;
  throw new FhirError('too-costly', `${name} stands for more than ${LIMITS.values} values`, { parameter: name });
}
