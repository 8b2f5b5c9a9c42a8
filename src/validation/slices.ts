/**
 * Assigns the items of an element to its slices.
 *
 * In: items and the facts of their element. Out: the slices of each item. An item belongs to a slice if the slice's
 * facts at every discriminator's path are true of it. https://hl7.org/fhir/R4/profiling.html#discriminator
 */

import type { Discriminator, Facts } from './facts.ts';
import type { Item } from './item.ts';
import { inValueSet, matches } from './values.ts';

/** Returns the slices of each item; an item in none has an empty list. */
export function assignSlices(items: readonly Item[], facts: Facts): readonly (readonly [Item, readonly Facts[]])[] {
  const slices = Object.values(facts.slices ?? {});
  if (slices.length === 0) return [];
  return items.map(item => [item, slices.filter(slice => belongs(item, slice, facts.discriminators ?? []))] as const);
}

/** Returns the paths of slices whose items cannot be recognised, because they have no facts at their discriminators. */
export function blindSlices(facts: Facts, where = ''): readonly string[] {
  const slices = Object.entries(facts.slices ?? {}).flatMap(([name, slice]) => [
    ...(canRecognize(slice, facts.discriminators ?? []) ? [] : [`${where}:${name}`]),
    ...blindSlices(slice, `${where}:${name}`),
  ]);
  const children = Object.entries(facts.children ?? {});
  return [...slices, ...children.flatMap(([name, child]) => blindSlices(child, `${where}.${name}`))];
}

function canRecognize(slice: Facts, discriminators: readonly Discriminator[]): boolean {
  return (
    slice.extension !== undefined ||
    (discriminators.length > 0 &&
      discriminators.every(({ type, path }) =>
        type === 'type' ? slice.types !== undefined : factsAt(slice, namesIn(path)).some(isDistinctive),
      ))
  );
}

function belongs(item: Item, slice: Facts, discriminators: readonly Discriminator[]): boolean {
  if (!canRecognize(slice, discriminators)) return false;
  if (slice.extension !== undefined) return valuesAt(item.value, 'url').includes(slice.extension);
  return discriminators.every(({ type, path }) => {
    if (type === 'type') return slice.types?.includes(item.type) === true;
    const distinctive = factsAt(slice, namesIn(path)).filter(isDistinctive);
    return valuesAt(item.value, path).some(value => distinctive.every(facts => isTrueOf(facts, value)));
  });
}

/** True if facts say something that can distinguish values. */
export function isDistinctive(facts: Facts): boolean {
  return facts.fixed !== undefined || facts.pattern !== undefined || facts.binding !== undefined;
}

function isTrueOf(facts: Facts, value: unknown): boolean {
  if (facts.fixed !== undefined && !(matches(value, facts.fixed) && matches(facts.fixed, value))) return false;
  if (facts.pattern !== undefined && !matches(value, facts.pattern)) return false;
  return facts.binding === undefined || inValueSet(value, facts.binding);
}

/** Returns the names in the path of a discriminator. */
export function namesIn(path: string): readonly string[] {
  return path === '$this' ? [] : path.split('.');
}

/** Returns the facts of a slice about the elements at a path, including slices on the way. */
export function factsAt(slice: Facts, names: readonly string[]): readonly Facts[] {
  return names.reduce<readonly Facts[]>(
    (found, name) =>
      found.flatMap(facts => {
        const child = facts.children?.[name];
        return child === undefined ? [] : [child, ...Object.values(child.slices ?? {})];
      }),
    [slice],
  );
}

function valuesAt(value: unknown, path: string): readonly unknown[] {
  let found: readonly unknown[] = [value];
  for (const name of namesIn(path)) {
    found = found.flatMap(at => {
      const child =
        at !== null && typeof at === 'object' ? Object.entries(at).find(([key]) => key === name)?.[1] : undefined;
      return child === undefined ? [] : Array.isArray(child) ? child : [child];
    });
  }
  return found;
}
