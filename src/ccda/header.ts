/**
 * Writes the US Realm Header (V3). In: the patient, the custodian, the care team, the time. Out: everything of a
 * ClinicalDocument before its body. C-CDA R2.1 Volume 2, section 1.1; CDA R2 section 4.2
 */

import { coded, codeIn, nullFlavorOf } from './code.ts';
import { CDCREC } from './code-systems.ts';
import type { CodeableConcept, Coding, Extension } from './fhir/datatypes.ts';
import type { Organization, Patient } from './fhir/people.ts';
import { identifierElements, uuidOf } from './ids.ts';
import { organizationParts } from './participants.ts';
import { addressElement, nameElement, telecomElements } from './people.ts';
import { hl7Time, timeElement } from './time.ts';
import { attribute, type Markup, NOTHING, templateIds, textElement, xml } from './xml.ts';

export interface Software {
  readonly name: string;
  readonly version: string;
}

export interface HeaderParts {
  readonly templates: readonly string[];
  /** LOINC. */
  readonly code: string;
  readonly codeName: string;
  readonly title: string;
  /** UUIDs of the document (`id`) and of all documents of this kind about this patient (`setId`). */
  readonly id: string;
  readonly setId: string;
  readonly version: number;
  /** Creation time of the document, as FHIR dateTime. */
  readonly time: string;
  readonly confidentiality: string;
  readonly patient: Patient;
  readonly software: Software;
  readonly custodian: Organization | undefined;
  /** Name of the custodian if no organization is known. */
  readonly publisher: string;
  /** Elements between custodian and documentationOf: legalAuthenticator, authenticator, participant. */
  readonly informationRecipients: Markup;
  readonly authenticators: Markup;
  readonly participants: Markup;
  /** Period of the document, as HL7 times. Both ends are undefined if the range ended before the patient's birth. */
  readonly service: { readonly low: string | undefined; readonly high: string | undefined } | undefined;
  readonly performers: Markup;
  readonly encompassingEncounter: Markup;
}

export function headerXml(parts: HeaderParts): Markup {
  const { custodian, publisher } = parts;
  return xml`${[
    xml`<realmCode code="US"/><typeId root="2.16.840.1.113883.1.3" extension="POCD_HD000040"/>`,
    templateIds(...parts.templates),
    xml`<id root="${parts.id}"/>`,
    xml`
    <code code="${parts.code}"${attribute('displayName', parts.codeName)} codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>`,
    textElement('title', parts.title),
    timeElement('effectiveTime', parts.time),
    xml`
    <confidentialityCode code="${parts.confidentiality}" codeSystem="2.16.840.1.113883.5.25" codeSystemName="Confidentiality"/>`,
    xml`<languageCode code="en-US"/>`,
    xml`<setId root="${parts.setId}"/><versionNumber value="${parts.version}"/>\n`,
    recordTarget(parts.patient),
    author(parts),
    xml`
    <custodian>
      <assignedCustodian>
        <representedCustodianOrganization>
          ${organizationParts(custodian, publisher)}
        </representedCustodianOrganization>
      </assignedCustodian>
    </custodian>\n`,
    parts.informationRecipients,
    parts.authenticators,
    parts.participants,
    parts.service === undefined
      ? NOTHING
      : xml`
    <documentationOf>
      <serviceEvent classCode="PCPR">
        <effectiveTime>
          ${serviceEnd('low', parts.service.low)}
          ${serviceEnd('high', parts.service.high)}
        </effectiveTime>
        ${parts.performers}
      </serviceEvent>
    </documentationOf>\n`,
    parts.encompassingEncounter,
  ]}`;
}

/** Writes the author: software, on behalf of the custodian. */
function author({ time, software, custodian, publisher }: HeaderParts): Markup {
  return xml`
    <author>
      ${timeElement('time', time)}
      <assignedAuthor>
        <id root="${uuidOf('software', software.name)}"/>
        ${addressElement(custodian?.address?.[0], 'WP')}
        ${telecomElements(custodian?.telecom)}
        <assignedAuthoringDevice>
          ${textElement('manufacturerModelName', software.name)}
          ${textElement('softwareName', `${software.name} ${software.version}`)}
        </assignedAuthoringDevice>
        <representedOrganization>${organizationParts(custodian, publisher)}</representedOrganization>
      </assignedAuthor>
    </author>\n`;
}

const GENDERS: Readonly<Record<string, readonly [code: string, name: string]>> = {
  female: ['F', 'Female'],
  male: ['M', 'Male'],
  other: ['UN', 'Undifferentiated'],
};

/** Writes the patient (`recordTarget`). */
export function recordTarget(patient: Patient): Markup {
  const addresses = xml`${(patient.address ?? []).map(one => addressElement(one))}`.or(addressElement(undefined));
  return xml`
    <recordTarget>
      <patientRole>
        ${identifierElements(patient.identifier).or(xml`<id root="${uuidOf('patient', patient.id)}"/>`)}
        ${addresses}
        ${telecomElements(patient.telecom)}
        <patient>
          ${[
            ...patientNames(patient),
            genderCode(patient.gender),
            timeElement('birthTime', birthTime(patient)),
            death(patient),
            multipleBirth(patient),
            maritalStatus(patient.maritalStatus),
            races(patient),
            ethnicity(patient),
            languages(patient),
          ]}
        </patient>
      </patientRole>
    </recordTarget>\n`;
}

/**
 * Writes the names, the one in use first. A name without a family or given name is written with the parts that it has.
 */
function patientNames({ name }: Patient): readonly Markup[] {
  const known = (name ?? []).filter(({ family, given }) => family !== undefined || given !== undefined);
  return known.length === 0 ? [nameElement(undefined)] : known.map(one => nameElement(one));
}

function genderCode(gender: string | undefined): Markup {
  const [code, name] = GENDERS[gender ?? ''] ?? [];
  return code === undefined
    ? xml`<administrativeGenderCode nullFlavor="UNK"/>`
    : xml`
    <administrativeGenderCode code="${code}" displayName="${name}" codeSystem="2.16.840.1.113883.5.1" codeSystemName="AdministrativeGender"/>`;
}

const BIRTH_TIME = 'http://hl7.org/fhir/StructureDefinition/patient-birthTime';

/** Returns the birth date, with the time if the record has it: the time distinguishes newborns and twins. */
function birthTime({ birthDate, _birthDate }: Patient): string | undefined {
  const time = _birthDate?.extension?.find(({ url }) => url === BIRTH_TIME)?.valueDateTime;
  return birthDate !== undefined && time?.startsWith(`${birthDate}T`) ? time : birthDate;
}

function death({ deceasedBoolean, deceasedDateTime }: Patient): Markup {
  const time = hl7Time(deceasedDateTime);
  if (time !== undefined) return xml`<sdtc:deceasedInd value="true"/><sdtc:deceasedTime value="${time}"/>`;
  return deceasedBoolean === undefined ? NOTHING : xml`<sdtc:deceasedInd value="${String(deceasedBoolean)}"/>`;
}

function multipleBirth({ multipleBirthBoolean, multipleBirthInteger }: Patient): Markup {
  if (multipleBirthInteger !== undefined) {
    return xml`
    <sdtc:multipleBirthInd value="true"/>
    <sdtc:multipleBirthOrderNumber value="${multipleBirthInteger}"/>`;
  }
  return multipleBirthBoolean === undefined
    ? NOTHING
    : xml`<sdtc:multipleBirthInd value="${String(multipleBirthBoolean)}"/>`;
}

const MARITAL = 'http://terminology.hl7.org/CodeSystem/v3-MaritalStatus';

function maritalStatus(status: CodeableConcept | undefined): Markup {
  return codeIn(status, MARITAL) === undefined ? NOTHING : coded('maritalStatusCode', status, { systems: [MARITAL] });
}

const US_CORE = 'http://hl7.org/fhir/us/core/StructureDefinition/';

/** Returns the parts of a US Core extension that have this name. */
function parts({ extension }: Patient, name: string, part: string): readonly Extension[] {
  const own = extension?.find(({ url }) => url === US_CORE + name);
  return (own?.extension ?? []).filter(({ url }) => url === part);
}

const codings = (extensions: readonly Extension[]): readonly Coding[] =>
  extensions.flatMap(({ valueCoding }) => (valueCoding === undefined ? [] : [valueCoding]));

/**
 * Writes one of the five races; further races and details follow as `sdtc:raceCode`.
 * https://hl7.org/fhir/us/core/StructureDefinition-us-core-race.html
 */
function races(patient: Patient): Markup {
  const all = codings(parts(patient, 'us-core-race', 'ombCategory'));
  const [first, ...more] = all.filter(({ system }) => system === CDCREC);
  const details = codings(parts(patient, 'us-core-race', 'detailed'));
  const main = coded('raceCode', first === undefined ? undefined : { coding: [first] }, {
    systems: [CDCREC],
    unknown: nullFlavorOf({ coding: all }) ?? 'UNK',
  });
  return xml`${main}${[...more, ...details].map(coding => coded('sdtc:raceCode', { coding: [coding] }))}`;
}

function ethnicity(patient: Patient): Markup {
  const all = codings(parts(patient, 'us-core-ethnicity', 'ombCategory'));
  const main = coded('ethnicGroupCode', { coding: all }, { systems: [CDCREC] });
  const details = codings(parts(patient, 'us-core-ethnicity', 'detailed'));
  return xml`${main}${details.map(coding => coded('sdtc:ethnicGroupCode', { coding: [coding] }))}`;
}

function languages({ communication }: Patient): Markup {
  return xml`${(communication ?? []).map(({ language, preferred }) => {
    const code = codeIn(language, 'urn:ietf:bcp:47');
    if (code === undefined) return NOTHING;
    const preference = preferred === undefined ? NOTHING : xml`<preferenceInd value="${String(preferred)}"/>`;
    return xml`
    <languageCommunication><languageCode${attribute('code', code)}/>${preference}</languageCommunication>`;
  })}`;
}

const LEVELS = ['N', 'R', 'V'];

/** Returns the highest confidentiality of all resources that a document holds. */
export function highestConfidentiality(codes: ReadonlySet<string>): string {
  return LEVELS.findLast(level => codes.has(level)) ?? 'N';
}

/** Writes an end of the period of care; undefined means that there was no care (NA). */
function serviceEnd(name: 'low' | 'high', time: string | undefined): Markup {
  return time === undefined ? xml`<${name} nullFlavor="NA"/>` : xml`<${name} value="${time}"/>`;
}
