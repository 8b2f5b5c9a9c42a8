/**
 * Declares the access of a caller: what they may see. No plan can be made without one, so unrestricted access has to be
 * requested explicitly.
 */
import type { Criteria } from './scopes.ts';

export type Access =
  /** Everything: an open server on loopback, or a client that may read everything. */
  | { readonly kind: 'all'; readonly caller: string }
  /** The resources that at least one of the permissions allows. */
  | { readonly kind: 'limited'; readonly caller: string; readonly permissions: readonly Permission[] };

/** Resources of a type that a caller may read or search. */
export interface Permission {
  /** A resource type, or `*` for every type. */
  readonly type: string;
  readonly read: boolean;
  readonly search: boolean;
  /** The resources belong to patients who are in all of these; if empty: to anybody, or to nobody. */
  readonly within: readonly Patients[];
  /** Searches on the type; all of them must find the resource. */
  readonly where: Criteria;
  /** Searches on the type; none of them may find the resource: labels that are hidden from the caller. */
  readonly except: Criteria;
}

/** Some patients. */
export type Patients =
  /** Patients by logical id. */
  | { readonly ids: readonly string[] }
  /** Patients whom a search finds. */
  | { readonly found: Criteria };

/** Every resource type. */
export const ANY = '*';

export const OPEN_ACCESS: Access = { kind: 'all', caller: 'open' };

/** Context in which commands call a facade: full access, strict handling. The base URL is not that of a server. */
export const OPEN_CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;

/** Nothing of any patient: for requests without a token. */
export const NO_ACCESS: Access = { kind: 'limited', caller: 'nobody', permissions: [] };

/** True if the first access certainly includes everything in the second, whoever the callers are. */
export function reaches(access: Access, other: Access): boolean {
  if (access.kind === 'all') return true;
  if (other.kind === 'all') return false;
  return other.permissions.every(narrow => access.permissions.some(wide => allowsAll(wide, narrow)));
}

function allowsAll(wide: Permission, narrow: Permission): boolean {
  return (wide.type === ANY || wide.type === narrow.type) && covers(wide, narrow, JSON.stringify);
}

/** A permission without its type; its limits may be as written or as parsed. */
interface Limited extends Pick<Permission, 'read' | 'search'> {
  readonly within: readonly object[];
  readonly where: readonly object[];
  readonly except: readonly object[];
}

/** True if each limit of the wide permission is also one of the narrow. `textOf`: equal for equal limits only. */
export function covers(wide: Limited, narrow: Limited, textOf: (limit: object) => string): boolean {
  if ((narrow.read && !wide.read) || (narrow.search && !wide.search)) return false;
  return (['within', 'where', 'except'] as const).every(limit => {
    const texts = new Set(narrow[limit].map(one => textOf(one)));
    return wide[limit].every(one => texts.has(textOf(one)));
  });
}

/** Returns access to the records of some patients (logical ids), and to what they refer to. */
export function accessToPatients(caller: string, ids: readonly string[]): Access {
  return {
    kind: 'limited',
    caller,
    permissions: [{ type: ANY, read: true, search: true, within: [{ ids }], where: [], except: [] }],
  };
}
