/**
 * Computes what callers may see without the planner, from the JSON of all resources, which are read once with full
 * access. In: a facade and a caller's permissions. Out: the resources that the caller may read, and those that the
 * caller may search.
 */
import type { Access, Permission } from '../../src/auth/access.ts';
import { answering, indexedBy, indexOf } from '../../src/law/oracle.ts';
import { allOf, type Resource } from '../../src/law/searches.ts';
import { firstOfMapping } from '../../src/pipeline/of-mapping.ts';
import { patientCompartmentOf, searchParameterOf } from '../../src/r4/search-parameters.ts';
import type { Demo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';

export const ZONE = 'America/New_York';

/** A resource, with the facts that decide who may see it. */
export interface Known {
  /** `Type/id` */
  readonly name: string;
  readonly type: string;
  readonly resource: Resource;
  /** The mapping that made it; '' for the server's own. */
  readonly mapping: string;
  /** Undefined: the type belongs to no patient. */
  readonly patients: ReadonlySet<string> | undefined;
  /** `Type/id` of all its references, by a Reference or by an address. */
  readonly references: readonly string[];
  /** The same, by a Reference only. */
  readonly literals: readonly string[];
}

export interface World {
  readonly demo: Demo;
  readonly known: ReadonlyMap<string, Known>;
  readonly types: readonly string[];
  /** Logical ids. */
  readonly patients: readonly string[];
  /** The labels in meta.security, in the form of a search value. */
  readonly labels: readonly string[];
}

/** Types whose resources name several patients. */
const LISTS: ReadonlySet<string> = new Set(['Group']);

const REFERENCE = /"(?:reference|url)":"(?:http:\/\/127\.0\.0\.1\/fhir\/)?([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})"/g;

const LITERAL = /"reference":"([A-Z][A-Za-z]+\/[A-Za-z0-9.-]{1,64})"/g;

export async function readWorld(demo: Demo): Promise<World> {
  const { registry, facade, database } = demo;
  const mappingOf = new Map<string, string>();
  for (const mapping of registry.mappings)
    for (const { id } of await firstOfMapping(mapping, 100_000, { database, registry, now: NOW }))
      mappingOf.set(`${mapping.resource}/${id}`, mapping.name);
  const known = new Map<string, Known>();
  for (const type of facade.offers.types) {
    for (const resource of await allOf(facade, type, [])) {
      const name = `${type}/${resource.id}`;
      const references = [...JSON.stringify(resource).matchAll(REFERENCE)].map(([, to = '']) => to);
      const literals = [...JSON.stringify(resource).matchAll(LITERAL)].map(([, to = '']) => to);
      const mapping = mappingOf.get(name) ?? '';
      known.set(name, { name, type, resource, mapping, references, literals, patients: patientsOf(type, resource) });
    }
  }
  const patients = [...known.values()].flatMap(({ type, resource }) => (type === 'Patient' ? [resource.id] : []));
  const labels = [...new Set([...known.values()].flatMap(({ resource }) => labelsOf(resource)))].toSorted();
  return { demo, known, types: facade.offers.types, patients, labels };
}

function labelsOf({ meta }: Resource): readonly string[] {
  const { security = [] } = (meta ?? {}) as { readonly security?: readonly { system?: string; code?: string }[] };
  return security.map(({ system, code }) => `${system}|${code}`);
}

/** https://hl7.org/fhir/R4/compartmentdefinition-patient.html, with Device, which R4's definition lacks. */
function patientsOf(type: string, resource: Resource): ReadonlySet<string> | undefined {
  if (type === 'Patient') return new Set([resource.id]);
  const codes = type === 'Device' ? ['patient'] : patientCompartmentOf(type);
  if (codes.length === 0) return undefined;
  const found = codes.flatMap(code => indexOf(resource, searchParameterOf(type, code)?.expression ?? ''));
  const references = found.map(({ value }) => String((value as { readonly reference?: unknown }).reference));
  return new Set(references.flatMap(one => (one.startsWith('Patient/') ? [one.slice('Patient/'.length)] : [])));
}

/** Names of the resources that a caller may read, and of those that they may search. */
export interface Visible {
  readonly read: ReadonlySet<string>;
  readonly search: ReadonlySet<string>;
  /** True if the caller may request the type at all; otherwise the request is refused. */
  permits(type: string, action: 'read' | 'search'): boolean;
}

export function visibleTo(access: Access, world: World): Visible {
  const all = new Set(world.known.keys());
  if (access.kind === 'all') return { read: all, search: all, permits: () => true };
  const usable = access.permissions.filter(({ read, search }) => read || search);
  const inside = new Map(usable.map(permission => [permission, insideOf(permission.within, usable, world)]));
  const allowed = (action: 'read' | 'search'): ReadonlySet<string> =>
    new Set(
      [...world.known.values()].flatMap(one =>
        usable.some(
          permission =>
            permission[action] && speaksOf(permission, one, world) && inside.get(permission)?.has(one.name) === true,
        )
          ? [one.name]
          : [],
      ),
    );
  const permits: Visible['permits'] = (type, action) =>
    usable.some(permission => permission[action] && (permission.type === '*' || permission.type === type));
  return { read: allowed('read'), search: allowed('search'), permits };
}

/** The type and the conditions of a permission. */
function speaksOf({ type, where, except }: Permission, one: Known, world: World): boolean {
  if (type !== '*' && type !== one.type) return false;
  return where.every(pair => answers(pair, one, world)) && !except.some(pair => answers(pair, one, world));
}

/** True if a search by one parameter (`code`, `code:modifier` or `_has:…`) finds the resource. */
export function answers([name, text]: readonly [string, string], one: Known, world: World): boolean {
  const { demo } = world;
  const [code = '', modifier, ...more] = name.split(':');
  if (code === '_has') {
    const [reference = '', ...end] = more;
    const others = referringTo(one.name, modifier ?? '', reference, world);
    return others.some(other => answers([end.join(':'), text], other, world));
  }
  if (code === '_id') {
    if (modifier === 'missing') return text === 'false';
    return text.split(',').includes(one.resource.id) !== (modifier === 'not');
  }
  const offered = demo.facade.offers.find(one.type, code);
  if (offered === undefined) return false;
  const { parameter } = offered;
  const question = { parameter, text, ...(modifier === undefined ? {} : { modifier }) };
  return answering(question, ZONE, NOW)(indexedBy(one.resource, parameter));
}

const referring = new WeakMap<World, Map<string, Map<string, Known[]>>>();

/** Returns the resources of a type whose reference parameter leads to a resource, `Type/id`. */
function referringTo(name: string, type: string, code: string, world: World): readonly Known[] {
  const all = referring.get(world) ?? new Map<string, Map<string, Known[]>>();
  referring.set(world, all);
  const known = all.get(`${type} ${code}`);
  if (known !== undefined) return known.get(name) ?? [];
  const made = new Map<string, Known[]>();
  const expression = searchParameterOf(type, code)?.expression ?? '';
  for (const one of world.known.values())
    for (const { value } of one.type === type ? indexOf(one.resource, expression) : []) {
      const to = String((value as { readonly reference?: unknown }).reference);
      made.set(to, [...(made.get(to) ?? []), one]);
    }
  all.set(`${type} ${code}`, made);
  return made.get(name) ?? [];
}

/** Returns the names of the resources in the records of some patients, and of those that they refer to. */
function insideOf(within: Permission['within'], usable: readonly Permission[], world: World): ReadonlySet<string> {
  const all = [...world.known.values()];
  if (within.length === 0) return new Set(world.known.keys());
  const setsOf = new Map<Permission['within'], readonly ReadonlySet<string>[]>();
  const isWithin = (some: Permission['within'], { patients = new Set(), type }: Known): boolean => {
    const sets = setsOf.get(some) ?? some.map(one => idsOf(one, world));
    setsOf.set(some, sets);
    return sets.every(ids =>
      LISTS.has(type)
        ? patients.size > 0 && [...patients].every(id => ids.has(id))
        : [...patients].some(id => ids.has(id)),
    );
  };
  const isInside = (one: Known): boolean => isWithin(within, one);
  const isSeen = (one: Known): boolean =>
    usable.some(
      permission =>
        speaksOf(permission, one, world) &&
        (one.patients === undefined || sameWithin(permission.within, within) || isWithin(permission.within, one)),
    );
  const found = new Set<string>();
  const visit = (one: Known, path: readonly string[]): void => {
    for (const name of one.references) {
      const to = world.known.get(name);
      if (to === undefined || to.patients !== undefined || path.includes(to.mapping)) continue;
      found.add(name);
      if (path.length < 1 && isSeen(to)) visit(to, [...path, to.mapping]);
    }
  };
  for (const one of all) {
    if (one.mapping === '') found.add(one.name);
    if (one.patients === undefined || !isInside(one)) continue;
    found.add(one.name);
    if (isSeen(one)) visit(one, []);
  }
  return found;
}

function sameWithin(one: Permission['within'], other: Permission['within']): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function idsOf(patients: Permission['within'][number], world: World): ReadonlySet<string> {
  if ('ids' in patients) return new Set(patients.ids);
  return new Set(
    world.patients.filter(id => {
      const one = world.known.get(`Patient/${id}`);
      return one !== undefined && patients.found.every(pair => answers(pair, one, world));
    }),
  );
}
