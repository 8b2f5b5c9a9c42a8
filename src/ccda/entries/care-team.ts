/**
 * Writes care teams. In: CareTeam. Out: Care Team Organizer (V2) with a Care Team Member Act (V2) per member. A team
 * without members has a row in the narrative and no entry.
 */

import { functionCode } from '../care-team-header.ts';
import { readableCode, reference } from '../code.ts';
import type { CareTeam, CareTeamParticipant } from '../fhir/people.ts';
import { headOf } from '../narrative.ts';
import { actorOf, assigned, nameOf, roleName } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { interval, readablePeriod } from '../time.ts';
import { type Markup, templateIds, xml } from '../xml.ts';
import { loincCode } from './related.ts';

const STATUS: Readonly<Record<string, string>> = {
  proposed: 'new',
  active: 'active',
  suspended: 'suspended',
  inactive: 'completed',
};

export const CARE_TEAM_COLUMNS = ['Team', 'Member', 'Role', 'Status', 'Period'];

export function addCareTeam(team: CareTeam, content: SectionWriter): void {
  const { name = 'Care team', status, period, participant = [] } = team;
  const head = content.row(name, '', '', readableCode(status), readablePeriod(period?.start, period?.end));
  content.remarks(head, team);
  const members = participant.map((one, i) => xml`<component>${memberAct(team, one, i, content)}</component>`);
  if (members.length === 0) return;
  content.entry(
    xml`
    <organizer classCode="CLUSTER" moodCode="EVN">
      ${templateIds('4.500:2022-06-01')}
      ${content.id(team)}
      <code code="86744-0" displayName="Care Team" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC">
        <originalText>${reference(headOf(head))}</originalText>
      </code>
      <statusCode code="${STATUS[status ?? ''] ?? 'active'}"/>
      ${interval(period?.start, period?.end)}
      ${members}
    </organizer>`,
  );
}

function memberAct(team: CareTeam, participant: CareTeamParticipant, at: number, content: SectionWriter): Markup {
  const { role, member, period } = participant;
  const actor = actorOf(member, content.resolve);
  const row = content.row(
    team.name ?? '',
    nameOf(member, content.resolve) || 'not known',
    roleName(role),
    '',
    readablePeriod(period?.start, period?.end),
  );
  const entity = actor === undefined ? xml`<id nullFlavor="UNK"/>` : assigned(actor);
  const over = team.status === 'inactive' || period?.end !== undefined;
  return xml`
    <act classCode="PCPR" moodCode="EVN">
      ${templateIds('4.500.1:2022-06-01')}
      ${content.id(team, `member-${at}`)}
      ${loincCode({ code: '85847-2', name: 'Patient Care team information' })}
      <text>${reference(row)}</text>
      <statusCode code="${over ? 'completed' : 'active'}"/>
      ${interval(period?.start ?? team.period?.start, period?.end)}
      <performer>
        ${functionCode('sdtc:functionCode', participant)}
        <assignedEntity>${entity}</assignedEntity>
      </performer>
    </act>`;
}
