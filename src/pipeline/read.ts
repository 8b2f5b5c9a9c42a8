/**
 * Reads a resource by its id. In: type, id, the requested elements, and what the caller may see. Out: its text.
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
import { type Emitted, emitAll } from './emitted.ts';
import { type Page, readPage } from './page.ts';
import { type Planned, planCached } from './plans.ts';
import { type Session, TooManyBytes, tooLarge } from './session.ts';

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
  /** meta.lastUpdated as emitted, if it covers everything in the resource: a change in another row leaves no stamp. */
  readonly lastUpdated?: string | undefined;
}

/** Reads a resource. Undefined if it does not exist for this caller. Throws FhirError `unknown-type`. */
export function readById(
  { type, id, selection }: ReadRequest,
  offers: Offers,
  context: WriteContext,
  session: Session,
): Awaitable<ResourceText | undefined> {
  const byId = offers.find(type, '_id');
  if (!byId) throw new FhirError('unknown-type', `this server has no ${type} resources`);
  const plan = (env: Environment) => branchesOf({ type, filters: [hasId(byId)], sort: [], action: 'read' }, env);
  // The name of an existing type is a short key that no other question has.
  const branches = planCached(session, plan, { key: type, ids: [id] });
  const { room } = session;
  /** Returns the resource; `too-large` if its rows have more bytes. */
  const within = (bytes: number | undefined): Awaitable<Emitted | 'too-large' | undefined> => {
    const read = ({ planned, placeholders }: Planned<readonly Branch[]>): Awaitable<Page> =>
      readPage(planned, { sort: [], selection, count: 1, cursor: undefined, placeholders, bytes, least: 0 }, session);
    return andThen(andThen(branches, read), ({ matches, isFull }) => {
      if (isFull) return 'too-large';
      const emitted = emitAll(matches, context, session, { children: bytes });
      return emitted instanceof Promise ? emitted.then(firstOf, tooManyBytes) : emitted[0];
    });
  };
  const small = within(room?.small);
  const any = andThen(small, found =>
    found === 'too-large' && room !== undefined ? room.enlarge().then(() => within(room.most)) : found,
  );
  return andThen(any, found => {
    if (found === undefined) return undefined;
    if (found === 'too-large' || (room && found.json.length > room.most)) throw tooLarge(type);
    const stamp = readsOneRow(found.mapping) ? found.lastUpdated : '';
    return { type, id, json: found.json, lastUpdated: stamp || undefined };
  });
}

function firstOf([first]: readonly Emitted[]): Emitted | undefined {
  return first;
}

function tooManyBytes(thrown: unknown): 'too-large' {
  if (thrown instanceof TooManyBytes) return 'too-large';
  throw thrown;
}

/** Returns a filter with the id's placeholder name. */
function hasId({ parameter }: Offered): Filter {
  const token = { kind: 'token', system: undefined, code: idName(0) } as const;
  return { kind: 'match', parameter, modifier: undefined, values: [token] };
}
