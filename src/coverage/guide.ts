/**
 * What US Core is tested for, as data: per group of the certification tests the searches that a server SHALL and SHOULD
 * answer, and the elements that it must support. In: `us-core-<version>.json`, which keep the notation of the test
 * kit's own tables: `[gt lt]` comparators, `[OR]` a list of values, `=a|b` values to try in turn, `→` references to
 * profiles; `certified: false` is a group, and `uncertified` are searches, that the (g)(10) tests leave out.
 * https://hl7.org/fhir/us/core/STU6.1/CapabilityStatement-us-core-server.html
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const VERSIONS = ['6.1.0', '7.0.0'] as const;
export type Version = (typeof VERSIONS)[number];

export interface Group {
  readonly name: string;
  readonly type: string;
  /** Canonical address. */
  readonly profile: string;
  /** The (g)(10) certification tests have it. */
  readonly certified: boolean;
  readonly optional: boolean;
  readonly searches: readonly Search[];
  /** Whether `_revinclude=Provenance:target` has to work with its searches. */
  readonly revinclude: boolean;
  readonly mustSupport: readonly ElementPath[];
  /** Of each list one is enough; by the text of their paths or the names of the profiles referred to. */
  readonly choices: readonly (readonly string[])[];
}

export interface Search {
  readonly text: string;
  readonly strength: 'SHALL' | 'SHOULD';
  /** The (g)(10) certification tests ask it. */
  readonly certified: boolean;
  readonly parameters: readonly SearchPart[];
}

export interface SearchPart {
  readonly code: string;
  /** To be tried in turn; none: whatever the data has. */
  readonly values: readonly string[];
  readonly comparators: readonly string[];
  readonly list: boolean;
}

export interface ElementPath {
  /** `name.use=old`, `component:systolic.code` */
  readonly text: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly slice: string;
  /** The value that has to occur. */
  readonly equals: string;
  /** For a reference: the profiles that have to be referred to, without `us-core-`; none: any. */
  readonly targets: readonly string[] | undefined;
}

interface Stored {
  readonly type: string;
  readonly profile: string;
  readonly shall?: readonly string[];
  readonly should?: readonly string[];
  readonly revinclude?: boolean;
  readonly certified?: false;
  readonly optional?: true;
  readonly uncertified?: readonly string[];
  readonly mustSupport: string;
  readonly slices?: string;
  readonly extensions?: string;
  readonly choices?: string;
}

/** What is not searched but read by a reference to it; reads of all types are tested elsewhere. */
const READ = 'read by reference';

export function profileAddress(name: string): string {
  return `http://hl7.org/fhir/us/core/StructureDefinition/${name}`;
}

/** What a pack is held against. */
export interface Guide {
  /** `us-core-7.0.0` */
  readonly name: string;
  /** What is known of its profiles is of this version. */
  readonly version: Version;
  readonly groups: readonly Group[];
  /** There are certification tests of it. */
  readonly certified: boolean;
}

export function usCore(version: Version): Guide {
  return { name: `us-core-${version}`, version, groups: groupsOf(version), certified: true };
}

/** The groups of a version, in the order of its tests. */
export function groupsOf(version: Version): readonly Group[] {
  return groupsIn(JSON.parse(readFileSync(new URL(`us-core-${version}.json`, import.meta.url), 'utf8')));
}

/** The file of a pack that holds a guide of its own: `NAME.guide.json`. */
const OWN = /^([A-Za-z][\w.-]*)\.guide\.json$/;

/** What is wrong with a guide of a pack. */
export class GuideError extends Error {}

/** The guides that a pack brings in its folder, in the notation of those here. docs/coverage.md */
export function guidesIn(folder: string): readonly string[] {
  return readdirSync(folder).flatMap(file => OWN.exec(file)?.[1] ?? []);
}

/** A guide that a pack brings. Throws GuideError. */
export function guideIn(folder: string, name: string): Guide {
  const file = `${name}.guide.json`;
  if (!OWN.test(file)) throw new GuideError(`${name} is no name of a guide`);
  try {
    const stored: unknown = JSON.parse(readFileSync(join(folder, file), 'utf8'));
    if (!isStored(stored)) {
      throw new GuideError(`${file}: expected an object of groups, each with type, profile and mustSupport`);
    }
    return { name, version: VERSIONS[1], groups: groupsIn(stored), certified: false };
  } catch (error) {
    if (error instanceof GuideError) throw error;
    throw new GuideError(`${file}: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
}

function isStored(value: unknown): value is Readonly<Record<string, Stored>> {
  const isText = (one: unknown): boolean => typeof one === 'string';
  const areTexts = (one: unknown): boolean => one === undefined || (Array.isArray(one) && one.every(isText));
  const isGroup = (group: Readonly<Record<string, unknown>>): boolean =>
    ['type', 'profile', 'mustSupport'].every(key => isText(group[key])) &&
    ['shall', 'should', 'uncertified'].every(key => areTexts(group[key])) &&
    ['slices', 'extensions', 'choices'].every(key => group[key] === undefined || isText(group[key]));
  return isRecord(value) && Object.values(value).every(group => isRecord(group) && isGroup(group));
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function groupsIn(stored: Readonly<Record<string, Stored>>): readonly Group[] {
  return Object.entries(stored).map(([name, group]) => ({
    name,
    type: group.type,
    profile: group.profile.includes(':') ? group.profile : profileAddress(group.profile),
    certified: group.certified ?? true,
    optional: group.optional ?? false,
    searches: [
      ...(group.shall ?? []).filter(text => text !== READ).map(text => search(text, 'SHALL', group)),
      ...(group.should ?? []).map(text => search(text, 'SHOULD', group)),
    ],
    revinclude: group.revinclude ?? false,
    mustSupport: pathsOf([group.mustSupport, group.slices, group.extensions].filter(text => text).join(', ')),
    choices: (group.choices ?? '').split(';').map(text => text.split('|').map(path => path.trim())),
  }));
}

function search(text: string, strength: Search['strength'], { certified, uncertified = [] }: Stored): Search {
  const isCertified = certified !== false && !uncertified.includes(text);
  return { text, strength, certified: isCertified, parameters: text.split('+').map(searchPart) };
}

function searchPart(text: string): SearchPart {
  const match = /^([\w-]+)(?:=([^[]+))?(?:\[([^\]]+)\])?$/.exec(text);
  if (!match) throw new Error(`${text} is no search parameter`);
  const [, code = '', values, marks] = match;
  return {
    code,
    values: values?.split('|') ?? [],
    comparators: marks === undefined || marks === 'OR' ? [] : marks.split(' '),
    list: marks === 'OR',
  };
}

/** `a(b, c(d))` → a, a.b, a.c, a.c.d */
function pathsOf(text: string): readonly ElementPath[] {
  const found = new Map<string, ElementPath>();
  const outer: (readonly Step[])[] = [];
  for (const [, name = '', end = ''] of text.matchAll(/([^(),\s]*)\s*([(),]|$)/g)) {
    const own = stepsOf(name);
    const steps = [...outer.flat(), ...own];
    if (name !== '') found.set(textOf(steps), { text: textOf(steps), steps });
    if (end === '(') outer.push(own);
    if (end === ')') outer.pop();
  }
  return [...found.values()];
}

/** `code.coding:PulseOx` is two steps; a value after `=` may hold dots. */
function stepsOf(text: string): readonly Step[] {
  const [, names = '', rest = ''] = /^([^=→]*)(.*)$/.exec(text) ?? [];
  const parts = names.split('.');
  return parts.map((part, i) => stepOf(i === parts.length - 1 ? part + rest : part));
}

function stepOf(text: string): Step {
  const [, name = '', slice, equals, targets] = /^([^:=→]*)(?::([^=→]*))?(?:=([^→]*))?(?:→(.*))?$/.exec(text) ?? [];
  return {
    name,
    slice: slice ?? '',
    equals: equals ?? '',
    targets: targets === undefined ? undefined : targets.split('/').filter(target => target !== ''),
  };
}

function textOf(steps: readonly Step[]): string {
  return steps
    .map(({ name, slice, equals }) => name + (slice === '' ? '' : `:${slice}`) + (equals === '' ? '' : `=${equals}`))
    .join('.');
}
