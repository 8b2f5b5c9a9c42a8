/**
 * Answers `_include` and `_revinclude`. In: the keys and references of a page. Out: the resources that they refer to,
 * and those that refer to them, by a fixed number of statements per step.
 * https://hl7.org/fhir/R4/search.html#include
 */
import type { Mapping } from '../mapping/model.ts';
import { isBound } from '../plan/compartment.ts';
import { bareRelation } from '../plan/condition.ts';
import { inStatements, oursAmong, theirsAmong } from '../plan/key.ts';
import { servedPredicate } from '../plan/presence.ts';
import { amongPicked } from '../plan/through-lookups.ts';
import type { Action } from '../plan/visibility.ts';
import { along } from '../plan/walk.ts';
import type { Include } from '../search/query.ts';
import { and, FALSE, some, TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Emitted } from './emitted.ts';
import { type Frontier, frontierOf, type Includes, identityOf, pathsOf, refNodes } from './frontier.ts';
import { planResolved } from './plans.ts';
import type { Session } from './session.ts';

/** Limit of included resources per page. If it leaves resources out, the Bundle has a warning. */
const INCLUDED_AT_MOST = 2000;
const ROUNDS = 5;

export interface IncludeRequest {
  readonly query: Includes;
  /** Returns whether a type may be included; undefined: any type. */
  readonly includable?: ((type: string) => boolean) | undefined;
  /** Reads the resources of these mappings' rows. */
  readonly read: (asked: readonly AskedRows[], limit: number) => Promise<ReadRows>;
}

export interface ReadRows {
  readonly resources: readonly Emitted[];
  /** True if further ones would have too many bytes. */
  readonly isFull: boolean;
}

export interface AskedRows {
  readonly mapping: Mapping;
  readonly where: Predicate;
}

export interface Included {
  readonly resources: readonly Emitted[];
  /** True if more would have been included than one page may contain. */
  readonly cut: boolean;
  /** True if the reason is their bytes: a page with fewer matches may have room for theirs. */
  readonly isFull?: boolean;
}

/** Returns the included resources. `from`: the resources of the page. */
export async function readIncluded(from: Frontier, request: IncludeRequest, session: Session): Promise<Included> {
  const { seen } = from;
  const resources: Emitted[] = [];
  let frontier = from;
  let cut = false;
  let isFull = false;
  const ofRecord = from.mappings().every(isBound);
  for (let round = 0; round < ROUNDS && frontier.size() > 0; round++) {
    const at = frontier;
    // The caller's access may depend on keys that are not resolved yet.
    const asked = await planResolved(session, () => [
      ...at.includes.flatMap(include => forward(at, include, request, ofRecord ? round : undefined, session)),
      ...at.revincludes.flatMap(include => backward(at, include, request, session)),
    ]);
    // One more than may still be included, plus those that the Bundle already contains.
    const limit = INCLUDED_AT_MOST - resources.length + seen.size + 1;
    const found = (
      await Promise.all(
        asked.map(async ({ rows, include }) => {
          const { resources: read, ...bytes } = await request.read(rows, limit);
          isFull ||= bytes.isFull;
          cut ||= read.length >= limit || isFull;
          const references = include && at.referencesOf(include);
          return references ? read.filter(resource => references.has(identityOf(resource))) : read;
        }),
      )
    ).flat();
    const fresh: Emitted[] = [];
    for (const resource of found) {
      if (seen.has(identityOf(resource))) continue;
      if (resources.length + fresh.length >= INCLUDED_AT_MOST)
        return { resources: [...resources, ...fresh], cut: true, isFull };
      seen.add(identityOf(resource));
      fresh.push(resource);
    }
    resources.push(...fresh);
    if (isFull) break;
    frontier = frontierOf(iterated(request.query), session, seen);
    frontier.add(fresh);
  }
  return { resources, cut, isFull };
}

/** Returns the includes with `:iterate`, which continue from included resources. */
function iterated({ includes, revincludes }: Includes): Includes {
  const isIterated = ({ iterate }: Include): boolean => iterate;
  return { includes: includes.filter(isIterated), revincludes: revincludes.filter(isIterated) };
}

interface Asked {
  readonly rows: readonly AskedRows[];
  /** For an `_include`: the result is filtered by its references, because keys match more rows. */
  readonly include?: Include;
}

/**
 * Returns rows to read for an `_include`. `steps`: how many references the source is away from the record; undefined if
 * unknown.
 */
function forward(
  from: Frontier,
  include: Include,
  { includable }: IncludeRequest,
  steps: number | undefined,
  session: Session,
): readonly Asked[] {
  const asked: AskedRows[] = [];
  for (const mapping of from.mappings()) {
    for (const node of refNodes(mapping, include, session)) {
      const target = session.registry.mapping(node.target);
      if (includable?.(target.resource) === false) continue;
      const referred = isBound(mapping) || (steps === 1 && mapping !== target);
      for (const some of inStatements(from.keysOf(node)))
        asked.push(served(target, 'read', theirsAmong(node.on, some), session, referred));
    }
  }
  return asked.length > 0 ? [{ rows: asked, include }] : [];
}

function backward(
  from: Frontier,
  include: Include,
  { includable }: IncludeRequest,
  session: Session,
): readonly Asked[] {
  const asked: AskedRows[] = [];
  if (includable?.(include.source) === false) return [];
  for (const source of session.registry.ofType(include.source)) {
    for (const node of refNodes(source, include, session)) {
      for (const chunk of inStatements(from.keysTo(node))) {
        const refers = some(
          pathsOf(source, include).map(path =>
            along(source.root, path, n => (n === node ? oursAmong(node.on, chunk) : FALSE), session.env),
          ),
        );
        const found = amongPicked(bareRelation(source.source, refers ?? FALSE, session.env));
        asked.push(served(source, 'search', found, session));
      }
    }
  }
  return asked.length > 0 ? [{ rows: asked }] : [];
}

/**
 * Adds the caller's access. Following a reference is a read, and looking for referring resources is a search.
 * `referred`: these rows are referred to by visible resources of the record, or by resources that those refer to.
 */
function served(mapping: Mapping, action: Action, extra: Predicate, session: Session, referred = false): AskedRows {
  const { env } = session;
  const seen = env.visibility.rules.includes ? env.visibility.allows(mapping, action, env, { referred }) : TRUE;
  return { mapping, where: and(servedPredicate(mapping, env), seen, extra) };
}
