/**
 * Shows what a resource contributes to the C-CDA documents of its patient. In: the resource as it is served, and
 * `ccds.yaml`. Out: the sections that show it, made from it and from the resources that it refers to; if there are
 * none, the reason. The pack decides which list finds it.
 */

import { patientsIn } from '../../audit/patients-in.ts';
import { OPEN_ACCESS } from '../../auth/access.ts';
import { type Chart, openChart } from '../../ccda/chart.ts';
import type { Content, Search } from '../../ccda/content.ts';
import type { Resource } from '../../ccda/fhir/datatypes.ts';
import type { Patient } from '../../ccda/fhir/people.ts';
import { recordTarget } from '../../ccda/header.ts';
import { isError, LISTS, type ListName, type ListTypes } from '../../ccda/lists.ts';
import {
  buildSection,
  type Section,
  type SectionDefinition,
  type SectionSource,
  sectionXml,
} from '../../ccda/section.ts';
import { listsOf } from '../../ccda/topic-lists.ts';
import { TOPICS } from '../../ccda/topics.ts';
import { getOrInsert } from '../../common/caches.ts';
import type { Facade, RequestContext } from '../../facade.ts';
import { COMPARTMENT_TYPE } from '../../r4/search-parameters.ts';
import type { WireCcda, WireCcdaSection } from '../wire/mapping.ts';
import { indentXml } from './indent-xml.ts';

export interface CcdaAsked {
  readonly resource: Readonly<Record<string, unknown>>;
  readonly facade: Facade;
  /** Undefined if the pack has no ccds.yaml. */
  readonly content: Content | undefined;
  readonly signal: AbortSignal;
  readonly base?: string;
}

/** At most so many patients of the resource are tried. */
const MOST_PATIENTS = 5;
/** At most so many referenced resources per type are read. */
const MOST_REFERRED = 200;
const REFERENCE = /"reference":"([A-Za-z]+)\/([A-Za-z0-9.-]{1,64})"/g;
const WORDS = { nothing: '', elsewhere: '' };

/** Makes the sections. Rejects with DatabaseError. */
export async function ccdaPartOf({ resource, facade, content, signal, base }: CcdaAsked): Promise<WireCcda> {
  const [type, id] = [String(resource['resourceType']), String(resource['id'])];
  if (content === undefined) return none('The pack has no ccds.yaml, so no documents are made.');
  const context: RequestContext = {
    ...{ access: OPEN_ACCESS, base: base ?? 'http://127.0.0.1/fhir', handling: 'strict', signal },
  };
  const open = (patientId: string): Chart =>
    openChart({
      facade,
      room: facade.room(signal),
      content,
      context,
      patientId,
      range: undefined,
      encounterId: undefined,
    });
  if (type === COMPARTMENT_TYPE) return partOfPatient(open(id), facade.registry.pack.name);

  const lists = listsOfType(type);
  if (lists.length === 0) {
    const isCustodian = content.custodian?.type === type && (await finds(open(id), content.custodian, [id])).length > 0;
    return none(
      isCustodian
        ? 'Every document has it as custodian, by ccds.yaml.'
        : `Documents have no list of ${type}. They show one only if a record of a list refers to it.`,
    );
  }
  const searched = lists.filter(name => (content.lists.get(name) ?? []).length > 0);
  if (searched.length === 0) {
    return none(`ccds.yaml has no search for ${lists.map(name => `\`${name}\``).join(', ')} (${type}).`);
  }
  const json = JSON.stringify(resource);
  const patients = [...patientsIn(json)].slice(0, MOST_PATIENTS);
  if (patients.length === 0) return none('It says of no patient whose it is, and a document is of one.');
  for (const patient of patients) {
    const chart = open(patient);
    const found = new Map<ListName, readonly Resource[]>();
    for (const name of searched) {
      const own = await inList(chart, content, name, [id]);
      if (own.length > 0) found.set(name, own);
    }
    if (found.size === 0) continue;
    if ([...found.values()].flat().every(isError)) return none('It was entered in error: no document has it.');
    return partOfRecord({ chart, content, found, json, facade, own: `${type}/${id}` });
  }
  return none(
    `No search of ccds.yaml finds it: ${searched.map(name => `\`${name}\` (${searchText(name, content)})`).join(', ')}.`,
  );
}

interface Found {
  readonly chart: Chart;
  readonly content: Content;
  /** The resource itself, by list that finds it. */
  readonly found: ReadonlyMap<ListName, readonly Resource[]>;
  readonly json: string;
  readonly facade: Facade;
  /** Reference to the resource, as `Type/id`. */
  readonly own: string;
}

async function partOfRecord({ chart, content, found, json, facade, own }: Found): Promise<WireCcda> {
  const namespace = facade.registry.pack.name;
  const referred = Map.groupBy(json.matchAll(REFERENCE), ([, type = '']) => type);
  const idsOf = (type: string): readonly string[] =>
    [...new Set((referred.get(type) ?? []).map(([, , id = '']) => id))].slice(0, MOST_REFERRED);
  const kept = new Map<ListName, Promise<readonly Resource[]>>();
  const read = async (name: ListName): Promise<readonly Resource[]> => {
    const list = LISTS[name];
    const others = await inList(chart, content, name, idsOf(list.type));
    // A result appears within the report that refers to it.
    const offered = list.around === undefined ? undefined : facade.offers.find(list.type, list.around);
    const isAround = offered?.targets.some(type => own.startsWith(`${type}/`));
    const around = isAround ? await matching(chart, content, name, [list.around ?? '', own]) : [];
    const all = [...(found.get(name) ?? []), ...others, ...around].filter(one => !isError(one));
    await chart.follow(all.flatMap(one => list.references(one as never)));
    return all;
  };
  const narrowed: Chart = {
    ...chart,
    list<N extends ListName>(name: N) {
      const before = getOrInsert(kept, name, () => read(name));
      return before as Promise<readonly ListTypes[N][]>;
    },
  };
  // No personal details, so that sections do not show the patient's.
  const patient: Patient = { resourceType: COMPARTMENT_TYPE, id: chart.patientId };
  const readings = await sectionsReading(new Set(found.keys()));
  const sections = await sectionsMade(readings, { chart: narrowed, patient, namespace });
  const silent = readings.flatMap(({ definition }) => (definition.optional === true ? [] : [definition.title]));
  const names = [...found.keys()];
  const headed = names.filter(name => !sections.some(({ lists }) => lists.includes(name)));
  return {
    header: undefined,
    sections,
    notes: [
      ...(sections.length === 0 && silent.length > 0 ? [`It gives no row in ${[...new Set(silent)].join(', ')}.`] : []),
      ...(headed.length > 0 && silent.length === 0
        ? [`No section reads the list ${headed.map(name => `\`${name}\``).join(', ')}: headers of documents show it.`]
        : []),
    ],
  };
}

/** Shows a patient: the header, and the sections with personal details. */
async function partOfPatient(chart: Chart, namespace: string): Promise<WireCcda> {
  const patient = await chart.patient();
  if (patient === undefined) return none('The patient is not served.');
  const empty: Chart = { ...chart, list: async () => [], everything: async () => [], holds: async () => false };
  const sections = await sectionsMade(await sectionsReading(undefined), { chart: empty, patient, namespace });
  return { header: indentXml(recordTarget(patient).text), sections, notes: [] };
}

interface Reading {
  readonly definition: SectionDefinition;
  /** Title of the document that contains it. */
  readonly topic: string;
  /** Those of the requested lists that it reads. */
  readonly reads: readonly ListName[];
}

/** Returns the sections of documents that read one of the lists; undefined: all sections. */
async function sectionsReading(lists: ReadonlySet<ListName> | undefined): Promise<readonly Reading[]> {
  const found: Reading[] = [];
  for (const { title: topic, sections } of TOPICS) {
    for (const definition of sections) {
      const reads = [...(await listsOf(definition))].filter(name => lists?.has(name));
      if (lists === undefined || reads.length > 0) found.push({ definition, topic, reads });
    }
  }
  return found;
}

/** Builds the sections that have rows; merges those that are equal in several documents. */
async function sectionsMade(readings: readonly Reading[], source: SectionSource): Promise<readonly WireCcdaSection[]> {
  const made = new Map<string, WireCcdaSection>();
  for (const { definition, topic, reads } of readings) {
    const section = await buildSection(definition, source);
    const { table, entries } = section;
    if (table.rows.length === 0) continue;
    const key = JSON.stringify([definition.key, table.rows, entries.digest()]);
    const before = made.get(key);
    made.set(key, before ? { ...before, topics: [...before.topics, topic] } : asPart(section, reads, topic));
  }
  return [...made.values()];
}

function asPart(section: Section, lists: readonly ListName[], topic: string): WireCcdaSection {
  const { definition, table, entries } = section;
  return {
    ...{ title: definition.title, code: definition.code, lists, topics: [topic], columns: table.columns },
    rows: table.rows.map(({ cells }) => cells),
    entries: entries.count,
    xml: indentXml([...sectionXml(section, WORDS)].join('')),
  };
}

function listsOfType(type: string): readonly ListName[] {
  return (Object.keys(LISTS) as ListName[]).filter(name => LISTS[name].type === type);
}

/** Returns the resources with these ids that a list of the pack finds. */
async function inList(
  chart: Chart,
  content: Content,
  name: ListName,
  ids: readonly string[],
): Promise<readonly Resource[]> {
  return ids.length === 0 ? [] : matching(chart, content, name, ['_id', ids.join(',')]);
}

type Parameter = Search['parameters'][number];

/** Returns the resources that a list of the pack finds and that match a parameter. */
async function matching(
  chart: Chart,
  content: Content,
  name: ListName,
  parameter: Parameter,
): Promise<readonly Resource[]> {
  const all = new Map<string, Resource>();
  for (const { type, parameters } of content.lists.get(name) ?? []) {
    for (const one of await chart.search({ type, parameters: [...parameters, parameter] })) all.set(one.id, one);
  }
  return [...all.values()];
}

async function finds(chart: Chart, { type, parameters }: Search, ids: readonly string[]): Promise<readonly Resource[]> {
  if (ids.length === 0) return [];
  return chart.search({ type, parameters: [...parameters, ['_id', ids.join(',')]] });
}

function searchText(name: ListName, content: Content): string {
  const searches = content.lists.get(name) ?? [];
  return searches
    .map(({ type, parameters }) => [type, parameters.map(pair => pair.join('=')).join('&')].filter(Boolean).join('?'))
    .join(', ');
}

function none(note: string): WireCcda {
  return { header: undefined, sections: [], notes: [note] };
}
