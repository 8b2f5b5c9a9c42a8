/**
 * Defines a visibility: a caller's access in the form that plans use. Per type it says what may be read and searched,
 * with parsed conditions and logical ids as placeholders, so that callers with similar access share plans. Made by
 * visibility-of.ts.
 */
import type { Mapping } from '../mapping/model.ts';
import type { Filter } from '../search/query.ts';
import { TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment, IdParameters } from './environment.ts';

/** The kind of access: `search` looks at resources that nobody named, `read` follows an id. */
export type Action = 'read' | 'search';

export interface Visibility {
  /** Equal only for visibilities that differ in nothing but their ids. */
  readonly key: string;
  /** By type; undefined: everything. A type that is missing is refused. */
  readonly permissions: ReadonlyMap<string, readonly SeenPermission[]> | undefined;
  /** The ids that stand in the permissions under `visibilityIdName`. */
  readonly ids: readonly string[];
  /** Reads those ids for a plan that is used once. */
  readonly plainIds: IdParameters | undefined;
  readonly rules: AccessRules;
  /**
   * True if all permissions are for the same patients. What one permission shows is then referred to from within any
   * other.
   */
  readonly uniform: boolean;
  /** Returns the condition for the rows of a mapping that the caller may see. */
  readonly allows: (mapping: Mapping, action: Action, env: Environment, rows?: Rows) => Predicate;
}

/** Known facts about the rows that the access check applies to. */
export interface Rows {
  /** True if the record is known to refer to the rows, which makes them visible if they belong to no patient. */
  readonly referred?: boolean;
  /**
   * True if they are so few that each is checked in the record by itself; default: true for a read, which has one row.
   */
  readonly few?: boolean;
}

/** A Permission, parsed for one type. */
export interface SeenPermission {
  readonly read: boolean;
  readonly search: boolean;
  /** The patient must be in all of these. */
  readonly within: readonly SeenPatients[];
  /** All of these must hold. */
  readonly where: readonly Filter[];
  /** None of these may hold. */
  readonly except: readonly Filter[];
}

export type SeenPatients =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** `key` is equal for equal searches only. */
  | { readonly kind: 'found'; readonly filters: readonly Filter[]; readonly key: string };

/** Rules that keep data from callers who may not see them. A test turns each off and expects to notice. */
export interface AccessRules {
  /** A search does not match resources that the caller may not see. */
  readonly matches: boolean;
  /** A chain passes only through resources that the caller may search. */
  readonly chains: boolean;
  /** `_has` looks only at resources that the caller may search. */
  readonly has: boolean;
  /** An include returns only resources that the caller may read; `_revinclude` only those that they may search. */
  readonly includes: boolean;
  /** A resource of several patients is shown only to callers who may see all of them. */
  readonly shared: boolean;
  /** The conditions of scopes apply. */
  readonly conditions: boolean;
  /** A resource that belongs to no patient is shown only if the record refers to it. */
  readonly referred: boolean;
  /** Permissions to read and to search are separate. */
  readonly actions: boolean;
  /** A resource with a label that is hidden from the caller is not shown. */
  readonly labels: boolean;
}

export const ALL_ACCESS_RULES: AccessRules = {
  matches: true,
  chains: true,
  has: true,
  includes: true,
  shared: true,
  conditions: true,
  referred: true,
  actions: true,
  labels: true,
};

export const FULL_VISIBILITY: Visibility = {
  key: '',
  permissions: undefined,
  ids: [],
  plainIds: undefined,
  rules: ALL_ACCESS_RULES,
  uniform: true,
  allows: () => TRUE,
};

/** Returns the permissions of a type for an action; undefined: everything may be seen. */
export function permissionsOf(
  { permissions, rules }: Visibility,
  type: string,
  action: Action,
): readonly SeenPermission[] | undefined {
  const own = permissions && (permissions.get(type) ?? []);
  return rules.actions ? own?.filter(permission => permission[action]) : own;
}

/** True if the caller may see anything of a type. */
export function isPermitted(visibility: Visibility, type: string, action: Action): boolean {
  return permissionsOf(visibility, type, action)?.length !== 0;
}

/** True if no condition of a scope (`?category=laboratory`) leaves out some resources of the type. */
export function isWhole(visibility: Visibility, type: string, action: Action): boolean {
  return permissionsOf(visibility, type, action)?.some(({ where }) => where.length === 0) ?? true;
}
