import { expect, test } from 'vitest';
import { readableValue, valueElement } from '../../src/ccda/value.ts';
import { parseExactly } from '../../src/resource/exact.ts';

const UCUM = 'http://unitsofmeasure.org';
const mgdl = { unit: 'mg/dL', system: UCUM, code: 'mg/dL' };

test.each([
  [
    'a number with its digits',
    { valueQuantity: { value: '5.20', ...mgdl } },
    '<value xsi:type="PQ" value="5.20" unit="mg/dL"/>',
    '5.20 mg/dL',
  ],
  [
    'below',
    { valueQuantity: { value: '5', comparator: '<', ...mgdl } } as const,
    '<value xsi:type="IVL_PQ"><high inclusive="false" value="5" unit="mg/dL"/></value>',
    '< 5 mg/dL',
  ],
  [
    'at least',
    { valueQuantity: { value: '60', comparator: '>=', ...mgdl } } as const,
    '<value xsi:type="IVL_PQ"><low value="60" unit="mg/dL"/></value>',
    '>= 60 mg/dL',
  ],
  [
    'a range in a unit that is none of UCUM',
    { valueRange: { low: { value: '4', unit: 'FROBS' }, high: { value: '9', unit: 'FROBS' } } },
    '<value xsi:type="ST">4 FROBS to 9 FROBS</value>',
    '4 FROBS to 9 FROBS',
  ],
  [
    'a unit that is none of UCUM',
    { valueQuantity: { value: '5', unit: 'FROBS' } },
    '<value xsi:type="ST">5 FROBS</value>',
    '5 FROBS',
  ],
  ['no unit', { valueQuantity: { value: '1.015' } }, '<value xsi:type="REAL" value="1.015"/>', '1.015'],
  [
    'a unit that is a remark',
    { valueQuantity: { value: '8', unit: '{score}', system: UCUM, code: '{score}' } },
    '<value xsi:type="PQ" value="8" unit="1"/>',
    '8 score',
  ],
  [
    'a unit that begins with a remark',
    { valueQuantity: { value: '2', unit: '{drinks}/d', system: UCUM, code: '{drinks}/d' } },
    '<value xsi:type="PQ" value="2" unit="/d"/>',
    '2 drinks/d',
  ],
  [
    'international units',
    { valueQuantity: { value: '8', unit: 'units', system: UCUM, code: '[iU]' } },
    '<value xsi:type="PQ" value="8" unit="[IU]"/>',
    '8 units',
  ],
  ['a text', { valueString: 'SEE <NOTE>' }, '<value xsi:type="ST">SEE &lt;NOTE&gt;</value>', 'SEE <NOTE>'],
  [
    'a titer',
    { valueRatio: { numerator: { value: '1' }, denominator: { value: '128' } } },
    '<value xsi:type="ST">1:128</value>',
    '1:128',
  ],
  [
    'a ratio of units',
    { valueRatio: { numerator: { value: '30', unit: 'mg' }, denominator: { value: '1', unit: 'g' } } },
    '<value xsi:type="ST">30 mg : 1 g</value>',
    '30 mg : 1 g',
  ],
  [
    'a period',
    { valuePeriod: { start: '2024-03-01', end: '2024-03-04' } },
    '<value xsi:type="IVL_TS"><low value="20240301"/><high value="20240304"/></value>',
    '2024-03-01 to 2024-03-04',
  ],
  ['a time of day', { valueTime: '22:30:00' }, '<value xsi:type="ST">22:30:00</value>', '22:30:00'],
  ['yes', { valueBoolean: true }, '<value xsi:type="BL" value="true"/>', 'Yes'],
  ['a count', { valueInteger: 3 }, '<value xsi:type="INT" value="3"/>', '3'],
  ['a time', { valueDateTime: '2020-01-02' }, '<value xsi:type="TS" value="20200102"/>', '2020-01-02'],
  ['nothing', {}, '<value xsi:type="ST" nullFlavor="UNK"/>', ''],
  [
    'why there is nothing',
    {
      dataAbsentReason: {
        coding: [
          {
            system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason',
            code: 'not-performed',
            display: 'Not Performed',
          },
        ],
      },
    },
    '<value xsi:type="ST" nullFlavor="NI"/>',
    'Not Performed',
  ],
])('%s', (_title, value, xml, text) => {
  expect(valueElement(value).text).toBe(xml);
  expect(readableValue(value)).toBe(text);
});

test('quantities keep digits that a JSON number loses, and numeric texts stay texts', () => {
  expect(parseExactly('{"valueQuantity":{"value":1.50},"text":"\\"value\\":1.50","value":-2e-3}')).toEqual({
    valueQuantity: { value: '1.50' },
    text: '"value":1.50',
    value: '-2e-3',
  });
});
