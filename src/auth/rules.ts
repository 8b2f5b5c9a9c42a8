/**
 * Which user sees which patients: the rules of a pack's access.yaml, as data. In: rules and a user. Out: what the user may
 * see, whatever an application was granted. A user of whose kind no rule speaks sees nothing.
 */
import { ANY, type Permission } from './access.ts';
import type { Criteria } from './scopes.ts';

export interface UserRule {
  /** Type of the resource that the user is: `Practitioner`. */
  readonly user: string;
  /** Searches on patients with `{user}` (`Practitioner/7`) and `{id}` (`7`) in their values; `all`: every patient. */
  readonly patients: 'all' | Criteria;
  /** Types that belong to no patient, of which the user sees everything. */
  readonly also: readonly string[];
}

/** What a pack says of access, as its `access.yaml` has it. */
export interface PackAccess {
  readonly users: readonly UserRule[];
}

/** Of a pack that says nothing: patients see their own record, and nobody else anything. */
export const NO_RULES: PackAccess = { users: [] };

/** Patients see their own record, unless the pack has rules for them. */
const OWN_RECORD: UserRule = { user: 'Patient', patients: [['_id', '{id}']], also: [] };

/** https://hl7.org/fhir/R4/references.html#literal */
const USER = /^([A-Z][A-Za-z]{1,63})\/([A-Za-z0-9\-.]{1,64})$/;

/** What a user (`Practitioner/7`) may see; undefined: nothing, for no rule speaks of such users. */
export function permissionsOfUser(user: string, rules: readonly UserRule[]): readonly Permission[] | undefined {
  const [, type, id = ''] = USER.exec(user) ?? [];
  if (type === undefined) return undefined;
  const own = rules.filter(rule => rule.user === type);
  const rulesOfType = own.length === 0 && type === OWN_RECORD.user ? [OWN_RECORD] : own;
  if (rulesOfType.length === 0) return undefined;
  const named = (text: string): string => text.replaceAll('{user}', user).replaceAll('{id}', id);
  return rulesOfType.flatMap(({ patients, also }) => [
    whole(ANY, patients === 'all' ? [] : [within(patients.map(([name, value]) => [name, named(value)]))]),
    ...also.map(other => whole(other, [])),
  ]);
}

function whole(type: string, patients: Permission['within']): Permission {
  return { type, read: true, search: true, within: patients, where: [] };
}

/** Patients who are named by their id alone need not be searched for. */
function within(found: Criteria): Permission['within'][number] {
  const [only, ...more] = found;
  return only?.[0] === '_id' && more.length === 0 ? { ids: only[1].split(',') } : { found };
}
