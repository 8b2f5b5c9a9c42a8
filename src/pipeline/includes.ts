/**
 * `_include` and `_revinclude`. In: the resources of a page. Out: what they refer to, and what refers to them, by the
 * key columns that their rows carry, a fixed number of statements per step. https://hl7.org/fhir/R4/search.html#include
 */
import type { Access } from '../auth/access.ts';
import type { Mapping, RefNode } from '../mapping/model.ts';
import { accessPredicate } from '../plan/access.ts';
import { inStatements, oursAmong, theirsAmong } from '../plan/key.ts';
import { servedPredicate } from '../plan/presence.ts';
import { along, some } from '../plan/walk.ts';
import type { Children } from '../resource/rows.ts';
import type { LevelShape } from '../resource/shape.ts';
import type { Include, SearchQuery } from '../search/query.ts';
import { and, FALSE, type Predicate, type SqlValue } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Row } from '../sql/plan.ts';
import type { Emitted } from './emitted.ts';
import { backwardNodes, pathsOf, refNodes } from './include-nodes.ts';
import { planResolved } from './resolve.ts';
import type { Session } from './source.ts';

/** Included resources of one page at most; what is beyond is left out and said so. */
const INCLUDED_AT_MOST = 2000;
const ROUNDS = 5;

export interface IncludeRequest {
  readonly query: Pick<SearchQuery, 'includes' | 'revincludes'>;
  readonly access: Access;
  /** Reads the resources of these mappings' rows. */
  readonly read: (asked: readonly AskedRows[], limit: number) => Promise<readonly Emitted[]>;
}

export interface AskedRows {
  readonly mapping: Mapping;
  readonly where: Predicate;
}

export interface Included {
  readonly resources: readonly Emitted[];
  /** More would have been included than one page may hold. */
  readonly cut: boolean;
}

export async function readIncluded(
  matches: readonly Emitted[],
  request: IncludeRequest,
  session: Session,
): Promise<Included> {
  const { includes, revincludes } = request.query;
  if (includes.length === 0 && revincludes.length === 0) return { resources: [], cut: false };
  const seen = new Set(matches.map(identityOf));
  const resources: Emitted[] = [];
  let frontier = matches;
  for (let round = 0; round < ROUNDS && frontier.length > 0; round++) {
    const now = (include: Include): boolean => round === 0 || include.iterate;
    const from = frontier;
    // What the caller may see can take keys that are not resolved yet.
    const asked = await planResolved(session, () => [
      ...includes.filter(now).flatMap(include => forward(from, include, request.access, session)),
      ...revincludes.filter(now).flatMap(include => backward(from, include, request.access, session)),
    ]);
    const room = INCLUDED_AT_MOST - resources.length;
    const referenced = new Set(frontier.flatMap(referencesIn));
    const found = (
      await Promise.all(
        asked.map(async ({ rows, direction }) =>
          (
            await request.read(rows, room + 1)
          ).filter(resource => direction === 'backward' || referenced.has(localReference(resource))),
        ),
      )
    ).flat();
    const fresh: Emitted[] = [];
    for (const resource of found) {
      const identity = identityOf(resource);
      if (seen.has(identity)) continue;
      if (resources.length + fresh.length >= INCLUDED_AT_MOST)
        return { resources: [...resources, ...fresh], cut: true };
      seen.add(identity);
      fresh.push(resource);
    }
    resources.push(...fresh);
    frontier = fresh;
  }
  return { resources, cut: false };
}

interface Asked {
  readonly rows: readonly AskedRows[];
  readonly direction: 'forward' | 'backward';
}

function forward(from: readonly Emitted[], include: Include, access: Access, session: Session): readonly Asked[] {
  const asked: AskedRows[] = [];
  for (const [mapping, resources] of byMapping(from)) {
    if (include.source !== '*' && include.source !== mapping.resource) continue;
    for (const node of refNodes(mapping, include, session)) {
      const target = session.registry.mapping(node.target);
      const keys = distinct(resources.flatMap(({ row, children, shape }) => keysAt(node, shape, row, children)));
      asked.push(...inStatements(keys).map(some => served(target, access, theirsAmong(node.on, some), session)));
    }
  }
  return asked.length > 0 ? [{ rows: asked, direction: 'forward' }] : [];
}

function backward(from: readonly Emitted[], include: Include, access: Access, session: Session): readonly Asked[] {
  const asked: AskedRows[] = [];
  const groups = byMapping(from);
  for (const source of session.registry.ofType(include.source)) {
    for (const node of backwardNodes(source, include, session)) {
      for (const [mapping, resources] of groups) {
        if (node.target !== mapping.name) continue;
        const keys = distinct(
          resources.flatMap(({ row, shape }) => {
            const key = node.on.map(({ theirs }) => row[shape.positions.get(expressionKey(theirs)) ?? -1] ?? null);
            return key.includes(null) ? [] : [key];
          }),
        );
        asked.push(
          ...inStatements(keys).map(chunk => {
            const refers = some(
              pathsOf(source, include).map(path =>
                along(source.root, path, n => (n === node ? oursAmong(node.on, chunk) : FALSE), session.env),
              ),
            );
            return served(source, access, refers ?? FALSE, session);
          }),
        );
      }
    }
  }
  return asked.length > 0 ? [{ rows: asked, direction: 'backward' }] : [];
}

function served(mapping: Mapping, access: Access, extra: Predicate, session: Session): AskedRows {
  const { env } = session;
  return { mapping, where: and(servedPredicate(mapping, env), accessPredicate(mapping, access, env), extra) };
}

/** Values of `ours` wherever the node occurs in a resource: in its row or in child rows. */
function keysAt(node: RefNode, level: LevelShape, row: Row, children: Children): readonly (readonly SqlValue[])[] {
  const keys: (readonly SqlValue[])[] = [];
  const here = level.refs.find(ref => ref.node === node);
  if (here) {
    const key = here.positions.map(at => row[at] ?? null);
    if (!key.includes(null)) keys.push(key);
  }
  level.children.forEach((shape, i) => {
    for (const child of children[i] ?? []) keys.push(...keysAt(node, shape, child.row, child.children));
  });
  return keys;
}

function byMapping(resources: readonly Emitted[]): ReadonlyMap<Mapping, readonly Emitted[]> {
  return Map.groupBy(resources, ({ mapping }) => mapping);
}

function distinct(keys: readonly (readonly SqlValue[])[]): readonly (readonly SqlValue[])[] {
  return [
    ...new Map(
      keys.map(key => [
        key.map(k => (k instanceof Uint8Array ? Buffer.from(k).toString('hex') : `${k}`)).join('\0'),
        key,
      ]),
    ).values(),
  ];
}

function identityOf({ mapping, id }: Emitted): string {
  return `${mapping.resource}/${id}`;
}

function localReference(resource: Emitted): string {
  return identityOf(resource);
}

/**
 * References that a resource really emits: a row may carry keys for alternatives that were not chosen.
 */
function referencesIn({ json }: Emitted): readonly string[] {
  return [...json.matchAll(/"reference":"([A-Za-z]+\/[A-Za-z0-9.-]{1,64})"/g)].map(match => match[1] ?? '');
}
