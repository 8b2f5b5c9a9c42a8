/**
 * The benchmark reference: writes a laboratory result of the demo as FHIR JSON text, hand-optimised. In: a row of the
 * facade's own statement. Out: the same bytes as the facade. Repeated parts are precomputed text.
 */
import { FLAGS, STATUS, UNITS } from './laboratory-codes.ts';
import { offsets } from './offsets.ts';

type Text = string | null;

/** Columns in the order of the facade's statement. */
export type LaboratoryRow = readonly [
  accession: string,
  test: string,
  sequence: number,
  number: number | null,
  changed: string,
  day: string,
  status: string,
  loinc: Text,
  dictionaryLoinc: Text,
  loincName: Text,
  testName: Text,
  testText: Text,
  mrn: string,
  patient: number,
  encounter: number | null,
  encounterThere: number,
  clock: Text,
  verified: Text,
  performer: Text,
  performerThere: number,
  standardCode: Text,
  standardName: Text,
  resultCode: Text,
  resultName: Text,
  result: Text,
  unit: Text,
  flag: Text,
  specimen: number | null,
  specimenThere: number,
  range: Text,
];

const offset = offsets('America/New_York');

const HEAD = '","profile":["http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab"]},"status":"';
const CATEGORY =
  '","category":[{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/observation-category","code":"laboratory","display":"Laboratory"}],"text":"Laboratory"}],"code":';
const LOCAL = '"system":"urn:oid:2.16.840.1.113883.3.9999.4","code":';
const ABSENT = '{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/data-absent-reason","code":';

const SAFE = /^[^"\\\p{Cc}\p{Cs}]*$/u;
const NUMBER = /^ *(<=|>=|<|>)? *(-?\d+(?:\.\d+)?) *$/;
const RANGE = /^ *(?:(\d+(?:\.\d+)?) *- *(\d+(?:\.\d+)?)|(<=?|>=?) *(\d+(?:\.\d+)?)) *$/;

function quoted(text: string): string {
  return SAFE.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** Caches the text for values that repeat. */
function kept(make: (value: string) => string): (value: string) => string {
  const known = new Map<string, string>();
  return value => {
    let text = known.get(value);
    if (text === undefined) {
      text = make(value);
      if (known.size < 2000) known.set(value, text);
    }
    return text;
  };
}

/** The text after a quantity's value. */
const unitText = kept(unit => {
  const [code, name] = UNITS[unit.trim().toUpperCase()] ?? [];
  if (code !== undefined)
    return `,"unit":${quoted(name ?? code)},"system":"http://unitsofmeasure.org","code":${quoted(code)}}`;
  return unit.trim() === '' ? '}' : `,"unit":${quoted(unit.trim())}}`;
});

const flagText = kept(flag => {
  const code = flag.trim() || 'N';
  const coding = '{"system":"http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation","code":';
  return `,"interpretation":[{"coding":[${coding}"${code}","display":"${FLAGS[code]}"}]}]`;
});

const statusText = kept(status => STATUS[status.trim().toUpperCase()] ?? 'unknown');
const momentText = (text: string): string => `${text.slice(0, 10)}T${text.slice(11)}${offset(text.slice(0, 13))}`;

function clockText(date: string, clock: Text): string {
  if (clock === null || clock.trim() === '') return '';
  const hour = clock.slice(0, 2);
  return `T${hour}:${clock.slice(2, 4)}:00${offset(`${date} ${hour}`)}`;
}

/** Reference range without units, so that it can be cached; a tab marks the place of each unit. */
const rangeText = kept(range => {
  const [, low, high, sign, limit] = RANGE.exec(range) ?? [];
  const bound = (name: string, digits: string | undefined): string =>
    digits === undefined ? '' : `"${name}":{"value":${digits}\t,`;
  const only = sign === undefined ? '' : bound(sign.startsWith('<') ? 'high' : 'low', limit);
  return `,"referenceRange":[{${bound('low', low)}${bound('high', high)}${only}"text":${quoted(range.trim())}}]`;
});

const numberText = kept(result => {
  const match = NUMBER.exec(result);
  if (!match) return '';
  const [, sign, digits] = match;
  return `,"valueQuantity":{"value":${digits}${sign === undefined ? '' : `,"comparator":"${sign}"`}`;
});

interface Code {
  readonly loinc: Text;
  readonly words: Text;
  readonly text: string;
}
const codes = new Map<string, Code>();

function codeText(row: LaboratoryRow): string {
  const known = codes.get(row[1]);
  if (known !== undefined && known.loinc === row[7] && known.words === row[11]) return known.text;
  const own = row[7]?.trim() || undefined;
  const loinc = own ?? row[8]?.trim();
  const test = row[1].trimEnd();
  const named = row[9] !== null && (own === undefined || own === row[8]?.trim());
  const display = named ? `,"display":${quoted(row[9] ?? '')}` : '';
  const first = loinc ? `{"system":"http://loinc.org","code":"${loinc}"${display}},` : '';
  const name = row[10] === null ? '' : `,"display":${quoted(row[10])}`;
  const words = row[11]?.trim() || row[10] || test;
  const text = `{"coding":[${first}{${LOCAL}${quoted(test)}${name}}],"text":${quoted(words)}},"subject":{"reference":"Patient/`;
  codes.set(row[1], { loinc: row[7], words: row[11], text });
  return text;
}

function valueText(row: LaboratoryRow): string {
  const result = row[24] ?? '';
  if (row[22] !== null && row[22] !== '') {
    const standard =
      row[20] === null || row[20] === ''
        ? ''
        : `{"system":"http://snomed.info/sct","code":"${row[20]}","display":${quoted(row[21] ?? '')}},`;
    const name = row[23] === null ? '' : `,"display":${quoted(row[23])}`;
    const words = result === '' ? '' : `,"text":${quoted(result)}`;
    return `,"valueCodeableConcept":{"coding":[${standard}{${LOCAL}${quoted(row[22])}${name}}]${words}}`;
  }
  const number = numberText(result);
  if (number !== '') return number + unitText(row[25] ?? '');
  if (result.trim() !== '') return `,"valueString":${quoted(result.trim())}`;
  const status = row[6].toUpperCase();
  const [code, name] =
    status === 'I'
      ? ['temp-unknown', 'Temporarily Unknown']
      : status === 'X'
        ? ['not-performed', 'Not Performed']
        : ['unknown', 'Unknown'];
  return `,"dataAbsentReason":${ABSENT}"${code}","display":"${name}"}],"text":"${name}"}`;
}

/** True for an abnormal result. A blank code or number means normal. */
function isFlagged(row: LaboratoryRow): boolean {
  const status = row[6];
  if (status === 'I' || status === 'i') return false;
  if (row[26] !== null && row[26].trim() !== '') return true;
  return (row[22] !== null && row[22] !== '') || /^(?:[0-9<>]| *[0-9]|-[0-9])/.test(row[24] ?? '');
}

export function laboratoryId(row: LaboratoryRow): string {
  return row[3] === null ? `lab-${row[0]}.${row[1].trimEnd()}.${row[2]}` : `lab-${row[3]}`;
}

export function laboratoryText(row: LaboratoryRow, id: string): string {
  const day = row[5];
  const clock = row[16];
  const date = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6, 8)}`;
  let text = `{"resourceType":"Observation","id":"${id}","meta":{"lastUpdated":"${momentText(row[4])}${HEAD}${statusText(row[6])}${CATEGORY}${codeText(row)}${row[13]}"}`;
  if (row[15] === 1) text += `,"encounter":{"reference":"Encounter/${row[14]}"}`;
  text += `,"effectiveDateTime":"${date}${clockText(date, clock)}"`;
  if (row[17] !== null) text += `,"issued":"${momentText(row[17])}"`;
  if (row[19] === 1) text += `,"performer":[{"reference":"Organization/fac-${row[18]?.trimEnd()}"}]`;
  text += valueText(row);
  if (isFlagged(row)) text += flagText(row[26] ?? '');
  if (row[28] === 1) text += `,"specimen":{"reference":"Specimen/${row[0]}.${row[27]}"}`;
  if (row[29] !== null && row[29].trim() !== '') text += rangeText(row[29]).replaceAll('\t', unitText(row[25] ?? ''));
  return `${text}}`;
}
