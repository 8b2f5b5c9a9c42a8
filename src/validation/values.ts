/**
 * Checks of single values: primitives, patterns, required bindings, references.
 *
 * In: an item and what is said of it. Out: error lines. https://hl7.org/fhir/R4/datatypes.html
 */

import {
  type ElementDefinition,
  isResourceType,
  jsonKindOf,
  primitivePattern,
  requiredValueSet,
  type ValueSet,
} from '../r4/definitions.ts';
import { displayOf, type Facts, hasCode, profileValueSet } from './facts.ts';
import { type Item, isObject } from './item.ts';

const MAX_INTEGER = 2 ** 31 - 1;
const REFERENCE = /^(?:https?:\/\/.+\/)?([A-Z][A-Za-z]+)\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/;
/** The form of a code where the codes themselves cannot be listed. */
const OPEN_SYSTEMS: Readonly<Record<string, RegExp>> = {
  'urn:ietf:bcp:13': /^[\w.+-]+\/[\w.+-]+(;.*)?$/,
  'urn:ietf:bcp:47': /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
};
const ABSENT = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';

/** Errors in the JSON form and the text of a primitive. */
export function primitiveErrors({ value, sibling, type, where }: Item): readonly string[] {
  if (value === undefined) return sibling === undefined ? [`${where}: is null`] : [];
  const kind = jsonKindOf(type);
  if (typeof value !== kind) return [`${where}: is not a JSON ${kind}`];
  if (typeof value === 'string' && value.trim() === '') return [`${where}: is empty`];
  if (primitivePattern(type)?.test(`${value}`) === false) return [`${where}: is no ${type}`];
  if (kind === 'number' && type !== 'decimal' && Math.abs(Number(value)) > MAX_INTEGER)
    return [`${where}: is too large`];
  if (/^(date|dateTime|instant)$/.test(type) && !isRealDay(`${value}`)) return [`${where}: is no day of the calendar`];
  return [];
}

function isRealDay(text: string): boolean {
  const [year = 0, month = 1, day = 1] = text.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** Whether a value holds all that a pattern holds; each item of a pattern's list fits some item of the value's. */
export function matches(value: unknown, pattern: unknown): boolean {
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && pattern.every(part => value.some(item => matches(item, part)));
  }
  if (!isObject(pattern)) return value === pattern;
  return isObject(value) && Object.entries(pattern).every(([name, part]) => matches(value[name], part));
}

/** Errors against the required bindings of an element and of its facts. */
export function bindingErrors(item: Item, element: ElementDefinition, facts: readonly Facts[]): readonly string[] {
  if (item.value === undefined || isSaidToBeAbsent(item.value)) return [];
  const base = requiredValueSet(element);
  const sets = [...(base === undefined ? [] : [base]), ...facts.flatMap(fact => valueSetsOf(fact.binding))];
  return sets.flatMap(set => (isIn(item.value, set) ? [] : [`${item.where}: is not in ${set.url}`]));
}

/** Whether a code, Coding, CodeableConcept or Quantity is, or may be, in a value set. */
export function inValueSet(value: unknown, url: string): boolean {
  return valueSetsOf(url).every(set => isIn(value, set));
}

function valueSetsOf(url: string | undefined): readonly ValueSet[] {
  const set = url === undefined ? undefined : profileValueSet(url);
  return set === undefined ? [] : [set];
}

function isCodeOf(code: string, { system, codes }: ValueSet['systems'][number]): boolean {
  return codes?.has(code) ?? OPEN_SYSTEMS[system]?.test(code) ?? true;
}

function isIn(value: unknown, set: ValueSet): boolean {
  // Other types that can be bound (string, uri) have no system either.
  if (typeof value === 'string') return set.systems.some(system => isCodeOf(value, system));
  if (!isObject(value)) return false;
  const codings: readonly unknown[] = Array.isArray(value['coding']) ? value['coding'] : [value];
  return codings.some(
    coding =>
      isObject(coding) &&
      set.systems.some(
        known =>
          coding['system'] === known.system && typeof coding['code'] === 'string' && isCodeOf(coding['code'], known),
      ),
  );
}

function isSaidToBeAbsent(value: unknown): boolean {
  const extensions = isObject(value) ? value['extension'] : undefined;
  return Array.isArray(extensions) && extensions.some(extension => isObject(extension) && extension['url'] === ABSENT);
}

/** Errors of a Coding against its code system, where that is listed. */
export function codingErrors({ value, where }: Item): readonly string[] {
  if (!isObject(value)) return [];
  const { system, code, display } = value;
  if (typeof system !== 'string' || typeof code !== 'string') return [];
  if (hasCode(system, code) === false) return [`${where}: is not a code of ${system}`];
  const expected = displayOf(system, code);
  const isSame =
    expected === undefined || display === undefined || `${display}`.toLowerCase() === expected.toLowerCase();
  return isSame ? [] : [`${where}: has not the display "${expected}"`];
}

/** Errors in the form and the target type of a literal reference; a logical or display-only one has none. */
export function referenceErrors(
  { value, where }: Item,
  element: ElementDefinition,
  facts: readonly Facts[],
  rootResource: object,
): readonly string[] {
  const reference = isObject(value) ? value['reference'] : undefined;
  if (typeof reference !== 'string') return [];
  if (reference.startsWith('#')) {
    const contained = Object.entries(rootResource).find(([name]) => name === 'contained')?.[1];
    const ids: readonly unknown[] = Array.isArray(contained) ? contained.map(part => part.id) : [];
    return reference === '#' || ids.includes(reference.slice(1)) ? [] : [`${where}: names no contained resource`];
  }
  if (/^urn:(uuid|oid):/.test(reference)) return [];
  const type = REFERENCE.exec(reference)?.[1];
  if (type === undefined || !isResourceType(type)) {
    return /^https?:\/\//.test(reference) ? [] : [`${where}: is no reference`];
  }
  const allowed = [element.targets, ...facts.map(fact => fact.targets ?? [])].filter(targets => targets.length > 0);
  return allowed.every(targets => targets.includes(type)) ? [] : [`${where}: may not name a ${type}`];
}
