/** Tests what the header says of the patient, the care team and the document. */
import { expect, test } from 'vitest';
import { demoOfFile } from './demo-of-file.ts';
import { all, at, withTemplate } from './xml-tree.ts';

const demo = demoOfFile(30);

test('the header has the care team', async () => {
  const { root } = await demo.make('care-team-members', 1);
  for (const name of ['informationRecipient', 'legalAuthenticator', 'authenticator', 'participant']) {
    expect(root.children.filter(one => one.name === name).length).toBeGreaterThan(0);
  }
  expect(all(root, 'performer').filter(({ attributes }) => attributes['typeCode'] === 'PRF').length).toBeGreaterThan(1);
});

test('unknown name, birth time, race and ethnicity have the null flavor UNK', async () => {
  const { root, xml } = await demo.make('all-patient-data', 29);
  const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
  for (const unknown of [['name', 'given'], ['name', 'family'], ['birthTime'], ['raceCode'], ['ethnicGroupCode']])
    expect([unknown, at(patient, ...unknown)?.attributes['nullFlavor']]).toEqual([unknown, 'UNK']);
  expect(at(patient, 'administrativeGenderCode')?.attributes['code']).toBe('M');
  expect(withTemplate(root, '4.26:2015-08-01').length).toBeGreaterThan(0);
  expect(xml).not.toMatch(/>\s*UNK\s*</);
});

test('the header identifies the patient', async () => {
  const { root } = await demo.make('patient-info', 1);
  const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
  expect(at(patient, 'name', 'family')?.text).toBe('Okonkwo-Reyes');
  expect(at(patient, 'administrativeGenderCode')?.attributes['code']).toBe('F');
  expect(at(patient, 'birthTime')?.attributes['value']).toBe('19680602');
  expect(at(patient, 'raceCode')?.attributes['code']).toBe('2106-3');
  expect(at(patient, 'sdtc:raceCode')?.attributes['code']).toBe('2039-6');
  expect(at(patient, 'ethnicGroupCode')?.attributes['code']).toBe('2135-2');
  expect(at(patient, 'languageCommunication', 'languageCode')?.attributes['code']).toBe('es');
});

test('a deceased patient is marked as deceased', async () => {
  const { root } = await demo.make('patient-info', 5);
  const patient = at(root, 'recordTarget', 'patientRole', 'patient') ?? root;
  expect(at(patient, 'sdtc:deceasedTime')?.attributes['value']).toBe('20250814032000-0400');
});

test('the confidentiality of a document is the highest of what is in it', async () => {
  const code = async (topic: string, patient: number): Promise<string | undefined> =>
    at((await demo.make(topic, patient)).root, 'confidentialityCode')?.attributes['code'];
  expect(await code('all-patient-data', 1)).toBe('N');
  expect(await code('all-patient-data', 13)).toBe('V');
  expect(await code('patient-info', 13)).toBe('R');
});
