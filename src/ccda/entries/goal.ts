/** Writes goals. In: Goal. Out: Goal Observation with the target value, or the goal in words. */

import { coded, labelOf, readableCode, reference } from '../code.ts';
import { LOINC, SNOMED } from '../code-systems.ts';
import type { Goal } from '../fhir/planned.ts';
import { headOf } from '../narrative.ts';
import { author, nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval, readableTime } from '../time.ts';
import { quantityValue, readableQuantity, TYPE_ST } from '../value.ts';
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
      .map(({ measure, detailQuantity, detailString }) =>
        [labelOf(measure), detailString ?? readableQuantity(detailQuantity)].filter(Boolean).join(': '),
      )
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
        first?.detailQuantity === undefined
          ? textElement('value', first?.detailString ?? labelOf(description), TYPE_ST)
          : quantityValue(first.detailQuantity)
      }
      ${author(expressedBy, startDate, content.resolve)}
      ${content.remarks(row, goal)}
    </observation>`,
  );
}
