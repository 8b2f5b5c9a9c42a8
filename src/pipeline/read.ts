/**
 * A resource by its id. In: type, id, what is wanted of it and what the caller may see. Out: its text.
 * https://hl7.org/fhir/R4/http.html#read
 */
import type { Access } from '../auth/access.ts';
import { FhirError } from '../outcome.ts';
import { branchesOf } from '../plan/branches.ts';
import { idName } from '../plan/opaque-ids.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Offers } from '../search/offers.ts';
import type { Filter, Selection } from '../search/query.ts';
import { writeAll } from './emitted.ts';
import { readPage } from './page.ts';
import { accessed } from './plans.ts';
import { planKept } from './resolve.ts';
import type { Session } from './source.ts';

export interface ReadRequest {
  readonly type: string;
  readonly id: string;
  readonly selection: Selection;
  readonly access: Access;
}

/** Undefined: no such resource for this caller. Throws FhirError `not-found` for an unknown type. */
export async function readById(
  { type, id, selection, access }: ReadRequest,
  offers: Offers,
  context: WriteContext,
  session: Session,
): Promise<{ readonly json: string; readonly lastUpdated?: string } | undefined> {
  const filters = [idFilter(type, idName(0), offers)];
  const { planned: branches, places } = await planKept(
    session,
    env => branchesOf({ type, filters, sort: [], access }, env),
    { key: accessed(`read ${type}`, access), ids: [id] },
  );
  const page = await readPage(branches, { sort: [], selection, count: 1, cursor: undefined, places }, session);
  const [match] = page.matches;
  const [json] = await writeAll(page.matches, context, session);
  if (!match || json === undefined) return undefined;
  const lastUpdated = match.shaped.writer(match.mapping).lastUpdated(match.row);
  return { json, ...(lastUpdated ? { lastUpdated } : {}) };
}

/** Throws FhirError `not-found` for an unknown type. */
export function idFilter(type: string, id: string, offers: Offers): Filter {
  const byId = offers.find(type, '_id');
  if (!byId) throw new FhirError('not-found', `this server has no ${type} resources`);
  const token = { kind: 'token', system: undefined, code: id } as const;
  return { kind: 'match', parameter: byId.parameter, modifier: undefined, values: [token] };
}
