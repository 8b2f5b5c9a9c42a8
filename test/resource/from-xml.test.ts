import { expect, test } from 'vitest';
import { fromXml, XmlError } from '../../src/resource/from-xml.ts';
import { toXml } from '../../src/resource/xml.ts';

const PARAMETERS = {
  resourceType: 'Parameters',
  parameter: [
    { name: 'text', valueString: ' ä & <b> "\'\n𝄞 ' },
    { name: 'number', valueInteger: 5 },
    { name: 'flag', valueBoolean: true },
    { name: 'code', valueCodeableConcept: { coding: [{ system: 'http://loinc.org', code: '34133-9' }] } },
    { name: 'to', valueReference: { reference: 'Patient/1' } },
    { name: 'nested', part: [{ name: 'one', resource: { resourceType: 'Patient', id: '1', active: false } }] },
  ],
};

test('XML of this server is read back as the same members', () => {
  expect(fromXml(toXml(JSON.stringify(PARAMETERS)))).toEqual(PARAMETERS);
});

test('ids of elements and addresses of extensions are attributes', () => {
  const patient = { resourceType: 'Patient', extension: [{ id: 'e', url: 'http://x?a=1&b', valueCode: 'c' }] };
  expect(fromXml(toXml(JSON.stringify(patient)))).toEqual(patient);
});

test('narratives, comments and a declaration are skipped', () => {
  const xml = `<?xml version="1.0" encoding="UTF-8"?><!-- a --><Patient xmlns="http://hl7.org/fhir"><text><status value="generated"/>
    <div xmlns="http://www.w3.org/1999/xhtml"><p>a &lt; b</p></div></text><!-- b --><active value="true"/></Patient>`;
  expect(fromXml(xml)).toEqual({ resourceType: 'Patient', text: { status: 'generated' }, active: true });
});

test('character references are read, and XML has no others than its five entities', () => {
  const of = (text: string) => `<Patient xmlns="http://hl7.org/fhir"><id value="${text}"/></Patient>`;
  expect(fromXml(of('&#65;&#x42;&#x1D11E;&amp;&lt;&gt;&quot;&apos;'))).toEqual({
    resourceType: 'Patient',
    id: 'AB𝄞&<>"\'',
  });
  for (const text of ['&nbsp;', '&secret;', '&#0;', '&#x110000;', '&__proto__;', '&constructor;', '&'])
    expect(() => fromXml(of(text)), text).toThrow(XmlError);
});

test.each([
  ['', 'nothing'],
  ['{}', 'JSON'],
  ['<Patient xmlns="http://hl7.org/fhir">', 'an open element'],
  ['<Patient/>', 'no namespace'],
  ['<Patient xmlns="urn:other"/>', 'another namespace'],
  ['<patient xmlns="http://hl7.org/fhir"/>', 'no resource'],
  ['<Patient xmlns="http://hl7.org/fhir"/><Patient xmlns="http://hl7.org/fhir"/>', 'two roots'],
  ['<Patient xmlns="http://hl7.org/fhir"><colour value="red"/></Patient>', 'an unknown element'],
  ['<Patient xmlns="http://hl7.org/fhir"><gender value="male"/><gender value="male"/></Patient>', 'one too many'],
  ['<Patient xmlns="http://hl7.org/fhir"><__proto__ value="1"/></Patient>', 'a dangerous name'],
  ['<!DOCTYPE Patient><Patient xmlns="http://hl7.org/fhir"/>', 'a document type'],
  ['<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><Patient xmlns="http://hl7.org/fhir"/>', 'an entity'],
  ['<Patient xmlns="http://hl7.org/fhir"><![CDATA[x]]></Patient>', 'CDATA'],
  [`${'<Patient xmlns="http://hl7.org/fhir">'.repeat(5000)}${'</Patient>'.repeat(5000)}`, 'depth'],
])('%s is refused: %s', (xml, _what) => {
  expect(() => fromXml(xml)).toThrow(XmlError);
});
