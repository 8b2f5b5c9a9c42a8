/**
 * Lists the patients and visits that a person can choose from on the pages. In: a person. Out: only what that person
 * may see, read through the same pipeline as every answer.
 */
import type { Audit } from '../audit/audit.ts';
import type { AuditRecord } from '../audit/record.ts';
import type { Account } from '../auth/accounts.ts';
import { accessOfUser } from '../auth/granted.ts';
import type { PackAccess } from '../auth/rules.ts';
import type { Facade, RequestContext } from '../facade.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { escapedValue } from '../search/values.ts';
import { recordOfPage } from './page-records.ts';

/** A patient, or a visit, as text. */
export interface Listed {
  readonly id: string;
  readonly label: string;
  /** ISO date, if it is known. */
  readonly date?: string;
}

export interface Found {
  readonly items: readonly Listed[];
  readonly more: boolean;
}

export interface Charts {
  /** Finds patients whom a person may see, optionally by words of their names. */
  patients(account: Account, name?: string): Promise<Found>;
  patient(account: Account, id: string): Promise<Listed | undefined>;
  /** Returns the latest visits of a patient. */
  encounters(account: Account, patient: string): Promise<Found>;
  encounter(account: Account, patient: string, id: string): Promise<Listed | undefined>;
}

export interface ChartOptions {
  readonly facade: () => Pick<Facade, 'search' | 'registry' | 'offers'>;
  /** Which user sees which patients, by the served pack. */
  readonly rules: () => PackAccess;
  readonly fhirBase: string;
  /** Milliseconds that a search may take. */
  readonly timeLimit: number;
  /** Records whom a page shows; without it there is no audit. */
  readonly audit?: Pick<Audit, 'write'> | undefined;
}

/** The resource type of visits in launch contexts. */
export const VISIT = 'Encounter';

/** Also the result of searches that the mappings do not support. */
const NOBODY: Found = { items: [], more: false };

/** Maximum number of items on a page. */
const SHOWN = 20;

/** A logical id. Strict handling refuses a search by anything else. */
export const ID = /^[A-Za-z0-9.-]{1,64}$/;

/** Maximum characters of a name in a search, as in its form. */
const LONGEST_NAME = 100;

/** Returns the charts. `address`: the person's IP address, for the audit. */
export function chartsOf({ facade, rules, fhirBase, timeLimit, audit }: ChartOptions, address: string): Charts {
  const contextOf = (account: Account): RequestContext => ({
    access: accessOfUser(account.name, account.fhirUser, rules()),
    base: fhirBase,
    // A parameter that is ignored would make the search find everybody.
    handling: 'strict',
    signal: AbortSignal.timeout(timeLimit),
  });

  const find = async (type: string, account: Account, parameters: readonly Parameter[]): Promise<Found> => {
    const { registry, offers } = facade();
    if (!registry.types.includes(type)) return NOBODY;
    if (parameters.some(([name]) => !name.startsWith('_') && offers.find(type, name) === undefined)) return NOBODY;
    const asked: readonly Parameter[] = [...parameters, ['_count', String(SHOWN + 1)]];
    const patients = new Set<string>();
    const see = (ids: Iterable<string>): void => {
      for (const id of ids) patients.add(id);
    };
    const { json } = await facade().search({ type, parameters: asked }, { ...contextOf(account), see });
    await audit?.write(recordOf(account, `${type}?${new URLSearchParams(asked.map(pair => [...pair]))}`, patients));
    const { entry = [] } = JSON.parse(json) as { readonly entry?: readonly { readonly resource: Resource }[] };
    const items = entry.slice(0, SHOWN).map(({ resource }) => listed(resource));
    return { items, more: entry.length > SHOWN };
  };

  const recordOf = (account: Account, query: string, patients: ReadonlySet<string>): AuditRecord =>
    recordOfPage({
      ...{ who: account, address, server: new URL(fhirBase).hostname, interaction: 'search-type' },
      ...{ route: 'pages of the authorization server', status: 200 },
      query: `GET ${new URL(fhirBase).pathname}/${query}`,
      patients: [...patients],
    });

  return {
    patients: (account, name = '') =>
      find(COMPARTMENT_TYPE, account, name.trim() === '' ? [] : [['name', escapedValue(name.slice(0, LONGEST_NAME))]]),
    async patient(account, id) {
      if (!ID.test(id)) return undefined;
      const { items } = await find(COMPARTMENT_TYPE, account, [['_id', escapedValue(id)]]);
      return items.find(item => item.id === id);
    },
    encounters: (account, patient) =>
      find(VISIT, account, [['patient', escapedValue(patient)], ...latestFirst(facade())]),
    async encounter(account, patient, id) {
      if (!ID.test(patient) || !ID.test(id)) return undefined;
      const { items } = await find(VISIT, account, [
        ['patient', escapedValue(patient)],
        ['_id', escapedValue(id)],
      ]);
      return items.find(item => item.id === id);
    },
  };
}

type Parameter = readonly [name: string, value: string];

function latestFirst({ offers }: Pick<Facade, 'offers'>): readonly Parameter[] {
  return offers.find(VISIT, 'date') === undefined ? [] : [['_sort', '-date']];
}

interface Resource {
  readonly id: string;
  readonly name?: readonly { readonly text?: string; readonly family?: string; readonly given?: readonly string[] }[];
  readonly birthDate?: string;
  readonly type?: readonly { readonly text?: string; readonly coding?: readonly { readonly display?: string }[] }[];
  readonly period?: { readonly start?: string };
}

/** Describes a resource by the shape of its data types. */
function listed({ id, name, birthDate, type, period }: Resource): Listed {
  const [official] = name ?? [];
  const person = official?.text ?? [...(official?.given ?? []), official?.family ?? ''].join(' ').trim();
  const [kind] = type ?? [];
  const visit = kind?.text ?? kind?.coding?.find(({ display }) => display !== undefined)?.display;
  const date = birthDate ?? period?.start?.slice(0, 10);
  return { id, label: person || visit || id, ...(date === undefined ? {} : { date }) };
}
