/**
 * Finds patients by one text: parts of a name in any order, a date of birth, a medical record number, a telephone
 * number. Out: the patients that match the text in any of these meanings. Ignores case and accents; compares numbers by
 * their digits. docs/interfaces.md
 */
import type { Patient } from '../ccda/fhir/people.ts';
import { localDay } from '../ccda/time.ts';
import type { RequestContext } from '../facade.ts';
import type { Criterion } from '../mapping/criterion.ts';
import { escapedValue } from '../search/values.ts';
import { isDay } from '../time/calendar.ts';
import { type Asked, isSuperseded, type RestSource, searchSome } from './fhir-source.ts';
import { type PatientSummary, patientSummary } from './patient-info.ts';
import { containedValue } from './patient-lookup.ts';

export interface SummaryResult {
  /** Number of patients that are listed. */
  readonly count: number;
  /** True if there are more than are listed. */
  readonly more: boolean;
  readonly patients: readonly PatientSummary[];
}

/** Maximum number of patients that one search lists. */
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

/** Returns a search for each possible meaning of the text. */
function readings(text: string, { facade, content }: RestSource, today: string): readonly Asked[] {
  const offered = (code: string): boolean => facade.offers.find('Patient', code) !== undefined;
  const all: Asked[] = [];
  const ask = (...parameters: Asked['parameters']): number => all.push({ parameters });
  const dates = readWrittenDate(text, today);
  if (dates.length > 0 && offered('birthdate')) ask(['birthdate', dates.join(',')]);
  const compact = text.trim();
  if (content.mrn.length > 0 && offered('identifier') && /^\S{1,40}$/.test(compact)) {
    const numbers = recordNumbers(compact).map(escapedValue);
    ask(['identifier', content.mrn.flatMap(system => numbers.map(number => `${system}|${number}`)).join(',')]);
  }
  const telephone = readTelephone(text);
  const phone = facade.offers.find('Patient', 'phone');
  if (telephone !== undefined && phone?.byDigits) {
    const { parameter } = phone;
    all.push({ parameters: [], filters: [{ kind: 'match', parameter, modifier: undefined, values: [telephone] }] });
  }
  // Each word must occur somewhere in a name.
  const words = text.split(/[\s,;]+/).filter(word => /\p{L}/u.test(word));
  if (words.length > 0 && words.length <= 10 && offered('name')) {
    ask(...words.map(word => ['name:contains', containedValue(word)] as const));
    // Or the beginnings of words: without an apostrophe, with a space for a hyphen.
    ask(...words.map(word => ['name', escapedValue(word)] as const));
  }
  return all;
}

/** Returns a record number as it was written; for digits, also with the leading zeros that may have been left out. */
function recordNumbers(text: string): readonly string[] {
  const digits = text.replace(/[\s-]/g, '');
  if (!/^\d+$/.test(digits)) return [text, text.toUpperCase()];
  const bare = digits.replace(/^0+(?=\d)/, '');
  const padded = Array.from({ length: 13 - Math.min(bare.length, 12) }, (_, i) => bare.padStart(bare.length + i, '0'));
  return [...new Set([text, ...padded])];
}

/** Condition: the digits of a value pass one of some tests. */
type ByDigits = Extract<Criterion, { readonly kind: 'digits' }>;

/** A word before the number, the number, an extension. */
const FORM = /^(?:[a-z]+[.:\s]+|tel:)?([^a-z#]*)(?:(?:x|ext|extension|#)[.:\s]*(\d{1,6}))?$/i;
/**
 * Anything but letters may stand between and around the digits: people use spaces, hyphens, dots, brackets, slashes and
 * dashes.
 */
const LETTER = /\p{L}/u;
const LONGEST = 40;

/**
 * Reads a telephone number as people write it. In: a text. Out: the digits that an equal number must have; undefined
 * for other text. The country code of North America may be missing on either side, an extension counts only if the text
 * has one, and a number without an area code matches any area. docs/ccds-documents.md
 */
export function readTelephone(text: string): ByDigits | undefined {
  const [, number = '', extension = ''] = (text.length <= LONGEST && FORM.exec(text.trim())) || [];
  const digits = number.replace(/\D/g, '');
  if (LETTER.test(number) || digits.length < 7 || digits.length > 15) return undefined;
  // Numbers of North America have ten digits: eleven with the country code, seven without the area code.
  const national = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
  const complete = national + extension;
  if (national.length === 7) return { kind: 'digits', any: [{ digits: complete, where: 'end' }] };
  if (national.length !== 10) return { kind: 'digits', any: [{ digits: complete, where: 'whole' }] };
  const both = (where: 'whole' | 'extended') => ['', '1'].map(country => ({ digits: country + complete, where }));
  return { kind: 'digits', any: extension === '' ? [...both('whole'), ...both('extended')] : both('whole') };
}

interface Form {
  readonly pattern: RegExp;
  /** Returns year, month and day for the groups of the pattern. */
  parts(groups: readonly string[], today: string): readonly [year: number, month: number, day: number];
}

const MONTHS = 'january february march april may june july august september october november december'.split(' ');

const FORMS: readonly Form[] = [
  // 1970-02-03, 1970/2/3, 1970 02 03, 19700203
  { pattern: /^(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})$/, parts: ([y, m, d]) => [Number(y), Number(m), Number(d)] },
  { pattern: /^(\d{4})(\d{2})(\d{2})$/, parts: ([y, m, d]) => [Number(y), Number(m), Number(d)] },
  // 02031970
  { pattern: /^(\d{2})(\d{2})(\d{4})$/, parts: ([m, d, y]) => [Number(y), Number(m), Number(d)] },
  // 2/3/1970, 02-03-70, 2 3 1970; 23/2/1970
  {
    pattern: /^(\d{1,2})[-/ ](\d{1,2})[-/ ](\d{4}|\d{2})$/,
    parts: ([a, b, y], today) =>
      Number(a) > 12 ? [yearOf(y, today), Number(b), Number(a)] : [yearOf(y, today), Number(a), Number(b)],
  },
  // 3.2.1970
  {
    pattern: /^(\d{1,2})\. ?(\d{1,2})\. ?(\d{4}|\d{2})$/,
    parts: ([d, m, y], today) => [yearOf(y, today), Number(m), Number(d)],
  },
  // Feb 3 1970, February 3rd, 1970; 3 February 1970, 3-Feb-1970
  {
    pattern: /^([a-z]{3,9})[. -]+(\d{1,2})(?:st|nd|rd|th)?[ -]+(\d{4})$/,
    parts: ([m, d, y]) => [Number(y), monthOf(m), Number(d)],
  },
  {
    pattern: /^(\d{1,2})(?:st|nd|rd|th)?[. -]+([a-z]{3,9})[. -]+(\d{4})$/,
    parts: ([d, m, y]) => [Number(y), monthOf(m), Number(d)],
  },
];

/**
 * Reads a date of birth as people write it. In: a text. Out: the days that it can mean, as `yyyy-mm-dd`. With slashes
 * or hyphens the month comes first, as in the United States, unless there is no such month; with dots the day comes
 * first. Years of two digits are in the past. `today`: `yyyy-mm-dd`, for years of two digits.
 */
export function readWrittenDate(text: string, today: string): readonly string[] {
  const written = text.toLowerCase().replaceAll(',', ' ').replace(/\s+/g, ' ').trim();
  const days = FORMS.flatMap(({ pattern, parts }) => {
    const match = pattern.exec(written);
    if (match === null) return [];
    const [year, month, day] = parts(match.slice(1), today);
    return isDay(year, month, day) ? [`${String(year).padStart(4, '0')}-${two(month)}-${two(day)}`] : [];
  });
  return [...new Set(days)];
}

/** Returns a year of four digits, or the latest with these last two digits that is not in the future. */
function yearOf(digits: string | undefined, today: string): number {
  const year = Number(digits);
  if (digits?.length !== 2) return year;
  const now = Number(today.slice(0, 4));
  const latest = now - (now % 100) + year;
  return latest > now ? latest - 100 : latest;
}

/** Returns 1 to 12; 0 if it is not a month. */
function monthOf(name: string | undefined): number {
  const found = MONTHS.findIndex(month => month === name || month.slice(0, 3) === name);
  return found < 0 && name === 'sept' ? 9 : found + 1;
}

function two(n: number): string {
  return String(n).padStart(2, '0');
}
