/** `check` reports faults planted in small packs at the line that makes the element, or should. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { resourceReport } from '../../src/check/resources.ts';
import { firstOfMapping } from '../../src/pipeline/of-mapping.ts';
import { lintel, type Outcome } from '../cli/lintel.ts';
import { PLACES, smallClinic } from '../cli/small-clinic.ts';
import { openDemo } from '../law/demo.ts';
import { NOW } from '../law/law.ts';

const ALLERGIES = `mapping: allergies
resource: AllergyIntolerance
profile: us-core-allergyintolerance
source: { table: ALLERGY, as: a, key: [ID] }
id: "{ID}"
needs: [patient]
elements:
  clinicalStatus: { from: STS, via: allergy-status }
  code: { text: { from: CAUSE } }
  patient: { ref: people, on: { ID: PERSON_ID } }
`;

const WEIGHTS = `mapping: weights
resource: Observation
profile: us-core-body-weight
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  category:
    - http://terminology.hl7.org/CodeSystem/observation-category#vital-signs
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  effectiveDateTime: { from: TAKEN }
  valueQuantity:
    value: { from: KG }
    unit: kg
    system: http://unitsofmeasure.org
    code: kg
`;

const CODES = `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
allergy-status:
  system: http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical
  rows: { A: active, R: resolved }
`;

const COVERAGE = `mapping: coverages
resource: Coverage
profile: us-core-coverage
source: { table: PERSON, as: p, key: [ID] }
id: "c-{ID}"
needs: [beneficiary]
elements:
  status: active
  subscriberId: { from: SURNAME }
  relationship: http://terminology.hl7.org/CodeSystem/subscriber-relationship#self
  beneficiary: { ref: people, on: { ID: ID } }
  payor:
    - { ref: places, on: { ID: ID } }
    - { display: Another payer }
`;

async function checked(files: Readonly<Record<string, string>>, sql: string): Promise<Outcome> {
  const { folder, environment } = smallClinic({ 'codes.yaml': CODES, ...files });
  const database = new DatabaseSync(join(folder, 'clinic.sqlite'));
  database.exec(
    `CREATE TABLE ALLERGY (ID INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, STS CHAR(1), CAUSE VARCHAR(40));
     INSERT INTO ALLERGY VALUES (1, 1, 'A', 'Walnut'), (2, 1, 'R', 'Hazelnut'), (3, 2, 'A', 'Almond'); ${sql}`,
  );
  database.close();
  return lintel(environment, 'check', '--rows');
}

test('valid rows have no problem, and the report counts the resources that claim a profile', async () => {
  const { out, code } = await checked({ 'allergy.yaml': ALLERGIES, 'weighing.yaml': WEIGHTS }, '');
  expect(out).not.toMatch(/^\w+\.yaml:/m);
  expect(out).toMatch(/us-core-allergyintolerance +6\.1\.0, 7\.0\.0 +3 +3$/m);
  expect(code).toBe(0);
});

test('a claimed us-core-allergyintolerance without clinicalStatus is an error where the mapping makes clinicalStatus', async () => {
  const { out, code } = await checked({ 'allergy.yaml': ALLERGIES }, 'UPDATE ALLERGY SET STS = NULL WHERE ID > 1');
  expect(out).toMatch(
    /^allergy\.yaml:8:19: AllergyIntolerance breaks ait-1 in 2 of 3 sampled resources of allergies, against FHIR R4; expected .*clinicalStatus SHALL be present/m,
  );
  expect(out).toMatch(/us-core-allergyintolerance +6\.1\.0, 7\.0\.0 +3 +1$/m);
  expect(code).toBe(1);
});

test('an element that the mapping never makes is reported at `elements`', async () => {
  const without = ALLERGIES.replace(/ {2}clinicalStatus.*\n/, '');
  const { out } = await checked({ 'allergy.yaml': without }, '');
  expect(out).toMatch(/^allergy\.yaml:8:3: AllergyIntolerance breaks ait-1 in 3 of 3 sampled resources/m);
});

const BROKEN: readonly (readonly [
  fault: string,
  files: Readonly<Record<string, string>>,
  sql: string,
  told: RegExp,
])[] = [
  [
    'a code outside a required binding',
    { 'person.yaml': people('{ from: SEX }') },
    '',
    /^person\.yaml:7:11: Patient\.gender is not in http:\/\/hl7\.org\/fhir\/ValueSet\/administrative-gender in 2 of 2 sampled resources of people, against FHIR R4 \[LNT-710\]$/m,
  ],
  [
    'two values where a profile allows one',
    { 'coverage.yaml': COVERAGE, 'place.yaml': PLACES },
    '',
    /^coverage\.yaml:13:5: Coverage\.payor occurs more than once in 2 of 2 sampled resources of coverages, against us-core-coverage \(6\.1\.0, 7\.0\.0\) \[LNT-710\]$/m,
  ],
  [
    'an element that a profile requires and some rows lack',
    { 'weighing.yaml': WEIGHTS },
    'UPDATE WEIGHING SET TAKEN = NULL WHERE NO = 7',
    /^weighing\.yaml:12:22: Observation\.effective is missing in 1 of 2 sampled resources of weights, against us-core-body-weight \(6\.1\.0, 7\.0\.0\); expected a value in each of them: by `else`, by `needs`/m,
  ],
  [
    'an invariant of a profile',
    { 'weighing.yaml': WEIGHTS },
    'UPDATE WEIGHING SET KG = NULL WHERE NO = 7',
    /^weighing\.yaml:14:5: Observation breaks vs-2 in 1 of 2 sampled resources of weights, against us-core-body-weight \(6\.1\.0, 7\.0\.0\); expected /m,
  ],
  [
    'a slice without an item',
    { 'weighing.yaml': WEIGHTS.replace('#vital-signs', '#exam') },
    '',
    /^weighing\.yaml:9:5: Observation\.category:VSCat is missing in 2 of 2 sampled resources of weights, against us-core-body-weight/m,
  ],
  [
    'a type that a profile leaves out',
    {
      'weighing.yaml': WEIGHTS.replace(/ {2}valueQuantity:[\s\S]*/, '  valueString: { from: KG }\n').replace(
        'us-core-body-weight',
        'bodyweight',
      ),
    },
    '',
    /^weighing\.yaml:13:16: Observation\.valueString type string is not allowed in 2 of 2 sampled resources/m,
  ],
  [
    'a fixed value that is another',
    { 'weighing.yaml': WEIGHTS.replace('unitsofmeasure.org', 'units.example.org') },
    '',
    /^weighing\.yaml:16:13: Observation\.valueQuantity\.system is not the fixed value in 2 of 2 sampled resources/m,
  ],
];

test.each(BROKEN)('%s is reported at its line', async (_, files, sql, told) => {
  const { out, code } = await checked(files, sql);
  expect(out).toMatch(told);
  expect(code).toBe(1);
  // The report contains no value of a row.
  expect(out).not.toMatch(/Kowalski|Müller|Walnut|61\.5|1970/);
});

test('a rule of one release is a warning, and an error for a claim of that release', async () => {
  // US Core 7.0.0 requires UCUM units for results.
  const result = WEIGHTS.replace('us-core-body-weight', 'us-core-observation-lab')
    .replace('#vital-signs', '#laboratory')
    .replace('http://unitsofmeasure.org', 'http://units.example.org');
  const told =
    /^weighing\.yaml:14:5: (warning: )?Observation\.valueQuantity breaks us-core-3 in 2 of 2 sampled resources of weights, against us-core-observation-lab \(7\.0\.0\); expected /m;
  const either = await checked({ 'weighing.yaml': result }, '');
  expect(told.exec(either.out)?.[1], either.out).toBe('warning: ');
  expect(either.code).toBe(0);
  const address = 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-observation-lab|7.0.0';
  const pinned = await checked({ 'weighing.yaml': result.replace('us-core-observation-lab', address) }, '');
  expect(told.exec(pinned.out), pinned.out).not.toBeNull();
  expect(told.exec(pinned.out)?.[1]).toBeUndefined();
  expect(pinned.code).toBe(1);
});

test('a profile that is not known is reported once, as a warning', async () => {
  const profile = 'http://example.org/StructureDefinition/heavy';
  const known = { 'allergy.yaml': ALLERGIES.replace('us-core-allergyintolerance', profile) };
  const { out, code } = await checked(
    { ...known, 'place.yaml': PLACES.replace('source: {', `profile: ${profile}\nsource: {`) },
    '',
  );
  expect(out.split('is no profile that Lintel knows'), out).toHaveLength(2);
  expect(out).toContain(`allergy.yaml:3:10: warning: ${profile} is no profile that Lintel knows`);
  expect(code).toBe(0);
});

test('the demo has no problem', async () => {
  const demo = await openDemo({ patients: 29 });
  const report = resourceReport();
  for (const mapping of demo.registry.mappings) {
    for (const { id, json } of await firstOfMapping(mapping, 10, { ...demo, now: NOW }))
      report.add({ mapping, id, json, resource: JSON.parse(json) });
  }
  await demo.close();
  expect(report.problems().filter(({ severity }) => severity === 'error')).toEqual([]);
  expect(report.table().rows.length).toBeGreaterThan(50);
});

function people(gender: string): string {
  return `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  gender: ${gender}
`;
}
