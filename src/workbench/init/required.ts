/**
 * Determines what FHIR requires of the resource that a proposal makes. In: a kind of record, and the elements for which
 * columns were found. Out: the required elements that they make, those with a constant (hints.json), and those that are
 * missing.
 */
import { elementsOf } from '../../r4/definitions.ts';
import type { Kind } from './hints.ts';

interface Made {
  readonly path: string;
}

/** Returns the elements that FHIR requires in a resource or an element. */
export function requiredOf(path: string): readonly string[] {
  return elementsOf(path).flatMap(({ min, name }) => (min > 0 ? [name] : []));
}

/** Returns the first name of a path. */
export const firstOf = (path: string): string => path.split('.', 1)[0] ?? path;

/** Returns the element that makes a required one, also as a choice (`medicationCodeableConcept`). */
export function makes<T extends Made>(elements: readonly T[], name: string): T | undefined {
  return elements.find(({ path }) => firstOf(path) === name || new RegExp(`^${name}[A-Z]`).test(firstOf(path)));
}

/** Returns the required elements that neither a column nor a constant makes. */
export function requiredWithout({ resource, constants = {} }: Kind, elements: readonly Made[]): readonly string[] {
  return requiredOf(resource).filter(name => makes(elements, name) === undefined && constants[name] === undefined);
}
