/** Vital signs that were not measured. */
import { expect, test } from 'vitest';
import { addVitalSigns } from '../../src/ccda/entries/vital-sign.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

test('a missing oxygen saturation has the unit of a saturation, not of the flow rate', () => {
  const written: string[] = [];
  const loinc = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
  const absent = { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'unknown' }] };
  const litres = { value: '2', unit: 'L/min', system: 'http://unitsofmeasure.org', code: 'L/min' };
  addVitalSigns(
    [
      {
        resourceType: 'Observation',
        id: '1',
        code: loinc('2708-6'),
        dataAbsentReason: absent,
        component: [
          { code: loinc('3151-8'), valueQuantity: litres },
          { code: loinc('3150-6'), dataAbsentReason: absent },
        ],
      },
    ],
    {
      resolve: () => undefined,
      patient: { resourceType: 'Patient', id: '1' },
      row: () => 'row',
      markedRow: () => 'row',
      remarks: () => NOTHING,
      id: () => NOTHING,
      entry: ({ text }) => written.push(text),
    },
  );
  expect([...written.join('').matchAll(/<value [^>]*>/g)].map(([value]) => value)).toEqual([
    '<value xsi:type="PQ" nullFlavor="UNK" unit="%"/>',
    '<value xsi:type="PQ" value="2" unit="L/min"/>',
    '<value xsi:type="PQ" nullFlavor="UNK" unit="%"/>',
  ]);
});
