/**
 * Writes an AuditEvent as the DICOM audit message that ATNA sends by syslog. In: an AuditEvent as JSON. Out: XML.
 * FHIR's AuditEvent is based on this message, with other names.
 * https://dicom.nema.org/medical/dicom/current/output/html/part15.html#sect_A.5
 * https://hl7.org/fhir/R4/auditevent-mappings.html
 */
import { escapeAttribute, escapeXml } from '../../common/markup.ts';

interface Coding {
  readonly system?: string;
  readonly code?: string;
  readonly display?: string;
}

interface Concept {
  readonly coding?: readonly Coding[];
  readonly text?: string;
}

interface Reference {
  readonly reference?: string;
  readonly identifier?: { readonly system?: string; readonly value?: string };
}

interface AuditEvent {
  readonly type: Coding;
  readonly subtype?: readonly Coding[];
  readonly action?: string;
  readonly recorded: string;
  readonly outcome?: string;
  readonly outcomeDesc?: string;
  readonly purposeOfEvent?: readonly Concept[];
  readonly agent: readonly {
    readonly type?: Concept;
    readonly who?: Reference;
    readonly requestor: boolean;
    readonly network?: { readonly address?: string; readonly type?: string };
  }[];
  readonly source: { readonly observer: Reference; readonly type?: readonly Coding[] };
  readonly entity?: readonly {
    readonly what?: Reference;
    readonly type?: Coding;
    readonly role?: Coding;
    readonly description?: string;
    readonly query?: string;
    readonly detail?: readonly { readonly type: string; readonly valueString?: string }[];
  }[];
}

type Attributes = Readonly<Record<string, string | undefined>>;

/** Returns the document, without a byte order mark. */
export function dicomMessage(json: string): string {
  const event = JSON.parse(json) as AuditEvent;
  const parts = [
    eventIdentification(event),
    ...event.agent.map(participant),
    auditSource(event.source),
    ...(event.entity ?? []).map(object),
  ];
  return `<?xml version="1.0" encoding="UTF-8"?>${element('AuditMessage', {}, parts)}`;
}

function eventIdentification({ type, subtype = [], ...event }: AuditEvent): string {
  const attributes = {
    EventActionCode: event.action,
    EventDateTime: event.recorded,
    EventOutcomeIndicator: event.outcome ?? '0',
  };
  return element('EventIdentification', attributes, [
    coded('EventID', type),
    ...subtype.map(one => coded('EventTypeCode', one)),
    ...(event.outcomeDesc === undefined
      ? []
      : [element('EventOutcomeDescription', {}, [escapeXml(event.outcomeDesc)])]),
    ...(event.purposeOfEvent ?? []).map(purpose => coded('PurposeOfUse', codingOf(purpose))),
  ]);
}

function participant({ type, who, requestor, network }: AuditEvent['agent'][number]): string {
  const { reference, identifier } = who ?? {};
  return element(
    'ActiveParticipant',
    {
      UserID: identifier?.value ?? reference ?? 'unknown',
      // The user as a FHIR resource, or else who vouches for the name.
      AlternativeUserID: identifier?.value === undefined ? undefined : (reference ?? identifier.system),
      UserIsRequestor: String(requestor),
      NetworkAccessPointID: network?.address,
      NetworkAccessPointTypeCode: network?.type,
    },
    type === undefined ? [] : [coded('RoleIDCode', codingOf(type))],
  );
}

function auditSource({ observer, type = [] }: AuditEvent['source']): string {
  const id = observer.identifier?.value ?? observer.reference ?? 'unknown';
  return element(
    'AuditSourceIdentification',
    { AuditSourceID: id },
    type.map(one => coded('AuditSourceTypeCode', one)),
  );
}

/** Writes an entity. Patients and queries have ids by RFC 3881; other resources have their address. */
function object({
  what,
  type,
  role,
  description,
  query,
  detail: details = [],
}: NonNullable<AuditEvent['entity']>[number]): string {
  const id = what?.reference ?? what?.identifier?.value ?? 'unknown';
  const isPatient = type?.code === '1';
  const idType = isPatient
    ? { system: 'RFC-3881', code: '2', display: 'Patient Number' }
    : query === undefined
      ? { system: 'RFC-3881', code: '12', display: 'URI' }
      : { system: 'RFC-3881', code: '10', display: 'Search Criteria' };
  return element(
    'ParticipantObjectIdentification',
    {
      ParticipantObjectID: query === undefined ? id : 'query',
      ParticipantObjectTypeCode: /^[1-4]$/.test(type?.code ?? '') ? type?.code : '4',
      ParticipantObjectTypeCodeRole: role?.code,
    },
    [
      coded('ParticipantObjectIDTypeCode', idType),
      query === undefined
        ? element('ParticipantObjectName', {}, [escapeXml(id)])
        : element('ParticipantObjectQuery', {}, [escapeXml(query)]),
      ...(description === undefined ? [] : [detail('description', description)]),
      ...details.map(one => detail(one.type, one.valueString ?? '')),
    ],
  );
}

function detail(type: string, value: string): string {
  return element('ParticipantObjectDetail', { type, value: Buffer.from(value, 'utf8').toString('base64') }, []);
}

function codingOf({ coding, text }: Concept): Coding {
  const [first] = coding ?? [];
  return first ?? { system: 'text', code: text ?? '', display: text ?? '' };
}

/** Writes a code; DICOM uses the abbreviation of its own terminology. */
function coded(name: string, { system = '', code = '', display }: Coding): string {
  const codeSystemName = system === 'http://dicom.nema.org/resources/ontology/DCM' ? 'DCM' : system;
  return element(name, { 'csd-code': code, codeSystemName, originalText: display ?? code }, []);
}

function element(name: string, attributes: Attributes, content: readonly string[]): string {
  const written = Object.entries(attributes).flatMap(([key, value]) =>
    value === undefined ? [] : [` ${key}="${escapeAttribute(value)}"`],
  );
  const open = `<${name}${written.join('')}`;
  return content.length === 0 ? `${open}/>` : `${open}>${content.join('')}</${name}>`;
}
