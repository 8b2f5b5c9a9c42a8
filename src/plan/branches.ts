/**
 * A search as branches: one per source, all variants of a source in one scan. In: query, access, mappings. Out: for each
 * source the rows to read and which of its mappings they belong to. A mapping that cannot match is not among them.
 */
import type { Access } from '../auth/access.ts';
import type { Mapping } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import type { Filter, SortKey } from '../search/query.ts';
import { and, expressionKey, or, type Predicate, predicateKey } from '../sql/expression.ts';
import { accessPredicate } from './access.ts';
import type { Environment } from './environment.ts';
import { filterPredicate } from './filter.ts';
import { servedPredicate } from './presence.ts';
import { type SortFace, sortFace } from './sort.ts';

export interface Branch {
  /** The mappings' group and what they sort by, as a text; branches are ordered by `ordinal`. */
  readonly group: string;
  readonly ordinal: number;
  /** Rows of at least one of the mappings. */
  readonly where: Predicate;
  /** In order of their ordinals; `when` is what a row must satisfy beyond `where` to be this mapping's. */
  readonly mappings: readonly { readonly mapping: Mapping; readonly when: Predicate }[];
  /** One per sort key; null where these mappings never have a value. */
  readonly sort: readonly (SortFace | null)[];
}

export interface BranchRequest {
  readonly type: string;
  readonly filters: readonly Filter[];
  readonly sort: readonly SortKey[];
  readonly access: Access;
}

/** The branches of a search, in order. */
export function branchesOf(request: BranchRequest, env: Environment): readonly Branch[] {
  return groupBranches(
    env.registry.ofType(request.type).map(mapping => {
      const asked = and(accessPredicate(mapping, request.access, env), askedOf(mapping, request.filters, env));
      return { mapping, where: asked.kind === 'false' ? asked : and(servedPredicate(mapping, env), asked) };
    }),
    request.sort,
    env,
  );
}

/** Branches of mappings whose rows are already known as predicates; those that are FALSE are left out. */
export function groupBranches(
  asked: readonly { readonly mapping: Mapping; readonly where: Predicate }[],
  sort: readonly SortKey[],
  env: Environment,
): readonly Branch[] {
  const groups = new Map<
    string,
    { readonly mapping: Mapping; readonly where: Predicate; readonly faces: readonly (SortFace | null)[] }[]
  >();
  for (const { mapping, where } of asked) {
    if (where.kind === 'false') continue;
    const faces = sort.map(({ parameter }) => sortFace(mapping, parameter, env) ?? null);
    // Variants that sort by different columns cannot share a scan.
    const key = [mapping.group, ...faces.map(face => face?.by.map(expressionKey).join() ?? '')].join('|');
    const members = groups.get(key) ?? [];
    members.push({ mapping, where, faces });
    groups.set(key, members);
  }
  return [...groups].map(([group, members]) => {
    const [first] = members;
    if (!first) throw new RangeError('a branch without mappings');
    const { common, specific } = factor(members.map(({ where }) => where));
    return {
      group,
      ordinal: first.mapping.ordinal,
      where: and(...common, or(...specific)),
      mappings: members.map(({ mapping }, i) => ({ mapping, when: specific[i] ?? { kind: 'true' } })),
      sort: first.faces,
    };
  });
}

/**
 * All filters on one mapping. Where one can never hold, keys that the others have asked for are not fetched: in the last
 * round of planning none is asked for, so what is FALSE then is FALSE.
 */
function askedOf(mapping: Mapping, filters: readonly Filter[], env: Environment): Predicate {
  const before = new Set(env.pending.keys());
  let never = false;
  const predicates = filters.map(filter => {
    const waiting = env.pending.size;
    const predicate = mustInvert(mapping, filter, env);
    never ||= predicate.kind === 'false' && env.pending.size === waiting;
    return predicate;
  });
  if (never) for (const key of env.pending.keys()) if (!before.has(key)) env.pending.delete(key);
  return and(...predicates);
}

function mustInvert(mapping: Mapping, filter: Filter, env: Environment): Predicate {
  const predicate = filterPredicate(mapping, filter, env);
  // Offers withhold such parameters; reaching this is a fault of ours, and an error is better than a wrong answer.
  if (!predicate) throw new FhirError('not-supported', 'this combination of parameters cannot be searched');
  return predicate;
}

/** Conjuncts that all predicates share, and what remains of each. */
function factor(predicates: readonly Predicate[]): {
  readonly common: readonly Predicate[];
  readonly specific: readonly Predicate[];
} {
  const lists = predicates.map(predicate => (predicate.kind === 'and' ? predicate.of : [predicate]));
  const [first = [], ...others] = lists.map(list => new Map(list.map(part => [predicateKey(part), part] as const)));
  const shared = new Set([...new Map(first).keys()].filter(key => others.every(other => other.has(key))));
  return {
    common: [...first].flatMap(([key, part]) => (shared.has(key) ? [part] : [])),
    specific: lists.map(list => and(...list.filter(part => !shared.has(predicateKey(part))))),
  };
}
