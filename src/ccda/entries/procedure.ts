/**
 * Writes procedures and implants. In: Procedure, Device. Out: Procedure Activity Procedure (V2); for an implant the
 * procedure that implanted it, with the Product Instance and its UDI. An implant without a procedure gets a procedure
 * of its own.
 */

import { coded, labelOf, readableCode, reference } from '../code.ts';
import { CPT, HCPCS, ICD10PCS, LOINC, SNOMED } from '../code-systems.ts';
import type { Device, Procedure } from '../fhir/record.ts';
import { headOf } from '../narrative.ts';
import { namesOf, performers } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { moment, readableTime } from '../time.ts';
import { whenOf } from '../when.ts';
import { attribute, type Markup, NOTHING, templateIds, textElement, xml } from '../xml.ts';
import { indication, readableReasons, reasonsOf, targetSite } from './related.ts';

const STATUS: Readonly<Record<string, string>> = {
  preparation: 'active',
  'in-progress': 'active',
  'on-hold': 'active',
  'not-done': 'cancelled',
  stopped: 'aborted',
  completed: 'completed',
  unknown: 'completed',
};

const SYSTEMS = [SNOMED, LOINC, CPT, HCPCS, ICD10PCS];

export const PROCEDURE_COLUMNS = ['Procedure', 'Status', 'Performed', 'Site', 'Reason', 'Performed by'];

export function addProcedure(procedure: Procedure, content: SectionWriter): void {
  const { code, status, statusReason, bodySite } = procedure;
  const row = content.row(
    labelOf(code),
    [readableCode(status), labelOf(statusReason)].filter(Boolean).join(', '),
    whenOf(procedure, 'performed').text,
    (bodySite ?? []).map(labelOf).join(', '),
    readableReasons(reasonsOf(procedure, content.resolve)),
    namesOf(performersOf(procedure), content.resolve),
  );
  content.entry(activity(procedure, row, content, NOTHING));
}

const performersOf = ({ performer }: Procedure) => (performer ?? []).map(({ actor }) => actor);

/** Writes the procedure. `devices`: participants that contain Product Instances. */
function activity(procedure: Procedure, row: string, content: SectionWriter, devices: Markup, part = ''): Markup {
  const { code, status, bodySite, performedDateTime, performedPeriod } = procedure;
  return xml`
    <procedure classCode="PROC" moodCode="EVN"${status === 'not-done' ? xml` negationInd="true"` : ''}>
      ${templateIds('4.14', '4.14:2014-06-09')}
      ${content.id(procedure, part)}
      ${coded('code', code, { systems: SYSTEMS, shown: part === '' ? headOf(row) : row })}
      <text>${reference(row)}</text>
      <statusCode code="${STATUS[status ?? ''] ?? 'completed'}"/>
      ${moment(performedDateTime, performedPeriod)}
      ${(bodySite ?? []).map(targetSite)}
      ${performers(performersOf(procedure), content.resolve)}
      ${devices}
      ${reasonsOf(procedure, content.resolve).map((reason, i) =>
        indication(reason, content.id(procedure, `${part}reason-${i}`)),
      )}
      ${content.remarks(row, procedure)}
    </procedure>`;
}

export const DEVICE_COLUMNS = [
  'Device',
  'Status',
  'Implanted',
  'Unique device identifier',
  'Manufacturer and model',
  'Lot and serial number',
  'Made',
  'Expires',
];

/** Adds an implant. `implantation`: the procedure that put the device in, if there is one. */
export function addDevice(device: Device, implantation: Procedure | undefined, content: SectionWriter): void {
  const [udi] = device.udiCarrier ?? [];
  const row = content.row(
    labelOf(device.type) || (device.deviceName?.[0]?.name ?? ''),
    readableCode(device.status),
    implantation === undefined ? '' : whenOf(implantation, 'performed').text,
    udi?.carrierHRF ?? udi?.deviceIdentifier ?? '',
    [device.manufacturer, device.modelNumber].filter(Boolean).join(', '),
    [device.lotNumber, device.serialNumber, device.distinctIdentifier].filter(Boolean).join(', '),
    readableTime(device.manufactureDate),
    readableTime(device.expirationDate),
  );
  const procedure: Procedure = implantation ?? {
    resourceType: device.resourceType,
    id: device.id,
    status: 'completed',
    code: { text: 'Implantation' },
  };
  const remarked = { ...procedure, note: [...(procedure.note ?? []), ...(device.note ?? [])] };
  content.entry(activity(remarked, row, content, productInstance(device, content), `device-${device.id}`));
}

/** Writes the Product Instance with its UDI (https://www.fda.gov), root 2.16.840.1.113883.3.3719. */
function productInstance(device: Device, content: SectionWriter): Markup {
  const { udiCarrier, type, modelNumber, manufacturer } = device;
  const [udi] = udiCarrier ?? [];
  const number = attribute('extension', udi?.carrierHRF ?? udi?.deviceIdentifier);
  const id = number.isEmpty
    ? content.id(device)
    : xml`<id root="2.16.840.1.113883.3.3719"${number} assigningAuthorityName="FDA"/>`;
  return xml`
    <participant typeCode="DEV">
      <participantRole classCode="MANU">
        ${templateIds('4.37')}
        ${id}
        <playingDevice>
          ${coded('code', type, { systems: [SNOMED] })}
          ${textElement('manufacturerModelName', modelNumber)}
        </playingDevice>
        <scopingEntity>
          <id root="2.16.840.1.113883.3.3719"/>
          ${textElement('desc', manufacturer)}
        </scopingEntity>
      </participantRole>
    </participant>`;
}
