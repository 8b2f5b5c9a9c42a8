/**
 * Reads values for searches from resources, as the certification tests do. In: a resource and a parameter. Out: the
 * text for a query string, and the values to try comparators with.
 */

import { indexOf } from '../../src/law/oracle.ts';
import { interval } from '../../src/law/oracle-dates.ts';
import type { Indexed } from '../../src/law/oracle-values.ts';
import type { SearchParameter } from '../../src/r4/search-parameters.ts';
import type { Resource } from './demo-resources.ts';

export const ZONE = 'America/New_York';
const DAY = 86_400_000;

const known = new WeakMap<Resource, Map<SearchParameter, readonly Indexed[]>>();

/** Returns all values that a resource has for a parameter. They are cached, because they are needed repeatedly. */
export function indexedOf(resource: Resource, parameter: SearchParameter): readonly Indexed[] {
  const ofResource = known.get(resource) ?? new Map<SearchParameter, readonly Indexed[]>();
  known.set(resource, ofResource);
  const values = ofResource.get(parameter) ?? indexOf(resource, parameter.expression);
  ofResource.set(parameter, values);
  return values;
}

/** Returns the first value that a resource has for a parameter; for tokens, the code alone and with its system. */
export function valuesOf(resource: Resource, parameter: SearchParameter): readonly string[] {
  for (const indexed of indexedOf(resource, parameter)) {
    const texts = textsOf(indexed, parameter);
    if (texts.length > 0) return texts;
  }
  return [];
}

/** A day earlier for `gt` and `ge`, a day later for `lt` and `le`: the original value matches. */
export function compared(comparator: string, value: string): string {
  const { low, high } = interval(value, ZONE);
  const instant = comparator.startsWith('g') ? low - DAY : high + DAY;
  return comparator + new Date(instant).toISOString().replace('.000Z', 'Z');
}

function escaped(text: string): string {
  return text.replace(/[\\,$|]/g, match => `\\${match}`);
}

function textsOf({ type, value }: Indexed, parameter: SearchParameter): readonly string[] {
  if (typeof value === 'string') return parameter.type === 'uri' ? [value] : [escaped(value)];
  if (typeof value === 'boolean' || typeof value === 'number') return [String(value)];
  switch (type) {
    case 'CodeableConcept':
      return listOf(field(value, 'coding')).flatMap(coding => token(field(coding, 'system'), field(coding, 'code')));
    case 'Coding':
      return token(field(value, 'system'), field(value, 'code'));
    case 'Identifier':
      return token(field(value, 'system'), field(value, 'value'));
    case 'Reference':
      return texts(field(value, 'reference'));
    case 'Period':
      return [...texts(field(value, 'start')), ...texts(field(value, 'end'))].slice(0, 1);
    case 'HumanName':
      return [...texts(field(value, 'family')), ...listOf(field(value, 'given')).flatMap(texts)]
        .map(escaped)
        .slice(0, 1);
    case 'Address':
      return [...texts(field(value, 'city')), ...texts(field(value, 'postalCode'))].map(escaped).slice(0, 1);
    default:
      return [];
  }
}

function token(system: unknown, code: unknown): readonly string[] {
  if (typeof code !== 'string') return [];
  return typeof system === 'string' ? [escaped(code), `${escaped(system)}|${escaped(code)}`] : [escaped(code)];
}

function texts(value: unknown): readonly string[] {
  return typeof value === 'string' ? [value] : [];
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

function field(value: unknown, name: string): unknown {
  return value !== null && typeof value === 'object'
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}
