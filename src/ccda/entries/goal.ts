/** Writes goals. In: Goal. Out: Goal Observation with the target value, or the goal in words. */

import { coded, labelOf, readableCode, reference } from '../code.ts';
import { LOINC, SNOMED } from '../code-systems.ts';
import type { ObservationValue } from '../fhir/measured.ts';
import type { Goal } from '../fhir/planned.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval, readableTime } from '../time.ts';
import { readableValue, TYPE_ST, valueElement } from '../value.ts';
import { templateIds, textElement, xml } from '../xml.ts';

const STATUS: Readonly<Record<string, string>> = {
  proposed: 'new',
  planned: 'new',
  accepted: 'active',
  active: 'active',
  'on-hold': 'suspended',
  completed: 'completed',
  cancelled: 'cancelled',
  rejected: 'cancelled',
};

export const GOAL_COLUMNS = ['Goal', 'Target', 'Status', 'Since', 'Due', 'Set by'];

export function addGoal(goal: Goal, content: SectionWriter): void {
  const { description, lifecycleStatus, achievementStatus, startDate, target, expressedBy } = goal;
  const [first] = target ?? [];
  const row = content.row(
    labelOf(description),
    (target ?? [])
      .map(one => [labelOf(one.measure), readableValue(detailOf(one))].filter(Boolean).join(': '))
      .join('\n'),
    [readableCode(lifecycleStatus), labelOf(achievementStatus)].filter(Boolean).join(', '),
    readableTime(startDate),
    readableTime(first?.dueDate),
    nameOf(expressedBy, content.resolve),
  );
  content.entry(
    xml`
    <observation classCode="OBS" moodCode="GOL">
      ${templateIds('4.121')}
      ${content.id(goal)}
      ${coded('code', first?.measure ?? description, { systems: [LOINC, SNOMED], shown: headOf(row) })}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[lifecycleStatus ?? ''] ?? 'active'}"/>
      ${startDate === undefined ? '' : interval(startDate, first?.dueDate)}
      ${
        first === undefined || readableValue(detailOf(first)) === ''
          ? textElement('value', labelOf(description), TYPE_ST)
          : valueElement(detailOf(first), { systems: [SNOMED, LOINC] })
      }
      ${author(expressedBy, startDate, content.resolve)}
      ${content.remarks(row, goal)}
    </observation>`,
  );
}

type Target = NonNullable<Goal['target']>[number];

/** Returns the detail of a target as the value of an observation has it: `detailRange` as `valueRange`. */
function detailOf(target: Target): ObservationValue {
  const details = Object.entries(target).filter(([name]) => name.startsWith('detail'));
  return Object.fromEntries(details.map(([name, detail]) => [name.replace(/^detail/, 'value'), detail]));
}
