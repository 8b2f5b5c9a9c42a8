/**
 * Writes plans. In: ServiceRequest, CarePlan, planned Encounter. Out: Planned Observation (V2), Planned Act (V2),
 * Planned Encounter (V2). C-CDA knows these as active only, so completed and cancelled ones appear in the narrative and
 * have no entry.
 */

import { plainText } from '../../mapping/codecs/html.ts';
import { coded, labelOf, readableCode, reference } from '../code.ts';
import { CPT, HCPCS, LOINC, SNOMED } from '../code-systems.ts';
import type { CarePlan, ServiceRequest } from '../fhir/planned.ts';
import type { Encounter } from '../fhir/record.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf, namesOf, performers } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { hl7Time, moment, readablePeriod, readableTime } from '../time.ts';
import { whenOf } from '../when.ts';
import { attribute, templateIds, xml } from '../xml.ts';
import { readableReasons, reasonsOf } from './related.ts';

export const PLAN_COLUMNS = ['Planned', 'Status', 'For', 'Reason', 'Written', 'By'];

/** Statuses of plans that are still open. */
const PENDING: ReadonlySet<string> = new Set(['draft', 'active', 'on-hold', 'unknown', 'planned']);

/** Adds an order: a laboratory test as an observation (RQO), any other as an act. */
export function addOrder(order: ServiceRequest, kind: 'observation' | 'act', content: SectionWriter): void {
  const { code, status, doNotPerform, occurrenceDateTime, occurrencePeriod, authoredOn, requester } = order;
  const forbidden = doNotPerform === true;
  const row = content.row(
    labelOf(code),
    [forbidden ? 'not to be done' : '', readableCode(status)].filter(Boolean).join(', '),
    whenOf(order, 'occurrence').text,
    readableReasons(reasonsOf(order, content.resolve)),
    readableTime(authoredOn),
    nameOf(requester, content.resolve),
  );
  const remarks = content.remarks(row, order);
  if (!PENDING.has(status ?? '')) return;
  const time =
    occurrenceDateTime === undefined && occurrencePeriod === undefined
      ? ''
      : moment(occurrenceDateTime, occurrencePeriod);
  const [classCode, templates, systems] =
    kind === 'observation'
      ? ['OBS', ['4.44', '4.44:2014-06-09'], [LOINC, SNOMED, CPT, HCPCS]]
      : ['ACT', ['4.39', '4.39:2014-06-09'], [SNOMED, LOINC, CPT, HCPCS]];
  content.entry(
    xml`
    <${kind} classCode="${classCode}" moodCode="RQO"${attribute('negationInd', forbidden ? 'true' : undefined)}>
      ${templateIds(...templates)}
      ${content.id(order)}
      ${coded('code', code, { systems, shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="active"/>
      ${time}
      ${author(requester, authoredOn, content.resolve)}
      ${remarks}
    </${kind}>`,
  );
}

/** Adds a care plan, in the words of its author; without words, by its codes and activities. */
export function addCarePlan(plan: CarePlan, content: SectionWriter): void {
  const { title, status, period, text, addresses = [], author: by } = plan;
  const written = [title, text?.div === undefined ? '' : plainText(text.div)].filter(Boolean);
  const row = content.row(
    (written.length > 0 ? written : codedPlan(plan)).join('\n'),
    readableCode(status),
    readablePeriod(period?.start, period?.end),
    readableReasons(reasonsOf({ reasonReference: addresses }, content.resolve)),
    readableTime(plan.created ?? period?.start),
    nameOf(by, content.resolve),
  );
  const remarks = content.remarks(row, plan);
  if (!PENDING.has(status ?? '')) return;
  content.entry(
    xml`
    <act classCode="ACT" moodCode="INT">
      ${templateIds('4.39', '4.39:2014-06-09')}
      ${content.id(plan)}
      <code code="734163000" displayName="Care plan" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT">
        <originalText>${reference(headOf(row))}</originalText>
      </code>
      <text>${reference(row)}</text>
      <statusCode code="active"/>
      ${moment(undefined, period)}
      ${author(by, plan.created ?? period?.start, content.resolve)}
      ${remarks}
    </act>`,
  );
}

/** Every plan of US Core is an assessment and plan: the category that says so says nothing of this one. */
const ANY_PLAN = 'http://hl7.org/fhir/us/core/CodeSystem/careplan-category';

function codedPlan({ category = [], activity = [] }: CarePlan): readonly string[] {
  const kinds = category.filter(({ coding = [] }) => !coding.some(({ system }) => system === ANY_PLAN)).map(labelOf);
  const steps = activity.map(({ detail }) => labelOf(detail?.code) || (detail?.description ?? ''));
  return [...new Set([...kinds, ...steps].filter(Boolean))];
}

/** Adds a planned visit. */
export function addPlannedEncounter(encounter: Encounter, content: SectionWriter): void {
  const { type, status, period } = encounter;
  const people = (encounter.participant ?? []).map(({ individual }) => individual);
  const row = content.row(
    labelOf(type?.[0]) || 'Visit',
    readableCode(status),
    readablePeriod(period?.start, period?.end),
    readableReasons(reasonsOf(encounter, content.resolve)),
    '',
    namesOf(people, content.resolve),
  );
  if (!PENDING.has(status ?? '')) return;
  content.entry(
    xml`
    <encounter classCode="ENC" moodCode="INT">
      ${templateIds('4.40', '4.40:2014-06-09')}
      ${content.id(encounter, 'planned')}
      ${type?.[0] === undefined ? '' : coded('code', type[0], { systems: [SNOMED, CPT, HCPCS], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="active"/>
      ${hl7Time(period?.start) === undefined ? '' : moment(undefined, period)}
      ${performers(people, content.resolve)}
    </encounter>`,
  );
}

export const ASSESSMENT_COLUMNS = ['Assessment', 'Plan', 'When', 'By'];

/** Adds an assessment in the words of its author: narrative only. */
export function addAssessment(plan: CarePlan, content: SectionWriter): void {
  if (plan.description === undefined) return;
  content.row(
    plan.description,
    plan.title ?? '',
    readableTime(plan.created ?? plan.period?.start),
    nameOf(plan.author, content.resolve),
  );
}
