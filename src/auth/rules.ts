/**
 * Evaluates the rules of a pack's access.yaml: which user sees which patients. In: rules and a user. Out: what the user
 * may see, whatever an application was granted; nothing if no rule names the user's type.
 */
import { ANY, type Permission } from './access.ts';
import type { Criteria } from './scopes.ts';

export interface UserRule {
  /** Resource type of the user: `Practitioner`. */
  readonly user: string;
  /**
   * Searches on patients with `{user}` (`Practitioner/7`) and `{id}` (`7`) in their values; `all`: every patient;
   * `none`: the search has errors, and lets nobody in.
   */
  readonly patients: 'all' | 'none' | Criteria;
  /** Types that belong to no patient, all of whose resources the user sees. */
  readonly also: readonly string[];
}

/** Hides resources with these labels, except from some users and purposes. */
export interface LabelRule {
  /** Labels in meta.security, in the form of `_security`: `system|code`. */
  readonly hide: readonly string[];
  /** Types of users who see them nevertheless. */
  readonly users: readonly string[];
  /** Purposes of use, as in tokens, for which they are visible nevertheless. */
  readonly purposes: readonly string[];
}

/** Who may see hidden data after giving a reason, and which. */
export interface GlassRule {
  /**
   * Searches on types of users with `{user}` and `{id}` in their values; a user whom one of them finds may break the
   * glass.
   */
  readonly users: readonly { readonly type: string; readonly found: Criteria }[];
  /** Applications in which they may; undefined: in any. */
  readonly clients: readonly string[] | undefined;
  readonly opens: readonly Opened[];
}

/** `labels`: resources that LabelRules hide. `patients`: those whom the rules for the user exclude. */
export type Opened = 'labels' | 'patients';

/** The content of a pack's `access.yaml`. */
export interface PackAccess {
  readonly users: readonly UserRule[];
  readonly labels: readonly LabelRule[];
  /** Keyed by name. */
  readonly logins?: Readonly<Record<string, LoginRule>>;
  /** Absent: nobody may break the glass. */
  readonly glass?: GlassRule;
}

/** Finds the user with a login of the legacy database: a search with `{login}` in a value. */
export interface LoginRule {
  readonly type: string;
  readonly found: Criteria;
}

/** The rules of a pack without access.yaml: patients see their own record, and nobody else sees anything. */
export const NO_RULES: PackAccess = { users: [], labels: [] };

/** Patients see their own record, unless the pack has rules for them. */
const OWN_RECORD: UserRule = { user: 'Patient', patients: [['_id', '{id}']], also: [] };

/** A user as a reference: type and id. https://hl7.org/fhir/R4/references.html#literal */
export const USER = /^([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9\-.]{1,64})$/;

/**
 * Returns what a user (`Practitioner/7`) may see; undefined if no rule names users of the type, who see nothing then.
 */
export function permissionsOfUser(user: string, rules: readonly UserRule[]): readonly Permission[] | undefined {
  const [, type, id = ''] = USER.exec(user) ?? [];
  if (type === undefined) return undefined;
  const own = rules.filter(rule => rule.user === type);
  const rulesOfType = own.length === 0 && type === OWN_RECORD.user ? [OWN_RECORD] : own;
  if (rulesOfType.length === 0) return undefined;
  const named = (text: string): string => text.replaceAll('{user}', user).replaceAll('{id}', id);
  return rulesOfType.flatMap(({ patients, also }) => {
    if (patients === 'none') return [];
    return [
      whole(ANY, patients === 'all' ? [] : [within(patients.map(([name, value]) => [name, named(value)]))]),
      ...also.map(other => whole(other, [])),
    ];
  });
}

/** Names what the rules hide: labels, and records of patients from themselves. Without these rules more is visible. */
export function namesOfHidden({ users, labels }: PackAccess): readonly string[] {
  const hidden = labels.flatMap(({ hide }) => hide.map(label => `label ${label}`));
  const own = users.some(({ user }) => user === OWN_RECORD.user) ? [`users: ${OWN_RECORD.user}`] : [];
  return [...new Set([...hidden, ...own])];
}

/** Returns the rules for a user who has broken the glass: those that `glass` opens are wider, all others stay. */
export function rulesBehindGlass(rules: PackAccess, user: string): PackAccess {
  const opens = rules.glass?.opens ?? [];
  const [, type] = USER.exec(user) ?? [];
  const all = type === undefined ? [] : [{ user: type, patients: 'all', also: [] } as const];
  return {
    ...rules,
    labels: opens.includes('labels') ? [] : rules.labels,
    users: opens.includes('patients') ? all : rules.users,
  };
}

/**
 * Returns the labels that are hidden from a user with this purpose of use. `user`: `Practitioner/7`; undefined for a
 * program.
 */
export function hiddenLabels(
  { labels }: PackAccess,
  user: string | undefined,
  purpose: string | undefined,
): readonly string[] {
  const type = user?.split('/', 1)[0];
  const isShown = ({ users, purposes }: LabelRule): boolean =>
    (type !== undefined && users.includes(type)) || (purpose !== undefined && purposes.includes(purpose));
  return [...new Set(labels.filter(rule => !isShown(rule)).flatMap(({ hide }) => hide))];
}

/** Returns the search that finds resources with any of these labels. */
export function searchOfLabels(labels: readonly string[]): Criteria {
  // Escapes separators within a value. https://hl7.org/fhir/R4/search.html#escaping
  const escaped = labels.map(label => label.replace(/[\\,$]/g, character => `\\${character}`));
  return labels.length === 0 ? [] : [[SECURITY, escaped.join(',')]];
}

/** https://hl7.org/fhir/R4/search.html#all */
export const SECURITY = '_security';

function whole(type: string, patients: Permission['within']): Permission {
  return { type, read: true, search: true, within: patients, where: [], except: [] };
}

/** Patients who are named only by id need no search. */
function within(found: Criteria): Permission['within'][number] {
  const [only, ...more] = found;
  return only?.[0] === '_id' && more.length === 0 ? { ids: only[1].split(',') } : { found };
}
