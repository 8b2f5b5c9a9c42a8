/**
 * Results. In: Observation, and the DiagnosticReport that lists it. Out: Result Organizer (V3) with its Result
 * Observations (V3). A result without a report has an organizer of its own.
 */

import { attachedText } from '../attachment.ts';
import { coded, codeIn, labelOf, readableCode, reference } from '../code.ts';
import { CPT, INTERPRETATION, LOINC, SNOMED } from '../code-systems.ts';
import type { CodeableConcept } from '../fhir/datatypes.ts';
import type { DiagnosticReport, Observation } from '../fhir/measured.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import { comment, remarksIn } from '../remark.ts';
import type { SectionWriter } from '../section.ts';
import { moment, notBefore, readableTime, timeElement } from '../time.ts';
import { rangeValue, readableQuantity, readableValue, TYPE_ST, valueElement } from '../value.ts';
import { type Markup, NOTHING, templateIds, textElement, xml } from '../xml.ts';

/** Result Status of C-CDA; what is corrected is completed. */
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
  'Status',
  'Collected',
  'Report',
  'Performed by',
];

/** Reports with their results first, the newest before the others; then what is in none. */
export function addResults(
  reports: readonly DiagnosticReport[],
  results: readonly Observation[],
  content: SectionWriter,
): void {
  const byReference = new Map(results.map(result => [`Observation/${result.id}`, result]));
  for (const report of reports) {
    const own = (report.result ?? []).flatMap(({ reference: at = '' }) => {
      const result = byReference.get(at);
      byReference.delete(at);
      return result === undefined ? [] : [result];
    });
    if (own.length > 0) addOrganizer(report, own, content);
    else addBareReport(report, content);
  }
  for (const result of byReference.values()) addOrganizer(result, [result], content);
}

function addOrganizer(
  head: DiagnosticReport | Observation,
  results: readonly Observation[],
  content: SectionWriter,
): void {
  const report = head.resourceType === 'DiagnosticReport' ? (head as DiagnosticReport) : undefined;
  const said = report === undefined || results[0]?.id === report.id ? NOTHING : reportRow(report, content);
  const components = results.map(result => xml`<component>${resultObservation(result, report, content)}</component>`);
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

/** What a report says beside its results, a row before theirs. Returns a Comment Activity each, as components. */
function reportRow(report: DiagnosticReport, content: SectionWriter): Markup {
  const texts = remarksIn([...textsOf(report, content), ...(report.note ?? []).map(({ text }) => text)]);
  if (texts.length === 0) return NOTHING;
  const row = content.row(
    labelOf(report.code),
    texts.join('\n'),
    '',
    '',
    readableCode(report.status),
    readableTime(report.effectiveDateTime ?? report.effectivePeriod?.start),
    labelOf(report.code),
    nameOf(report.performer?.[0], content.resolve),
  );
  return xml`${texts.map(text => xml`<component>${comment(text, row)}</component>`)}`;
}

/** What it concludes, the text that it presents, what is said of its pictures. */
function textsOf({ conclusion, presentedForm, media }: DiagnosticReport, content: SectionWriter): readonly string[] {
  return remarksIn([
    conclusion,
    ...(presentedForm ?? []).map(form => attachedText(form, content.resolve)),
    ...(media ?? []).map(one => one.comment),
  ]);
}

/** A report whose results are nothing but its text, or that there is none. */
function addBareReport(report: DiagnosticReport, content: SectionWriter): void {
  const texts = textsOf(report, content);
  const result: Observation = {
    ...report,
    resourceType: 'DiagnosticReport',
    ...(texts.length > 0 && { valueString: texts.join('\n\n') }),
  };
  addOrganizer(report, [result], content);
}

function resultObservation(result: Observation, report: DiagnosticReport | undefined, content: SectionWriter): Markup {
  const [who] = result.performer ?? [];
  const row = content[isAbnormal(result) ? 'markedRow' : 'row'](
    labelOf(result.code),
    readableValue(result),
    (result.interpretation ?? []).map(labelOf).join(', '),
    (result.referenceRange ?? []).map(readableRange).join('\n'),
    readableCode(result.status),
    readableTime(result.effectiveDateTime ?? result.effectivePeriod?.start),
    report === undefined ? '' : labelOf(report.code),
    nameOf(who, content.resolve),
  );
  return xml`
    <observation classCode="OBS" moodCode="EVN">
      ${templateIds('4.2', '4.2:2015-08-01')}
      ${content.id(result, 'result')}
      ${coded('code', result.code, { systems: [LOINC], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[result.status ?? ''] ?? 'completed'}"/>
      ${moment(result.effectiveDateTime, result.effectivePeriod)}
      ${valueElement(result, { systems: [SNOMED] })}
      ${(result.interpretation ?? []).map(interpretation)}
      ${author(who, result.issued ?? result.effectiveDateTime, content.resolve)}
      ${content.remarks(row, result)}
      ${(result.referenceRange ?? []).map(referenceRange)}
    </observation>`;
}

/** Low and high, both required where there is a time at all. */
function span({ effectiveDateTime, effectivePeriod }: DiagnosticReport | Observation): Markup {
  const start = effectivePeriod?.start ?? effectiveDateTime;
  const end = notBefore(effectivePeriod?.end ?? effectiveDateTime, start);
  if (start === undefined && end === undefined) return NOTHING;
  return xml`<effectiveTime>${timeElement('low', start)}${timeElement('high', end)}</effectiveTime>`;
}

const ABNORMAL: ReadonlySet<string> = new Set(['A', 'AA', 'H', 'HH', 'HU', 'HX', 'L', 'LL', 'LU', 'LX', '<', '>']);

/** Flagged as not what it should be. */
export function isAbnormal({ interpretation: flags }: Observation): boolean {
  return (flags ?? []).some(flag => ABNORMAL.has(codeIn(flag, INTERPRETATION) ?? ''));
}

export function interpretation(concept: CodeableConcept): Markup {
  return coded('interpretationCode', concept, { systems: [INTERPRETATION] });
}

type ReferenceRange = NonNullable<Observation['referenceRange']>[number];

export function referenceRange(range: ReferenceRange): Markup {
  const { low, high, text } = range;
  const bounded = low?.value !== undefined || high?.value !== undefined;
  const value = bounded
    ? rangeValue({ ...(low ? { low } : {}), ...(high ? { high } : {}) })
    : textElement('value', text, TYPE_ST);
  if (value.isEmpty) return NOTHING;
  return xml`
    <referenceRange>
      <observationRange>${textElement('text', text)}${value}</observationRange>
    </referenceRange>`;
}

function readableRange({ low, high, text }: ReferenceRange): string {
  return text ?? [low, high].map(readableQuantity).filter(Boolean).join(' to ');
}
