/**
 * Tests that a reader of the table and a program that reads the entries learn the same: doses, negations, flags, units,
 * reference ranges.
 */
import { expect, test } from 'vitest';
import { addEncounter } from '../../src/ccda/entries/encounter.ts';
import { addGoal } from '../../src/ccda/entries/goal.ts';
import { addImmunization } from '../../src/ccda/entries/immunization.ts';
import { addMedication, MEDICATION_COLUMNS } from '../../src/ccda/entries/medication.ts';
import { addOrder } from '../../src/ccda/entries/plan.ts';
import { addProcedure } from '../../src/ccda/entries/procedure.ts';
import { addResults, RESULT_COLUMNS } from '../../src/ccda/entries/result.ts';
import { addVitalSigns, VITAL_SIGN_COLUMNS } from '../../src/ccda/entries/vital-sign.ts';
import type { Reference } from '../../src/ccda/fhir/datatypes.ts';
import type { Observation, Specimen } from '../../src/ccda/fhir/measured.ts';
import type { Dosage, MedicationRequest } from '../../src/ccda/fhir/record.ts';
import { LISTS } from '../../src/ccda/lists.ts';
import type { Resolve } from '../../src/ccda/participants.ts';
import type { SectionWriter } from '../../src/ccda/section.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

const UCUM = 'http://unitsofmeasure.org';
const INTERPRETATION = 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation';
const mg = (value: string) => ({ value, unit: 'mg', system: UCUM, code: 'mg' });
const tablets = (value: string) => ({ value, unit: 'tablets', system: UCUM, code: '{tbl}' });
const flagged = (code: string, display: string) => [{ coding: [{ system: INTERPRETATION, code, display }] }];
const oral = { text: 'oral', coding: [{ system: 'http://snomed.info/sct', code: '26643006' }] };

function written(add: (content: SectionWriter) => void, resolve: Resolve = () => undefined) {
  const rows: (readonly string[])[] = [];
  const marked: number[] = [];
  let xml = '';
  add({
    resolve,
    patient: { resourceType: 'Patient', id: '1' },
    row: (...cells) => `row-${rows.push(cells)}`,
    markedRow: (...cells) => `row-${marked[marked.push(rows.push(cells)) - 1]}`,
    remarks: () => NOTHING,
    id: () => NOTHING,
    entry: ({ text }) => {
      xml += text;
    },
  });
  const cells = (columns: readonly string[], name: string) => rows.map(row => row[columns.indexOf(name)]);
  return { rows, marked, cells, xml: xml.replace(/\s+/g, ' ') };
}

const order = (dosageInstruction: readonly Dosage[], more: Partial<MedicationRequest> = {}): MedicationRequest => ({
  ...{ resourceType: 'MedicationRequest', id: '1', status: 'active', intent: 'order' },
  ...{ medicationCodeableConcept: { text: 'Ibuprofen' }, dosageInstruction, ...more },
});
const medication = (request: MedicationRequest) => {
  const { cells, xml } = written(content => addMedication(request, content));
  const [instructions, dosage, status] = ['Instructions', 'Dose and supply', 'Status'].map(
    name => cells(MEDICATION_COLUMNS, name)[0],
  );
  return { instructions, dosage, status, xml };
};

test('a dosage without a text is readable in the table', () => {
  const { instructions, dosage, xml } = medication(
    order(
      [
        {
          route: oral,
          timing: { repeat: { frequency: 3, period: 1, periodUnit: 'd', duration: 5, durationUnit: 'd' } },
          doseAndRate: [{ doseQuantity: mg('400') }],
          asNeededCodeableConcept: { text: 'pain' },
        },
      ],
      { dispenseRequest: { numberOfRepeatsAllowed: 2, quantity: tablets('30') } },
    ),
  );
  expect(instructions).toBe('');
  expect(dosage).toBe('400 mg, oral, 3 times per 1 d, for 5 d, as needed (pain)\nsupply: 30 tablets, 2 refills');
  expect(xml).toContain('<doseQuantity value="400" unit="mg"/>');
});

test('beside a text the coded dose stands in a column of its own, so that a difference is seen', () => {
  const { instructions, dosage } = medication(
    order([
      {
        text: 'one at night',
        patientInstruction: 'with water',
        timing: { code: { text: 'BID' }, repeat: { when: ['HS'] } },
        doseAndRate: [{ doseQuantity: tablets('2') }],
      },
    ]),
  );
  expect([instructions, dosage]).toEqual(['one at night; with water', '2 tablets, BID, at bedtime']);
});

test('a taper has each dosage in the table, and no dose of the first alone in the entry', () => {
  const step = (dose: string, start: string, end: string): Dosage => ({
    text: `take ${dose}`,
    route: oral,
    timing: { repeat: { boundsPeriod: { start, end }, frequency: 1, period: 1, periodUnit: 'd' } },
    doseAndRate: [{ doseQuantity: mg(dose) }],
  });
  const request = order([step('40', '2024-03-01', '2024-03-03'), step('20', '2024-03-04', '2024-03-09')]);
  const { instructions, dosage, xml } = medication(request);
  expect(instructions).toBe('take 40\ntake 20');
  expect(dosage).toBe('40 mg, oral, every 1 d\n20 mg, oral, every 1 d');
  expect(xml).toContain('<doseQuantity nullFlavor="UNK"/>');
  expect(xml).toContain('<period value="1" unit="d"/>');
  expect(xml).toContain('code="C38288"');
  expect(xml).toContain('<low value="20240301"/><high value="20240309"/>');
  expect(LISTS.medications.span(request)).toEqual({ start: '2024-03-01', end: '2024-03-09' });
});

test('a dose is a range, a bound or a number with the unit in words, as the record says', () => {
  const dose = (doseAndRate: NonNullable<Dosage['doseAndRate']>[number]) => {
    const { dosage, xml } = medication(order([{ doseAndRate: [doseAndRate] }]));
    return [dosage, /<doseQuantity.*?(?:\/>|<\/doseQuantity>)(?= ?<(?:rate|consumable))/.exec(xml)?.[0]];
  };
  expect(dose({ doseRange: { low: tablets('1'), high: tablets('2') } })).toEqual([
    '1 tablets to 2 tablets',
    '<doseQuantity><low value="1"/><high value="2"/></doseQuantity>',
  ]);
  expect(dose({ doseQuantity: { ...mg('10'), comparator: '<' } })).toEqual([
    '< 10 mg',
    '<doseQuantity><high inclusive="false" value="10" unit="mg"/></doseQuantity>',
  ]);
  expect(dose({ doseQuantity: { value: '500', unit: 'mg' } })).toEqual([
    '500 mg',
    '<doseQuantity nullFlavor="OTH"><translation value="500" nullFlavor="OTH"><originalText>mg</originalText></translation></doseQuantity>',
  ]);
  expect(dose({ doseRange: { low: { value: '5', unit: 'ml' } } })).toEqual([
    'at least 5 ml',
    '<doseQuantity nullFlavor="UNK"/>',
  ]);
  expect(dose({ doseRange: { low: { value: '1', unit: 'puff' }, high: { value: '2', unit: 'Puffs' } } })[1]).toBe(
    '<doseQuantity><low value="1"/><high value="2"/></doseQuantity>',
  );
  const form = 'http://terminology.hl7.org/CodeSystem/v3-orderableDrugForm';
  for (const counted of [{ unit: 'TAB' }, { unit: 'Tablet' }, { unit: 'ampoule', system: form, code: 'AMP' }]) {
    expect(dose({ doseQuantity: { value: '2', ...counted } })[1]).toBe('<doseQuantity value="2"/>');
  }
});

test('a rate is in table and entry; one without a time of 1 in the table alone', () => {
  const per = (value: string) => ({
    rateRatio: {
      numerator: { value: '100', unit: 'mL', system: UCUM, code: 'mL' },
      denominator: { value, unit: 'h', system: UCUM, code: 'h' },
    },
  });
  const hourly = medication(order([{ doseAndRate: [per('1')] }]));
  expect([hourly.dosage, hourly.xml.includes('<rateQuantity value="100" unit="mL/h"/>')]).toEqual([
    'rate 100 mL : 1 h',
    true,
  ]);
  const slow = medication(order([{ doseAndRate: [per('8')] }]));
  expect([slow.dosage, slow.xml.includes('rateQuantity')]).toEqual(['rate 100 mL : 8 h', false]);
});

test('what must not be given or done is negated, and the table says so', () => {
  const drug = medication(order([], { doNotPerform: true }));
  expect(drug.status).toBe('not to be given, active');
  expect(drug.xml).toContain('moodCode="INT" negationInd="true"');
  expect(medication(order([])).xml).not.toContain('negationInd');
  for (const kind of ['observation', 'act'] as const) {
    const request = { resourceType: 'ServiceRequest', id: '1', status: 'active', doNotPerform: true };
    const { rows, xml } = written(content => addOrder(request, kind, content));
    expect(rows[0]?.[1]).toBe('not to be done, active');
    expect(xml).toContain('moodCode="RQO" negationInd="true"');
  }
});

test('a vaccine dose in words keeps its unit', () => {
  const shot = {
    resourceType: 'Immunization',
    id: '1',
    status: 'completed',
    doseQuantity: { value: '0.5', unit: 'ml' },
  };
  expect(written(content => addImmunization(shot, content)).xml).toContain(
    '<doseQuantity nullFlavor="OTH"><translation value="0.5" nullFlavor="OTH"><originalText>ml</originalText></translation></doseQuantity>',
  );
});

test('a reference range says which end it has, and whether it is another one than the normal', () => {
  const range = (value: string) => ({ value, unit: 'umol/L', system: UCUM, code: 'umol/L' });
  const meaning = (code: string, display?: string) => ({
    coding: [
      { system: 'http://terminology.hl7.org/CodeSystem/referencerange-meaning', code, ...(display && { display }) },
    ],
  });
  const result: Observation = {
    ...{ resourceType: 'Observation', id: '1', status: 'final', valueQuantity: range('60') },
    referenceRange: [
      { low: range('50'), type: meaning('normal', 'Normal Range') },
      { high: range('500'), type: meaning('critical', 'Critical') },
      { low: range('40'), high: range('90'), appliesTo: [{ text: 'female' }] },
    ],
  };
  const said = ['at least 50 umol/L', 'Critical: at most 500 umol/L', '40 umol/L to 90 umol/L (female)'];
  const { cells, xml } = written(content => addResults([], [result], content));
  expect(cells(RESULT_COLUMNS, 'Reference range')).toEqual([said.join('\n')]);
  expect([...xml.matchAll(/<observationRange>(?:<text>(.*?)<\/text>)?/g)].map(found => found[1])).toEqual([
    undefined,
    said[1],
    said[2],
  ]);
});

test('a result says of which specimen it is', () => {
  const snomed = 'http://snomed.info/sct';
  const urine = { coding: [{ system: snomed, code: '122575003', display: 'Urine specimen' }] };
  const known = new Map<string, Specimen>([
    ['Specimen/1', { resourceType: 'Specimen', id: '1', type: urine, collection: { bodySite: { text: 'catheter' } } }],
  ]);
  const culture = (specimen: Reference): Observation => ({
    ...{ resourceType: 'Observation', id: '1', status: 'final', valueString: 'E. coli', specimen },
    ...{ bodySite: { text: 'bladder' }, method: { text: 'culture' } },
  });
  const of = (specimen: Reference) => {
    expect(LISTS['laboratory-results'].references(culture(specimen))).toContainEqual(specimen);
    const { cells, xml } = written(
      content => addResults([], [culture(specimen)], content),
      at => known.get(at?.reference ?? ''),
    );
    return [cells(RESULT_COLUMNS, 'Specimen, site, method')[0], /<specimen>.*<\/specimen>/.exec(xml)?.[0]];
  };
  expect(of({ reference: 'Specimen/1' })).toEqual([
    'Urine specimen, catheter, bladder, culture',
    expect.stringContaining('<code code="122575003" displayName="Urine specimen"'),
  ]);
  expect(of({ display: 'wound swab' })).toEqual([
    'wound swab, bladder, culture',
    expect.stringContaining('<originalText>wound swab</originalText>'),
  ]);
  expect(of({ reference: 'Specimen/2' })).toEqual(['bladder, culture', undefined]);
});

test('vital signs show flags and reference ranges; a component has its own flag', () => {
  const pressure = (value: string) => ({ value, unit: 'mmHg', system: UCUM, code: 'mm[Hg]' });
  const { cells, marked, xml } = written(content =>
    addVitalSigns(
      [
        {
          ...{ resourceType: 'Observation', id: '1', status: 'final', bodySite: { text: 'left arm' } },
          component: [
            {
              ...{ code: { text: 'Systolic' }, valueQuantity: pressure('182'), interpretation: flagged('H', 'High') },
              referenceRange: [{ high: pressure('120') }],
            },
            { code: { text: 'Diastolic' }, valueQuantity: pressure('70') },
          ],
        },
      ],
      content,
    ),
  );
  expect(cells(VITAL_SIGN_COLUMNS, 'Flag')).toEqual(['High', '']);
  expect(cells(VITAL_SIGN_COLUMNS, 'Reference range')).toEqual(['at most 120 mmHg', '']);
  expect(cells(VITAL_SIGN_COLUMNS, 'Site and method')).toEqual(['left arm', 'left arm']);
  expect(marked).toEqual([1]);
  expect([...xml.matchAll(/<interpretationCode code="(\w+)"/g)].map(found => found[1])).toEqual(['H']);
  expect([...xml.matchAll(/<observationRange>/g)]).toHaveLength(1);
});

test('a vital sign with a comparator or a unit in words is no bare number', () => {
  const vital = (valueQuantity: NonNullable<Observation['valueQuantity']>) => {
    const { rows, xml } = written(content =>
      addVitalSigns([{ resourceType: 'Observation', id: '1', status: 'final', valueQuantity }], content),
    );
    return [rows[0]?.[1], /<value .*?(?:\/>|<\/value>)(?= ?<)/.exec(xml)?.[0]];
  };
  expect(vital({ value: '50', comparator: '<', unit: '%', system: UCUM, code: '%' })).toEqual([
    '< 50 %',
    '<value xsi:type="PQ" nullFlavor="OTH" unit="%"/>',
  ]);
  expect(vital({ value: '99.2', unit: 'DegF' })).toEqual([
    '99.2 DegF',
    '<value xsi:type="PQ" unit="1" nullFlavor="OTH"><translation value="99.2" nullFlavor="OTH"><originalText>DegF</originalText></translation></value>',
  ]);
  expect(vital({ value: '3' })).toEqual(['3', '<value xsi:type="PQ" value="3" unit="1"/>']);
});

test('a diagnosis of a visit says that it was refuted or is provisional', () => {
  const verified = (id: string, code: string, display: string) => ({
    ...{ resourceType: 'Condition', id, code: { text: `Problem ${id}` } },
    verificationStatus: {
      coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code, display }],
    },
  });
  const diagnoses = [verified('1', 'confirmed', 'Confirmed'), verified('2', 'refuted', 'Refuted')];
  const visit = { resourceType: 'Encounter', id: '1', status: 'finished' };
  const { rows, xml } = written(content => addEncounter(visit, diagnoses, content));
  expect(rows[0]?.[5]).toBe('Problem 1\nProblem 2 (Refuted)');
  expect([...xml.matchAll(/negationInd="true"/g)]).toHaveLength(1);
  expect(xml).not.toContain('<statusCode code="cancelled"/>');
});

test('a cancelled visit is cancelled in its entry', () => {
  const visit = { resourceType: 'Encounter', id: '1', status: 'cancelled' };
  expect(written(content => addEncounter(visit, [], content)).xml).toContain('<statusCode code="cancelled"/>');
});

test('a procedure that was not done says why', () => {
  const procedure = { resourceType: 'Procedure', id: '1', status: 'not-done', statusReason: { text: 'declined' } };
  expect(written(content => addProcedure(procedure, content)).rows[0]?.[1]).toBe('not done, declined');
});

test('the target of a goal may be a range or a code', () => {
  const target = (detail: object) => {
    const goal = { resourceType: 'Goal', id: '1', description: { text: 'weight' }, target: [detail] };
    const { rows, xml } = written(content => addGoal(goal, content));
    return [rows[0]?.[1], /<value xsi.*<\/value>/.exec(xml)?.[0]];
  };
  const kg = (value: string) => ({ value, unit: 'kg', system: UCUM, code: 'kg' });
  expect(target({ detailRange: { low: kg('70'), high: kg('75') } })).toEqual([
    '70 kg to 75 kg',
    '<value xsi:type="IVL_PQ"><low value="70" unit="kg"/><high value="75" unit="kg"/></value>',
  ]);
  expect(target({ detailCodeableConcept: { text: 'normal' } })[0]).toBe('normal');
  expect(target({ dueDate: '2025-01-01' })).toEqual(['', '<value xsi:type="ST">weight</value>']);
});
