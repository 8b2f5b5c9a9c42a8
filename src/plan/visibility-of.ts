/**
 * Turns an access into a visibility. In: an Access, the types that are served, and a parser for conditions. Out: the
 * Visibility. A permission with a condition that cannot be parsed allows nothing.
 */
import { hash } from 'node:crypto';
import { type Access, ANY, covers, type Patients, type Permission } from '../auth/access.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import type { Filter } from '../search/query.ts';
import { accessPredicate } from './access.ts';
import { IDS_AT_MOST, plainIds, planText, visibilityIdName, withNamedIds } from './reuse/id-parameters.ts';
import {
  type AccessRules,
  ALL_ACCESS_RULES,
  FULL_VISIBILITY,
  type SeenPatients,
  type SeenPermission,
  type Visibility,
} from './visibility.ts';

/** Parses a filter of a search on a type; throws for one that the type does not offer. */
export type ParseFilter = (type: string, name: string, value: string) => Filter;

/**
 * Makes the visibility. `types`: all types that are served. A permission whose conditions a type does not understand
 * allows nothing of that type.
 */
export function visibilityOf(
  access: Access,
  types: readonly string[],
  parse: ParseFilter,
  rules: AccessRules = ALL_ACCESS_RULES,
): Visibility {
  if (access.kind === 'all') return FULL_VISIBILITY;
  const understood = types.flatMap(type => {
    const own = access.permissions.flatMap(permission => seenFor(type, permission, parse) ?? []);
    return own.length === 0 ? [] : [[type, withoutCovered(own)] as const];
  });
  const ids: string[] = [];
  const named = (id: string): string => {
    const at = ids.indexOf(id);
    return visibilityIdName(at < 0 ? ids.push(id) - 1 : at);
  };
  const parameterized = understood.map(([type, own]) => [type, own.map(one => withIds(one, named))] as const);
  const isShort = ids.length <= IDS_AT_MOST;
  const permissions = isShort ? parameterized : understood;
  return {
    key: ` ${digestOf(planText(rules === ALL_ACCESS_RULES ? permissions : [permissions, rules]))}`,
    permissions: new Map(permissions),
    ids: isShort ? ids : [],
    plainIds: isShort ? plainIds(ids) : undefined,
    rules,
    uniform: new Set(permissions.flatMap(([, own]) => own.map(({ within }) => planText(within)))).size === 1,
    allows: accessPredicate,
  };
}

/**
 * Hashes a visibility's text, which repeats a permission for each served type and is looked up with every cached plan.
 */
function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}

function seenFor(type: string, permission: Permission, parse: ParseFilter): SeenPermission | undefined {
  if (permission.type !== ANY && permission.type !== type) return undefined;
  const { read, search } = permission;
  const within = permission.within.map(patients => seenPatients(patients, parse));
  const where = understood(type, permission.where, parse);
  const except = understood(type, permission.except, parse);
  if (where === undefined || except === undefined || !within.every(one => one !== undefined)) return undefined;
  return { read, search, where, except, within };
}

function seenPatients(patients: Patients, parse: ParseFilter): SeenPatients | undefined {
  if ('ids' in patients) return { kind: 'ids', ids: patients.ids };
  // A search without criteria would find every patient.
  const filters = patients.found.length === 0 ? undefined : understood(COMPARTMENT_TYPE, patients.found, parse);
  return filters && { kind: 'found', filters, key: planText(filters) };
}

function understood(type: string, criteria: Permission['where'], parse: ParseFilter): readonly Filter[] | undefined {
  try {
    return criteria.map(([name, value]) => parse(type, name, value));
  } catch {
    // The type does not offer it, or the value is malformed: a condition that cannot be searched allows nothing.
    return undefined;
  }
}

/** Drops permissions that another permission covers. */
function withoutCovered(permissions: readonly SeenPermission[]): readonly SeenPermission[] {
  const kept: SeenPermission[] = [];
  for (const one of permissions) {
    if (kept.some(other => covers(other, one, planText))) continue;
    const others = kept.filter(other => !covers(one, other, planText));
    kept.splice(0, kept.length, ...others, one);
  }
  return kept;
}

function withIds(permission: SeenPermission, named: (id: string) => string): SeenPermission {
  const renamed = (filters: readonly Filter[]): readonly Filter[] => filters.map(one => withNamedIds(one, named));
  return {
    ...permission,
    where: renamed(permission.where),
    except: renamed(permission.except),
    within: permission.within.map(patients => {
      if (patients.kind === 'ids') return { kind: 'ids', ids: patients.ids.map(named) };
      const filters = renamed(patients.filters);
      return { kind: 'found', filters, key: planText(filters) };
    }),
  };
}
