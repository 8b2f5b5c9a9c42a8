/**
 * Writes the route of administration as `routeCode`. In: a route in SNOMED CT or in HL7's RouteOfAdministration. Out:
 * the FDA code (NCI Thesaurus) that C-CDA demands, with SNOMED CT as the only translation that it allows, and the
 * record's words as originalText.
 * C-CDA R2.1 Volume 2, Medication Activity (CONF:1098-7514, 1098-32950)
 */
import { codeIn, labelOf } from './code.ts';
import { SNOMED } from './code-systems.ts';
import type { CodeableConcept } from './fhir/datatypes.ts';
import { attribute, type Markup, NOTHING, textElement, xml } from './xml.ts';

interface Route {
  readonly nci: string;
  readonly name: string;
}

/** Keys are SNOMED CT codes. */
const ROUTES: Readonly<Record<string, Route>> = {
  '26643006': { nci: 'C38288', name: 'Oral Route of Administration' },
  '47625008': { nci: 'C38276', name: 'Intravenous Route of Administration' },
  '78421000': { nci: 'C28161', name: 'Intramuscular Route of Administration' },
  '34206005': { nci: 'C38299', name: 'Subcutaneous Route of Administration' },
  '447694001': { nci: 'C38216', name: 'Inhalation Route of Administration' },
  '46713006': { nci: 'C38284', name: 'Nasal Route of Administration' },
  '6064005': { nci: 'C38304', name: 'Topical Route of Administration' },
  '448598008': { nci: 'C38675', name: 'Cutaneous Route of Administration' },
  '45890007': { nci: 'C38305', name: 'Transdermal Route of Administration' },
  '37839007': { nci: 'C38300', name: 'Sublingual Route of Administration' },
  '54471007': { nci: 'C38193', name: 'Buccal Route of Administration' },
  '54485002': { nci: 'C38287', name: 'Ophthalmic Route of Administration' },
  '10547007': { nci: 'C38192', name: 'Auricular Route of Administration' },
  '37161004': { nci: 'C38295', name: 'Rectal Route of Administration' },
  '16857009': { nci: 'C38313', name: 'Vaginal Route of Administration' },
  '372464004': { nci: 'C38238', name: 'Intradermal Route of Administration' },
  '12130007': { nci: 'C38223', name: 'Intraarticular Route of Administration' },
  '58100008': { nci: 'C38222', name: 'Intraarterial Route of Administration' },
  '72607000': { nci: 'C38267', name: 'Intrathecal Route of Administration' },
  '404820008': { nci: 'C38210', name: 'Epidural Route of Administration' },
  '38239002': { nci: 'C38258', name: 'Intraperitoneal Route of Administration' },
  '127492001': { nci: 'C38285', name: 'Nasogastric Route of Administration' },
  '418664002': { nci: 'C38289', name: 'Oropharyngeal Route of Administration' },
  '418401004': { nci: 'C38280', name: 'Intravitreal Route of Administration' },
  '62226000': { nci: 'C38272', name: 'Intrauterine Route of Administration' },
};

const V3_ROUTE = 'http://terminology.hl7.org/CodeSystem/v3-RouteOfAdministration';

/** Codes of HL7's RouteOfAdministration and their equivalents in SNOMED CT. */
const FROM_V3: Readonly<Record<string, string>> = {
  PO: '26643006',
  IV: '47625008',
  IM: '78421000',
  SQ: '34206005',
  NASINHL: '46713006',
  IPINHL: '447694001',
  TOPICAL: '6064005',
  TRNSDERM: '45890007',
  SL: '37839007',
  IDINJ: '372464004',
  PR: '37161004',
};

/** Returns `routeCode`, or nothing if the route is not known. */
export function routeCode(route: CodeableConcept | undefined): Markup {
  if (route === undefined) return NOTHING;
  const snomed = codeIn(route, SNOMED) ?? FROM_V3[codeIn(route, V3_ROUTE) ?? ''];
  const known = ROUTES[snomed ?? ''];
  const text = textElement('originalText', labelOf(route));
  if (known === undefined || snomed === undefined) return xml`<routeCode nullFlavor="OTH">${text}</routeCode>`;
  return xml`
    <routeCode code="${known.nci}"${attribute('displayName', known.name)} codeSystem="2.16.840.1.113883.3.26.1.1" codeSystemName="NCI Thesaurus">
      ${text}
      <translation code="${snomed}" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>
    </routeCode>`;
}
