/**
 * Reads a resource by its id. In: type, id, the elements wanted, and what the caller may see. Out: its text.
 * https://hl7.org/fhir/R4/http.html#read
 */
import { type Awaitable, andThen } from '../common/awaitable.ts';
import { readsOneRow } from '../mapping/own-row.ts';
import { FhirError } from '../outcome.ts';
import { type Branch, branchesOf } from '../plan/branches.ts';
import type { Environment } from '../plan/environment.ts';
import { idName } from '../plan/reuse/id-parameters.ts';
import type { WriteContext } from '../resource/compile.ts';
import type { Offered, Offers } from '../search/offers.ts';
import type { Filter, Selection } from '../search/query.ts';
import { emitAll } from './emitted.ts';
import { type Page, readPage } from './page.ts';
import { type Planned, planCached } from './plans.ts';
import type { Session } from './session.ts';

export interface ReadRequest {
  readonly type: string;
  readonly id: string;
  readonly selection: Selection;
}

/** A resource as FHIR JSON text. */
export interface ResourceText {
  readonly type: string;
  readonly id: string;
  readonly json: string;
  /**
   * meta.lastUpdated as emitted, where it is that of all that the resource says: what changed elsewhere has left no
   * stamp.
   */
  readonly lastUpdated?: string | undefined;
}

/** Undefined: no such resource for this caller. Throws FhirError `unknown-type`. */
export function readById(
  { type, id, selection }: ReadRequest,
  offers: Offers,
  context: WriteContext,
  session: Session,
): Awaitable<ResourceText | undefined> {
  const byId = offers.find(type, '_id');
  if (!byId) throw new FhirError('unknown-type', `this server has no ${type} resources`);
  const plan = (env: Environment) => branchesOf({ type, filters: [hasId(byId)], sort: [], action: 'read' }, env);
  // The name of a type that there is, as it is now known to be, is no other question's key, and is at hand.
  const branches = planCached(session, plan, { key: type, ids: [id] });
  const read = ({ planned, placeholders }: Planned<readonly Branch[]>): Awaitable<Page> =>
    readPage(planned, { sort: [], selection, count: 1, cursor: undefined, placeholders }, session);
  const emitted = andThen(andThen(branches, read), ({ matches }) => emitAll(matches, context, session));
  return andThen(emitted, resources => {
    const found = resources[0];
    if (found === undefined) return undefined;
    const stamp = readsOneRow(found.mapping) ? found.lastUpdated : '';
    return { type, id, json: found.json, lastUpdated: stamp || undefined };
  });
}

/** The id stands under its name. */
function hasId({ parameter }: Offered): Filter {
  const token = { kind: 'token', system: undefined, code: idName(0) } as const;
  return { kind: 'match', parameter, modifier: undefined, values: [token] };
}
