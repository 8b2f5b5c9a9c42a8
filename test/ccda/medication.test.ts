/** Tests how HL7 V3 expresses the times and frequency of a drug. */
import { expect, test } from 'vitest';
import { addMedication } from '../../src/ccda/entries/medication.ts';
import type { Dosage } from '../../src/ccda/fhir/record.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

type Timing = NonNullable<Dosage['timing']>;

/** The times of an entry besides the interval. */
function timesOf(timing: Timing): readonly string[] {
  let written = '';
  addMedication(
    { resourceType: 'MedicationRequest', id: '1', status: 'active', dosageInstruction: [{ timing }] },
    {
      resolve: () => undefined,
      patient: { resourceType: 'Patient', id: '1' },
      row: () => 'row',
      markedRow: () => 'row',
      remarks: () => NOTHING,
      id: () => NOTHING,
      entry({ text }) {
        written = text;
      },
    },
  );
  return [...written.matchAll(/<(?:period|event) [^>]*>/g)].map(([element]) => element);
}

test.each([
  [3, 1, 'd', '<period value="8" unit="h"/>'],
  [1, 1, 'd', '<period value="1" unit="d"/>'],
  [2, 1, 'd', '<period value="12" unit="h"/>'],
  [1, 6, 'h', '<period value="6" unit="h"/>'],
  [3, 1, 'wk', '<period value="56" unit="h"/>'],
  [4, 1, 'h', '<period value="15" unit="min"/>'],
  [7, 1, 'mo', '<period value="0.142857" unit="mo"/>'],
] as const)('%i times in %i %s is a period in whole units', (frequency, period, periodUnit, expected) => {
  expect(timesOf({ repeat: { frequency, period, periodUnit } })).toEqual([expected]);
});

test('"at bedtime" is an EIVL event, whether stored as an event or as a code', () => {
  const repeat = { frequency: 1, period: 1, periodUnit: 'd' };
  expect(timesOf({ repeat: { ...repeat, when: ['HS'] } })).toEqual(['<event code="HS"/>']);
  const system = 'http://terminology.hl7.org/CodeSystem/v3-GTSAbbreviation';
  expect(timesOf({ repeat, code: { coding: [{ system, code: 'BED' }] } })).toEqual(['<event code="HS"/>']);
  expect(timesOf({ repeat: { ...repeat, when: ['MORN'] } })).toEqual(['<period value="1" unit="d"/>']);
});

test.each([
  ['once or twice a day', { frequency: 1, frequencyMax: 2, period: 1, periodUnit: 'd' }],
  ['every 4 to 6 hours', { frequency: 1, period: 4, periodMax: 6, periodUnit: 'h' }],
  ['on Mondays', { frequency: 1, period: 1, periodUnit: 'd', dayOfWeek: ['mon'] }],
] as const)('%s has no period', (_words, repeat) => {
  expect(timesOf({ repeat })).toEqual([]);
});
