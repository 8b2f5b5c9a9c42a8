/**
 * Reports how much of US Core a pack covers: per profile its must-support elements and searches, a verdict per group
 * of the (g)(10) certification tests, and what of the database is unused. In: the pack, and a database if there is
 * one. Out: the data of `--json` (docs/coverage.md), which text.ts prints.
 */
import { performance } from 'node:perf_hooks';
import type { Mapping, Registry } from '../mapping/model.ts';
import { firstOfMapping } from '../pipeline/of-mapping.ts';
import { writtenContext } from '../plan/search-problems.ts';
import type { Catalog } from '../sql/catalog.ts';
import { type Database, wasEnded, within } from '../sql/database.ts';
import { claimsOf, type ElementCoverage, elementsOf } from './elements-of.ts';
import { elementGapsOf, searchGapsOf } from './gaps.ts';
import type { Group, Guide } from './guide.ts';
import { type Kit, kitOf } from './kit.ts';
import { type SearchCoverage, searchesOf } from './searches.ts';
import { rowCounter, type Unused, unusedOf } from './unused.ts';

export interface Coverage {
  readonly pack: string;
  readonly guide: string;
  /** Resources read per profile, or 25 per mapping if that is more; null if no database was used. */
  readonly sample: number | null;
  /** Mappings that the time limit did not reach; their resources are not counted. */
  readonly unreached: readonly string[];
  readonly profiles: readonly ProfileCoverage[];
  readonly certification: readonly Certification[];
  readonly unused: Unused;
}

/** The same without the unused parts of the database. */
export type ProfilesCoverage = Omit<Coverage, 'unused'>;

/** `ready`: complete. `no data`: everything is mapped, but the rows do not show all of it. */
export type Verdict = 'ready' | 'no data' | 'gaps' | 'not mapped';

export interface ProfileCoverage {
  /** The group of the tests, such as `patient`. */
  readonly name: string;
  /** Such as `us-core-patient`. */
  readonly profile: string;
  readonly type: string;
  /** True if the (g)(10) certification tests include it. */
  readonly certified: boolean;
  readonly optional: boolean;
  readonly verdict: Verdict;
  /** Result of the group in the (g)(10) test kit; null if it is not tested. */
  readonly kit: Kit | null;
  /** Mappings that claim the profile, conditionally or not. */
  readonly mappings: readonly string[];
  /** Number of sampled resources that claim it; null without rows. */
  readonly resources: number | null;
  readonly elements: readonly ElementCoverage[];
  readonly searches: readonly SearchCoverage[];
  /** Missing SHALL requirements, in words. */
  readonly gaps: readonly string[];
  /** Elements that are mapped but appear in no sampled resource. */
  readonly withoutData: readonly string[];
}

export interface Certification {
  readonly name: string;
  readonly verdict: Exclude<Verdict, 'not mapped'>;
  /** One sentence each. */
  readonly missing: readonly string[];
}

export interface CoverageOptions {
  readonly registry: Registry;
  readonly guide: Guide;
  /** Undefined: reports by the pack alone. */
  readonly rows: RowsOptions | undefined;
  /** Called with each profile before its resources are read. */
  readonly onProfile?: (profile: string) => void;
}

export interface RowsOptions {
  readonly database: Database;
  readonly now: number;
  /** Resources per profile. */
  readonly sample: number;
  /** Time limit for reading resources, and again for counting the rows of unused tables. */
  readonly seconds: number;
  /** Ends the reading earlier. */
  readonly signal?: AbortSignal;
}

/** Minimum number of resources per mapping, however many mappings claim the profile. */
const LEAST = 25;

interface Resource {
  readonly meta?: { readonly profile?: readonly string[] };
}

/** Reports the coverage. Throws DatabaseError. */
export async function coverageOf(options: CoverageOptions & { readonly catalog: Catalog }): Promise<Coverage> {
  const { registry, catalog, rows } = options;
  const counter = rows ? rowCounter(rows.database, rows.seconds) : async () => null;
  return { ...(await profilesOf(options)), unused: await unusedOf(registry, catalog, counter) };
}

/** Reports the coverage of profiles. Throws DatabaseError; rejects if the signal of `rows` is aborted. */
export async function profilesOf({ registry, guide, rows, onProfile }: CoverageOptions): Promise<ProfilesCoverage> {
  const claims = new Map(registry.mappings.map(mapping => [mapping, claimsOf(mapping)]));
  const context = writtenContext(registry);
  const profiles: ProfileCoverage[] = [];
  const unreached = new Set<string>();
  const reader = rows && resourceReader(registry, rows, unreached);
  for (const group of guide.groups) {
    rows?.signal?.throwIfAborted();
    onProfile?.(shortName(group.profile));
    const claiming = registry.ofType(group.type).filter(mapping => claims.get(mapping)?.includes(group.profile));
    const resources = await reader?.(group.profile, claiming);
    const elements = elementsOf(group, guide.version, claiming, resources, registry);
    const searches = searchesOf(group, registry, context);
    const own = profileOf(group, claiming, resources?.length, elements, searches);
    profiles.push({ ...own, kit: guide.certified ? kitOf(own) : null });
  }
  const patients = rows && profiles.find(({ type }) => type === 'Patient')?.resources;
  return {
    pack: registry.pack.name,
    guide: guide.name,
    sample: rows?.sample ?? null,
    unreached: [...unreached],
    profiles,
    certification: guide.certified
      ? [singlePatient(profiles, registry), multiPatient(profiles, registry, patients ?? undefined)]
      : [],
  };
}

/**
 * Reads resources that claim a profile, an equal share of the sample from each mapping. Undefined if the time was over;
 * nothing is then known about their elements.
 */
function resourceReader(
  registry: Registry,
  { database, now, sample, seconds, signal: asked }: RowsOptions,
  unreached: Set<string>,
): (profile: string, claiming: readonly Mapping[]) => Promise<readonly Resource[] | undefined> {
  const ends = performance.now() + seconds * 1000;
  const signal = within(seconds * 1000, asked);
  const asking = { database, registry, now, signal };
  return async (profile, claiming) => {
    const each = Math.max(LEAST, Math.ceil(sample / claiming.length));
    const found: Resource[] = [];
    for (const [i, mapping] of claiming.entries()) {
      const texts = performance.now() < ends ? await inTime(firstOfMapping(mapping, each, asking)) : undefined;
      if (texts === undefined) {
        for (const { name } of claiming.slice(i)) unreached.add(name);
        return undefined;
      }
      const resources: readonly Resource[] = texts.map(({ json }) => JSON.parse(json));
      found.push(...resources.filter(({ meta }) => meta?.profile?.some(url => withoutVersion(url) === profile)));
    }
    return found;
  };
}

/** Returns undefined if the time was over in the middle of a statement. */
async function inTime<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (wasEnded(error)) return undefined;
    throw error;
  }
}

function shortName(profile: string): string {
  return profile.slice(profile.lastIndexOf('/') + 1);
}

function withoutVersion(url: string): string {
  return url.replace(/\|.*$/, '');
}

function profileOf(
  { name, type, profile, certified, optional }: Group,
  claiming: readonly Mapping[],
  resources: number | undefined,
  elements: readonly ElementCoverage[],
  searches: readonly SearchCoverage[],
): Omit<ProfileCoverage, 'kit'> {
  const isMapped = claiming.length > 0;
  const gaps = isMapped ? [...elementGapsOf(elements), ...searchGapsOf(searches)] : ['no mapping claims the profile'];
  const empty = elements.filter(({ state }) => state === 'empty').map(({ element }) => element);
  const withoutData = isMapped && resources === 0 ? ['the profile'] : empty;
  return {
    name,
    profile: shortName(profile),
    type,
    certified,
    optional,
    verdict: !isMapped ? 'not mapped' : gaps.length > 0 ? 'gaps' : withoutData.length > 0 ? 'no data' : 'ready',
    mappings: claiming.map(mapping => mapping.name),
    resources: resources ?? null,
    elements,
    searches,
    gaps,
    withoutData,
  };
}

/** Judges the single-patient tests: each group's profile, elements and SHALL searches. */
function singlePatient(profiles: readonly ProfileCoverage[], registry: Registry): Certification {
  return certificationOf('(g)(10) single patient API', { profiles, registry, general: [] }, one => [
    ...elementGapsOf(one.elements),
    ...searchGapsOf(one.searches.filter(({ certified }) => certified)),
  ]);
}

/** Judges the bulk export of a group: its members, and each profile with all elements. */
function multiPatient(
  profiles: readonly ProfileCoverage[],
  registry: Registry,
  patients: number | undefined,
): Certification {
  const general = [
    ...(registry.types.includes('Group') ? [] : ['Group is not mapped: Group/[id]/$export has no group to export']),
    ...(patients !== undefined && patients < 2
      ? ['fewer than two patients by mappings that claim us-core-patient, and the tests require two']
      : []),
  ];
  return certificationOf('(g)(10) multi-patient API (bulk export)', { profiles, registry, general }, one =>
    elementGapsOf(one.elements),
  );
}

interface Certified {
  readonly profiles: readonly ProfileCoverage[];
  readonly registry: Registry;
  /** Gaps of the whole server. */
  readonly general: readonly string[];
}

/** Summarizes a certification. `gapsOf`: returns the gaps of a mapped profile. */
function certificationOf(
  name: string,
  { profiles, registry, general }: Certified,
  gapsOf: (profile: ProfileCoverage) => readonly string[],
): Certification {
  const tested = profiles.filter(({ certified, optional }) => certified && !optional);
  const unmapped = unclaimed(
    tested.filter(({ verdict }) => verdict === 'not mapped'),
    registry,
  );
  const mapped = tested.filter(({ verdict }) => verdict !== 'not mapped');
  const gaps = mapped.flatMap(one => {
    const own = gapsOf(one);
    return own.length === 0 ? [] : [`${one.profile}: ${own.join('; ')}`];
  });
  const withoutData = mapped.flatMap(({ profile, withoutData: own }) =>
    own.length === 0 ? [] : [`${profile}: no resource of the sample shows ${own.join(', ')}`],
  );
  const all = [...general, ...unmapped, ...gaps];
  const verdict = all.length > 0 ? 'gaps' : withoutData.length > 0 ? 'no data' : 'ready';
  return { name, verdict, missing: [...all, ...withoutData] };
}

/** Returns the types that no mapping makes, and by type the profiles that its mappings do not claim. */
function unclaimed(profiles: readonly ProfileCoverage[], { types }: Registry): readonly string[] {
  const byType = Map.groupBy(profiles, ({ type }) => type);
  const lacking = [...byType.keys()].filter(type => !types.includes(type));
  return [
    ...(lacking.length === 0 ? [] : [`no mapping makes ${lacking.join(', ')}`]),
    ...[...byType]
      .filter(([type]) => !lacking.includes(type))
      .map(([type, own]) => `${type}: no mapping claims ${own.map(({ profile }) => profile).join(', ')}`),
  ];
}
