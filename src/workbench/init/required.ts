/**
 * What FHIR requires of the resource that a proposal makes. In: a kind of record, and the elements that columns were
 * found for. Out: the required elements that they make, those that a constant says (hints.json), and those that nothing
 * makes.
 */
import { elementsOf } from '../../r4/definitions.ts';
import type { Kind } from './hints.ts';

interface Made {
  readonly path: string;
}

/** The elements that FHIR requires of a resource or an element. */
export function requiredOf(path: string): readonly string[] {
  return elementsOf(path).flatMap(({ min, name }) => (min > 0 ? [name] : []));
}

/** The first name of a path. */
export const firstOf = (path: string): string => path.split('.', 1)[0] ?? path;

/** The element that makes a required one; of a choice (`medicationCodeableConcept`), too. */
export function makes<T extends Made>(elements: readonly T[], name: string): T | undefined {
  return elements.find(({ path }) => firstOf(path) === name || new RegExp(`^${name}[A-Z]`).test(firstOf(path)));
}

/** Required elements that neither a column nor a constant makes. */
export function requiredWithout({ resource, constants = {} }: Kind, elements: readonly Made[]): readonly string[] {
  return requiredOf(resource).filter(name => makes(elements, name) === undefined && constants[name] === undefined);
}
