/**
 * Finds the number of one patient. In: first name, last name, date of birth, sex, at least one of them. Out: the
 * number, or how many patients match and which parameters would distinguish them. The words of a name must be equal
 * (src/sql/shared-functions.ts). Never guesses between several patients that match. docs/interfaces.md
 */
import type { HumanName } from '../ccda/fhir/datatypes.ts';
import type { Patient } from '../ccda/fhir/people.ts';
import type { RequestContext } from '../facade.ts';
import { escapedValue } from '../search/values.ts';
import { wordsIn } from '../sql/shared-functions.ts';
import { isSuperseded, type RestSource, searchPages } from './fhir-source.ts';

export type Sex = keyof typeof GENDERS;

export interface LookupQuery {
  readonly firstName?: string | undefined;
  readonly lastName?: string | undefined;
  /** yyyy-MM-dd */
  readonly dob?: string | undefined;
  /** In the form that `patientinfo` returns. */
  readonly sex?: Sex | undefined;
}

export type LookupResult =
  | { readonly kind: 'one'; readonly number: number }
  | { readonly kind: 'none' }
  /** `narrowing`: parameters that were not given and whose values differ among the matches. */
  | {
      readonly kind: 'several';
      readonly count: number;
      /** True if not all candidates were examined, so there may be more; then `count` can be 0. */
      readonly more: boolean;
      readonly narrowing: readonly (keyof LookupQuery)[];
    };

/** Maximum number of candidates whose names are compared: to count several matches, and to find the only one. */
const MAX_TO_COUNT = 5000;
const MAX_TO_FIND = 100_000;
const PAGE = 500;
export const GENDERS = { M: 'male', F: 'female', OTHER: 'other', UNKNOWN: 'unknown' } as const;

export async function lookUpPatient(
  query: LookupQuery,
  source: RestSource,
  context: RequestContext,
): Promise<LookupResult> {
  const { firstName, lastName, dob, sex } = query;
  // A lone accent is not a name and cannot be searched for.
  if ([firstName, lastName].some(name => name !== undefined && wordsIn(name).length === 0)) return { kind: 'none' };
  const parameters = [
    // FHIR's string search finds names with words that begin like this; the names are compared below.
    ...(lastName === undefined ? [] : ([['family', escapedValue(lastName.trim())]] as const)),
    ...(firstName === undefined ? [] : ([['given', escapedValue(wordsIn(firstName)[0] ?? '')]] as const)),
    ...(dob === undefined ? [] : ([['birthdate', dob]] as const)),
    ...(sex === undefined ? [] : ([['gender', GENDERS[sex]]] as const)),
    ['_elements', 'name,birthDate,gender,link'],
  ] as const;
  const asked = { parameters, numbered: true };
  const matches: Patient[] = [];
  let number: number | undefined;
  let read = 0;
  let more = false;
  for await (const page of searchPages<Patient>(source, 'Patient', asked, PAGE, context)) {
    const named = page.resources.filter(patient => !isSuperseded(patient) && hasName(patient, firstName, lastName));
    number ??= named[0] && source.patients.numberOf(named[0].id, page.numbers);
    matches.push(...named);
    read += page.resources.length;
    more = page.more;
    if (read >= (matches.length > 1 ? MAX_TO_COUNT : MAX_TO_FIND)) break;
  }
  const [, second] = matches;
  if (more || second !== undefined) {
    return { kind: 'several', count: matches.length, more, narrowing: narrowing(query, matches) };
  }
  return number === undefined ? { kind: 'none' } : { kind: 'one', number };
}

/** True if one of the names has both. A first name may omit further given names, but not parts of a word. */
function hasName({ name }: Patient, firstName: string | undefined, lastName: string | undefined): boolean {
  if (firstName === undefined && lastName === undefined) return true;
  return (name ?? []).some(
    one =>
      (lastName === undefined || wordsIn(one.family ?? '').join(' ') === wordsIn(lastName).join(' ')) &&
      (firstName === undefined || begins(wordsIn((one.given ?? []).join(' ')), wordsIn(firstName))),
  );
}

function begins(words: readonly string[], start: readonly string[]): boolean {
  return start.every((word, i) => words[i] === word);
}

function narrowing(query: LookupQuery, matches: readonly Patient[]): readonly (keyof LookupQuery)[] {
  const values: { readonly [K in keyof LookupQuery]-?: (patient: Patient) => string } = {
    firstName: ({ name }) => wordsIn((current(name)?.given ?? []).join(' ')).join(' '),
    lastName: ({ name }) => wordsIn(current(name)?.family ?? '').join(' '),
    dob: ({ birthDate }) => birthDate ?? '',
    sex: ({ gender }) => gender ?? '',
  };
  return (Object.keys(values) as (keyof LookupQuery)[]).filter(
    key => query[key] === undefined && new Set(matches.map(values[key])).size > 1,
  );
}

function current(name: readonly HumanName[] | undefined): HumanName | undefined {
  return name?.find(({ use }) => use === 'official') ?? name?.[0];
}

const APOSTROPHE = /['’‘`´]/g;

/**
 * Escapes a name, as a person wrote it, for a FHIR string search with `:contains`. The search compares words
 * (src/sql/shared-functions.ts) and ignores case, accents, apostrophes and hyphens. Searches for both apostrophes,
 * because either may be stored.
 */
export function containedValue(text: string): string {
  const spellings = ["'", '’'].map(apostrophe => escapedValue(text.trim().replace(APOSTROPHE, apostrophe)));
  return [...new Set(spellings)].join(',');
}
