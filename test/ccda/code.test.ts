import { describe, expect, test } from 'vitest';
import { coded as codedMarkup, labelOf, nullFlavorOf, TYPE_CD } from '../../src/ccda/code.ts';
import { LOINC, SNOMED } from '../../src/ccda/code-systems.ts';

const coded = (...of: Parameters<typeof codedMarkup>): string => codedMarkup(...of).text;

const LOCAL = 'urn:oid:2.16.840.1.113883.3.9999.4';
const HYPERTENSION = { system: SNOMED, code: '59621000', display: 'Essential hypertension' };

describe('a code of a requested system', () => {
  test('is the code, the others are translations', () => {
    expect(
      coded(
        'value',
        { coding: [{ system: LOCAL, code: 'HTN', display: 'High' }, HYPERTENSION] },
        { systems: [SNOMED], attributes: TYPE_CD, shown: 'problems-1' },
      ),
    ).toBe(
      '<value xsi:type="CD" code="59621000" displayName="Essential hypertension" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT">' +
        '<originalText><reference value="#problems-1"/></originalText>' +
        '<translation code="HTN" displayName="High" codeSystem="2.16.840.1.113883.3.9999.4"/></value>',
    );
  });

  test('is taken from the first of the requested systems', () => {
    const concept = { coding: [HYPERTENSION, { system: LOINC, code: '8480-6' }] };
    expect(coded('code', concept, { systems: [LOINC, SNOMED] })).toMatch(/^<code code="8480-6"/);
    expect(coded('code', concept, { systems: [SNOMED, LOINC] })).toMatch(/^<code code="59621000"/);
  });

  test('is dropped if its check digit is wrong', () => {
    expect(coded('code', { coding: [{ system: SNOMED, code: '59621001' }], text: 'High' }, { systems: [SNOMED] })).toBe(
      '<code nullFlavor="UNK"><originalText>High</originalText></code>',
    );
    expect(coded('code', { coding: [{ system: LOINC, code: '8480-7' }] }, { systems: [LOINC] })).toBe(
      '<code nullFlavor="UNK"><originalText>8480-7</originalText></code>',
    );
    for (const code of ['44054006', '73211009', '453231000124104', '428041000124106']) {
      expect(coded('code', { coding: [{ system: SNOMED, code }] })).toContain(`code="${code}"`);
    }
    for (const code of ['8480-6', '72166-2', '2160-0', 'LA6576-8']) {
      expect(coded('code', { coding: [{ system: LOINC, code }] })).toContain(`code="${code}"`);
    }
  });
});

describe('without a code of a requested system', () => {
  test('other codes are translations of OTH', () => {
    expect(coded('code', { coding: [{ system: LOCAL, code: 'X1' }] }, { systems: [LOINC] })).toBe(
      '<code nullFlavor="OTH"><originalText>X1</originalText><translation code="X1" codeSystem="2.16.840.1.113883.3.9999.4"/></code>',
    );
  });

  test('a missing code is UNK, or the reason that the record gives', () => {
    expect(coded('code', undefined)).toBe('<code nullFlavor="UNK"/>');
    expect(coded('code', { text: 'some water pill' })).toBe(
      '<code nullFlavor="UNK"><originalText>some water pill</originalText></code>',
    );
    const asked = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-NullFlavor', code: 'ASKU' }] };
    expect(coded('raceCode', asked)).toBe('<raceCode nullFlavor="ASKU"/>');
    expect(
      nullFlavorOf({
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'temp-unknown' }],
      }),
    ).toBe('NAV');
  });

  test('a code that looks like a placeholder is written as text only', () => {
    expect(
      coded('value', { coding: [{ system: LOCAL, code: 'NONE', display: 'None' }], text: 'None' }, { shown: 'r' }),
    ).toBe('<value nullFlavor="UNK"><originalText><reference value="#r"/></originalText></value>');
  });

  test('a system without an OID cannot be written', () => {
    expect(coded('code', { coding: [{ system: 'http://example.org/codes', code: 'a' }] })).toBe(
      '<code nullFlavor="UNK"><originalText>a</originalText></code>',
    );
  });
});

test('the narrative shows the text, else the display, else the code', () => {
  expect(labelOf({ text: 'High blood', coding: [HYPERTENSION] })).toBe('High blood');
  expect(labelOf({ coding: [HYPERTENSION] })).toBe('Essential hypertension');
  expect(labelOf({ coding: [{ code: 'I10' }] })).toBe('I10');
  expect(labelOf(undefined)).toBe('');
});
