/**
 * The access of a caller: what they may see. No plan can be made without one, so unrestricted access has to be asked
 * for explicitly.
 */
import type { Criteria } from './scopes.ts';

export type Access =
  /** Everything: an open server on loopback, or a client that may read all there is. */
  | { readonly kind: 'all'; readonly caller: string }
  /** What one of the permissions allows, and nothing else. */
  | { readonly kind: 'limited'; readonly caller: string; readonly permissions: readonly Permission[] };

/** Resources of a type that a caller may read or search. */
export interface Permission {
  /** A resource type, or `*` for every type. */
  readonly type: string;
  readonly read: boolean;
  readonly search: boolean;
  /** The resources belong to patients who are in all of these; none: to anybody, or to nobody. */
  readonly within: readonly Patients[];
  /** Searches on the type that must all find the resource. */
  readonly where: Criteria;
  /** Searches on the type none of which may find the resource: labels that are hidden from the caller. */
  readonly except: Criteria;
}

/** Some patients. */
export type Patients =
  /** By logical id. */
  | { readonly ids: readonly string[] }
  /** Those that a search finds. */
  | { readonly found: Criteria };

/** Stands for every type. */
export const ANY = '*';

export const OPEN_ACCESS: Access = { kind: 'all', caller: 'open' };

/** What commands ask a facade with: all there is; what is not understood is an error. Addresses are of no server. */
export const OPEN_CONTEXT = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' } as const;

/** Nothing of any patient: for what may be asked without a token. */
export const NO_ACCESS: Access = { kind: 'limited', caller: 'nobody', permissions: [] };

/** Whether all that the second access surely shows may be seen by the first, whoever the callers are. */
export function reaches(access: Access, other: Access): boolean {
  if (access.kind === 'all') return true;
  if (other.kind === 'all') return false;
  return other.permissions.every(narrow => access.permissions.some(wide => allowsAll(wide, narrow)));
}

function allowsAll(wide: Permission, narrow: Permission): boolean {
  return (wide.type === ANY || wide.type === narrow.type) && covers(wide, narrow, JSON.stringify);
}

/** A permission apart from its type, its limits as they are written or as they are understood. */
interface Limited extends Pick<Permission, 'read' | 'search'> {
  readonly within: readonly object[];
  readonly where: readonly object[];
  readonly except: readonly object[];
}

/** Whether each limit of the wide one limits the narrow one, too. `textOf`: equal for equal limits only. */
export function covers(wide: Limited, narrow: Limited, textOf: (limit: object) => string): boolean {
  if ((narrow.read && !wide.read) || (narrow.search && !wide.search)) return false;
  return (['within', 'where', 'except'] as const).every(limit => {
    const texts = new Set(narrow[limit].map(one => textOf(one)));
    return wide[limit].every(one => texts.has(textOf(one)));
  });
}

/** The records of some patients (logical ids), and what they refer to. */
export function accessToPatients(caller: string, ids: readonly string[]): Access {
  return {
    kind: 'limited',
    caller,
    permissions: [{ type: ANY, read: true, search: true, within: [{ ids }], where: [], except: [] }],
  };
}
