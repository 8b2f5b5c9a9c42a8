/**
 * Finds the items at a must-support path. In: the JSON of a resource, steps of guide.ts, facts about the profile. Out:
 * the items, as the certification tests look for them.
 */
import type { Facts } from '../validation/facts.ts';
import { type Item, isObject } from '../validation/item.ts';
import { assignSlices } from '../validation/slices.ts';
import type { Step } from './guide.ts';

/** A place in a resource or in a mapping, and the facts about it. */
export interface Place<T> {
  readonly at: T;
  readonly facts: readonly Facts[];
}

/** Returns all items at the end of a path. */
export function itemsAt(resource: unknown, steps: readonly Step[], facts: readonly Facts[]): readonly Item[] {
  const root: Item = { value: resource, sibling: undefined, type: '', where: '' };
  const belongs = (item: Item, slice: Facts, fact: Facts): boolean =>
    assignSlices([item], fact).some(([, own]) => own.includes(slice));
  return atEndOfPath({ at: root, facts }, steps, childItems, belongs);
}

/** Follows a path from place to place. If a step names a slice, only the children that belong to it count. */
export function atEndOfPath<T>(
  root: Place<T>,
  steps: readonly Step[],
  childrenOf: (at: T, step: Step) => readonly T[],
  belongs: (at: T, slice: Facts, facts: Facts) => boolean,
): readonly T[] {
  let places: readonly Place<T>[] = [root];
  for (const step of steps) {
    places = places.flatMap(({ at, facts }) => {
      const below = facts.flatMap(fact => fact.children?.[step.name.replace('[x]', '')] ?? []);
      const children = childrenOf(at, step);
      if (step.slice === '' || step.slice === step.name || step.name.endsWith('[x]'))
        return children.map(child => ({ at: child, facts: below }));
      return children.flatMap(child => {
        const slices = below.flatMap(fact => {
          const slice = fact.slices?.[step.slice];
          return slice && belongs(child, slice, fact) ? [slice] : [];
        });
        return slices.length > 0 ? [{ at: child, facts: [...below, ...slices] }] : [];
      });
    });
  }
  return places.map(({ at }) => at);
}

/** True if a JSON name matches a step: `value[x]:valueQuantity`, `value[x]`, `status`. */
export function isNamed(key: string, { name, slice }: Step): boolean {
  if (!name.endsWith('[x]')) return key === name;
  if (slice !== '') return key === slice;
  return key.startsWith(name.slice(0, -3)) && /^[A-Z]/.test(key.slice(name.length - 3));
}

/** Returns the items that a step leads to. */
export function childItems({ value, sibling }: Item, step: Step): readonly Item[] {
  // A primitive's extensions are in its sibling (`_name`).
  const from = isObject(value) ? value : isObject(sibling) ? sibling : {};
  const keys = new Set(Object.keys(from).map(key => key.replace(/^_/, '')));
  return [...keys]
    .filter(key => isNamed(key, step))
    .flatMap(key => {
      const values = listOf(from[key]);
      const siblings = listOf(from[`_${key}`]);
      return Array.from({ length: Math.max(values.length, siblings.length) }, (_, i) => ({
        value: values[i] ?? undefined,
        sibling: siblings[i] ?? undefined,
        type: '',
        where: key,
      })).filter(item => step.equals === '' || item.value === step.equals);
    });
}

function listOf(value: unknown): readonly unknown[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value];
}
