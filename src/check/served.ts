/**
 * Reads what the server has under the ids of rows. In: rows that were read. Out: the same, each with the resources that
 * are served under its id, with the digits of their numbers kept.
 */

import { OPEN_CONTEXT } from '../auth/access.ts';
import type { Interpreter } from '../law/interpret.ts';
import type { View } from '../law/stored-rows.ts';
import { columnsIn } from '../mapping/id-rule.ts';
import type { Mapping } from '../mapping/model.ts';
import { bareRelation } from '../plan/condition.ts';
import { environment } from '../plan/environment.ts';
import { idsByForm } from '../plan/identity.ts';
import { servedPredicate } from '../plan/presence.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import type { Parameters } from '../search/query.ts';
import { and, or } from '../sql/construct.ts';
import type { SqlPlan } from '../sql/plan.ts';
import type { Asking, ReadRow, SampledRow } from './sample.ts';

/** Ids per search. */
const IDS = 200;
/** Maximum number of rows of another mapping that may have the ids. */
const OTHERS = 20_000;

/** Adds the served resources to each row. `interpreter`: writes the ids of other mappings. */
export async function withServed(
  read: readonly ReadRow[],
  interpreter: Interpreter<View>,
  asking: Asking,
): Promise<readonly SampledRow[]> {
  return await withoutOtherMappings(await askedFor(read, asking), interpreter, asking);
}

/** Asks the server for each id, whether it should be served or not. */
async function askedFor(read: readonly ReadRow[], { facade, signal }: Asking): Promise<readonly SampledRow[]> {
  const served = new Map<string, string[]>();
  const byType = Map.groupBy(read, ({ mapping }) => mapping.resource);
  for (const [type, rows] of byType) {
    const ids = [...new Set(rows.flatMap(({ id }) => id ?? []))];
    for (let at = 0; at < ids.length; at += IDS) {
      let parameters: Parameters | undefined = [
        ['_id', ids.slice(at, at + IDS).join()],
        ['_count', '1000'],
      ];
      while (parameters !== undefined) {
        const { json } = await facade.search({ type, parameters }, { ...OPEN_CONTEXT, signal });
        const page = pageOf(json);
        for (const [id, text] of page.resources) {
          const known = served.get(`${type}/${id}`);
          if (known) known.push(text);
          else served.set(`${type}/${id}`, [text]);
        }
        // A server may return fewer matches per page than requested.
        parameters = page.next;
      }
    }
  }
  return read.map(one => ({ ...one, served: served.get(`${one.mapping.resource}/${one.id}`) ?? [] }));
}

/** Drops what another mapping serves under the id of a row that this mapping excludes, as can happen with UUIDs. */
async function withoutOtherMappings(
  rows: readonly SampledRow[],
  interpreter: Interpreter<View>,
  { registry, database, now, signal }: Asking,
): Promise<readonly SampledRow[]> {
  const env = environment(registry, now, FULL_VISIBILITY);
  const nameOf = ({ mapping, id }: SampledRow): string => `${mapping.resource}/${id}`;
  // Compared there; two resources of one id are told there, too.
  const expectedOf = new Set(rows.flatMap(one => (one.expected === undefined ? [] : nameOf(one))));
  const isOdd = (one: SampledRow): boolean =>
    one.expected === undefined && one.served.length > 0 && !expectedOf.has(nameOf(one));
  const ofOthers = new Map<Mapping, Set<string>>();
  for (const [mapping, odd] of Map.groupBy(rows.filter(isOdd), one => one.mapping)) {
    const known = new Set<string>();
    ofOthers.set(mapping, known);
    const ids = [...new Set(odd.flatMap(({ id }) => id ?? []))];
    for (const other of registry.ofType(mapping.resource)) {
      const columns = columnsIn(other.id.alternatives.flat());
      for (let at = 0; at < ids.length && other !== mapping; at += IDS) {
        const forms = idsByForm(other, ids.slice(at, at + IDS), env);
        if (forms.length === 0) continue;
        const from = bareRelation(other.source, and(servedPredicate(other, env), or(...forms)), env, columns);
        const plan: SqlPlan = { from, columns, orderBy: [], limit: OTHERS, shape: 'rows', searches: true };
        for (const row of await database.query(plan, { signal })) {
          const id = interpreter.id(other.id, column => row[columns.indexOf(column)] ?? null);
          if (id !== undefined) known.add(id);
        }
      }
    }
  }
  return rows
    .map(one => (one.expected === undefined && expectedOf.has(nameOf(one)) ? { ...one, served: [] } : one))
    .map(one =>
      isOdd(one) && one.id !== undefined && ofOthers.get(one.mapping)?.has(one.id) ? { ...one, served: [] } : one,
    );
}

/** Parses a page: the matches, with the digits of their numbers kept, and the parameters of the next page. */
function pageOf(json: string): {
  readonly resources: readonly (readonly [string, string])[];
  readonly next?: Parameters;
} {
  const { entry = [], link = [] } = JSON.parse(json, keepDigits) as {
    readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    readonly link?: readonly { readonly relation: string; readonly url: string }[];
  };
  const next = link.find(({ relation }) => relation === 'next');
  return {
    resources: entry.map(({ resource }) => [resource.id, JSON.stringify(resource)]),
    ...(next ? { next: [...new URL(next.url).searchParams] } : {}),
  };
}

function keepDigits(_: string, part: unknown, context?: { readonly source: string }): unknown {
  return typeof part === 'number' && context ? rawJson(context.source) : part;
}

const rawJson = (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON;
