/**
 * Writes problems. In: Condition. Out: Problem Concern Act (V3) with its Problem Observation (V3), or the observation
 * alone. A refuted problem is negated. A record of "no problems" becomes C-CDA's "no known problems".
 */

import { coded, codeIn, labelOf, reference, TYPE_CD } from '../code.ts';
import { SNOMED } from '../code-systems.ts';
import type { Condition } from '../fhir/record.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval, notBefore, readableTime } from '../time.ts';
import { ageObservation, whenOf } from '../when.ts';
import { attribute, type Markup, templateIds, xml } from '../xml.ts';
import { concernAct, loincCode, relatedObservation, snomedElement, type Term } from './related.ts';

/** SNOMED CT codes for "no known problems". */
const NO_PROBLEM: ReadonlySet<string> = new Set(['160245001', '373572006']);

const STATUS: Readonly<Record<string, Term & { readonly concern: 'active' | 'completed' }>> = {
  active: { concern: 'active', code: '55561003', name: 'Active' },
  recurrence: { concern: 'active', code: '246455001', name: 'Recurrence' },
  relapse: { concern: 'active', code: '263855007', name: 'Relapse phase' },
  inactive: { concern: 'completed', code: '73425007', name: 'Inactive' },
  remission: { concern: 'completed', code: '277022003', name: 'Remission phase' },
  resolved: { concern: 'completed', code: '413322009', name: 'Problem resolved' },
};

export const VERIFICATION = 'http://terminology.hl7.org/CodeSystem/condition-ver-status';

export const PROBLEM_COLUMNS = [
  'Problem',
  'Status',
  'Verification',
  'Severity',
  'Onset',
  'Resolved',
  'Recorded',
  'Recorded by',
];

/** Adds a row; returns its id. */
export function problemRow(condition: Condition, content: SectionWriter): string {
  const { code, severity, clinicalStatus, verificationStatus } = condition;
  return content.row(
    labelOf(code),
    labelOf(clinicalStatus),
    labelOf(verificationStatus),
    labelOf(severity),
    whenOf(condition, 'onset').text,
    whenOf(condition, 'abatement').text,
    readableTime(condition.recordedDate),
    nameOf(condition.recorder, content.resolve),
  );
}

export function addProblem(condition: Condition, content: SectionWriter): void {
  const row = problemRow(condition, content);
  const { recordedDate } = condition;
  const [{ start }, { end }] = [whenOf(condition, 'onset'), whenOf(condition, 'abatement')];
  const concern = statusOf(condition)?.concern ?? 'active';
  // If the problem was recorded after it ended, the concern starts with the problem.
  const late = notBefore(end, recordedDate) !== end;
  const since = late || recordedDate === undefined ? start : recordedDate;
  content.entry(
    concernAct(
      {
        templates: ['4.3', '4.3:2015-08-01'],
        id: content.id(condition, 'concern'),
        status: concern,
        since,
        until: end,
        author: author(condition.recorder, recordedDate, content.resolve),
      },
      problemObservation(condition, content, row),
    ),
  );
}

/** Adds an entry of Past Medical History: its template has Problem Observations without a concern around them. */
export function addPastProblem(condition: Condition, content: SectionWriter): void {
  content.entry(problemObservation(condition, content, problemRow(condition, content)));
}

/**
 * Writes the observation alone, for health concerns and encounters too. `part` keeps its id unique if the observation
 * is repeated; `row` then covers more than the problem.
 */
export function problemObservation(condition: Condition, content: SectionWriter, row: string, part = ''): Markup {
  const { code, recordedDate } = condition;
  const [onset, abatement] = [whenOf(condition, 'onset'), whenOf(condition, 'abatement')];
  const none = NO_PROBLEM.has(codeIn(code, SNOMED) ?? '');
  const refuted = codeIn(condition.verificationStatus, VERIFICATION) === 'refuted';
  const status = statusOf(condition);
  const value = none
    ? xml`
    <value xsi:type="CD" code="55607006" displayName="Problem" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>`
    : coded('value', code, { systems: [SNOMED], attributes: TYPE_CD, shown: part === '' ? headOf(row) : row });
  return xml`
    <observation classCode="OBS" moodCode="EVN"${attribute('negationInd', none || refuted ? 'true' : undefined)}>
      ${templateIds('4.4', '4.4:2015-08-01')}
      ${content.id(condition, `observation${part}`)}
      <code code="64572001" displayName="Condition" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT">
        <translation code="75323-6" displayName="Condition" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>
      </code>
      <text>${reference(row)}</text>
      <statusCode code="completed"/>
      ${interval(onset.start, abatement.end, status?.concern === 'completed')}
      ${value}
      ${author(condition.recorder, recordedDate, content.resolve)}
      ${ageObservation(onset.age)}
      ${
        status === undefined
          ? ''
          : relatedObservation({
              typeCode: 'REFR',
              templates: ['4.6', '4.6:2019-06-20'],
              code: loincCode({ code: '33999-4', name: 'Status' }),
              value: snomedElement('value', status, TYPE_CD),
              row,
            })
      }
      ${part === '' ? content.remarks(row, condition) : ''}
    </observation>`;
}

function statusOf({ clinicalStatus }: Condition) {
  return STATUS[codeIn(clinicalStatus, 'http://terminology.hl7.org/CodeSystem/condition-clinical') ?? ''];
}
