/**
 * Reads the requirements of US Core: for each group of the certification tests the searches that a server SHALL and
 * SHOULD answer, and the must-support elements. In: `us-core-<version>.json`, in the notation of the test kit's own
 * tables: `[gt lt]` comparators, `[OR]` a list of values, `=a|b` values to try in turn, `→` references to profiles. The
 * (g)(10) tests leave out groups with `certified: false` and searches in `uncertified`.
 * https://hl7.org/fhir/us/core/STU6.1/CapabilityStatement-us-core-server.html
 */
import { readFileSync } from 'node:fs';
import { createReport, type Problem, problemLine } from '../mapping/load/problem.ts';
import { bytesOfPack, pathsOfPack } from '../mapping/load/read/files.ts';
import { readJson } from '../mapping/load/read/json.ts';
import { guideSchema, type StoredGroup } from '../mapping/load/read/other-schemas.ts';
import { checkShape } from '../mapping/load/read/shape.ts';
import { child, entriesOf, plain, scalarsOf } from '../mapping/load/read/tree.ts';
import { isResourceType, resourceTypes } from '../r4/definitions.ts';

export const VERSIONS = ['6.1.0', '7.0.0'] as const;
export type Version = (typeof VERSIONS)[number];

export interface Group {
  readonly name: string;
  readonly type: string;
  /** Canonical URL. */
  readonly profile: string;
  /** True if the (g)(10) certification tests include it. */
  readonly certified: boolean;
  readonly optional: boolean;
  readonly searches: readonly Search[];
  /** True if `_revinclude=Provenance:target` must work with its searches. */
  readonly revinclude: boolean;
  readonly mustSupport: readonly ElementPath[];
  /** Lists of alternatives, of which one is enough: texts of paths, or names of target profiles. */
  readonly choices: readonly (readonly string[])[];
}

export interface Search {
  readonly text: string;
  readonly strength: 'SHALL' | 'SHOULD';
  /** True if the (g)(10) certification tests run it. */
  readonly certified: boolean;
  readonly parameters: readonly SearchPart[];
}

export interface SearchPart {
  readonly code: string;
  /** Values to try in turn; empty: any value in the data. */
  readonly values: readonly string[];
  readonly comparators: readonly string[];
  readonly list: boolean;
}

export interface ElementPath {
  /** Such as `name.use=old`, `component:systolic.code`. */
  readonly text: string;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly name: string;
  readonly slice: string;
  /** The value that must occur. */
  readonly equals: string;
  /** For a reference: the required target profiles, without `us-core-`; undefined: any target. */
  readonly targets: readonly string[] | undefined;
}

/** A group as written; in a pack's own files the flags may be texts. */
type Stored = Readonly<
  Omit<StoredGroup, 'revinclude' | 'certified' | 'optional'> &
    Partial<Record<'revinclude' | 'certified' | 'optional', Flag>>
>;
type Flag = boolean | 'true' | 'false' | undefined;

/** Marks types that are read by reference and not searched; reads are tested elsewhere. */
const READ = 'read by reference';

export function profileAddress(name: string): string {
  return `http://hl7.org/fhir/us/core/StructureDefinition/${name}`;
}

/** The requirements that a pack is compared with. */
export interface Guide {
  /** Such as `us-core-7.0.0`. */
  readonly name: string;
  /** Version of US Core whose facts about the profiles are used. */
  readonly version: Version;
  readonly groups: readonly Group[];
  /** True if there are certification tests for it. */
  readonly certified: boolean;
}

export function usCore(version: Version): Guide {
  return { name: `us-core-${version}`, version, groups: groupsOf(version), certified: true };
}

/** Returns the groups of a version, in the order of its tests. */
export function groupsOf(version: Version): readonly Group[] {
  return groupsIn(JSON.parse(readFileSync(new URL(`us-core-${version}.json`, import.meta.url), 'utf8')));
}

/** Name of a file with a pack's own guide: `NAME.guide.json`. */
export const GUIDE_FILE = /^([A-Za-z][\w.-]*)\.guide\.json$/;

/** Thrown for an invalid guide of a pack. */
export class GuideError extends Error {}

/** Texts by path that replace those of the folder. */
type Unsaved = Readonly<Record<string, string>>;

/** Returns the names of a pack's own guides, which use the same notation. docs/coverage.md */
export function guidesIn(folder: string): readonly string[] {
  return pathsOfPack(folder).flatMap(path => GUIDE_FILE.exec(path)?.[1] ?? []);
}

/** Reads a pack's own guide. Throws GuideError with the first problem. */
export function guideIn(folder: string, name: string, unsaved: Unsaved = {}): Guide {
  if (!guidesIn(folder).includes(name)) throw new GuideError(`${name} is no guide of the pack`);
  const { stored, problems } = readGuide(folder, name, unsaved);
  const [first] = problems;
  if (first !== undefined) throw new GuideError(problemLine(first));
  return { name, version: VERSIONS[1], groups: groupsIn(stored ?? {}), certified: false };
}

/** Returns the problems of a pack's guides with their places. They do not prevent serving. */
export function guideProblems(folder: string, unsaved: Unsaved = {}): readonly Problem[] {
  return guidesIn(folder).flatMap(name => readGuide(folder, name, unsaved).problems);
}

interface ReadGuide {
  readonly stored: Readonly<Record<string, Stored>> | undefined;
  readonly problems: readonly Problem[];
}

/** Reads a guide; `stored` is undefined if it has another form. */
function readGuide(folder: string, name: string, unsaved: Unsaved): ReadGuide {
  const file = `${name}.guide.json`;
  const report = createReport();
  const tree = readJson(file, unsaved[file] ?? bytesOfPack(folder, file)?.toString('utf8') ?? '{}', report);
  if (!tree || !checkShape(tree, guideSchema, report)) return { stored: undefined, problems: report.problems() };
  for (const { value: group } of entriesOf(tree)) {
    const type = child(group, 'type');
    if (type?.kind === 'scalar' && !isResourceType(type.text)) {
      report.error('unknown-element', type.at, 'unknown resource type', { found: type.text, among: resourceTypes() });
    }
    for (const { text, at } of ['shall', 'should'].flatMap(key => scalarsOf(child(group, key)))) {
      if (text !== READ && !text.split('+').every(part => PART.test(part))) {
        report.error('wrong-form', at, 'no search', { expected: 'parameters as `patient+status`', found: text });
      }
    }
  }
  return { stored: guideSchema.parse(plain(tree)), problems: report.problems() };
}

function isTrue(flag: Flag, otherwise: boolean): boolean {
  return flag === undefined ? otherwise : String(flag) === 'true';
}

function groupsIn(stored: Readonly<Record<string, Stored>>): readonly Group[] {
  return Object.entries(stored).map(([name, group]) => ({
    name,
    type: group.type,
    profile: group.profile.includes(':') ? group.profile : profileAddress(group.profile),
    certified: isTrue(group.certified, true),
    optional: isTrue(group.optional, false),
    searches: [
      ...(group.shall ?? []).filter(text => text !== READ).map(text => search(text, 'SHALL', group)),
      ...(group.should ?? []).map(text => search(text, 'SHOULD', group)),
    ],
    revinclude: isTrue(group.revinclude, false),
    mustSupport: pathsOf([group.mustSupport, group.slices, group.extensions].filter(text => text).join(', ')),
    choices: (group.choices ?? '').split(';').map(text => text.split('|').map(path => path.trim())),
  }));
}

function search(text: string, strength: Search['strength'], { certified, uncertified = [] }: Stored): Search {
  const isCertified = isTrue(certified, true) && !uncertified.includes(text);
  return { text, strength, certified: isCertified, parameters: text.split('+').map(searchPart) };
}

/** Such as `status[OR]`, `category=a|b`, `date[gt ge]`. */
const PART = /^([\w-]+)(?:=([^[]+))?(?:\[([^\]]+)\])?$/;

function searchPart(text: string): SearchPart {
  const match = PART.exec(text);
  if (!match) throw new Error(`${text} is no search parameter`);
  const [, code = '', values, marks] = match;
  return {
    code,
    values: values?.split('|') ?? [],
    comparators: marks === undefined || marks === 'OR' ? [] : marks.split(' '),
    list: marks === 'OR',
  };
}

/** Expands `a(b, c(d))` → a, a.b, a.c, a.c.d. */
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

/** Splits a path into steps: `code.coding:PulseOx` has two; a value after `=` may contain dots. */
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
