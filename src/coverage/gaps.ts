/**
 * Describes what a profile lacks. In: its elements and searches. Out: one text per gap.
 */
import type { ElementCoverage } from './elements-of.ts';
import type { SearchCoverage } from './searches.ts';

/** Returns texts such as `not mapped: a, b`. Elements within an element that is not mapped are omitted. */
export function elementGapsOf(elements: readonly ElementCoverage[]): readonly string[] {
  const unmapped = elements.filter(({ state }) => state === 'unmapped').map(({ element }) => element);
  const isWithin = (inner: string, outer: string): boolean =>
    inner.startsWith(outer) && /^[.:=]/.test(inner.slice(outer.length));
  const outermost = unmapped.filter(inner => !unmapped.some(outer => isWithin(inner, outer)));
  return [
    ...(outermost.length === 0 ? [] : [`not mapped: ${outermost.join(', ')}`]),
    ...elements.flatMap(({ element, lacksTargets }) =>
      lacksTargets.map(target => `${element} never refers to a ${target}`),
    ),
  ];
}

export function searchGapsOf(searches: readonly SearchCoverage[]): readonly string[] {
  return searches.flatMap(({ search, strength, lacks }) =>
    strength === 'SHALL' ? lacks.map(lack => `search ${search}: ${lack}`) : [],
  );
}
