/** Writes health concerns. In: Condition. Out: Health Concern Act (V2) about a Problem Observation. */
import { codeIn, reference } from '../code.ts';
import type { Condition } from '../fhir/record.ts';
import { author } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval } from '../time.ts';
import { whenOf } from '../when.ts';
import { templateIds, xml } from '../xml.ts';
import { problemObservation, problemRow } from './problem.ts';
import { loincCode } from './related.ts';

const OVER: ReadonlySet<string> = new Set(['inactive', 'remission', 'resolved']);

export function addHealthConcern(condition: Condition, content: SectionWriter): void {
  const row = problemRow(condition, content);
  const { recordedDate, recorder, clinicalStatus } = condition;
  const over = OVER.has(codeIn(clinicalStatus, 'http://terminology.hl7.org/CodeSystem/condition-clinical') ?? '');
  content.entry(
    xml`
    <act classCode="ACT" moodCode="EVN">
      ${templateIds('4.132:2015-08-01')}
      ${content.id(condition, 'health-concern')}
      ${loincCode({ code: '75310-3', name: 'Health Concern' })}
      <text>${reference(row)}</text>
      <statusCode code="${over ? 'completed' : 'active'}"/>
      ${interval(whenOf(condition, 'onset').start ?? recordedDate, whenOf(condition, 'abatement').end, over)}
      ${author(recorder, recordedDate, content.resolve)}
      <entryRelationship typeCode="REFR">${problemObservation(condition, content, row)}</entryRelationship>
    </act>`,
  );
}
