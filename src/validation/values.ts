/**
 * Checks single values: primitives, patterns, required bindings, references.
 *
 * In: an item and its facts. Out: what is wrong, without the path. https://hl7.org/fhir/R4/datatypes.html
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
/** The form of codes in systems whose codes cannot be listed. */
const OPEN_SYSTEMS: Readonly<Record<string, RegExp>> = {
  'urn:ietf:bcp:13': /^[\w.+-]+\/[\w.+-]+(;.*)?$/,
  'urn:ietf:bcp:47': /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$/,
};
const ABSENT = 'http://hl7.org/fhir/StructureDefinition/data-absent-reason';

/** Returns errors in the JSON form and the text of a primitive. */
export function primitiveErrors({ value, sibling, type }: Item): readonly string[] {
  if (value === undefined) return sibling === undefined ? ['is null'] : [];
  const kind = jsonKindOf(type);
  if (typeof value !== kind) return [`is not a JSON ${kind}`];
  if (typeof value === 'string' && value.trim() === '') return ['is empty'];
  if (primitivePattern(type)?.test(`${value}`) === false) return [`is no ${type}`];
  if (kind === 'number' && type !== 'decimal' && Math.abs(Number(value)) > MAX_INTEGER) return ['is too large'];
  if (type === 'base64Binary' && !isBase64(`${value}`)) return ['is no base64Binary'];
  if (type === 'xhtml' && !/^\s*<div[\s>]/.test(`${value}`)) return ['is no div of XHTML'];
  if (/^(date|dateTime|instant)$/.test(type) && !isRealDay(`${value}`)) return ['is no day of the calendar'];
  return [];
}

function isBase64(text: string): boolean {
  const dense = text.replace(/\s+/g, '');
  return dense.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(dense);
}

function isRealDay(text: string): boolean {
  const [year = 0, month = 1, day = 1] = text.slice(0, 10).split('-').map(Number);
  return new Date(Date.UTC(year, month - 1, day)).getUTCDate() === day;
}

/** True if a value contains all of a pattern; each item of a pattern's list matches some item of the value's. */
export function matches(value: unknown, pattern: unknown): boolean {
  if (Array.isArray(pattern)) {
    return Array.isArray(value) && pattern.every(part => value.some(item => matches(item, part)));
  }
  if (!isObject(pattern)) return value === pattern;
  return isObject(value) && Object.entries(pattern).every(([name, part]) => matches(value[name], part));
}

/** Returns errors against the required binding that R4 has for an element. */
export function bindingErrors(item: Item, element: ElementDefinition): readonly string[] {
  const set = requiredValueSet(element);
  return set === undefined ? [] : outside(item, [set]);
}

/** Returns errors against the required binding that a profile has for an element. */
export function profileBindingErrors(item: Item, { binding }: Facts): readonly string[] {
  return outside(item, valueSetsOf(binding));
}

function outside({ value }: Item, sets: readonly ValueSet[]): readonly string[] {
  if (value === undefined || isSaidToBeAbsent(value)) return [];
  // The release after `|` is left out, because the finding names it elsewhere.
  return sets.flatMap(set => (isIn(value, set) ? [] : [`is not in ${set.url.replace(/\|.*$/, '')}`]));
}

/** True if a code, Coding, CodeableConcept or Quantity is, or may be, in a value set. */
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
  // A code has no system; nor have other types that can be bound (string, uri).
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

/** Returns errors of a Coding against its code system, if that is listed. */
export function codingErrors({ value }: Item): readonly string[] {
  if (!isObject(value)) return [];
  const { system, code, display } = value;
  if (typeof system !== 'string' || typeof code !== 'string') return [];
  if (hasCode(system, code) === false) return [`is not a code of ${system}`];
  const expected = displayOf(system, code);
  const isSame =
    expected === undefined || display === undefined || `${display}`.toLowerCase() === expected.toLowerCase();
  return isSame ? [] : [`has not the display "${expected}"`];
}

/**
 * Returns errors in the form of a literal reference and in its target type in R4; logical and display-only ones have
 * none.
 */
export function referenceErrors(
  { value }: Item,
  { targets }: ElementDefinition,
  rootResource: object,
): readonly string[] {
  const reference = literalOf(value);
  if (reference === undefined) return [];
  if (reference.startsWith('#')) {
    const contained = Object.entries(rootResource).find(([name]) => name === 'contained')?.[1];
    const ids: readonly unknown[] = Array.isArray(contained) ? contained.map(part => part.id) : [];
    return reference === '#' || ids.includes(reference.slice(1)) ? [] : ['names no contained resource'];
  }
  if (/^urn:(uuid|oid):/.test(reference)) return [];
  const type = targetOf(reference);
  if (type === undefined) return /^https?:\/\//.test(reference) ? [] : ['is no reference'];
  return notAmong(type, targets);
}

/** Returns errors against the target types that a profile allows. */
export function profileTargetErrors({ value }: Item, { targets = [] }: Facts): readonly string[] {
  const reference = literalOf(value);
  const type = reference === undefined ? undefined : targetOf(reference);
  return type === undefined ? [] : notAmong(type, targets);
}

function literalOf(value: unknown): string | undefined {
  const reference = isObject(value) ? value['reference'] : undefined;
  return typeof reference === 'string' ? reference : undefined;
}

/** Returns the type that a relative or absolute reference names, if it is one of R4. */
function targetOf(reference: string): string | undefined {
  const type = REFERENCE.exec(reference)?.[1];
  return type !== undefined && isResourceType(type) ? type : undefined;
}

function notAmong(type: string, targets: readonly string[]): readonly string[] {
  return targets.length === 0 || targets.includes(type) ? [] : [`may not name a ${type}`];
}
