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
import { emitAll } from './emitted.ts';
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

/** A resource as FHIR JSON text. */
export interface ResourceText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /** meta.lastUpdated as emitted, where the mapping has it. */
  readonly lastUpdated?: string | undefined;
}

/** Undefined: no such resource for this caller. Throws FhirError `not-found` for an unknown type. */
export async function readById(
  { type, id, selection, access }: ReadRequest,
  offers: Offers,
  context: WriteContext,
  session: Session,
): Promise<ResourceText | undefined> {
  const filters = [idFilter(type, idName(0), offers)];
  const { planned: branches, places } = await planKept(
    session,
    env => branchesOf({ type, filters, sort: [], access }, env),
    { key: accessed(`read ${type}`, access), ids: [id] },
  );
  const page = await readPage(branches, { sort: [], selection, count: 1, cursor: undefined, places }, session);
  const [found] = await emitAll(page.matches, context, session);
  return found && { type, id, json: found.json, lastUpdated: found.lastUpdated || undefined };
}

/** Throws FhirError `not-found` for an unknown type. */
export function idFilter(type: string, id: string, offers: Offers): Filter {
  const byId = offers.find(type, '_id');
  if (!byId) throw new FhirError('not-found', `this server has no ${type} resources`);
  const token = { kind: 'token', system: undefined, code: id } as const;
  return { kind: 'match', parameter: byId.parameter, modifier: undefined, values: [token] };
}
