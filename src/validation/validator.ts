/**
 * Validates the JSON of a resource against R4 and against the profiles that it claims in `meta.profile`.
 *
 * In: a parsed resource. Out: findings (finding.ts); none: valid. Structure and cardinality come from the tables of
 * src/r4, all else from facts.ts. Not checked: extensible and weaker bindings, codes of LOINC and the like, narrative,
 * must-support. https://hl7.org/fhir/R4/validation.html
 */

import { childOf, type ElementDefinition, elementsOf, isPrimitive, isResourceType } from '../r4/definitions.ts';
import { invariantFindings } from './constraints.ts';
import { type Facts, type ProfileFacts, profileFacts, type Release } from './facts.ts';
import { type Authority, type Finding, formatFinding, type Held, heldBelow } from './finding.ts';
import { type Item, isObject, type Json } from './item.ts';
import { assignSlices } from './slices.ts';
import {
  bindingErrors,
  codingErrors,
  matches,
  primitiveErrors,
  profileBindingErrors,
  profileTargetErrors,
  referenceErrors,
} from './values.ts';

interface Context {
  /** Undefined: the releases that each claim is checked against. */
  readonly releases: readonly Release[] | undefined;
  readonly resource: object;
  readonly rootResource: object;
  /** The releases whose definitions of extensions apply. */
  readonly extensionReleases: readonly Release[];
  readonly found: Finding[];
}

const TYPE_BASE = 'http://hl7.org/fhir/StructureDefinition/';
/** The releases that a claim without a version is checked against, each of them. */
const CURRENT: readonly Release[] = ['R4', '6.1.0', '7.0.0'];
/** The release for a claim if no current one defines its profile. */
const FORMER: Release = '3.1.1';

/**
 * Returns what is wrong with a resource by R4 and by every profile in `meta.profile`. A claim with a version
 * (`…|6.1.0`) is checked against that release; one without, against each of `usCore` that defines the profile. Without
 * `usCore` these are 6.1.0 and 7.0.0, and 3.1.1 for a profile that only 3.1.1 has.
 */
export function findingsOf(resource: unknown, usCore?: readonly Release[]): readonly Finding[] {
  const found: Finding[] = [];
  validateNested(resource, 'resource', { releases: usCore && ['R4', ...usCore], found });
  return [...new Map(found.map(one => [JSON.stringify([one.kind, formatFinding(one), one.by]), one])).values()];
}

/** Returns the errors of a resource as lines, including claimed profiles that are not known; see findingsOf. */
export function validateResource(resource: unknown, usCore?: readonly Release[]): string[] {
  return [...new Set(findingsOf(resource, usCore).flatMap(one => (one.kind === 'advice' ? [] : formatFinding(one))))];
}

/** Returns the releases that a claimed profile is checked against; none if it is not known here. */
export function releasesOf(claimed: string, among?: readonly Release[]): readonly Release[] {
  const [url = '', version] = claimed.split('|');
  const defines = (release: Release): boolean => profileFacts(release, url) !== undefined;
  if (version !== undefined) {
    return [...(among ?? [...CURRENT, FORMER])].filter(release => isVersion(release, version) && defines(release));
  }
  if (among !== undefined) return among.filter(defines);
  const current = CURRENT.filter(defines);
  return current.length > 0 || !defines(FORMER) ? current : [FORMER];
}

function isVersion(release: Release, version: string): boolean {
  return release === version || (release === 'R4' && version === '4.0.1');
}

function validateNested(
  resource: unknown,
  where: string,
  outer: Pick<Context, 'releases' | 'found'> & Partial<Context>,
): void {
  const type = isObject(resource) ? resource['resourceType'] : undefined;
  if (!isObject(resource) || typeof type !== 'string' || !isResourceType(type)) {
    outer.found.push({ kind: 'error', where, what: 'is not a resource of R4', by: undefined });
    return;
  }
  const at = outer.rootResource === undefined ? type : where;
  const meta = isObject(resource['meta']) ? resource['meta']['profile'] : undefined;
  const claims: readonly string[] = (Array.isArray(meta) ? meta : []).map(url => `${url}`);
  const held = claims.flatMap((claimed, i) => claimedFacts(claimed, type, `${at}.meta.profile[${i}]`, outer));
  const stated = new Set(held.flatMap(({ by }) => (by === undefined ? [] : [by.release])));
  const context: Context = {
    ...outer,
    resource,
    rootResource: outer.rootResource ?? resource,
    extensionReleases: outer.releases ?? [...new Set([...CURRENT, ...stated])],
  };
  validateObject(resource, type, [...typeFacts('DomainResource'), ...held], at, context);
}

function claimedFacts(
  claimed: string,
  type: string,
  where: string,
  { releases, found }: Pick<Context, 'releases' | 'found'>,
): readonly Held[] {
  const [url = ''] = claimed.split('|');
  const known = releasesOf(claimed, releases).flatMap(release => {
    const profile = profileFacts(release, url);
    return profile === undefined ? [] : [{ release, profile }];
  });
  if (known.length === 0) found.push({ kind: 'unknown', where, what: `${claimed} is not known`, by: undefined });
  if (known.some(({ profile }) => profile.type !== type))
    found.push({ kind: 'error', where, what: `${claimed} is not for it`, by: undefined });
  const among = known.map(({ release }) => release);
  return known.map(({ release, profile }) => heldTo(profile, { url, release, among }));
}

function heldTo({ facts }: ProfileFacts, by: Authority): Held {
  return { facts, by };
}

function typeFacts(type: string): readonly Held[] {
  const facts = profileFacts('R4', TYPE_BASE + type)?.facts;
  return facts === undefined ? [] : [{ facts, by: undefined }];
}

function say(context: Context, where: string, what: string, by?: Authority): void {
  context.found.push({ kind: 'error', where, what, by });
}

function validateObject(
  value: unknown,
  type: string,
  profiles: readonly Held[],
  where: string,
  context: Context,
): void {
  if (!isObject(value)) {
    say(context, where, 'is not an object');
    return;
  }
  if (Object.keys(value).length === 0) say(context, where, 'is empty');
  const held = [...typeFacts(type), ...profiles];
  for (const name of Object.keys(value)) {
    const child = childOf(type, name.startsWith('_') ? name.slice(1) : name);
    const isKnown = child?.type !== undefined && (!name.startsWith('_') || isPrimitive(child.type));
    if (!isKnown && !(name === 'resourceType' && isResourceType(type))) say(context, `${where}.${name}`, 'is unknown');
  }
  for (const element of elementsOf(type)) {
    const items = itemsOf(value, element, where, context);
    const below = heldBelow(held, facts => facts.children?.[element.name]);
    validateElement(items, element, below, `${where}.${element.name}`, context);
  }
  context.found.push(...invariantFindings(held, { value, sibling: undefined, type, where }, context));
}

/** Returns the occurrences of an element in an object, and reports errors in how they are written. */
function itemsOf(object: Json, element: ElementDefinition, where: string, context: Context): readonly Item[] {
  const names = [...element.jsonNames].filter(
    ([name]) => object[name] !== undefined || object[`_${name}`] !== undefined,
  );
  if (names.length > 1) say(context, `${where}.${element.name}`, 'has more than one type');
  return names.flatMap(([name, type]) => {
    const values = object[name];
    const siblings = object[`_${name}`];
    const at = `${where}.${name}`;
    const isList = (value: unknown): boolean => value === undefined || Array.isArray(value);
    if (element.max === '1') {
      if (Array.isArray(values) || Array.isArray(siblings)) say(context, at, 'is an array');
      return [{ value: values, sibling: siblings, type, where: at }];
    }
    if (!isList(values) || !isList(siblings)) {
      say(context, at, 'is not an array');
      return [];
    }
    const list: readonly unknown[] = Array.isArray(values) ? values : [];
    const extra: readonly unknown[] = Array.isArray(siblings) ? siblings : [];
    if (list.length === 0 && extra.length === 0) say(context, at, 'is empty');
    return Array.from({ length: Math.max(list.length, extra.length) }, (_, i) => {
      // A null stands for a primitive that has only extensions, or for missing extensions.
      return { value: list[i] ?? undefined, sibling: extra[i] ?? undefined, type, where: `${at}[${i}]` };
    });
  });
}

function validateElement(
  items: readonly Item[],
  element: ElementDefinition,
  profiles: readonly Held[],
  where: string,
  context: Context,
): void {
  count(items.length, { min: element.min }, where, undefined, context);
  const heldOfItem = new Map<Item, Held[]>(items.map(item => [item, [...profiles]]));
  for (const { facts, by } of profiles) {
    count(items.length, facts, where, by, context);
    const slicesOf = new Map(assignSlices(items, facts));
    for (const [item, slices] of slicesOf) heldOfItem.get(item)?.push(...slices.map(slice => ({ facts: slice, by })));
    for (const [name, slice] of Object.entries(facts.slices ?? {})) {
      const number = items.filter(item => slicesOf.get(item)?.includes(slice)).length;
      count(number, slice, `${where}:${name}`, by, context);
    }
    if (facts.closed === true) {
      for (const item of items)
        if (!slicesOf.get(item)?.length) say(context, item.where, 'is in none of the slices', by);
    }
  }
  if (element.name === 'extension') nameless(items, profiles, heldOfItem, context);
  for (const [item, held] of heldOfItem) validateItem(item, element, held, context);
}

/**
 * Reports unknown parts of an extension. A part's URL is a plain name, which the extension's definition must contain.
 */
function nameless(
  items: readonly Item[],
  profiles: readonly Held[],
  heldOfItem: ReadonlyMap<Item, readonly Held[]>,
  context: Context,
): void {
  const [first] = profiles.filter(({ facts }) => facts.slices !== undefined);
  if (first === undefined) return;
  for (const item of items) {
    const url = isObject(item.value) ? item.value['url'] : undefined;
    const isPart = typeof url === 'string' && !url.includes(':');
    if (isPart && heldOfItem.get(item)?.length === profiles.length)
      say(context, item.where, 'is no part of the extension', first.by);
  }
}

function count(
  number: number,
  { min = 0, max }: Pick<Facts, 'min' | 'max'>,
  where: string,
  by: Authority | undefined,
  context: Context,
): void {
  if (number < min) say(context, where, number === 0 ? 'is missing' : `occurs fewer than ${min} times`, by);
  if (max !== undefined && number > max)
    say(context, where, max === 0 ? 'is not allowed' : `occurs more than ${max === 1 ? 'once' : `${max} times`}`, by);
}

function validateItem(item: Item, element: ElementDefinition, held: readonly Held[], context: Context): void {
  const { value, sibling, type, where } = item;
  const { rootResource } = context;
  for (const { facts, by } of held) {
    if (facts.types !== undefined && !facts.types.includes(type))
      say(context, where, `type ${type} is not allowed`, by);
    if (facts.fixed !== undefined && !isSame(value, facts.fixed)) say(context, where, 'is not the fixed value', by);
    if (facts.pattern !== undefined && !matches(value, facts.pattern))
      say(context, where, 'does not fit the pattern', by);
    for (const what of profileBindingErrors(item, facts)) say(context, where, what, by);
    if (type === 'Reference') for (const what of profileTargetErrors(item, facts)) say(context, where, what, by);
  }
  const own = [
    ...bindingErrors(item, element),
    ...(type === 'Coding' ? codingErrors(item) : []),
    ...(type === 'Reference' ? referenceErrors(item, element, rootResource) : []),
  ];
  for (const what of own) say(context, where, what);
  if (type === 'Resource') validateNested(value, where, context);
  else if (isPrimitive(type)) {
    for (const what of primitiveErrors(item)) say(context, where, what);
    context.found.push(...invariantFindings(held, item, context));
    if (sibling !== undefined) validateObject(sibling, type, [], where, context);
  } else validateObject(value, type, [...held, ...extensionFacts(item, context)], where, context);
}

/** Returns the facts of an extension's definition, wherever it occurs; none for one that no release defines. */
function extensionFacts(item: Item, context: Context): readonly Held[] {
  const url = item.type === 'Extension' && isObject(item.value) ? item.value['url'] : undefined;
  if (typeof url !== 'string') return [];
  const among = context.extensionReleases.filter(release => profileFacts(release, url) !== undefined);
  return among.flatMap(release => {
    const profile = profileFacts(release, url);
    return profile === undefined ? [] : [heldTo(profile, { url, release, among })];
  });
}

function isSame(a: unknown, b: unknown): boolean {
  return matches(a, b) && matches(b, a);
}
