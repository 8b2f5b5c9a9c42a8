/** `lintel init` on a schema with codes in a table of concepts, with their names and vocabularies. */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

type Insert = Parameters<Parameters<typeof begun>[1]>[0];

/** As in the OMOP common data model, without keys and foreign keys. */
const OMOP = `
  CREATE TABLE person (person_id INTEGER NOT NULL, birth_datetime DATETIME, gender_concept_id INTEGER, gender_source_value VARCHAR(50));
  CREATE TABLE concept (concept_id INTEGER NOT NULL, concept_name VARCHAR(255), domain_id VARCHAR(20), vocabulary_id VARCHAR(20),
    concept_code VARCHAR(50), invalid_reason CHAR(1));
  CREATE TABLE condition_occurrence (condition_occurrence_id INTEGER NOT NULL, person_id INTEGER, condition_concept_id INTEGER,
    condition_start_date DATE, condition_type_concept_id INTEGER, condition_status_concept_id INTEGER,
    condition_source_value VARCHAR(50), condition_source_concept_id INTEGER);
  CREATE TABLE drug_exposure (drug_exposure_id INTEGER NOT NULL, person_id INTEGER, drug_concept_id INTEGER,
    drug_exposure_start_date DATE, route_concept_id INTEGER);
  CREATE TABLE provider (provider_id INTEGER NOT NULL, provider_name VARCHAR(255), npi VARCHAR(20));
  CREATE TABLE measurement (measurement_id INTEGER NOT NULL, person_id INTEGER, measurement_concept_id INTEGER,
    measurement_date DATE, value_as_number NUMERIC, unit_concept_id INTEGER, provider_id INTEGER);`;

function omop(insert: Insert): void {
  for (let i = 1; i <= 60; i++) {
    const [sct, loinc, drug] = [1000 + (i % 9), 2000 + (i % 9), 3000 + (i % 9)];
    insert('person', i, `19${30 + i}-03-14 00:00:00`, 8507, i % 2 ? 'M' : 'F');
    if (i <= 9) {
      insert('concept', sct, `Disorder ${i}`, 'Condition', 'SNOMED', `10000${i}`, null);
      insert('concept', loinc, `Measured ${i}`, 'Measurement', 'LOINC', `10${i}-1`, null);
      insert('concept', drug, `Drug ${i}`, 'Drug', 'House', `D${i}`, null);
      insert('provider', i, `Quxa Quxb ${i}`, `10${i}`);
    }
    insert('condition_occurrence', i, i, sct, '2024-03-14', 32817, 32902, `C${i}`, sct);
    insert('drug_exposure', i, i, drug, '2024-03-14', 4132161);
    insert('measurement', i, i, loinc, '2024-03-14', 5 + (i % 7) / 10, 8876, 1 + (i % 9));
  }
}

test('the concept column named after the record becomes its code, with its system', async () => {
  const { first, text, errors } = await begun(OMOP, omop);
  const coded = (kind: string): readonly string[] =>
    first(kind)
      .elements.filter(({ path }) => /[cC]ode/.test(path))
      .map(({ path, column }) => `${path} ${column}`);
  expect(coded('conditions')).toEqual([
    'code.text concept_name',
    'code.coding.code concept_code',
    'code.coding.system vocabulary_id',
  ]);
  expect(coded('medications')).toEqual([
    'medicationCodeableConcept.text concept_name',
    'medicationCodeableConcept.coding[concept].code concept_code',
    'medicationCodeableConcept.coding[concept].system vocabulary_id',
  ]);
  expect(coded('vitals')).toContain('code.text concept_name');
  expect(text('conditions.yaml')).toContain(
    '#     j: { table: concept, on: { concept_id: condition_concept_id } }  ## by the names alone\n',
  );
  expect(text('vitals.yaml')).toContain('{ table: concept, on: { concept_id: measurement_concept_id } }');
  expect(text('codes.yaml')).toContain(`# concept-vocabulary-id:
#   rows:
#     House: absent  ## 9 rows; nothing is suggested
#     LOINC: http://loinc.org  ## 9 rows; suggested: it usually means this system
#     SNOMED: http://snomed.info/sct  ## 9 rows; suggested: it usually means this system
`);
  expect(await errors()).toEqual([]);
});

/** Another product: with a declared foreign key, and other column names. */
const TERMS = `
  CREATE TABLE PATIENT (PAT_NO INTEGER PRIMARY KEY, LAST_NAME VARCHAR(30), FIRST_NAME VARCHAR(30), BIRTH_DATE DATE);
  CREATE TABLE CODE_LIST (ID INTEGER PRIMARY KEY, CODE_SYSTEM VARCHAR(20), CODE VARCHAR(20), DESCRIPTION VARCHAR(90));
  CREATE TABLE PROBLEM (PROB_NO INTEGER PRIMARY KEY, PAT_NO INTEGER REFERENCES PATIENT(PAT_NO), ONSET_DATE DATE,
    PROBLEM_TEXT VARCHAR(90), SEVERITY INTEGER REFERENCES CODE_LIST(ID), PROBLEM INTEGER REFERENCES CODE_LIST(ID));`;

test('a text of its own stays, with the code of the concept beside it', async () => {
  const { first, text, errors } = await begun(TERMS, insert => {
    for (let i = 1; i <= 30; i++) {
      insert('PATIENT', i, 'Quxa', 'Quxb', `19${40 + i}-03-14`);
      insert('CODE_LIST', i, i % 2 ? 'ICD10CM' : 'SCT', `E1${i}`, `Disorder ${i}`);
      insert('PROBLEM', 100 + i, i, '2020-03-14', 'Sugar', 1 + (i % 5), i);
    }
  });
  const paths = first('conditions').elements.map(({ path, column }) => `${path} ${column}`);
  expect(text('conditions.yaml')).toContain('#     j: { table: CODE_LIST, on: { ID: PROBLEM } }\n');
  expect(paths).toContain('code.text PROBLEM_TEXT');
  expect(paths).toContain('code.coding.code CODE');
  expect(paths).toContain('code.coding.system CODE_SYSTEM');
  expect(await errors()).toEqual([]);
});
