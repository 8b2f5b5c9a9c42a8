/**
 * Reads a patient's record for documents, list by list, through the facade and within the patient's compartment. In: a
 * patient's id, a range or an encounter. Out: the resources of a list, current ones first and then the newest; and the
 * resources that they refer to, each read once.
 * The number of statements depends on the number of lists and not on their length, except for one more per batch of
 * resources.
 */
import { getOrInsert } from '../common/caches.ts';
import type { Facade, RequestContext, Room, Within } from '../facade.ts';
import { FhirError } from '../outcome.ts';
import { withoutContents } from './attachment.ts';
import type { Content, Search } from './content.ts';
import type { Identifier, Reference, Resource } from './fhir/datatypes.ts';
import type { Patient } from './fhir/people.ts';
import { rootedSystem } from './ids.ts';
import { isError, LISTS, type List, type ListName, type ListTypes } from './lists.ts';
import { createPause, type Pause } from './pause.ts';
import { overlaps } from './range.ts';
import { type Days, daysOf } from './time.ts';

/** Resources of the first page of a search. Each page may cost the database a sort, so further ones are larger. */
const BATCH = 1000;
/** Resources per page when only their existence matters. */
const FEW = 10;
/** Ids per search for referenced resources. */
const IDS = 200;
/** Lists that more than one section reads. Other lists are released once a section has read them. */
const REUSED: ReadonlySet<ListName> = new Set([
  ...(['procedures', 'encounter-diagnoses', 'care-plans', 'care-teams'] as const),
  ...(['laboratory-reports', 'other-reports'] as const),
]);

export interface ChartOptions {
  readonly facade: Pick<Facade, 'searchPages' | 'registry' | 'offers'>;
  /** Bounds what is read for the document, and what is written into it. */
  readonly room: Room;
  readonly content: Content;
  readonly context: RequestContext;
  readonly patientId: string;
  readonly range: Days | undefined;
  /** Limits the chart to this encounter, and to what was true during it where records name no encounter. */
  readonly encounterId: string | undefined;
}

export interface Chart {
  readonly patientId: string;
  readonly zone: string;
  readonly range: Days | undefined;
  readonly encounterId: string | undefined;
  /** Undefined if there is no such patient. */
  patient(): Promise<Patient | undefined>;
  list<N extends ListName>(name: N): Promise<readonly ListTypes[N][]>;
  /** Reads a list regardless of range and encounter, because others refer to it. */
  everything<N extends ListName>(name: N): Promise<readonly ListTypes[N][]>;
  /** True if the record has any entry of a list, regardless of range and encounter. */
  holds(name: ListName): Promise<boolean>;
  /** Runs a search within the patient's compartment; without that limit for types outside of it. */
  search(search: Search): Promise<readonly Resource[]>;
  /** Returns the resource that a reference of a list leads to. */
  resolve(reference: Reference | undefined): Resource | undefined;
  /** Reads the resources that these references lead to. */
  follow(references: readonly (Reference | undefined)[]): Promise<void>;
  /** Counts characters that are written into the document. Throws FhirError `too-large` if they are too many. */
  spend(characters: number): void;
  /** Call it after each entry. */
  readonly pause: Pause;
  /** Every resource that was read; decides the confidentiality of the whole document. */
  readonly seen: Seen;
}

export interface Seen {
  readonly confidentiality: ReadonlySet<string>;
  /** Time of the latest change, in milliseconds; 0 if unknown. */
  readonly changed: number;
  /** The first day on which any record began, `yyyy-MM-dd`. */
  readonly earliest: string | undefined;
}

export function openChart(options: ChartOptions): Chart {
  const { facade, room, content, patientId, range, encounterId } = options;
  const { zone, oid } = facade.registry.pack;
  const context: RequestContext = {
    ...options.context,
    patient: patientId,
    whole: true,
    handling: 'strict',
  };
  const known = new Map<string, Resource | undefined>();
  const kept = new Map<string, Promise<readonly Resource[]>>();
  const confidentiality = new Set<string>();
  let changed = 0;
  let earliest: string | undefined;

  const see = (resource: Resource): void => {
    for (const { code } of resource.meta?.security ?? []) if (code !== undefined) confidentiality.add(code);
    const at = Date.parse(resource.meta?.lastUpdated ?? '');
    if (at > changed) changed = at;
  };

  const pause = createPause();
  const [spendRead, spendWritten] = [meterOf(room), meterOf(room)];

  /** Yields the resources of a search, page by page, as the caller asks for them. */
  async function* pages(search: Search, growing: number, within?: Within): AsyncGenerator<readonly Resource[]> {
    const asked = { ...search, growing, ...(within && { within }) };
    for await (const { resources, texts } of facade.searchPages(asked, context)) {
      const page: Resource[] = [];
      for (const [at, resource] of resources.entries()) {
        const [kept, length] = withoutContents(resource as Resource, texts[at] ?? '');
        if (spendRead(length) > room.small) await room.enlarge();
        page.push(withRoots(kept, oid));
        const due = pause();
        if (due) await due;
      }
      yield page;
    }
  }

  const search = async (asked: Search, within?: Within): Promise<readonly Resource[]> => {
    const found: Resource[] = [];
    for await (const page of pages(asked, BATCH, within)) for (const resource of page) found.push(resource);
    return found;
  };

  /** Returns the search parameter that leads from a type to its patient. */
  const ofPatient = (type: string): readonly [string, string][] => {
    const code = ['patient', 'subject'].find(name => facade.offers.find(type, name) !== undefined);
    if (code === undefined) throw new FhirError('unsupported-search', `${type} cannot be searched by patient`);
    return [[code, `Patient/${patientId}`]];
  };

  /** Returns `Type/id` of a reference, also if it is an absolute URL of this interface. */
  const local = (reference: Reference | undefined): string | undefined => {
    const { base } = options.context;
    const at = reference?.reference;
    return at?.startsWith(`${base}/`) ? at.slice(base.length + 1) : at;
  };

  const follow = async (references: readonly (Reference | undefined)[]): Promise<void> => {
    const wanted = references.flatMap(one => {
      const [type = '', id = '', ...more] = local(one)?.split('/') ?? [];
      return id === '' || more.length > 0 || known.has(`${type}/${id}`) || !facade.offers.types.includes(type)
        ? []
        : [{ type, id }];
    });
    const next: (Reference | undefined)[] = [];
    for (const [type, members] of Map.groupBy(wanted, ({ type }) => type)) {
      const ids = [...new Set(members.map(({ id }) => id))];
      for (let start = 0; start < ids.length; start += IDS) {
        const some = ids.slice(start, start + IDS);
        for (const id of some) known.set(`${type}/${id}`, undefined);
        for (const resource of await search({ type, parameters: [['_id', some.join(',')]] })) {
          known.set(`${type}/${resource.id}`, resource);
          const { practitioner, organization } = resource as { practitioner?: Reference; organization?: Reference };
          next.push(practitioner, organization);
        }
      }
    }
    if (next.some(one => one !== undefined)) await follow(next);
  };

  /**
   * Reads a list by the pack's searches, without resources that were entered in error. With `narrowed`, SQL limits it
   * to the encounter where it can.
   */
  const fetch = async <T extends Resource>(name: ListName, narrowed: boolean): Promise<readonly T[]> => {
    const all = new Map<string, T>();
    const within = narrowed ? withinRange(LISTS[name].dated) : undefined;
    for (const { type, parameters } of content.lists.get(name) ?? []) {
      const own = [...parameters, ...ofPatient(type), ...(narrowed ? ofEncounter(type) : [])];
      for (const resource of (await search({ type, parameters: own }, within)) as T[]) {
        if (!isError(resource)) all.set(resource.id, resource);
      }
    }
    return [...all.values()];
  };

  const fetchOnce = <T extends Resource>(name: ListName, narrowed: boolean): Promise<readonly T[]> => {
    if (!REUSED.has(name)) return fetch(name, narrowed);
    const limits = encounterId !== undefined || withinRange(LISTS[name].dated) !== undefined;
    const key = `${name} ${narrowed && limits}`;
    const before = getOrInsert(kept, key, () => fetch<T>(name, narrowed));
    return before as Promise<readonly T[]>;
  };

  const read = async <T extends Resource>(
    name: ListName,
    list: List<T>,
    narrowed: boolean,
    belongs: (resource: T) => boolean,
  ): Promise<readonly T[]> => {
    const own = (await fetchOnce<T>(name, narrowed)).filter(belongs);
    await follow(own.flatMap(resource => list.references(resource)));
    for (const resource of own) {
      see(resource);
      const began = daysOf(list.span(resource)?.start, zone)?.first;
      if (began !== undefined && (earliest === undefined || began < earliest)) earliest = began;
    }
    return currentFirst(own, list);
  };

  /**
   * Limits the search to the range by a date parameter; a day more on each side, because `membership` decides. A record
   * that names the encounter of the document belongs to it on any day.
   */
  const withinRange = (parameter: string | undefined): Within | undefined => {
    if (parameter === undefined || range === undefined || encounterId !== undefined) return undefined;
    return {
      parameter,
      first: range.first && dayBeside(range.first, -1),
      last: range.last && dayBeside(range.last, 1),
    };
  };

  /** Limits the search to the encounter where the type has such a parameter; `membership` decides later. */
  const ofEncounter = (type: string): readonly [string, string][] => {
    if (encounterId === undefined) return [];
    if (type === 'Encounter') return [['_id', encounterId]];
    const offered = facade.offers.find(type, 'encounter') !== undefined;
    return offered ? [['encounter', `Encounter/${encounterId}`]] : [];
  };

  /** Returns a test whether a resource belongs to the document: by its encounter, or by its dates. */
  const membership = <T extends Resource>(list: List<T>): ((resource: T) => boolean) => {
    const inRange = (days: Days | undefined) => (resource: T) => overlaps(list.span(resource) ?? {}, days, zone);
    if (encounterId === undefined) return inRange(range);
    const { encounter } = list;
    // If the mappings never link this type to an encounter, its records count by their dates.
    if (encounter !== undefined && tiesToEncounters(list.type)) {
      const overlapping = inRange(range);
      return resource => {
        const named = encounter(resource)?.reference;
        if (named === `Encounter/${encounterId}`) return true;
        if (list.standing !== true || !overlapping(resource)) return false;
        // A record that is over without an end date may have ended before this visit, which it does not name.
        return named === undefined || list.over?.(resource) !== true || list.span(resource)?.end !== undefined;
      };
    }
    return inRange(range);
  };

  const tiesToEncounters = (type: string): boolean =>
    type === 'Encounter' ||
    facade.registry
      .ofType(type)
      .some(({ root }) =>
        root.members.some(
          member => member.kind === 'element' && (member.name === 'encounter' || member.name === 'context'),
        ),
      );

  return {
    patientId,
    zone,
    range,
    encounterId,
    async patient() {
      const [found] = await search({ type: 'Patient', parameters: [['_id', patientId]] });
      if (found === undefined) return undefined;
      const patient = found as Patient;
      see(patient);
      await follow([...(patient.generalPractitioner ?? []), patient.managingOrganization]);
      return patient;
    },
    list(name) {
      const list = LISTS[name] as List<ListTypes[typeof name]>;
      return read(name, list, list.standing !== true, membership(list));
    },
    everything(name) {
      return read(name, LISTS[name] as List<ListTypes[typeof name]>, false, () => true);
    },
    async holds(name) {
      for (const { type, parameters } of content.lists.get(name) ?? []) {
        for await (const page of pages({ type, parameters: [...parameters, ...ofPatient(type)] }, FEW)) {
          if (page.some(resource => !isError(resource))) return true;
        }
      }
      return false;
    },
    search,
    follow,
    spend: spendWritten,
    pause,
    resolve: reference => known.get(local(reference) ?? ''),
    seen: {
      confidentiality,
      get changed() {
        return changed;
      },
      get earliest() {
        return earliest;
      },
    },
  };
}

/** Returns a function that counts characters, and returns their sum. It throws FhirError if they are too many. */
function meterOf({ most }: Room): (characters: number) => number {
  let sum = 0;
  return characters => {
    sum += characters;
    if (sum > most)
      throw new FhirError(
        'too-large',
        'The document is larger than this server makes; ask for fewer days, or raise ANSWER_SIZE',
      );
    return sum;
  };
}

/** Returns the day so many days later; undefined at the ends of the calendar. */
function dayBeside(day: string, days: number): string | undefined {
  const text = new Date(Date.parse(day) + days * 86_400_000).toISOString();
  return /^(?!000)\d{4}-/.test(text) ? text.slice(0, 10) : undefined;
}

/** Replaces identifier systems that are URLs by the OIDs that documents use for them. */
function withRoots(resource: Resource, oid: string | undefined): Resource {
  const { identifier } = resource as { readonly identifier?: readonly Identifier[] };
  // A few types allow only one identifier (no array); documents do not show it.
  if (oid === undefined || !Array.isArray(identifier)) return resource;
  const rooted = identifier.map((one: Identifier) => ({ ...one, system: rootedSystem(one.system, oid) }));
  return { ...resource, identifier: rooted } as Resource;
}

/**
 * Sorts current records before those that are over, each by start date, newest first. Records without a date come last;
 * ties keep the order of the search.
 */
function currentFirst<T>(resources: readonly T[], list: List<T>): readonly T[] {
  const dated = resources.map(resource => {
    const span = list.span(resource);
    return { resource, over: list.over?.(resource) === true, at: span?.start ?? span?.end ?? '' };
  });
  return dated
    .toSorted((a, b) => (a.over === b.over ? (a.at === b.at ? 0 : a.at < b.at ? 1 : -1) : a.over ? 1 : -1))
    .map(({ resource }) => resource);
}
