/**
 * Derives what a caller may see. In: a verified grant, or an account, and the rules for users. Out: an Access: the
 * union of the scopes, each limited to what the user may see. An unknown scope allows nothing.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */
import { memoized } from '../common/caches.ts';
import { type Access, ANY, NO_ACCESS, type Patients, type Permission } from './access.ts';
import type { Account } from './accounts.ts';
import {
  hiddenLabels,
  type PackAccess,
  permissionsOfUser,
  rulesBehindGlass,
  SECURITY,
  searchOfLabels,
} from './rules.ts';
import { parseScope, type ResourceScope } from './scopes.ts';
import type { Grant } from './token.ts';

export function accessOfGrant(grant: Grant, rules: PackAccess): Access {
  const { issuer, client, subject, fhirUser, purpose } = grant;
  // The user limits every scope; a user whom no rule covers may see nothing.
  const user = fhirUser === undefined ? undefined : (permissionsOfUser(fhirUser, rules.users) ?? []);
  const scopes = grant.scopes.flatMap(text => parseScope(text) ?? []);
  const hidden = hiddenLabels(rules, fhirUser, purpose);
  const permissions = scopes.flatMap(scope => {
    const own = permissionOf(scope, grant, hidden);
    if (own === undefined) return [];
    return user === undefined ? [own] : user.flatMap(rule => both(own, rule) ?? []);
  });
  return accessOf(JSON.stringify([issuer, client, subject]), permissions);
}

/**
 * Returns the access of a user who has broken the glass. What the rules open is no longer hidden; the scopes limit it
 * as before. The caller gets another name, so that neither cached answers nor page links pass between both. A grant
 * without a user opens nothing.
 */
export function accessByBreakingGlass(grant: Grant, rules: PackAccess): Access {
  const { fhirUser } = grant;
  const opened = fhirUser === undefined ? NO_ACCESS : accessOfGrant(grant, rulesBehindGlass(rules, fhirUser));
  return { ...opened, caller: glassCaller(opened.caller) };
}

/** Returns the same for an account of the REST interface, which has no scopes. */
export function accountByBreakingGlass({ name, fhirUser }: Account, rules: PackAccess): Access {
  const caller = glassCaller(callerOfAccount(name));
  return fhirUser === undefined
    ? accessOf(caller, [])
    : accessOfUser(caller, fhirUser, rulesBehindGlass(rules, fhirUser));
}

function glassCaller(caller: string): string {
  return `glass:${caller}`;
}

function callerOfAccount(name: string): string {
  return `account:${name}`;
}

/**
 * Returns what each account sees by the rules, computed once. `isOpen`: on a server with open access, accounts without
 * a FHIR user see everything; otherwise nothing.
 */
export function accessOfAccounts(rules: PackAccess, isOpen: boolean): (account: Account) => Access {
  return memoized(({ name, fhirUser }) => {
    const caller = callerOfAccount(name);
    return isOpen && fhirUser === undefined ? { kind: 'all', caller } : accessOfUser(caller, fhirUser, rules);
  });
}

/** Returns what a user sees who is logged in here without an application. Without a FHIR user: nothing. */
export function accessOfUser(caller: string, fhirUser: string | undefined, rules: PackAccess): Access {
  if (fhirUser === undefined) return accessOf(caller, []);
  const except = searchOfLabels(hiddenLabels(rules, fhirUser, undefined));
  const permissions = permissionsOfUser(fhirUser, rules.users) ?? [];
  return accessOf(
    caller,
    permissions.map(permission => ({ ...permission, except })),
  );
}

/** Returns the permission of a scope. `hidden`: labels that are hidden unless the scope itself names them. */
function permissionOf(
  { level, type, read, search, where }: ResourceScope,
  grant: Grant,
  hidden: readonly string[],
): Permission | undefined {
  if (!read && !search) return undefined;
  const named = where.flatMap(([name, value]) => (name === SECURITY ? value.split(',') : []));
  const except = searchOfLabels(hidden.filter(label => !named.includes(label)));
  const own = { type, read, search, where, except };
  switch (level) {
    case 'patient':
      return grant.patient === undefined ? undefined : { ...own, within: [{ ids: [grant.patient] }] };
    case 'user':
      return grant.fhirUser === undefined ? undefined : { ...own, within: [] };
    case 'system':
      return { ...own, within: [] };
  }
}

/** Intersects two permissions; undefined: nothing is left. */
function both(one: Permission, other: Permission): Permission | undefined {
  if (one.type !== other.type && one.type !== ANY && other.type !== ANY) return undefined;
  const within = new Map<string, Patients>();
  for (const patients of [...one.within, ...other.within]) within.set(JSON.stringify(patients), patients);
  return {
    type: one.type === ANY ? other.type : one.type,
    read: one.read && other.read,
    search: one.search && other.search,
    within: [...within.values()],
    where: [...one.where, ...other.where],
    except: [...one.except, ...other.except],
  };
}

function accessOf(caller: string, permissions: readonly Permission[]): Access {
  const isEverything = ({ type, read, search, within, where, except }: Permission): boolean =>
    type === ANY && read && search && [within, where, except].every(limits => limits.length === 0);
  return permissions.some(isEverything) ? { kind: 'all', caller } : { kind: 'limited', caller, permissions };
}
