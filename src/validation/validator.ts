/**
 * Validates the JSON of a resource against R4 and against the profiles that it claims in `meta.profile`.
 *
 * In: a parsed resource. Out: one line for each error, '<where>: <what>'; none: valid. Structure and cardinality come from
 * the R4 tables of src, all else from facts.ts. Not judged: extensible and weaker bindings, codes of LOINC and the like,
 * narrative, must-support. https://hl7.org/fhir/R4/validation.html
 */

import { childOf, type ElementDefinition, elementsOf, isPrimitive, isResourceType } from '../r4/definitions.ts';
import { invariantErrors } from './constraints.ts';
import { type Facts, profileFacts, type Release } from './facts.ts';
import { type Item, isObject, type Json } from './item.ts';
import { assignSlices } from './slices.ts';
import { bindingErrors, codingErrors, matches, primitiveErrors, referenceErrors } from './values.ts';

interface Context {
  readonly releases: readonly Release[];
  readonly resource: object;
  readonly rootResource: object;
  readonly errors: string[];
}

const TYPE_BASE = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * Errors of a resource against R4 and every profile in `meta.profile`, in each of the given US Core versions that defines
 * it. A profile that none of them defines is an error.
 */
export function validateResource(resource: unknown, usCore: readonly Release[] = ['6.1.0', '7.0.0']): string[] {
  const errors: string[] = [];
  validateNested(resource, 'resource', { releases: ['R4', ...usCore], errors });
  return [...new Set(errors)];
}

function validateNested(
  resource: unknown,
  where: string,
  outer: Pick<Context, 'releases' | 'errors'> & Partial<Context>,
): void {
  const type = isObject(resource) ? resource['resourceType'] : undefined;
  if (!isObject(resource) || typeof type !== 'string' || !isResourceType(type)) {
    outer.errors.push(`${where}: is not a resource of R4`);
    return;
  }
  const context: Context = { ...outer, resource, rootResource: outer.rootResource ?? resource };
  const at = outer.rootResource === undefined ? type : where;
  const claimed = isObject(resource['meta']) ? resource['meta']['profile'] : undefined;
  const facts = (Array.isArray(claimed) ? claimed : []).flatMap(url => claimedFacts(`${url}`, type, at, context));
  validateObject(resource, type, [...typeFacts('DomainResource'), ...facts], at, context);
}

function claimedFacts(claimed: string, type: string, where: string, context: Context): readonly Facts[] {
  const [url = '', version] = claimed.split('|');
  const releases = context.releases.filter(release => version === undefined || release === version);
  const found = releases.flatMap(release => profileFacts(release, url) ?? []);
  if (found.length === 0) context.errors.push(`${where}.meta.profile: ${claimed} is not known`);
  if (found.some(profile => profile.type !== type))
    context.errors.push(`${where}.meta.profile: ${claimed} is not for it`);
  return found.map(profile => profile.facts);
}

function typeFacts(type: string): readonly Facts[] {
  const facts = profileFacts('R4', TYPE_BASE + type)?.facts;
  return facts === undefined ? [] : [facts];
}

function validateObject(
  value: unknown,
  type: string,
  profiles: readonly Facts[],
  where: string,
  context: Context,
): void {
  if (!isObject(value)) {
    context.errors.push(`${where}: is not an object`);
    return;
  }
  if (Object.keys(value).length === 0) context.errors.push(`${where}: is empty`);
  const facts = [...typeFacts(type), ...profiles];
  for (const name of Object.keys(value)) {
    const child = childOf(type, name.startsWith('_') ? name.slice(1) : name);
    const isKnown = child?.type !== undefined && (!name.startsWith('_') || isPrimitive(child.type));
    if (!isKnown && !(name === 'resourceType' && isResourceType(type)))
      context.errors.push(`${where}.${name}: is unknown`);
  }
  for (const element of elementsOf(type)) {
    const items = itemsOf(value, element, where, context);
    const below = facts.flatMap(fact => fact.children?.[element.name] ?? []);
    validateElement(items, element, below, `${where}.${element.name}`, context);
  }
  context.errors.push(...invariantErrors(facts, { value, sibling: undefined, type, where }, context));
}

/** The occurrences of an element in an object, and what is wrong with how they are written. */
function itemsOf(object: Json, element: ElementDefinition, where: string, context: Context): readonly Item[] {
  const names = [...element.jsonNames].filter(
    ([name]) => object[name] !== undefined || object[`_${name}`] !== undefined,
  );
  if (names.length > 1) context.errors.push(`${where}.${element.name}: has more than one type`);
  return names.flatMap(([name, type]) => {
    const values = object[name];
    const siblings = object[`_${name}`];
    const at = `${where}.${name}`;
    const isList = (value: unknown): boolean => value === undefined || Array.isArray(value);
    if (element.max === '1') {
      if (Array.isArray(values) || Array.isArray(siblings)) context.errors.push(`${at}: is an array`);
      return [{ value: values, sibling: siblings, type, where: at }];
    }
    if (!isList(values) || !isList(siblings)) {
      context.errors.push(`${at}: is not an array`);
      return [];
    }
    const list: readonly unknown[] = Array.isArray(values) ? values : [];
    const extra: readonly unknown[] = Array.isArray(siblings) ? siblings : [];
    if (list.length === 0 && extra.length === 0) context.errors.push(`${at}: is empty`);
    return Array.from({ length: Math.max(list.length, extra.length) }, (_, i) => {
      // A null keeps the place of a primitive that has only extensions, and of extensions that are not there.
      return { value: list[i] ?? undefined, sibling: extra[i] ?? undefined, type, where: `${at}[${i}]` };
    });
  });
}

function validateElement(
  items: readonly Item[],
  element: ElementDefinition,
  profiles: readonly Facts[],
  where: string,
  context: Context,
): void {
  countErrors(items.length, { min: element.min }, where, context);
  const factsOfItem = new Map<Item, Facts[]>(items.map(item => [item, [...profiles]]));
  for (const facts of profiles) {
    countErrors(items.length, facts, where, context);
    for (const [item, slices] of assignSlices(items, facts)) factsOfItem.get(item)?.push(...slices);
    for (const [name, slice] of Object.entries(facts.slices ?? {})) {
      const count = items.filter(item => factsOfItem.get(item)?.includes(slice)).length;
      countErrors(count, slice, `${where}:${name}`, context);
    }
    if (facts.closed === true) {
      const slices = Object.values(facts.slices ?? {});
      const outside = items.filter(item => !slices.some(slice => factsOfItem.get(item)?.includes(slice)));
      for (const item of outside) context.errors.push(`${item.where}: is in none of the slices`);
    }
  }
  for (const [item, facts] of factsOfItem) validateItem(item, element, facts, context);
}

function countErrors(
  count: number,
  { min = 0, max }: Pick<Facts, 'min' | 'max'>,
  where: string,
  context: Context,
): void {
  if (count < min) context.errors.push(`${where}: ${count} found, at least ${min} required`);
  if (max !== undefined && count > max) context.errors.push(`${where}: ${count} found, at most ${max} allowed`);
}

function validateItem(item: Item, element: ElementDefinition, facts: readonly Facts[], context: Context): void {
  const { value, sibling, type, where } = item;
  const { errors } = context;
  for (const fact of facts) {
    if (fact.types !== undefined && !fact.types.includes(type)) errors.push(`${where}: type ${type} is not allowed`);
    if (fact.fixed !== undefined && !isSame(value, fact.fixed)) errors.push(`${where}: is not the fixed value`);
    if (fact.pattern !== undefined && !matches(value, fact.pattern)) errors.push(`${where}: does not fit the pattern`);
  }
  errors.push(...bindingErrors(item, element, facts));
  if (type === 'Coding') errors.push(...codingErrors(item));
  if (type === 'Reference') errors.push(...referenceErrors(item, element, facts, context.rootResource));
  if (type === 'Resource') validateNested(value, where, context);
  else if (isPrimitive(type)) {
    errors.push(...primitiveErrors(item), ...invariantErrors(facts, item, context));
    if (sibling !== undefined) validateObject(sibling, type, [], where, context);
  } else validateObject(value, type, [...facts, ...extensionFacts(item, context)], where, context);
}

/** An extension is held to its definition wherever it stands; one that no release defines is left alone. */
function extensionFacts(item: Item, context: Context): readonly Facts[] {
  const url = item.type === 'Extension' && isObject(item.value) ? item.value['url'] : undefined;
  if (typeof url !== 'string') return [];
  return context.releases.flatMap(release => profileFacts(release, url)?.facts ?? []);
}

function isSame(a: unknown, b: unknown): boolean {
  return matches(a, b) && matches(b, a);
}
