/**
 * Checks a search that a pack contains, without reading rows. In: the search. Out: problems: a parameter that is not
 * understood, or values that no mapping can give (an error if that is all values of a parameter, else a warning).
 */
import type { Registry } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import { cursorCodec } from '../search/cursor.ts';
import { parseFilter } from '../search/filters.ts';
import { parseSearch } from '../search/parse.ts';
import type { Parameters } from '../search/query.ts';
import { type ParseContext, splitEscaped, UnknownParameter } from '../search/values.ts';
import { zoneOf } from '../time/zone.ts';
import { hasBranch } from './branches.ts';
import { environment } from './environment.ts';
import { makeOffers } from './offers.ts';
import { FULL_VISIBILITY } from './visibility.ts';

export interface SearchProblem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

interface WrittenSearch {
  readonly type: string;
  readonly parameters: Parameters;
}

/** Returns the context for parsing a search in a file: strict, and without a caller. */
export function writtenContext(registry: Registry): ParseContext {
  return {
    offers: makeOffers(registry),
    handling: 'strict',
    zone: zoneOf(registry.pack.zone),
    base: 'http://localhost/fhir',
    caller: '',
    cursors: cursorCodec(new Uint8Array(32)),
    pageSize: 1,
    pageMax: 1,
  };
}

/** Checks one filter likewise. `any`: its value is only an example, so only its form is checked. */
export function filterProblems(
  type: string,
  [name, value]: WrittenSearch['parameters'][number],
  any: boolean,
  context: ParseContext,
  registry: Registry,
): readonly SearchProblem[] {
  try {
    parseFilter(type, name, value, context);
  } catch (error) {
    if (error instanceof FhirError || error instanceof UnknownParameter)
      return [{ severity: 'error', message: error.message }];
    throw error;
  }
  return any ? [] : searchProblems({ type, parameters: [[name, value]] }, context, registry);
}

export function searchProblems(
  { type, parameters }: WrittenSearch,
  context: ParseContext,
  registry: Registry,
): readonly SearchProblem[] {
  try {
    parseSearch(type, parameters, context);
  } catch (error) {
    if (error instanceof FhirError) return [{ severity: 'error', message: error.message }];
    throw error;
  }
  return parameters.flatMap(([name, text]): readonly SearchProblem[] => {
    const values = splitEscaped(text, ',');
    const never = values.filter(value => isNeverFound({ type, parameters: [[name, value]] }, context, registry));
    const severity = never.length === values.length ? 'error' : 'warning';
    return never.map(value => ({ severity, message: `${name}: no mapping of ${type} gives ${value}` }));
  });
}

/** True if no mapping can match. False if keys would have to be fetched to decide. */
function isNeverFound({ type, parameters }: WrittenSearch, context: ParseContext, registry: Registry): boolean {
  const { filters } = parseSearch(type, parameters, context);
  const env = environment(registry, Date.now(), FULL_VISIBILITY);
  return filters.length > 0 && !hasBranch({ type, filters }, env) && env.pending.size === 0;
}
