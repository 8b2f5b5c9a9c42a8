import fc from 'fast-check';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { toXml } from '../../src/resource/xml.ts';
import { runsOf } from '../share.ts';

const HEAD = '<?xml version="1.0" encoding="UTF-8"?>';

function xmlOf(resource: object): string {
  return toXml(JSON.stringify(resource)).slice(HEAD.length);
}

describe('FHIR XML', () => {
  it('writes primitives as value attributes, in the order of the definitions', () => {
    const patient = {
      resourceType: 'Patient',
      birthDate: '1970-03',
      gender: 'female',
      active: true,
      id: 'p1',
      name: [{ given: ['A', 'B'], family: 'F' }],
    };
    expect(xmlOf(patient)).toBe(
      '<Patient xmlns="http://hl7.org/fhir"><id value="p1"/><active value="true"/><name><family value="F"/><given value="A"/><given value="B"/></name><gender value="female"/><birthDate value="1970-03"/></Patient>',
    );
  });

  it('keeps the digits of decimals', () => {
    const json =
      '{"resourceType":"Observation","valueQuantity":{"value":12.50,"unit":"a"},"component":[{"valueQuantity":{"value":1e-7}}]}';
    expect(toXml(json)).toContain('<valueQuantity><value value="12.50"/><unit value="a"/></valueQuantity>');
    expect(toXml(json)).toContain('<value value="1e-7"/>');
  });

  it('writes ids of elements and extension urls as attributes', () => {
    const patient = {
      resourceType: 'Patient',
      extension: [
        { id: 'e', url: 'http://x?a=1&b', valueCode: 'c' },
        { url: 'u', extension: [{ url: 'v', valueBoolean: false }] },
      ],
    };
    expect(xmlOf(patient)).toBe(
      '<Patient xmlns="http://hl7.org/fhir"><extension id="e" url="http://x?a=1&amp;b"><valueCode value="c"/></extension><extension url="u"><extension url="v"><valueBoolean value="false"/></extension></extension></Patient>',
    );
  });

  it('joins a primitive with its extensions, in lists by position', () => {
    const extension = [{ url: 'u', valueString: 's' }];
    const patient = {
      resourceType: 'Patient',
      birthDate: '1970',
      _birthDate: { id: 'b', extension },
      name: [{ given: [null, 'B'], _given: [{ extension }] }],
      _gender: { extension },
    };
    const inner = '<extension url="u"><valueString value="s"/></extension>';
    expect(xmlOf(patient)).toBe(
      `<Patient xmlns="http://hl7.org/fhir"><name><given>${inner}</given><given value="B"/></name><gender>${inner}</gender><birthDate id="b" value="1970">${inner}</birthDate></Patient>`,
    );
  });

  it('embeds the narrative as it is and adds a namespace that is missing', () => {
    const div = '<div xmlns="http://www.w3.org/1999/xhtml"><p>a &lt; b<br/></p></div>';
    expect(xmlOf({ resourceType: 'Patient', text: { status: 'generated', div } })).toContain(
      `<status value="generated"/>${div}</text>`,
    );
    const bare = { resourceType: 'Patient', text: { div: '<div class="x">a</div>' } };
    expect(xmlOf(bare)).toContain('<div xmlns="http://www.w3.org/1999/xhtml" class="x">a</div>');
  });

  it('nests resources in Bundles, in contained and in Parameters', () => {
    const contained = [{ resourceType: 'Medication', id: 'm' }];
    const bundle = {
      resourceType: 'Bundle',
      type: 'searchset',
      link: [{ relation: 'self', url: 'u?a=1&b=2' }],
      entry: [{ fullUrl: 'f', resource: { resourceType: 'MedicationRequest', contained }, search: { mode: 'match' } }],
    };
    expect(xmlOf(bundle)).toBe(
      '<Bundle xmlns="http://hl7.org/fhir"><type value="searchset"/><link><relation value="self"/><url value="u?a=1&amp;b=2"/></link><entry><fullUrl value="f"/><resource><MedicationRequest><contained><Medication><id value="m"/></Medication></contained></MedicationRequest></resource><search><mode value="match"/></search></entry></Bundle>',
    );
    const parameters = {
      resourceType: 'Parameters',
      parameter: [{ name: 'n', part: [{ name: 'p', resource: contained[0] }] }],
    };
    expect(xmlOf(parameters)).toContain(
      '<part><name value="p"/><resource><Medication><id value="m"/></Medication></resource></part>',
    );
  });

  it('writes backbone elements that refer to the content of others', () => {
    const outcome = {
      resourceType: 'Observation',
      component: [{ referenceRange: [{ low: { value: 1 }, text: 't' }] }],
    };
    expect(xmlOf(outcome)).toContain('<referenceRange><low><value value="1"/></low><text value="t"/></referenceRange>');
  });

  it('refuses members unknown to FHIR, without repeating values', () => {
    expect(() => xmlOf({ resourceType: 'Patient', nickname: 'secret' })).toThrow(
      new RangeError('Patient has elements that are not defined'),
    );
    expect(() => xmlOf({ resourceType: 'Nothing' })).toThrow(RangeError);
    expect(() => xmlOf({ resourceType: 'Patient', gender: ['a', 'b'] })).toThrow(
      'Patient.gender occurs more than once',
    );
    expect(() => xmlOf({ resourceType: 'Patient', name: ['secret'] })).toThrow('Patient.name is no object');
  });

  it('preserves any text through an XML parser, except characters that XML forbids', () => {
    const parser = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '',
      parseAttributeValue: false,
      trimValues: false,
      processEntities: true,
      htmlEntities: true,
    });
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), text => {
        const xml = toXml(JSON.stringify({ resourceType: 'Patient', gender: text }));
        expect(XMLValidator.validate(xml)).toBe(true);
        expect(xml.isWellFormed()).toBe(true);
        const read: unknown = parser.parse(xml);
        const wanted = text.toWellFormed().replace(/[^\P{Cc}\t\n\r\u007f-\u009f]|[\ufffe\uffff]/gu, '\ufffd');
        expect(read).toMatchObject({ Patient: { gender: { value: wanted } } });
      }),
      { numRuns: runsOf(500) },
    );
  });
});

describe('a text of this server is converted member by member', () => {
  /** Blanks make it a text that the server did not write, which is parsed as a whole. */
  const read = (resource: object): string => {
    const xml = toXml(JSON.stringify(resource));
    expect(xml).toBe(toXml(JSON.stringify(resource, undefined, 1)));
    return xml;
  };
  const observation = (n: number) => ({
    resourceType: 'Observation',
    id: `o${n}`,
    contained: [
      { resourceType: 'Patient', id: 'p', active: n % 2 === 0 },
      { resourceType: 'Group', id: 'g' },
    ],
    extension: [{ url: `urn:${n % 7}`, valueString: 'a \\ "b"' }],
    code: { coding: [{ system: 'urn:s', code: String(n % 7) }], text: `<${n % 7}>` },
    subject: { reference: `Patient/${n}`, ...(n % 3 === 0 ? { _reference: { id: 'r' } } : {}) },
    valueQuantity: { value: n / 8, unit: '\u00b5g\n' },
    ...(n % 5 === 0 ? { status: 'final' } : {}),
  });
  const bundle = (count: number) => ({
    resourceType: 'Bundle',
    type: 'searchset',
    link: [{ relation: 'self', url: `http://x?_count=${count}` }],
    entry: Array.from({ length: count }, (_, n) => ({
      fullUrl: `urn:${n}`,
      resource: observation(n),
      search: { mode: 'match' },
    })),
  });

  it('to the same document, with repeated values or not, in order or not', () => {
    for (const count of [0, 1, 50, 700]) read(bundle(count));
    expect(read(bundle(2))).toContain(
      '<code><coding><system value="urn:s"/><code value="1"/></coding><text value="&lt;1&gt;"/></code>',
    );
    read({
      resourceType: 'Parameters',
      parameter: [
        { name: 'a', resource: observation(1) },
        { name: 'b', part: [{ name: 'c' }] },
      ],
    });
  });

  it('and invalid JSON or FHIR is refused as by a full parse', () => {
    const json = JSON.stringify(bundle(2));
    for (const text of [
      json.slice(0, -1),
      `${json}}`,
      json.replace('"o0",', '"o0";'),
      json.replace('"entry":[', '"entry":[,'),
      '',
    ]) {
      expect(() => toXml(text)).toThrow(SyntaxError);
    }
    expect(() => toXml(json.replace('"subject"', '"about"'))).toThrow('Observation has elements that are not defined');
    expect(() => toXml(json.replace('"code":{', '"code":[{},{').replace(',"subject"', '],"subject"'))).toThrow(
      'Observation.code occurs more than once',
    );
    const twice = '{"resourceType":"Patient","gender":"male","gender":"female"}';
    expect(toXml(twice)).toContain('<gender value="female"/></Patient>');
    expect(toXml(twice)).not.toContain('"male"');
  });
});
