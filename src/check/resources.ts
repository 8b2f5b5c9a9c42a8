/**
 * Validates resources: a section of `check`. In: the sample. Out: one problem per rule and line of the pack, with the
 * number of resources, never a value.
 * https://hl7.org/fhir/R4/validation.html
 */
import { getOrInsert } from '../common/caches.ts';
import { plural } from '../common/plural.ts';
import type { Problem } from '../mapping/load/problem.ts';
import type { Mapping, Position } from '../mapping/model.ts';
import type { Authority, Finding } from '../validation/finding.ts';
import { isObject } from '../validation/item.ts';
import { locate } from '../validation/locate.ts';
import { findingsOf, releasesOf } from '../validation/validator.ts';
import type { CheckSection, SampledResource, Table } from './section.ts';

export const RESOURCES: CheckSection = {
  name: 'resources',
  title: 'Resources against R4 and the profiles that they claim',
  async run({ sample, signal }) {
    const resources = inTurn(await sample());
    const report = resourceReport();
    let validated = 0;
    for (const sampled of resources) {
      if (signal.aborted) break;
      report.add(sampled);
      validated += 1;
      // The time budget's signal is a timer, which fires only between turns of the event loop.
      if (validated % 50 === 0) await new Promise(resolve => setImmediate(resolve));
    }
    const reached =
      validated < resources.length ? `; the time budget ended before the other ${resources.length - validated}` : '';
    return {
      problems: report.problems(),
      notes: [`${plural(validated, 'resource')} validated${reached}.`],
      tables: [report.table()],
    };
  },
};

/**
 * Orders resources: the first of each mapping, then the second of each, so that every mapping has its turn if time is
 * short.
 */
function inTurn(resources: readonly SampledResource[]): readonly SampledResource[] {
  const turns = new Map<Mapping, number>();
  const numbered = resources.map(sampled => {
    const turn = turns.get(sampled.mapping) ?? 0;
    turns.set(sampled.mapping, turn + 1);
    return { sampled, turn };
  });
  return numbered.toSorted((a, b) => a.turn - b.turn).map(({ sampled }) => sampled);
}

/** A broken rule at a position in the pack. */
interface Broken {
  readonly finding: Finding;
  readonly position: Position;
  readonly resources: Set<object>;
  readonly mappings: Set<Mapping>;
  readonly authorities: Map<string, Authority>;
}

/** Collects the findings of resources, one resource after the other. */
export function resourceReport(): {
  add(sampled: SampledResource): void;
  problems(): readonly Problem[];
  table(): Table;
} {
  const broken = new Map<string, Broken>();
  const ofMapping = new Map<Mapping, number>();
  const claims = new Map<string, { resources: number; valid: number }>();
  return {
    add({ mapping, resource }) {
      ofMapping.set(mapping, (ofMapping.get(mapping) ?? 0) + 1);
      const findings = findingsOf(resource);
      for (const finding of findings) {
        const position = locate(mapping, finding, resource);
        const key = JSON.stringify([position, finding.kind, pathOf(finding), finding.what]);
        const known = getOrInsert(broken, key, () => ({
          finding,
          position,
          resources: new Set(),
          mappings: new Set(),
          authorities: new Map(),
        }));
        known.resources.add(resource);
        known.mappings.add(mapping);
        if (finding.by) known.authorities.set(JSON.stringify(finding.by), finding.by);
      }
      for (const claim of claimsOf(resource)) {
        const count = getOrInsert(claims, claim, () => ({ resources: 0, valid: 0 }));
        count.resources += 1;
        const [url] = claim.split('|');
        if (!findings.some(({ kind, by }) => kind === 'error' && (by === undefined || by.url === url)))
          count.valid += 1;
      }
    },
    problems() {
      const unknown = [...broken.values()].filter(({ finding }) => finding.kind === 'unknown');
      const once = new Map(unknown.toReversed().map(one => [one.finding.what, one]));
      const reported = [...broken.values()].filter(
        one => one.finding.kind !== 'unknown' || once.get(one.finding.what) === one,
      );
      return reported.map(one => problemOf(one, ofMapping));
    },
    table: () => ({
      name: 'profiles',
      title: 'Sampled resources by the profile that they claim',
      columns: ['profile', 'releases', 'resources', 'valid'],
      rows: [...claims]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([claim, { resources, valid }]) => {
          const releases = releasesOf(claim);
          return releases.length === 0
            ? [shortName(claim), 'not known', resources, '-']
            : [shortName(claim), releases.join(', '), resources, valid];
        }),
    }),
  };
}

function problemOf(one: Broken, ofMapping: ReadonlyMap<Mapping, number>): Problem {
  const { finding, position, resources, mappings } = one;
  const { kind, what, invariant } = finding;
  if (kind === 'unknown') {
    const claimed = what.replace(/ is not known$/, '');
    const message = `${claimed} is no profile that Lintel knows: resources that claim it are validated against R4 alone`;
    return { severity: 'warning', kind: 'unknown-profile', position, message };
  }
  const authorities = [...one.authorities.values()];
  const isAdvice = kind === 'advice';
  const [only] = mappings;
  const of = only && mappings.size === 1 ? only.name : plural(mappings.size, 'mapping');
  const sampled = [...mappings].reduce((sum, mapping) => sum + (ofMapping.get(mapping) ?? 0), 0);
  const broken = invariant === undefined ? what : `${isAdvice ? 'does not follow' : 'breaks'} ${invariant.key}`;
  const rule = authorities.length === 0 ? 'FHIR R4' : authorityText(authorities);
  const message = `${pathOf(finding)} ${broken} in ${resources.size} of ${plural(sampled, 'sampled resource')} of ${of}, against ${rule}`;
  const expected = invariant?.human ?? (what === 'is missing' ? EXPECTED_VALUES : undefined);
  return {
    severity: !isAdvice && isError(authorities) ? 'error' : 'warning',
    kind: 'invalid-resource',
    position,
    message,
    ...(expected === undefined ? {} : { expected }),
  };
}

const EXPECTED_VALUES = 'a value in each of them: by `else`, by `needs`, or by a condition on the profile';

/**
 * True for a rule of R4, or one that all releases of the claimed profile have. A rule of some releases only is a
 * warning.
 */
function isError(authorities: readonly Authority[]): boolean {
  const byUrl = Map.groupBy(authorities, ({ url }) => url);
  if (byUrl.size === 0) return true;
  return [...byUrl.values()].some(of =>
    of[0]?.among.every(release => of.some(authority => authority.release === release)),
  );
}

/** Returns `us-core-allergyintolerance (6.1.0, 7.0.0)`. */
function authorityText(authorities: readonly Authority[]): string {
  return [...Map.groupBy(authorities, ({ url }) => url)]
    .map(([url, of]) => {
      const releases = of.map(({ release }) => release).filter(release => release !== 'R4');
      return releases.length === 0 ? shortName(url) : `${shortName(url)} (${releases.toSorted().join(', ')})`;
    })
    .join(' and ');
}

function shortName(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1);
}

/** Returns the path without indexes of lists, because these depend on the row. */
function pathOf({ where }: Finding): string {
  return where.replace(/\[\d+\]/g, '');
}

function claimsOf(resource: SampledResource['resource']): readonly string[] {
  const { meta } = resource;
  const claimed = isObject(meta) ? meta['profile'] : undefined;
  return Array.isArray(claimed) ? claimed.map(String) : [];
}
