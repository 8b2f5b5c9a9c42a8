/**
 * What US Core is tested for, as data: per group of the certification tests the searches that a server SHALL and SHOULD
 * answer, and the elements that it must support. In: `us-core-<version>.json`, which keep the notation of the test kit's
 * own tables: `[gt lt]` comparators, `[OR]` a list of values, `=a|b` values to try in turn, `→` references to profiles;
 * `certified: false` is a group, and `uncertified` are searches, that the (g)(10) tests leave out.
 * https://hl7.org/fhir/us/core/STU6.1/CapabilityStatement-us-core-server.html
 */
import { readFileSync } from 'node:fs';

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

/** The groups of a version, in the order of its tests. */
export function groupsOf(version: Version): readonly Group[] {
  const stored: Readonly<Record<string, Stored>> = JSON.parse(
    readFileSync(new URL(`us-core-${version}.json`, import.meta.url), 'utf8'),
  );
  return Object.entries(stored).map(([name, group]) => ({
    name,
    type: group.type,
    profile: profileAddress(group.profile),
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
