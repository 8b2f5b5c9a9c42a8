/**
 * Finds patients by one text: a name in any order and in part, a date of birth, a medical record number, a telephone
 * number. Out: the patients that match by any reading of the text. Case and accents do not count; numbers compare by
 * their digits. docs/interfaces.md
 */
import type { Patient } from '../ccda/fhir/people.ts';
import { localDay } from '../ccda/time.ts';
import type { RequestContext } from '../facade.ts';
import { type Asked, isSuperseded, type RestSource, searchSome } from './fhir-source.ts';
import { containedValue, escapeValue } from './names.ts';
import { type PatientSummary, patientSummary } from './patient-info.ts';
import { readTelephone } from './telephone.ts';
import { readWrittenDate } from './written-date.ts';

export interface SummaryResult {
  /** Patients that are listed. */
  readonly count: number;
  /** There are more than are listed. */
  readonly more: boolean;
  readonly patients: readonly PatientSummary[];
}

/** Patients that one search lists. */
const MOST = 100;
const ELEMENTS = ['_elements', 'identifier,name,telecom,gender,birthDate,address,link'] as const;

export async function searchPatients(
  text: string,
  source: RestSource,
  context: RequestContext,
  now: number,
): Promise<SummaryResult> {
  const { mrn } = source.content;
  const found = new Map<string, { readonly patient: Patient; readonly number: number | undefined }>();
  let more = false;
  for (const { parameters, filters = [] } of readings(text, source, localDay(now, source.facade.registry.pack.zone))) {
    const asked = { parameters: [...parameters, ELEMENTS], filters, numbered: true };
    const page = await searchSome<Patient>(source, 'Patient', asked, MOST + 1, context);
    more ||= page.more;
    for (const patient of page.resources) {
      const number = source.patients.numberOf(patient.id, page.numbers);
      if (!isSuperseded(patient)) found.set(patient.id, { patient, number });
    }
  }
  const patients = [...found.values()].flatMap(({ patient, number }) =>
    number === undefined ? [] : [patientSummary(patient, number, mrn)],
  );
  const listed = patients
    .toSorted((a, b) => a.name.localeCompare(b.name, 'en') || a.patientId - b.patientId)
    .slice(0, MOST);
  return { count: listed.length, more: more || patients.length > listed.length, patients: listed };
}

/** Each way to read the text, as a search. */
function readings(text: string, { facade, content }: RestSource, today: string): readonly Asked[] {
  const offered = (code: string): boolean => facade.offers.find('Patient', code) !== undefined;
  const all: Asked[] = [];
  const ask = (...parameters: Asked['parameters']): number => all.push({ parameters });
  const dates = readWrittenDate(text, today);
  if (dates.length > 0 && offered('birthdate')) ask(['birthdate', dates.join(',')]);
  const compact = text.trim();
  if (content.mrn !== undefined && offered('identifier') && /^\S{1,40}$/.test(compact)) {
    const numbers = recordNumbers(compact).map(number => `${content.mrn}|${escapeValue(number)}`);
    ask(['identifier', numbers.join(',')]);
  }
  const telephone = readTelephone(text);
  const phone = facade.offers.find('Patient', 'phone');
  if (telephone !== undefined && phone?.byDigits) {
    const { parameter } = phone;
    all.push({ parameters: [], filters: [{ kind: 'match', parameter, modifier: undefined, values: [telephone] }] });
  }
  // Each word must stand somewhere in a name.
  const words = text.split(/[\s,;]+/).filter(word => /\p{L}/u.test(word));
  if (words.length > 0 && words.length <= 10 && offered('name')) {
    ask(...words.map(word => ['name:contains', containedValue(word)] as const));
    // Or their beginnings as words: without an apostrophe, with a blank for a hyphen.
    ask(...words.map(word => ['name', escapeValue(word)] as const));
  }
  return all;
}

/** A record number as it stands; digits also with the zeros that may have been left out before them. */
function recordNumbers(text: string): readonly string[] {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d+$/.test(digits)) return [text, text.toUpperCase()];
  const bare = digits.replace(/^0+(?=\d)/, '');
  const padded = Array.from({ length: 13 - Math.min(bare.length, 12) }, (_, i) => bare.padStart(bare.length + i, '0'));
  return [...new Set([text, ...padded])];
}
