/**
 * Reads and searches of the server's own resources, by the writers that mapped ones have. In: a query and the resources.
 * Out: an answer like any other; pages go by position, for the list is the same as long as the mappings are.
 */
import type { Answer } from '../pipeline/answer.ts';
import type { Emitted } from '../pipeline/emitted.ts';
import { compareSorts } from '../pipeline/page.ts';
import type { Session } from '../pipeline/source.ts';
import type { Environment } from '../plan/environment.ts';
import { sortParts } from '../plan/sort.ts';
import type { WriteContext } from '../resource/compile.ts';
import { NO_CHILDREN } from '../resource/rows.ts';
import type { SearchQuery, Selection, SortKey } from '../search/query.ts';
import { type ConstantMapping, passes } from './constant-mapping.ts';

const GROUP = 'own';

export function answerOwn(
  query: SearchQuery,
  own: readonly ConstantMapping[],
  session: Session,
  write: WriteContext,
): Answer {
  const { count, cursor, selection, type } = query;
  const found = own
    .filter(({ mapping }) => mapping.resource === type)
    .filter(one => passes(one, query.filters, session.env));
  const all = inOrder(found, query.sort, session.env);
  const start = cursor?.group === GROUP ? Number(cursor.key[0] ?? 0) : 0;
  const end = start + count;
  const matches = all.slice(start, end).map(one => emitOwn(one, selection, session, write));
  const next =
    count === 0 || end >= all.length
      ? undefined
      : { group: GROUP, branch: 0, key: [end], ordinal: 0, sort: [], now: session.env.now };
  return { matches, included: { resources: [], cut: false }, next, total: all.length };
}

/** Of equal ones in the order in which the server has them. */
function inOrder(
  found: readonly ConstantMapping[],
  sort: readonly SortKey[],
  env: Environment,
): readonly ConstantMapping[] {
  if (sort.length === 0) return found;
  const keyed = found.map(one => ({ one, keys: sort.map(key => keyOf(one, key, env)) }));
  return keyed.toSorted((a, b) => compareSorts(a.keys, b.keys, sort)).map(({ one }) => one);
}

function keyOf({ mapping }: ConstantMapping, { parameter, descending }: SortKey, env: Environment): string | null {
  const [part] = sortParts(mapping, parameter, env, descending) ?? [];
  const key = part?.face?.order.toKey([]);
  return key === undefined ? null : String(key);
}

export function emitOwn(
  { mapping }: ConstantMapping,
  selection: Selection,
  { shapes, env }: Session,
  write: WriteContext,
): Emitted {
  const { shape, writer } = shapes.of({ mappings: [mapping], selection, columns: [], nodes: [] }, env);
  const { id, json, lastUpdated } = writer(mapping).written([], NO_CHILDREN, write);
  const entry = { type: mapping.resource, id, json };
  return { ...entry, mapping, row: [], children: NO_CHILDREN, shape, lastUpdated, referring: json };
}
