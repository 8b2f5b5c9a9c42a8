/**
 * A caller's access in the form that plans use: per type what may be read and searched, with parsed conditions and
 * logical ids as placeholders, so that callers with like access share plans. Made by sight-of.ts.
 */
import type { Mapping } from '../mapping/model.ts';
import type { Filter } from '../search/query.ts';
import { TRUE } from '../sql/construct.ts';
import type { Predicate } from '../sql/expression.ts';
import type { Environment, IdParameters } from './environment.ts';

/** What is done with a resource: `search` is what looks at resources nobody named, `read` what follows an id. */
export type Action = 'read' | 'search';

export interface Sight {
  /** Equal only for sights that differ in nothing but their ids. */
  readonly key: string;
  /** By type; undefined: everything. A type that is not here is refused. */
  readonly permissions: ReadonlyMap<string, readonly SeenPermission[]> | undefined;
  /** They stand in the permissions under `sightIdName`. */
  readonly ids: readonly string[];
  /** Reads those ids where a plan is for one use. */
  readonly plainIds: IdParameters | undefined;
  readonly rules: AccessRules;
  /** All permissions are within the same patients: what one of them shows is referred to from within any other. */
  readonly uniform: boolean;
  /** The rows of a mapping that the caller may see. */
  readonly allows: (mapping: Mapping, action: Action, env: Environment, rows?: Rows) => Predicate;
}

/** What is known of the rows of which a caller may see some. */
export interface Rows {
  /** The record is known to refer to them, where that is what makes them visible. */
  readonly referred?: boolean;
  /** So few that each is looked for in the record by itself; default: for a read, which is of one. */
  readonly few?: boolean;
}

/** A Permission, understood for one type. */
export interface SeenPermission {
  readonly read: boolean;
  readonly search: boolean;
  /** All of them. */
  readonly within: readonly SeenPatients[];
  /** All of them. */
  readonly where: readonly Filter[];
  /** None of them. */
  readonly except: readonly Filter[];
}

export type SeenPatients =
  | { readonly kind: 'ids'; readonly ids: readonly string[] }
  /** `key` is equal for equal searches only. */
  | { readonly kind: 'found'; readonly filters: readonly Filter[]; readonly key: string };

/** Rules without which something is told that should not be; a test turns each off and expects to notice. */
export interface AccessRules {
  /** What may not be seen does not match. */
  readonly matches: boolean;
  /** Chains go through nothing that may not be searched. */
  readonly chains: boolean;
  /** `_has` looks at nothing that may not be searched. */
  readonly has: boolean;
  /** Nothing is included that may not be read, or searched for `_revinclude`. */
  readonly includes: boolean;
  /** What belongs to several patients is shown to those who may see all of them. */
  readonly shared: boolean;
  /** The conditions of scopes count. */
  readonly conditions: boolean;
  /** Of what belongs to no patient, only what the record refers to. */
  readonly referred: boolean;
  /** Reading and searching are apart. */
  readonly actions: boolean;
  /** What has a label that is hidden from the caller is not seen. */
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

export const OPEN_SIGHT: Sight = {
  key: '',
  permissions: undefined,
  ids: [],
  plainIds: undefined,
  rules: ALL_ACCESS_RULES,
  uniform: true,
  allows: () => TRUE,
};

/** The permissions of a type for an action; undefined: everything may be seen. */
export function permissionsOf(
  { permissions, rules }: Sight,
  type: string,
  action: Action,
): readonly SeenPermission[] | undefined {
  const own = permissions && (permissions.get(type) ?? []);
  return rules.actions ? own?.filter(permission => permission[action]) : own;
}

/** Whether anything of a type may be seen at all. */
export function isPermitted(sight: Sight, type: string, action: Action): boolean {
  return permissionsOf(sight, type, action)?.length !== 0;
}
