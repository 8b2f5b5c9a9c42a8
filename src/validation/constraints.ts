/**
 * Evaluates the invariants of types and profiles.
 *
 * In: facts and the item that they are about. Out: error lines. https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */

import { isPrimitive } from '../r4/definitions.ts';
import { compilePath, type Path } from '../r4/fhirpath.ts';
import type { Facts } from './facts.ts';
import type { Item } from './item.ts';

const compiled = new Map<string, Path>();

/** One line for each invariant that is not true of the item. */
export function invariantErrors(
  facts: readonly Facts[],
  { value, type, where }: Item,
  resources: { readonly resource: object; readonly rootResource: object },
): readonly string[] {
  if (value === undefined) return [];
  const constraints = new Map(
    facts.flatMap(fact => Object.entries(fact.constraints ?? {})).map(([key, text]) => [key + text, { key, text }]),
  );
  return [...constraints.values()].flatMap(({ key, text }) => {
    // Some invariants about dateTime stand on a choice that may also be a Period, and are not meant for that.
    if (/\$this as dateTime/.test(text) && type !== 'dateTime') return [];
    const { resource, rootResource } = resources;
    const subject = isPrimitive(type) ? { [`value${type.charAt(0).toUpperCase()}${type.slice(1)}`]: value } : value;
    if (subject === null || typeof subject !== 'object') return [];
    return isTrue(pathOf(text, type), subject, { resource, rootResource }) ? [] : [`${where}: ${key}: ${text}`];
  });
}

function isTrue(path: Path, subject: object, variables: Readonly<Record<string, object>>): boolean {
  try {
    const result = path(subject, variables);
    return result.length === 1 && result[0] === true;
  } catch {
    // Values of the wrong type, as in the comparison of a malformed date.
    return false;
  }
}

function pathOf(expression: string, type: string): Path {
  const key = `${type} ${expression}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  // Nothing can be resolved here; a literal reference says its type.
  const text = expression.replace(/resolve\(\) is (\w+)/g, "reference.matches('(^|/)$1/')");
  // A primitive is wrapped so that the engine knows its type.
  const path = isPrimitive(type) ? compilePath(`value.all(${text})`, 'Extension') : compilePath(text, type);
  compiled.set(key, path);
  return path;
}
