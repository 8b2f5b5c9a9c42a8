/**
 * Finds the patients that a search names by id. In: its typed filters. Out: their logical ids. An answer may disclose
 * something about them without containing their data: a total, an empty result, or a resource that refers to nobody.
 * https://profiles.ihe.net/ITI/BALP (Patient Query)
 */
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import type { Filter, TypeQuestion } from './query.ts';

export function patientsNamed(questions: readonly TypeQuestion[]): ReadonlySet<string> {
  return new Set(questions.flatMap(({ type, filters }) => filters.flatMap(filter => namedBy(type, filter))));
}

function namedBy(type: string, filter: Filter): readonly string[] {
  switch (filter.kind) {
    case 'compartment':
      return [filter.id];
    case 'chain':
      return filter.to.flatMap(target => namedBy(target.type, target.filter));
    case 'has':
      return namedBy(filter.type, filter.filter);
    case 'match':
      return filter.modifier === 'not' ? [] : matched(type, filter);
    default:
      return [];
  }
}

function matched(type: string, { parameter, values }: Filter & { readonly kind: 'match' }): readonly string[] {
  const isOwnId = type === COMPARTMENT_TYPE && parameter.code === '_id';
  const leadsThere = parameter.targets.length === 0 || parameter.targets.includes(COMPARTMENT_TYPE);
  return values.flatMap(value => {
    if (value.kind === 'token') return isOwnId && value.code !== undefined ? [value.code] : [];
    if (value.kind !== 'reference') return [];
    return value.type === COMPARTMENT_TYPE || (value.type === undefined && leadsThere) ? [value.id] : [];
  });
}
