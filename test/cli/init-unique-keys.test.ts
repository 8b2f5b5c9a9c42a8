/** `lintel init` on a schema with unique indexes instead of keys, columns named `date`, and many empty tables. */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

const SCHEMA = `
  CREATE TABLE patient_data (id bigint(20) NOT NULL, lname VARCHAR(50) NOT NULL, fname VARCHAR(50), DOB DATE, sex VARCHAR(9),
    pid BIGINT NOT NULL, uuid BINARY(16), providerID INT);
  CREATE UNIQUE INDEX patient_pid ON patient_data (pid);
  CREATE UNIQUE INDEX patient_uuid ON patient_data (uuid);
  CREATE TABLE person (id BIGINT NOT NULL PRIMARY KEY, last_name VARCHAR(50), first_name VARCHAR(50), birth_date DATE, gender VARCHAR(9));
  CREATE TABLE users (id BIGINT NOT NULL PRIMARY KEY, username VARCHAR(50), lname VARCHAR(50), fname VARCHAR(50), npi VARCHAR(15));
  CREATE TABLE form_encounter (id BIGINT NOT NULL PRIMARY KEY, date DATETIME, pid BIGINT, provider_id INT, class_code VARCHAR(9), date_end DATETIME);
  CREATE TABLE result (id BIGINT NOT NULL PRIMARY KEY, pid BIGINT, document_id BIGINT, result_text VARCHAR(50), date DATETIME, result VARCHAR(9), units VARCHAR(9),
    result_status VARCHAR(9));
  CREATE TABLE documents (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(50));
  CREATE TABLE vitals (id BIGINT NOT NULL PRIMARY KEY, pid BIGINT, date DATETIME, start_of_pain DATE, weight DECIMAL(9,2));
  CREATE TABLE employer_data (id BIGINT NOT NULL PRIMARY KEY, name VARCHAR(50), state VARCHAR(9), start_date DATETIME, pid BIGINT);
  CREATE TABLE background_services (name VARCHAR(50) NOT NULL PRIMARY KEY, title VARCHAR(50));
  CREATE TABLE icd10_dx_order_code (dx_id BIGINT, dx_code VARCHAR(9), short_desc VARCHAR(50));
  CREATE TABLE external_encounters (id BIGINT NOT NULL PRIMARY KEY, ee_pid BIGINT, ee_date DATE);`;

test('a unique index that has no NULL is the key; a column named `date` alone is the date; empty tables need a patient', async () => {
  const { proposals, first, columns, errors } = await begun(SCHEMA, insert => {
    for (let i = 1; i <= 40; i++) {
      const day = `2024-02-${String(1 + (i % 28)).padStart(2, '0')} 08:30:00`;
      insert('patient_data', 5000 + i, 'Quxf', 'Quxg', '1970-02-03', i % 2 ? 'Male' : 'Female', i, null, 1 + (i % 4));
      insert('form_encounter', i, day, i, 1 + (i % 4), 'AMB', null);
      insert('result', i, i, 0, 'Glucose', day, '104', 'mg/dL', 'final');
      insert('documents', i, 'scan.pdf');
      insert('vitals', i, i, day, null, 70 + i);
      insert('background_services', `S${i}`, 'x');
    }
    for (let i = 1; i <= 4; i++) insert('users', i, `user${i}`, 'Quxf', 'Quxg', '1245319599');
  });
  expect(first('patients')).toMatchObject({ table: 'patient_data', key: ['pid'] });
  expect(first('patients').reasons.join()).not.toContain('around patients');
  expect(columns('patients')).toMatchObject({ generalPractitioner: 'providerID' });
  expect(first('practitioners').table).toBe('users');
  expect(columns('encounters')).toMatchObject({ subject: 'pid', 'period.start': 'date', 'period.end': 'date_end' });
  expect(columns('results')).toMatchObject({ 'code.text': 'result_text', effectiveDateTime: 'date' });
  expect(columns('vitals')).toMatchObject({ effectiveDateTime: 'date' });
  const tables = proposals.map(({ kind, table }) => `${kind} ${table}`);
  expect(tables).not.toContain('allergies employer_data');
  expect(tables).not.toContain('conditions icd10_dx_order_code');
  expect(tables).toContain('encounters external_encounters');
  // A person has to map required elements without a matching column.
  expect(await errors()).toEqual([
    'required element Encounter.status is missing',
    'required element Observation.code is missing',
  ]);
});
