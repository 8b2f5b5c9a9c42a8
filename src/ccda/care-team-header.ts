/**
 * Writes the care team into the header of a document. In: CareTeam, the general practitioner, related persons. Out: the
 * performers of the care; for a document about the team also its legal authenticator, participants and recipients; for
 * a document of one encounter that encounter. docs/ccds-documents.md lists the roles.
 */

import type { Chart } from './chart.ts';
import { coded, codeIn } from './code.ts';
import { SNOMED } from './code-systems.ts';
import type { Reference } from './fhir/datatypes.ts';
import type { CareTeam, CareTeamParticipant, Location, Patient, Person } from './fhir/people.ts';
import type { Encounter } from './fhir/record.ts';
import { identifierElements, uuidOf } from './ids.ts';
import { type Actor, actorOf, assigned, type Resolve } from './participants.ts';
import { addressElement, nameElement, telecomElements } from './people.ts';
import { hl7Time, interval, timeElement } from './time.ts';
import { type Markup, NOTHING, textElement, xml } from './xml.ts';

/** Which members of the team a header names: none, those who provide care, all. */
export type TeamDetail = 'none' | 'performers' | 'all';

export interface HeaderTeam {
  readonly informationRecipients: Markup;
  readonly authenticators: Markup;
  readonly participants: Markup;
  readonly performers: Markup;
}

const NOBODY: HeaderTeam = {
  informationRecipients: NOTHING,
  authenticators: NOTHING,
  participants: NOTHING,
  performers: NOTHING,
};

interface Member {
  readonly actor: Actor;
  readonly participant: CareTeamParticipant;
}

/** Reads the care team for the header. `time` is the creation time of the document, as FHIR dateTime. */
export async function readTeam(chart: Chart, patient: Patient, detail: TeamDetail, time: string): Promise<HeaderTeam> {
  if (detail === 'none') return NOBODY;
  const teams = (await chart.list('care-teams')).filter(isCurrent);
  const members = distinct([
    ...(patient.generalPractitioner ?? []).flatMap(reference => member({ member: reference }, chart.resolve)),
    ...teams.flatMap(({ participant }) => (participant ?? []).flatMap(one => member(one, chart.resolve))),
  ]);
  const professionals = members.filter(({ actor }) => isProfessional(actor));
  const performers = xml`${professionals.map(performerXml)}`;
  if (detail === 'performers') return { ...NOBODY, performers };
  const [responsible] = professionals;
  const related = await chart.list('related-persons');
  const laymen = members.filter(({ actor }) => !isProfessional(actor) && actor.person !== undefined);
  const others = related.filter(({ id }) => !laymen.some(({ actor }) => actor.person?.id === id));
  return {
    performers,
    participants: xml`${[...laymen.map(({ actor }) => actor.person), ...others]
      .filter(person => person !== undefined && person.active !== false)
      .map(person => participantXml(person as Person))}`,
    informationRecipients: responsible === undefined ? NOTHING : recipientXml(responsible.actor),
    authenticators: responsible === undefined ? NOTHING : authenticatorXml(responsible.actor, time),
  };
}

function isCurrent({ status, period }: CareTeam): boolean {
  return (status === undefined || status === 'active') && period?.end === undefined;
}

function member(participant: CareTeamParticipant, resolve: Resolve): readonly Member[] {
  const actor = actorOf(participant.member, resolve);
  return actor === undefined ? [] : [{ actor, participant }];
}

/** Removes duplicates: two references can lead to the same person. Keeps the first role that is given. */
function distinct(members: readonly Member[]): readonly Member[] {
  const seen = new Map<string, Member>();
  for (const one of members) {
    const key =
      one.actor.person === undefined ? one.actor.key : `${one.actor.person.resourceType}/${one.actor.person.id}`;
    const before = seen.get(key);
    if (before === undefined || before.participant.role === undefined) {
      seen.set(key, before === undefined ? one : { actor: before.actor, participant: one.participant });
    }
  }
  return [...seen.values()];
}

function isProfessional({ person }: Actor): boolean {
  return person?.resourceType === 'Practitioner';
}

/** Writes the role in the team: a SNOMED CT code in the value set Care Team Member Function. */
export function functionCode(element: string, participant: CareTeamParticipant): Markup {
  const role = participant.role?.find(concept => codeIn(concept, SNOMED) !== undefined);
  return role === undefined ? NOTHING : coded(element, role, { systems: [SNOMED] });
}

function performerXml({ actor, participant }: Member): Markup {
  const time =
    participant.period?.start === undefined
      ? NOTHING
      : interval(participant.period.start, participant.period.end, false, 'time');
  return xml`
    <performer typeCode="PRF">
      ${functionCode('functionCode', participant)}
      ${time}
      <assignedEntity>${assigned(actor)}</assignedEntity>
    </performer>`;
}

function participantXml(person: Person): Markup {
  const relation = person.relationship?.[0];
  return xml`
    <participant typeCode="IND">
      <associatedEntity classCode="PRS">
        ${identifierElements(person.identifier).or(xml`<id root="${uuidOf('actor', `RelatedPerson/${person.id}`)}"/>`)}
        ${
          relation === undefined
            ? ''
            : coded('code', relation, { systems: ['http://terminology.hl7.org/CodeSystem/v3-RoleCode'] })
        }
        ${addressElement(person.address?.[0])}
        ${telecomElements(person.telecom)}
        <associatedPerson>${nameElement(person.name?.[0])}</associatedPerson>
      </associatedEntity>
    </participant>\n`;
}

function recipientXml({ person }: Actor): Markup {
  return xml`
    <informationRecipient typeCode="PRCP">
      <intendedRecipient>
        ${identifierElements(person?.identifier)}
        <informationRecipient>${nameElement(person?.name?.[0])}</informationRecipient>
      </intendedRecipient>
    </informationRecipient>\n`;
}

/**
 * Writes both authenticators. Nobody signs a document that is made on demand, so it names who is responsible for the
 * care.
 */
function authenticatorXml(actor: Actor, time: string): Markup {
  const entity = xml`
    ${timeElement('time', time)}
    <signatureCode code="S"/>
    <assignedEntity>${assigned(actor)}</assignedEntity>`;
  return xml`
    <legalAuthenticator>${entity}</legalAuthenticator>\n
    <authenticator>${entity}</authenticator>\n`;
}

/** Writes `componentOf`: the encounter that a document is about. */
export function encompassingEncounter(encounter: Encounter, resolve: Resolve): Markup {
  const { id, identifier, type, period, participant, location } = encounter;
  const responsible = participant?.[0]?.individual;
  const actor = actorOf(responsible, resolve);
  const place = location?.map(one => resolve(one.location as Reference)).find(found => found !== undefined) as
    | Location
    | undefined;
  return xml`
    <componentOf>
      <encompassingEncounter>
        ${identifierElements(identifier).or(xml`<id root="${uuidOf('encounter', id)}"/>`)}
        ${type?.[0] === undefined ? '' : coded('code', type[0])}
        <effectiveTime>
          ${hl7Time(period?.start) === undefined ? xml`<low nullFlavor="UNK"/>` : xml`<low value="${hl7Time(period?.start)}"/>`}
          ${hl7Time(period?.end) === undefined ? '' : xml`<high value="${hl7Time(period?.end)}"/>`}
        </effectiveTime>
        ${
          actor === undefined
            ? ''
            : xml`<responsibleParty><assignedEntity>${assigned(actor)}</assignedEntity></responsibleParty>`
        }
        ${
          place === undefined
            ? ''
            : xml`
    <location>
      <healthCareFacility>
        ${identifierElements(place.identifier).or(xml`<id root="${uuidOf('location', place.id)}"/>`)}
        <location>${textElement('name', place.name)}${addressElement(place.address, 'WP')}</location>
      </healthCareFacility>
    </location>`
        }
      </encompassingEncounter>
    </componentOf>\n`;
}
