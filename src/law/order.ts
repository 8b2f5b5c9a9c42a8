/**
 * Determines sort values, as their reference implementation: of several values the first counts. Dates sort by
 * instants, texts without the case of ASCII letters unless they are codes, quantities by number, references by rank.
 * In: the values that a parameter indexes. Out: a number or a text; undefined if there is none.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import type { SearchParameter } from '../r4/search-parameters.ts';
import { interval, isSkipped } from './oracle-dates.ts';
import type { Indexed } from './oracle-values.ts';

export type SortValue = number | string;

/** Returns the sort value. `rankOf`: what a reference sorts by. */
export function sortValueOf(
  indexed: readonly Indexed[],
  type: SearchParameter['type'],
  direction: 'ascending' | 'descending',
  zone: string,
  rankOf: (reference: string) => string = reference => reference,
): SortValue | undefined {
  const keys = indexed.flatMap((value): SortValue | readonly SortValue[] => {
    if (type === 'date') return startOf(value, zone) ?? [];
    if (type === 'quantity') return (value.value as { readonly value?: number }).value ?? [];
    if (type === 'number') return Number(value.value);
    if (typeof value.value === 'string' && (type === 'uri' || type === 'reference')) return value.value;
    if (type === 'reference') {
      const { reference } = value.value as { readonly reference?: string };
      return reference === undefined ? [] : rankOf(reference);
    }
    if (type === 'token') return codesOf(value);
    if (value.type === 'HumanName') return textOf((value.value as { readonly family?: string }).family) ?? [];
    if (value.type === 'Address') return textOf((value.value as { readonly city?: string }).city) ?? [];
    return textOf(value.value) ?? [];
  });
  const ordered = keys.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  return direction === 'descending' ? ordered.at(-1) : ordered[0];
}

/** Returns codes unchanged. What people type, such as email addresses, sorts as text. */
function codesOf({ type, value }: Indexed): readonly string[] {
  if (typeof value === 'string' || typeof value === 'boolean') return [String(value)];
  const object = value as {
    readonly coding?: readonly { readonly code?: string }[];
    readonly code?: string;
    readonly value?: string;
  };
  if (type === 'CodeableConcept') return (object.coding ?? []).flatMap(({ code }) => code ?? []);
  if (type === 'ContactPoint') return [textOf(object.value)].filter(text => text !== undefined);
  return [object.code ?? object.value].filter(code => code !== undefined);
}

/** Returns the text to sort by, without the case of ASCII letters. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value.replaceAll(/[a-z]/g, letter => letter.toUpperCase()).trimEnd() : undefined;
}

/** Returns the instant at which a date or period begins. Words instead of a date are no value. */
function startOf(value: Indexed, zone: string): number | undefined {
  const start = startTextOf(value);
  return start === undefined ? undefined : interval(start, zone).low;
}

/** True if a date or period begins in an hour that clocks of the zone skip. It sorts by its local time. */
export function isInSkippedHour(value: Indexed, zone: string): boolean {
  const start = startTextOf(value);
  return start !== undefined && isSkipped(start, zone);
}

function startTextOf({ type, value }: Indexed): string | undefined {
  if (type === 'string') return undefined;
  if (typeof value === 'string') return value;
  const start = value !== null && typeof value === 'object' && 'start' in value ? value.start : undefined;
  return typeof start === 'string' ? start : undefined;
}
