/**
 * Serves the audit as FHIR: `GET [base]/AuditEvent` reads and searches it like any other type, under the same access
 * rules. In: the file of the audit. Out: a facade over it by the mapping in pack/, and a facade of the server that has
 * its type as well.
 * https://hl7.org/fhir/R4/auditevent.html
 */
import { fileURLToPath } from 'node:url';
import { type Access, ANY, type Patients, type Permission } from '../auth/access.ts';
import { andThen } from '../common/awaitable.ts';
import { createFacade, type Facade, type FacadeOptions, type Parameters, type RequestContext } from '../facade.ts';
import { loadPackFiles } from '../mapping/load/pack/pack.ts';
import { problemLine } from '../mapping/load/problem.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import { FhirError } from '../outcome.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { openSqlite } from '../sql/sqlite/database.ts';
import { patientsIn } from './patients-in.ts';

const PACK = fileURLToPath(new URL('./pack', import.meta.url));
/** Kilobytes of the file that are cached in memory. */
const CACHE = 8192;

export interface Trail {
  readonly facade: Facade;
  close(): Promise<void>;
}

type TrailOptions = Pick<FacadeOptions, 'pageSize' | 'pageMax' | 'secret' | 'softwareVersion'>;

/** Opens the file, which has to exist, for reading. Throws DatabaseError. */
export async function openTrail(file: string, options: TrailOptions): Promise<Trail> {
  const database = openSqlite(file, { cache: CACHE });
  try {
    const { registry, problems } = loadPackFiles(readPackFiles(PACK), await database.catalog());
    if (registry === undefined) throw new RangeError(problems.map(problemLine).join('\n'));
    const facade = createFacade({ ...options, registry, database, date: new Date().toISOString() });
    return { facade, close: () => database.close() };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Not offered: the store has only the ids of patients, so included resources would be empty. */
const INCLUDES: ReadonlySet<string> = new Set(['_include', '_revinclude']);

/** Returns the types that the audit adds: those that the server's own mappings do not serve, without Patient. */
export function typesOf(trail: Facade, own: Facade): readonly string[] {
  return trail.registry.types.filter(type => type !== COMPARTMENT_TYPE && !own.offers.types.includes(type));
}

/** Combines both facades. */
export function withTrail(own: Facade, { facade: trail }: Pick<Trail, 'facade'>): Facade {
  const types = typesOf(trail, own);
  const of = (type: string): Facade => (types.includes(type) ? trail : own);
  return {
    ...own,
    offers: {
      ...own.offers,
      types: [...own.offers.types, ...types],
      find: (type, code) => of(type).offers.find(type, code),
      isNeverGiven: (type, code) => of(type).offers.isNeverGiven(type, code),
      of: type => of(type).offers.of(type),
    },
    parse: (request, context) => of(request.type).parse(request, context),
    shown: (parameters, access) => trail.shown(own.shown(parameters, access), access),
    read(type, id, parameters, context) {
      if (!types.includes(type)) return own.read(type, id, parameters, context);
      const { access, shown } = viewOf(type, context);
      const read = (by: Access) =>
        andThen(trail.read(type, id, parameters, { ...context, access: by }), found => found && shown(found));
      if (!isSearching(access)) return read(access);
      return andThen(trail.read(type, id, [], withFullAccess(context)), async found => {
        const patients = found === undefined ? [] : [...patientsIn(found.json)];
        return read(await byIds(access, patients, own, context));
      });
    },
    async search(request, context) {
      const { type, parameters } = request;
      if (!types.includes(type)) return own.search(request, context);
      const [name] = parameters.find(([one]) => INCLUDES.has(one.split(':', 1)[0] ?? '')) ?? [];
      if (name !== undefined)
        throw new FhirError('unsupported-search', `${type} has no includes`, {
          parameter: name.split(':', 1)[0] ?? '',
        });
      const { access, shown } = viewOf(type, context);
      const ids = await byIds(access, patientsAsked(trail.shown(parameters, access)), own, context);
      return shown(await trail.search(request, { ...context, access: ids }));
    },
    async searchCompartment(asked, context) {
      const { type, compartment, id } = asked;
      if (compartment !== COMPARTMENT_TYPE || !types.includes(type)) return own.searchCompartment(asked, context);
      const { access, shown } = viewOf(type, context);
      const ids = await byIds(access, [id], own, context);
      // Does not check that the patient exists, because an audit outlives records.
      return shown(await trail.searchCompartment(asked, { ...context, access: onlyOf(type, ids) }));
    },
    capabilities: context => withResources(own.capabilities(context), trail.capabilities(context), types),
  };
}

interface View {
  readonly access: Access;
  /** Reduces an answer to what the caller may see. */
  readonly shown: <T extends { readonly json: string }>(found: T) => T;
}

/**
 * Limits the audit for a caller, because it reveals what others searched for. A scope for all types (`user/*.rs`,
 * `system/*.rs`) gives only what is about the patients that it names; everything else takes a scope that names the
 * type. The audit of one patient never shows which other patients were in the same request.
 */
function viewOf(type: string, { access, named }: RequestContext): View {
  if (access.kind === 'all' && (named === undefined || named().includes(type)))
    return { access, shown: found => found };
  const isNamed = named?.().includes(type) ?? false;
  const permissions = access.kind === 'all' ? [] : access.permissions.filter(one => isNamed || isWithinSome(one));
  const ofAll = permissions.some(({ within }) => within.length === 0);
  return {
    access: { kind: 'limited', caller: access.caller, permissions },
    shown: ofAll ? found => found : found => ({ ...found, json: withoutParameters(found.json) }),
  };
}

/** True if a search defines the patients of a permission, because the audit knows only ids. */
function isSearching(access: Access): boolean {
  return access.kind === 'limited' && access.permissions.some(({ within }) => within.some(one => 'found' in one));
}

/** Maximum patients that a search finds; a caller who may see more has to name the patients. */
const FOUND = 500;

/**
 * Replaces searches for patients by the ids that they find. `asked`: only these patients; undefined: all. Throws
 * FhirError if there are too many.
 */
async function byIds(
  access: Access,
  asked: readonly string[] | undefined,
  own: Facade,
  context: RequestContext,
): Promise<Access> {
  if (access.kind === 'all' || !isSearching(access)) return access;
  const { see: _seen, patient: _narrowed, ...rest } = context;
  const idsOf = async (patients: Patients): Promise<Patients> => {
    if ('ids' in patients) return patients;
    if (asked?.length === 0) return { ids: [] };
    const permission = { type: COMPARTMENT_TYPE, read: true, search: true, within: [patients], where: [], except: [] };
    const parameters: readonly (readonly [string, string])[] = [
      ['_elements', 'id'],
      ['_count', String(FOUND)],
      ...(asked === undefined ? [] : [['_id', asked.join()] as const]),
    ];
    const limited: Access = { kind: 'limited', caller: access.caller, permissions: [permission] };
    const { json } = await own.search(
      { type: COMPARTMENT_TYPE, parameters },
      { ...rest, access: limited, handling: 'strict' },
    );
    if (json.includes('"relation":"next"'))
      throw new FhirError(
        'too-costly',
        'The caller may see too many patients; name those whose audit is wanted by patient=',
      );
    return { ids: [...patientsIn(json)] };
  };
  const permissions = await Promise.all(
    access.permissions.map(async one => ({ ...one, within: await Promise.all(one.within.map(idsOf)) })),
  );
  return { ...access, permissions };
}

/** Returns the ids of the patients that a search names; undefined if it names none. */
function patientsAsked(parameters: Parameters): readonly string[] | undefined {
  const named = parameters.find(([name]) => name === 'patient');
  return named?.[1].split(',').map(value => value.slice(value.lastIndexOf('/') + 1));
}

/** Limits the access to one type. */
function onlyOf(type: string, access: Access): Access {
  const { caller } = access;
  const permissions =
    access.kind === 'all'
      ? [{ type, read: true, search: true, within: [], where: [], except: [] }]
      : access.permissions.flatMap(one => (one.type === ANY || one.type === type ? [{ ...one, type }] : []));
  return { kind: 'limited', caller, permissions };
}

function withFullAccess({ see: _seen, ...context }: RequestContext): RequestContext {
  return { ...context, access: { kind: 'all', caller: context.access.caller } };
}

function isWithinSome({ within }: Permission): boolean {
  return within.some(patients => 'ids' in patients && patients.ids.length > 0);
}

/** Base64 has no quotes, and JSON strings escape them: nothing else matches. */
const PATIENT_OR_QUERY = /"entity":\[\{(?:"what":\{"reference":"Patient\/([^"]+)"\})?|,"query":"([A-Za-z0-9+/=]+)"/g;

/** Removes the parameters of requests, and keeps their paths without ids, except that of the patient of the event. */
function withoutParameters(json: string): string {
  let own: string | undefined;
  return json.replace(PATIENT_OR_QUERY, (found, patient: string | undefined, query: string | undefined) => {
    if (query === undefined) {
      own = patient;
      return found;
    }
    const [path = ''] = Buffer.from(query, 'base64').toString('utf8').split(/[?\n]/, 1);
    return `,"query":"${Buffer.from(withoutIds(path, own), 'utf8').toString('base64')}"`;
  });
}

/** Replaces the segments of `GET /fhir/Patient/5/Observation` that are ids: what follows a type, or has a digit. */
function withoutIds(path: string, own: string | undefined): string {
  const segments = path.split('/');
  return segments
    .map((segment, i) => {
      const isId = /\d/.test(segment) || (/^[A-Z][a-z]/.test(segments[i - 1] ?? '') && /^[^$_]/.test(segment));
      return isId && segment !== own ? '…' : segment;
    })
    .join('/');
}

interface Statement {
  readonly rest?: readonly { readonly resource?: readonly Entry[] }[];
}

interface Entry {
  readonly type: string;
  readonly searchInclude?: unknown;
  readonly searchRevInclude?: unknown;
}

/** Adds to a CapabilityStatement the resources of some types from another. */
function withResources(own: Statement, other: Statement, types: readonly string[]): object {
  const more = (other.rest ?? [])
    .flatMap(({ resource = [] }) => resource)
    .filter(({ type }) => types.includes(type))
    .map(({ searchInclude: _include, searchRevInclude: _revinclude, ...entry }) => entry);
  const rest = (own.rest ?? []).map(one => ({
    ...one,
    resource: [...(one.resource ?? []), ...more].toSorted((a, b) => (a.type < b.type ? -1 : 1)),
  }));
  return { ...own, rest };
}
