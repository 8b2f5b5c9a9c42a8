/**
 * Defines `Patient/<id>/$ccd`, which makes a patient's Continuity of Care Document on demand, and the DocumentReference
 * to it. Offered if the pack has `ccds.yaml`.
 * https://hl7.org/fhir/us/core/OperationDefinition-docref.html
 */

import { addressOf } from '../common/named-address.ts';
import { COMPARTMENT_TYPE } from '../r4/search-parameters.ts';
import { input, type Operation } from './operations.ts';

export const SUMMARY: Operation = {
  id: 'patient-ccd',
  code: 'ccd',
  title: "A patient's Continuity of Care Document",
  description: 'The record of a patient as a C-CDA R2.1 document, as it is now: as XML, or within a Binary.',
  types: [COMPARTMENT_TYPE],
  level: 'instance',
  parameters: [
    input('start', 'date', 'Leaves out care that ended before this day.'),
    input('end', 'date', 'Leaves out care that began after this day.'),
    { name: 'return', use: 'out', type: 'Binary', max: '1', documentation: 'The document.' },
  ],
};

/** LOINC code of a summarization of care. */
export const SUMMARY_TYPE = { system: 'http://loinc.org', code: '34133-9' } as const;

/** A resource that is made for one answer and has no address to read it. */
export interface MadeResource {
  readonly type: string;
  /** Its id cannot be read; `json` has one, because R4 has it in every search result: the UUID of `fullUrl`. */
  readonly id: '';
  /** Identifies it within a Bundle. */
  readonly fullUrl: string;
  readonly json: string;
}

/** Returns a DocumentReference to a patient's document. */
export function summaryReference(
  base: string,
  patient: string,
  range: { readonly start: string | undefined; readonly end: string | undefined },
): MadeResource {
  const query = Object.entries(range).flatMap(([name, text]) => (text === undefined ? [] : [`${name}=${text}`]));
  const url = `${base}/${COMPARTMENT_TYPE}/${patient}/$ccd${query.length === 0 ? '' : `?${query.join('&')}`}`;
  const fullUrl = addressOf(url);
  const resource = {
    resourceType: 'DocumentReference',
    id: fullUrl.slice('urn:uuid:'.length),
    status: 'current',
    type: { coding: [{ ...SUMMARY_TYPE, display: 'Summary of episode note' }] },
    category: [
      {
        coding: [
          {
            system: 'http://hl7.org/fhir/us/core/CodeSystem/us-core-documentreference-category',
            code: 'clinical-note',
            display: 'Clinical Note',
          },
        ],
      },
    ],
    subject: { reference: `${COMPARTMENT_TYPE}/${patient}` },
    description: 'Made of the record as it is when the document is fetched',
    content: [
      {
        attachment: { contentType: 'application/xml', url, title: SUMMARY.title },
        format: {
          system: 'http://ihe.net/fhir/ihe.formatcode.fhir/CodeSystem/formatcode',
          code: 'urn:hl7-org:sdwg:ccda-structuredBody:2.1',
          display: 'Documents following C-CDA constraints using a structured body',
        },
      },
    ],
  };
  return { type: resource.resourceType, id: '', fullUrl, json: JSON.stringify(resource) };
}
