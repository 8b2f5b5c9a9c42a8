/**
 * Finds what a resource refers to along search paths. In: the resource and compiled paths. Out: `Type/id` of each
 * reference there.
 */
import type { SearchPath, SearchStep } from '../r4/search-parameters.ts';

type Members = Readonly<Record<string, unknown>>;

export function referencesAt(resource: unknown, paths: readonly SearchPath[]): readonly string[] {
  const ends = paths.flatMap(path => path.reduce(take, [resource]));
  return ends.flatMap(end => {
    const reference = isMembers(end) ? end['reference'] : undefined;
    return typeof reference === 'string' ? [reference] : [];
  });
}

function take(values: readonly unknown[], step: SearchStep): readonly unknown[] {
  const members = values.filter(isMembers);
  if ('element' in step) return members.flatMap(one => namesIn(one, step.element).flatMap(name => one[name]));
  if ('where' in step) return members.filter(one => one[step.where.element] === step.where.equals);
  if ('resolves' in step) return members.filter(one => String(one['reference']).startsWith(`${step.resolves}/`));
  return [];
}

/** Of a choice the member has its type behind the name. */
function namesIn(members: Members, element: string): readonly string[] {
  return Object.keys(members).filter(
    name => name === element || (name.startsWith(element) && /^[A-Z]/.test(name.slice(element.length))),
  );
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
