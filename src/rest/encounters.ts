/**
 * Lists the encounters that have a document. In: a patient. Out: the numbers of the encounters that the pack's search
 * finds; the mapping defines which columns mean "signed" and "available". docs/interfaces.md
 */
import { labelOf } from '../ccda/code.ts';
import type { Encounter } from '../ccda/fhir/record.ts';
import { readableVisit } from '../ccda/time.ts';
import type { RequestContext } from '../facade.ts';
import { type RestSource, searchSome } from './fhir-source.ts';

/** Maximum number of encounters listed for one patient. */
const MOST = 100_000;

/** Returns the numbers in ascending order. `context`: access to the patient's compartment. */
export async function listedEncounters(
  patientId: string,
  source: RestSource,
  context: RequestContext,
): Promise<readonly number[]> {
  const { listed } = source.content;
  if (listed === undefined) return [];
  const parameters = [...listed.parameters, ['patient', `Patient/${patientId}`], ['_elements', 'id']] as const;
  const asked = { parameters, numbered: true };
  const { resources, numbers } = await searchSome<Encounter>(source, 'Encounter', asked, MOST, context);
  return resources.flatMap(({ id }) => source.encounters.numberOf(id, numbers) ?? []).toSorted((a, b) => a - b);
}

export interface ListedEncounter {
  readonly number: number;
  /** For people; empty if unknown. */
  readonly period: string;
  readonly what: string;
}

/** Maximum number of encounters on a page. */
const SHOWN = 200;

/** Describes encounters for people, the latest first. `context`: access to the patient's compartment. */
export async function encounterLines(
  patientId: string,
  source: RestSource,
  context: RequestContext,
): Promise<{ readonly encounters: readonly ListedEncounter[]; readonly more: boolean }> {
  const { listed } = source.content;
  if (listed === undefined) return { encounters: [], more: false };
  const elements = ['_elements', 'period,status,type,reasonCode'] as const;
  const byDate = source.facade.offers.find('Encounter', 'date') === undefined ? [] : ([['_sort', '-date']] as const);
  const parameters = [...listed.parameters, ['patient', `Patient/${patientId}`], elements, ...byDate] as const;
  const asked = { parameters, numbered: true };
  const { resources, numbers, more } = await searchSome<Encounter>(source, 'Encounter', asked, SHOWN, context);
  const encounters = resources.flatMap(({ id, period, status, type, reasonCode }) => {
    const number = source.encounters.numberOf(id, numbers);
    const what = [...new Set([labelOf(type?.[0]), labelOf(reasonCode?.[0])])].filter(Boolean).join(': ');
    return number === undefined ? [] : [{ number, period: readableVisit({ status, period }), what }];
  });
  return { encounters, more };
}

/** True if an encounter is one of the patient's that are listed. */
export async function isListed(
  encounterId: string,
  patientId: string,
  source: RestSource,
  context: RequestContext,
): Promise<boolean> {
  const { listed } = source.content;
  if (listed === undefined) return false;
  const parameters = [
    ...listed.parameters,
    ['patient', `Patient/${patientId}`],
    ['_id', encounterId],
    ['_elements', 'id'],
  ] as const;
  const { resources } = await searchSome<Encounter>(source, 'Encounter', { parameters }, 1, context);
  return resources.length > 0;
}
