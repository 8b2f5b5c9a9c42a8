/**
 * Splits a search into branches: one per source, so that all mappings of a source are read in one scan. In: query,
 * access, mappings. Out: for each source the rows to read, and the mappings that each row can belong to. A mapping
 * that cannot match is left out.
 */

import { hash } from 'node:crypto';
import { getOrInsert } from '../common/caches.ts';
import type { Mapping } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import type { Filter, SortKey } from '../search/query.ts';
import { and, conjuncts, factor, not, or, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import { predicateKey } from '../sql/expression-key.ts';
import { walk } from '../sql/walk.ts';
import { bareRelation } from './condition.ts';
import { checkBudget, type Environment, withShortLists } from './environment.ts';
import { filterPredicate } from './filter.ts';
import { servedPredicate } from './presence.ts';
import { type SortFace, sortParts } from './sort.ts';
import { amongPicked, throughLookups } from './through-lookups.ts';
import { type Action, permissionsOf } from './visibility.ts';

export interface Branch {
  /** The mappings' group and sort columns, as text. `ordinal` orders the branches and is unique. */
  readonly group: string;
  readonly ordinal: number;
  /** The rows that belong to at least one of the mappings. */
  readonly where: Predicate;
  /**
   * In order of their ordinals. `when` is the further condition, beyond `where`, for a row to belong to the mapping.
   */
  readonly mappings: readonly { readonly mapping: Mapping; readonly when: Predicate }[];
  /**
   * One face per sort key, for rows that have its value. Null for rows that have none: they sort last, in both
   * directions.
   */
  readonly sort: readonly (SortFace | null)[];
}

export interface BranchRequest {
  readonly type: string;
  readonly filters: readonly Filter[];
  readonly sort: readonly SortKey[];
  /** The action on the rows; default: `search`. */
  readonly action?: Action;
}

/**
 * True if the branch has only the server's own resources, which consist of mappings alone: the database is not queried.
 */
export function isWithoutRows({ mappings }: Branch): boolean {
  return mappings.every(({ mapping }) => mapping.source.key.length === 0);
}

/** Returns the branches of a search, in order. */
export function branchesOf(request: BranchRequest, env: Environment): readonly Branch[] {
  return groupBranches(
    env.registry.ofType(request.type).map(mapping => ({ mapping, where: rowsOf(mapping, request, env) })),
    request.sort,
    env,
  );
}

/** True if some mapping of the type can have such a resource, that is, if a search without sort keys has a branch. */
export function hasBranch(request: Omit<BranchRequest, 'sort'>, env: Environment): boolean {
  return env.registry
    .ofType(request.type)
    .some(mapping => rowsOf(mapping, { ...request, sort: [] }, env).kind !== 'false');
}

/** Values per statement: SQL Server takes 2,100 parameters, and a page needs some of its own. */
const VALUES_AT_MOST = 1900;
/** Values of one list of keys if the statement has several lists. */
const FEW_VALUES = 100;

/** Returns the rows of a mapping. Lists of keys find them fastest, as long as one statement can take all keys. */
function rowsOf(mapping: Mapping, request: BranchRequest, env: Environment): Predicate {
  const rows = rowsByKeys(mapping, request, env);
  return env.resolved.size === 0 || valuesIn(rows) <= VALUES_AT_MOST
    ? rows
    : rowsByKeys(mapping, request, withShortLists(env, FEW_VALUES));
}

function valuesIn(rows: Predicate): number {
  let count = 0;
  walk(
    { predicates: [rows] },
    {
      value({ constant }) {
        if (!constant) count++;
      },
    },
  );
  return count;
}

function rowsByKeys(mapping: Mapping, request: BranchRequest, env: Environment): Predicate {
  checkBudget(env);
  const { action = 'search', filters } = request;
  const few = action === 'read' || filters.some(isOfFewIds);
  const seen = env.visibility.rules.matches ? env.visibility.allows(mapping, action, env, { few }) : TRUE;
  const asked = seen.kind === 'false' ? seen : and(seen, askedOf(mapping, filters, env));
  const byKey = request.sort.length === 0;
  const relation = bareRelation(mapping.source, asked, env);
  const bounded = relation.joins.some(({ pick }) => pick) ? amongPicked(relation) : asked;
  const rows = namesResources(request, env)
    ? bounded
    : throughLookups({ ...relation, where: bounded }, mapping.name, env, { byKey });
  return rows.kind === 'false' ? rows : and(servedPredicate(mapping, env), rows);
}

/** Up to this many ids, checking each in a patient's record is faster than reading the record. */
const FEW = 4;

function isOfFewIds(filter: Filter): boolean {
  return (
    filter.kind === 'match' &&
    filter.modifier === undefined &&
    filter.parameter.code === '_id' &&
    filter.values.length <= FEW
  );
}

/** True if the request names patients or other resources: its rows are few, and an index finds them. */
function namesResources({ type, filters, action = 'search' }: BranchRequest, { visibility }: Environment): boolean {
  const ofPatients = permissionsOf(visibility, type, action)?.every(({ within }) =>
    within.some(one => one.kind === 'ids'),
  );
  return (
    ofPatients === true ||
    filters.some(
      filter =>
        filter.kind === 'number' ||
        filter.kind === 'compartment' ||
        (filter.kind === 'match' &&
          filter.modifier === undefined &&
          (filter.parameter.code === '_id' || filter.values.every(({ kind }) => kind === 'reference'))),
    )
  );
}

/** Groups mappings with known conditions into branches, and leaves out those whose condition is FALSE. */
export function groupBranches(
  asked: readonly { readonly mapping: Mapping; readonly where: Predicate }[],
  sort: readonly SortKey[],
  env: Environment,
): readonly Branch[] {
  const groups = new Map<string, { readonly mapping: Mapping; readonly where: Predicate; readonly part: Part }[]>();
  for (const { mapping, where: rows } of asked) {
    for (const part of rows.kind === 'false' ? [] : partsOf(mapping, sort, env)) {
      if (contradicts(rows, part.where)) continue;
      const where = and(rows, part.where);
      // Variants that sort by different columns cannot share a scan.
      const columns = part.faces.map(face => face?.statementKey ?? '').join('|');
      const key = [mapping.group, part.number, columns === '' ? '' : digest(columns)].join('|');
      const members = getOrInsert(groups, key, () => []);
      members.push({ mapping, where, part });
    }
  }
  return [...groups].map(([group, members]) => {
    const [first] = members;
    if (!first) throw new RangeError('a branch without mappings');
    const { common, specific } = factor(members.map(({ where }) => where));
    return {
      group,
      ordinal: first.mapping.ordinal * PARTS_AT_MOST + first.part.number,
      where: and(...common, or(...specific)),
      mappings: members.map(({ mapping }, i) => ({ mapping, when: specific[i] ?? { kind: 'true' } })),
      sort: first.part.faces,
    };
  });
}

/** Rows of a mapping that sort by the same columns. */
interface Part {
  readonly number: number;
  readonly where: Predicate;
  readonly faces: readonly (SortFace | null)[];
}

/** Limit of parts per mapping; sort keys that would make more are refused. */
const PARTS_AT_MOST = 64;

/** Shortens a text, because the links of pages contain the groups and have a maximum length. */
function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 22);
}

/** Returns every combination of the parts that each sort key makes. */
function partsOf(mapping: Mapping, sort: readonly SortKey[], env: Environment): readonly Part[] {
  let parts: readonly Omit<Part, 'number'>[] = [{ where: TRUE, faces: [] }];
  for (const { parameter, descending } of sort) {
    const own = sortParts(mapping, parameter, env, descending) ?? [{ where: TRUE, face: null }];
    parts = parts.flatMap(({ where, faces }) =>
      own.map(part => ({ where: and(where, part.where), faces: [...faces, part.face] })),
    );
    if (parts.length > PARTS_AT_MOST) throw new FhirError('too-costly', 'too many sort keys');
  }
  return parts.map((part, number) => ({ ...part, number }));
}

/** True if the condition requires the complement of what the rows are known to satisfy. */
function contradicts(rows: Predicate, condition: Predicate): boolean {
  if (condition.kind === 'false') return true;
  const known = new Set(conjuncts(rows).map(predicateKey));
  return conjuncts(not(condition)).every(part => known.has(predicateKey(part)));
}

/**
 * Returns the conjunction of all filters on one mapping. If one filter can never hold, drops the keys that the others
 * wait for. The last round of planning waits for no keys, so a filter that is FALSE then stays FALSE.
 */
function askedOf(mapping: Mapping, filters: readonly Filter[], env: Environment): Predicate {
  const before = new Set(env.pending.keys());
  let never = false;
  const predicates = filters.map(filter => {
    const waiting = env.missed.count;
    const predicate = mustInvert(mapping, filter, env);
    never ||= predicate.kind === 'false' && env.missed.count === waiting;
    return predicate;
  });
  if (never) for (const key of env.pending.keys()) if (!before.has(key)) env.pending.delete(key);
  return and(...predicates);
}

function mustInvert(mapping: Mapping, filter: Filter, env: Environment): Predicate {
  const predicate = filterPredicate(mapping, filter, env);
  // Offers leave such parameters out, so this is a bug of ours: an error is better than a wrong answer.
  if (!predicate) throw new FhirError('unsupported-search', 'this combination of parameters cannot be searched');
  return predicate;
}
