/**
 * Writes the people and organizations of entries. In: references and the resources that they lead to. Out:
 * assignedEntity, assignedAuthor and Author Participation. https://hl7.org/fhir/R4/practitioner.html
 */

import { coded, codeIn, labelOf } from './code.ts';
import { NPI, NUCC } from './code-systems.ts';
import type { CodeableConcept, Reference, Resource } from './fhir/datatypes.ts';
import type { Organization, Person, PractitionerRole } from './fhir/people.ts';
import { identifierElements, uuidOf } from './ids.ts';
import { addressElement, nameElement, readableName, telecomElements } from './people.ts';
import { hl7Time, timeElement } from './time.ts';
import { type Markup, NOTHING, templateIds, textElement, xml } from './xml.ts';

/** Returns the resource behind a reference, if it was read. */
export type Resolve = (reference: Reference | undefined) => Resource | undefined;

/** What is known of a referenced person or organization. */
export interface Actor {
  /** The reference; its display if it has no reference. */
  readonly key: string;
  readonly person: Person | undefined;
  readonly role: PractitionerRole | undefined;
  readonly organization: Organization | undefined;
  readonly display: string;
}

export function actorOf(reference: Reference | undefined, resolve: Resolve): Actor | undefined {
  if (reference === undefined) return undefined;
  const key = reference.reference ?? reference.display;
  if (key === undefined) return undefined;
  const found = resolve(reference);
  const role = found?.resourceType === 'PractitionerRole' ? (found as PractitionerRole) : undefined;
  const target = role === undefined ? found : resolve(role.practitioner);
  const organization = found?.resourceType === 'Organization' ? (found as Organization) : undefined;
  const person = target !== undefined && organization === undefined ? (target as Person) : undefined;
  const display = readableName(bestName(person)) || organization?.name || reference.display || '';
  return { key, person, role, organization, display };
}

function bestName(person: Person | undefined) {
  return person?.name?.find(({ use }) => use === 'official') ?? person?.name?.[0];
}

/** Returns the distinct names of all references, for people. */
export function namesOf(references: readonly (Reference | undefined)[], resolve: Resolve): string {
  return [...new Set(references.map(one => nameOf(one, resolve)))].filter(Boolean).join(', ');
}

/** Returns the name behind a reference, for people. */
export function nameOf(reference: Reference | undefined, resolve: Resolve): string {
  return actorOf(reference, resolve)?.display ?? '';
}

/** Writes the identifiers with a root, the NPI first; if there are none, an id that is a hash of the reference. */
export function actorIds({ key, person, organization }: Actor): Markup {
  const identifiers = (person ?? organization)?.identifier ?? [];
  const npi = identifiers.filter(({ system }) => system === NPI);
  const others = identifiers.filter(({ system }) => system !== NPI);
  return identifierElements([...npi, ...others]).or(xml`<id root="${uuidOf('actor', key)}"/>`);
}

const ROLE_CODE = 'http://terminology.hl7.org/CodeSystem/v3-RoleCode';
const ONESELF: CodeableConcept = { coding: [{ system: ROLE_CODE, code: 'ONESELF', display: 'self' }] };

/**
 * Writes `code`: for professionals a NUCC code from role or qualification, for others the relationship to the patient.
 */
export function actorCode({ person, role }: Actor): Markup {
  const kin = person?.resourceType === 'Patient' ? ONESELF : person?.relationship?.[0];
  if (codeIn(kin, ROLE_CODE) !== undefined) return coded('code', kin, { systems: [ROLE_CODE] });
  const concepts = [...(role?.specialty ?? []), ...(role?.code ?? [])].concat(
    (person?.qualification ?? []).flatMap(({ code }) => (code === undefined ? [] : [code])),
  );
  const known = concepts.find(({ coding }) => coding?.some(({ system }) => system === NUCC));
  return known === undefined ? NOTHING : coded('code', known, { systems: [NUCC] });
}

/**
 * Writes the children of an assignedEntity: id, code, addr, telecom, person, organization. `before`: a person to write
 * before an organization.
 */
export function assigned(actor: Actor, before = NOTHING): Markup {
  const { person, role, organization } = actor;
  const holder = person ?? organization;
  return xml`
    ${actorIds(actor)}
    ${actorCode(actor)}
    ${addressElement(holder?.address?.[0], 'WP')}
    ${telecomElements(role?.telecom ?? holder?.telecom)}
    ${before}
    ${personOrOrganization(actor)}`;
}

function personOrOrganization(actor: Actor): Markup {
  const { person, organization, display } = actor;
  if (organization !== undefined) {
    return xml`<representedOrganization>${organizationParts(organization, display)}</representedOrganization>`;
  }
  const name = person === undefined && display !== '' ? textElement('name', display) : nameElement(bestName(person));
  return xml`<assignedPerson>${name}</assignedPerson>`;
}

/** Writes the content of an Organization: id, name, telecom, addr. */
export function organizationParts(known: Organization | undefined, name: string): Markup {
  const [telecom] = (known?.telecom ?? []).filter(({ system }) => system === 'phone');
  return xml`
    ${identifierElements(known?.identifier).or(xml`<id root="${uuidOf('organization', known?.id ?? name)}"/>`)}
    ${textElement('name', known?.name ?? name)}
    ${telecomElements(telecom === undefined ? undefined : [telecom])}
    ${addressElement(known?.address?.[0], 'WP')}`;
}

/** Writes a `performer` of an entry for each referenced person, once even if they have several roles. */
export function performers(references: readonly (Reference | undefined)[], resolve: Resolve): Markup {
  const actors = references.map(one => actorOf(one, resolve)).filter(actor => actor !== undefined);
  const each = [...new Map(actors.map(actor => [actor.key, actor])).values()];
  return xml`${each.map(actor => xml`<performer><assignedEntity>${assigned(actor)}</assignedEntity></performer>`)}`;
}

/**
 * Writes an Author Participation: author and time. An author who is described nowhere else in the document needs
 * address, telephone and name here, so they are written at each author. Writes nothing if author or time is unknown.
 * C-CDA R2.1 Volume 2, Author Participation
 */
export function author(reference: Reference | undefined, time: string | undefined, resolve: Resolve): Markup {
  const actor = actorOf(reference, resolve);
  const when = hl7Time(time);
  return actor === undefined || when === undefined ? NOTHING : authorOrUnknown(reference, time, resolve);
}

/** Writes the same for a template that demands an author: unknown parts have a nullFlavor. */
export function authorOrUnknown(reference: Reference | undefined, time: string | undefined, resolve: Resolve): Markup {
  const actor = actorOf(reference, resolve);
  const nobody = xml`<assignedPerson>${nameElement(undefined)}</assignedPerson>`;
  // The template demands a person or a device; who acted for an organization is not known.
  const who =
    actor === undefined
      ? xml`<id nullFlavor="UNK"/>${addressElement(undefined)}${telecomElements(undefined)}${nobody}`
      : assigned(actor, actor.organization === undefined ? NOTHING : nobody);
  return xml`
    <author>
      ${templateIds('4.119')}
      ${timeElement('time', time)}
      <assignedAuthor>${who}</assignedAuthor>
    </author>`;
}

/** Returns the role of a person in a team, for people. */
export function roleName(role: readonly { readonly text?: string }[] | undefined): string {
  return (role ?? []).map(labelOf).filter(Boolean).join(', ');
}
