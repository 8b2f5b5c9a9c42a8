/**
 * Writes results. In: Observation, and the DiagnosticReport that lists it. Out: Result Organizer (V3) with its Result
 * Observations (V3). A result without a report has an organizer of its own, with its members if it is a panel. Each
 * component of an observation is a result.
 */

import { attachedText } from '../attachment.ts';
import { coded, codeIn, labelOf, readableCode, reference } from '../code.ts';
import { CPT, INTERPRETATION, LOINC, SNOMED } from '../code-systems.ts';
import type { CodeableConcept, Reference } from '../fhir/datatypes.ts';
import type { Component, DiagnosticReport, Observation, ReferenceRange, Specimen } from '../fhir/measured.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf, type Resolve } from '../participants.ts';
import { never, type Pause } from '../pause.ts';
import { comment, remarksIn } from '../remark.ts';
import type { SectionWriter } from '../section.ts';
import { moment, notBefore, readableTime, timeElement } from '../time.ts';
import { rangeValue, readableInterval, readableValue, TYPE_ST, valueElement } from '../value.ts';
import { type Markup, NOTHING, templateIds, textElement, xml } from '../xml.ts';
import { targetSite } from './related.ts';

/** FHIR statuses as Result Status of C-CDA; a corrected result counts as completed. */
const STATUS: Readonly<Record<string, string>> = {
  registered: 'active',
  preliminary: 'active',
  partial: 'active',
  final: 'completed',
  amended: 'completed',
  corrected: 'completed',
  appended: 'completed',
  cancelled: 'cancelled',
  unknown: 'completed',
};

export const RESULT_COLUMNS = [
  'Test',
  'Result',
  'Flag',
  'Reference range',
  'Specimen, site, method',
  'Status',
  'Collected',
  'Report',
  'Performed by',
];

/** One observation of a document: a result, a vital sign, or a component of one. */
export interface Part {
  readonly of: Observation;
  /** Suffix that keeps the ids of components unique. */
  readonly part: string;
  readonly said: Component;
  /** True for the part that carries the remarks on the whole. */
  readonly isFirst: boolean;
}

/**
 * Adds the reports with their results, newest first; then the results that no report lists. `pause` lets other requests
 * be answered.
 */
export async function addResults(
  reports: readonly DiagnosticReport[],
  results: readonly Observation[],
  content: SectionWriter,
  pause: Pause = never,
): Promise<void> {
  const known = new Set(results.map(nameOfResult));
  const left = new Map(results.map(result => [nameOfResult(result), result]));
  /** Returns a result and its members, unless they appear elsewhere already. */
  const take = ({ reference: at = '' }: Reference): readonly Observation[] => {
    const result = left.get(at);
    left.delete(at);
    return result === undefined ? [] : [result, ...(result.hasMember ?? []).flatMap(take)];
  };
  for (const report of reports) {
    const own = (report.result ?? []).flatMap(take);
    if (own.length > 0) addOrganizer(report, own, known, content);
    else addBareReport(report, content);
    const due = pause();
    if (due) await due;
  }
  // A panel comes before its members. Panels that contain each other have no first one, so all keys follow.
  const members = new Set(left.values().flatMap(({ hasMember = [] }) => hasMember.map(one => one.reference)));
  for (const at of [...left.keys().filter(one => !members.has(one)), ...left.keys()]) {
    const own = take({ reference: at });
    const [first] = own;
    if (first) addOrganizer(first, own, known, content);
    const due = pause();
    if (due) await due;
  }
}

function nameOfResult({ id }: Observation): string {
  return `Observation/${id}`;
}

/**
 * Returns the result and its components. A panel without a value is omitted if it has components or members of which
 * some are in the document (`known`).
 */
export function partsOf(result: Observation, known: ReadonlySet<string>): readonly Part[] {
  const { component = [], hasMember = [] } = result;
  const isSaid = component.length > 0 || hasMember.some(({ reference: at = '' }) => known.has(at));
  const whole = readableValue(result) === '' && isSaid ? [] : [{ part: '', said: result }];
  const components = component.map((said, i) => ({ part: `component-${i}`, said }));
  return [...whole, ...components].map((one, i) => ({ of: result, ...one, isFirst: i === 0 }));
}

/**
 * Adds an organizer; nothing if all of its content appears elsewhere, such as a panel whose members are those of a
 * report.
 */
function addOrganizer(
  head: DiagnosticReport | Observation,
  results: readonly Observation[],
  known: ReadonlySet<string>,
  content: SectionWriter,
): void {
  const parts = results.flatMap(result => partsOf(result, known));
  if (parts.length === 0) return;
  const isOne = parts[0]?.of.id === head.id;
  const silent = results.filter(result => !parts.some(({ of }) => of === result));
  const said = [...(isOne || silent.includes(head) ? [] : [head]), ...silent].map(one => headRow(one, content));
  const report = isOne && head.resourceType !== 'DiagnosticReport' ? undefined : head;
  const components = parts.map(part => xml`<component>${resultObservation(part, report, content)}</component>`);
  content.entry(
    xml`
    <organizer classCode="BATTERY" moodCode="EVN">
      ${templateIds('4.1', '4.1:2015-08-01')}
      ${content.id(head, 'organizer')}
      ${coded('code', head.code, { systems: [LOINC, SNOMED, CPT] })}
      <statusCode code="${STATUS[head.status ?? ''] ?? 'completed'}"/>
      ${span(head)}
      ${author(head.performer?.[0], head.issued ?? head.effectiveDateTime, content.resolve)}
      ${said}
      ${components}
    </organizer>`,
  );
}

/**
 * Adds a row with the texts of a report or a panel, before the rows of its results. Returns one Comment Activity per
 * text, as components.
 */
function headRow(report: DiagnosticReport, content: SectionWriter): Markup {
  const texts = remarksIn([...textsOf(report, content), ...(report.note ?? []).map(({ text }) => text)]);
  if (texts.length === 0) return NOTHING;
  const row = content.row(
    labelOf(report.code),
    texts.join('\n'),
    '',
    '',
    '',
    readableCode(report.status),
    readableTime(report.effectiveDateTime ?? report.effectivePeriod?.start),
    labelOf(report.code),
    nameOf(report.performer?.[0], content.resolve),
  );
  return xml`${texts.map(text => xml`<component>${comment(text, row)}</component>`)}`;
}

/** Returns the conclusion, the presented text, and the comments on its images. */
function textsOf({ conclusion, presentedForm, media }: DiagnosticReport, content: SectionWriter): readonly string[] {
  return remarksIn([
    conclusion,
    ...(presentedForm ?? []).map(form => attachedText(form, content.resolve)),
    ...(media ?? []).map(one => one.comment),
  ]);
}

/** Adds a report without results: its text is the value, and without a text it has none. */
function addBareReport(report: DiagnosticReport, content: SectionWriter): void {
  const texts = textsOf(report, content);
  const result: Observation = {
    ...report,
    resourceType: 'DiagnosticReport',
    ...(texts.length > 0 && { valueString: texts.join('\n\n') }),
  };
  addOrganizer(report, [result], new Set(), content);
}

function resultObservation(
  { of: result, part, said, isFirst }: Part,
  report: DiagnosticReport | Observation | undefined,
  content: SectionWriter,
): Markup {
  const [who] = result.performer ?? [];
  const row = content[isAbnormal(said) ? 'markedRow' : 'row'](
    labelOf(said.code),
    readableValue(said),
    (said.interpretation ?? []).map(labelOf).join(', '),
    (said.referenceRange ?? []).map(readableRange).join('\n'),
    readableOrigin(result, content.resolve),
    readableCode(result.status),
    readableTime(result.effectiveDateTime ?? result.effectivePeriod?.start),
    report === undefined ? '' : labelOf(report.code),
    nameOf(who, content.resolve),
  );
  return xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.2', '4.2:2015-08-01')}
      ${content.id(result, `result${part}`)}
      ${coded('code', said.code, { systems: [LOINC], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[result.status ?? ''] ?? 'completed'}"/>
      ${moment(result.effectiveDateTime, result.effectivePeriod)}
      ${valueElement(said, { systems: [SNOMED] })}
      ${(said.interpretation ?? []).map(interpretation)}
      ${methodCode(result)}
      ${targetSite(result.bodySite)}
      ${specimenElement(result, content.resolve)}
      ${author(who, result.issued ?? result.effectiveDateTime, content.resolve)}
      ${isFirst ? content.remarks(row, result) : NOTHING}
      ${(said.referenceRange ?? []).map(referenceRange)}
    </observation>`;
}

/** Returns what the specimen is, as the record codes it or in words. */
function specimenOf({ specimen }: Observation, resolve: Resolve): CodeableConcept | undefined {
  const { type } = (resolve(specimen) as Specimen | undefined) ?? {};
  return type ?? (specimen?.display === undefined ? undefined : { text: specimen.display });
}

/** Returns what was tested, where on the body, and how, as text for people. */
export function readableOrigin(result: Observation, resolve: Resolve): string {
  const { collection } = (resolve(result.specimen) as Specimen | undefined) ?? {};
  const parts = [specimenOf(result, resolve), collection?.bodySite, result.bodySite, result.method].map(labelOf);
  return [...new Set(parts)].filter(Boolean).join(', ');
}

export function methodCode({ method }: Observation): Markup {
  return method === undefined ? NOTHING : coded('methodCode', method);
}

/** C-CDA R2.1 Companion Guide, Result Organizer: specimen type */
function specimenElement(result: Observation, resolve: Resolve): Markup {
  const type = specimenOf(result, resolve);
  if (type === undefined) return NOTHING;
  return xml`
    <specimen>
      <specimenRole>
        <specimenPlayingEntity>${coded('code', type, { systems: [SNOMED] })}</specimenPlayingEntity>
      </specimenRole>
    </specimen>`;
}

/** Writes low and high: both are required if there is a time at all. */
function span({ effectiveDateTime, effectivePeriod }: DiagnosticReport | Observation): Markup {
  const start = effectivePeriod?.start ?? effectiveDateTime;
  const end = notBefore(effectivePeriod?.end ?? effectiveDateTime, start);
  if (start === undefined && end === undefined) return NOTHING;
  return xml`<effectiveTime>${timeElement('low', start)}${timeElement('high', end)}</effectiveTime>`;
}

const ABNORMAL: ReadonlySet<string> = new Set(['A', 'AA', 'H', 'HH', 'HU', 'HX', 'L', 'LL', 'LU', 'LX', '<', '>']);

/** True if the value is flagged as abnormal. */
export function isAbnormal({ interpretation: flags }: Pick<Component, 'interpretation'>): boolean {
  return (flags ?? []).some(flag => ABNORMAL.has(codeIn(flag, INTERPRETATION) ?? ''));
}

export function interpretation(concept: CodeableConcept): Markup {
  return coded('interpretationCode', concept, { systems: [INTERPRETATION] });
}

/**
 * Writes a reference range. The range has no place for its kind (critical, therapeutic) and for whom it is, so its text
 * says so: without it, any range would be read as the normal one.
 */
export function referenceRange(range: ReferenceRange): Markup {
  const { low, high, text } = range;
  const bounded = low?.value !== undefined || high?.value !== undefined;
  const value = bounded
    ? rangeValue({ ...(low ? { low } : {}), ...(high ? { high } : {}) })
    : textElement('value', text, TYPE_ST);
  if (value.isEmpty) return NOTHING;
  const words = kindOf(range) || whomOf(range) ? readableRange(range) : text;
  return xml`
    <referenceRange>
      <observationRange>${textElement('text', words)}${value}</observationRange>
    </referenceRange>`;
}

/** Returns a range as text for people: `at least 4 g/L`, `critical: at most 500 umol/L (Female)`. */
export function readableRange(range: ReferenceRange): string {
  const said = range.text ?? readableInterval(range);
  const [kind, whom] = [kindOf(range), whomOf(range)];
  return said && [kind && `${kind}: `, said, whom && ` (${whom})`].join('');
}

const MEANING = 'http://terminology.hl7.org/CodeSystem/referencerange-meaning';

/** Returns what sets a range apart: its kind unless it is the normal one. */
function kindOf({ type }: ReferenceRange): string {
  return codeIn(type, MEANING) === 'normal' ? '' : labelOf(type);
}

function whomOf({ appliesTo, age }: ReferenceRange): string {
  return [...(appliesTo ?? []).map(labelOf), age === undefined ? '' : `age ${readableInterval(age)}`]
    .filter(Boolean)
    .join(', ');
}
