/** `lintel init` where contacts are people, too, and other records hold a number of the patient beside the key. */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

const SCHEMA = `
  CREATE TABLE patient_data (id BIGINT NOT NULL PRIMARY KEY, lname VARCHAR(50) NOT NULL, fname VARCHAR(50), DOB DATE, sex VARCHAR(9),
    pid BIGINT NOT NULL UNIQUE);
  CREATE TABLE person (id BIGINT NOT NULL PRIMARY KEY, last_name VARCHAR(50), first_name VARCHAR(50), birth_date DATE, gender VARCHAR(9));
  CREATE TABLE form_encounter (id BIGINT NOT NULL PRIMARY KEY, date DATETIME, pid BIGINT, class_code VARCHAR(9), date_end DATETIME);
  CREATE TABLE prescriptions (id BIGINT NOT NULL PRIMARY KEY, patient_id BIGINT, drug VARCHAR(50), start_date DATE);`;

test('patients are those whose number other records hold, and references join that number', async () => {
  const { first, text, proposals } = await begun(SCHEMA, insert => {
    for (let i = 1; i <= 40; i++) {
      const day = `2024-02-${String(1 + (i % 28)).padStart(2, '0')} 08:30:00`;
      insert('patient_data', i, 'Quxf', 'Quxg', '1970-02-03', i % 2 ? 'Male' : 'Female', 5000 + i);
      insert('person', i, 'Quxh', 'Quxi', '1970-02-03', i % 2 ? 'Male' : 'Female');
      insert('form_encounter', i, day, 5000 + i, 'AMB', day);
      insert('prescriptions', i, 5000 + i, 'Quxdrug', '2024-02-03');
    }
  });
  expect(first('patients')).toMatchObject({ table: 'patient_data', key: ['id'] });
  expect(first('patients').reasons.join()).not.toContain('around patients');
  const person = proposals.find(({ table }) => table === 'person');
  expect(person?.reasons).toContain('0 % of a sample of other records name its rows');
  expect(text('encounters.yaml')).toContain('subject: { ref: patients, on: { pid: pid } }');
  expect(text('medications.yaml')).toContain('subject: { ref: patients, on: { pid: patient_id } }');
});
