/**
 * Columns in which each row says who wrote it, when it was changed and whether it is void, as OpenMRS has them:
 * `lintel init` proposes them for the recorder, `changed` and `deleted`, and for nothing about the patient's care.
 */
import { expect, test } from 'vitest';
import { begun, instant } from './begun-pack.ts';

const KEPT = (also = ''): string =>
  `creator INTEGER NOT NULL REFERENCES users(user_id), date_created DATETIME NOT NULL, changed_by INTEGER REFERENCES users(user_id),
    date_changed DATETIME, voided TINYINT(1) NOT NULL, date_voided DATETIME${also}`;

const CLINIC = `
  CREATE TABLE users (user_id INTEGER PRIMARY KEY, last_name VARCHAR(40), first_name VARCHAR(40));
  CREATE TABLE patient (patient_id INTEGER PRIMARY KEY, family_name VARCHAR(40), given_name VARCHAR(40), birthdate DATE, gender CHAR(1), ${KEPT()});
  CREATE TABLE visit (visit_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(patient_id), date_started DATETIME, ${KEPT()});
  CREATE TABLE conditions (condition_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(patient_id), problem_text VARCHAR(40),
    onset_date DATETIME, ${KEPT()});
  CREATE TABLE term (term_id INTEGER PRIMARY KEY, name VARCHAR(40));
  CREATE TABLE obs (obs_id INTEGER PRIMARY KEY, patient_id INTEGER NOT NULL REFERENCES patient(patient_id), question_id INTEGER,
    obs_datetime DATETIME, value_coded_name_id INTEGER REFERENCES term(term_id), value_numeric DOUBLE, status VARCHAR(9), ${KEPT()});`;

test('who wrote a row, when, and whether it is void', async () => {
  const { text, errors } = await begun(CLINIC, insert => {
    for (let i = 1; i <= 5; i++) insert('users', i, 'Quxl', 'Quxf');
    for (let i = 1; i <= 9; i++) insert('term', i, `Quxt ${i}`);
    for (let i = 1; i <= 40; i++) {
      const kept = [1 + (i % 5), instant(i), i % 4 ? null : 2, i % 4 ? null : instant(i + 1), i === 7 ? 1 : 0];
      const row = [...kept, i === 7 ? instant(i + 2) : null];
      insert('patient', i, 'Quxl', 'Quxf', '1970-01-02', 'F', ...row);
      insert('visit', i, i, instant(i), ...row);
      insert('conditions', i, i, 'Quxp', instant(i), ...row);
      insert('obs', i, i, 1, instant(i), 1 + (i % 9), 70.5, 'FINAL', ...row);
    }
  });
  // The clerk who entered a row is no doctor of the patient.
  expect(text('patients.yaml')).not.toContain('generalPractitioner');
  expect(text('encounters.yaml')).not.toContain('participant');
  expect(text('vitals.yaml')).not.toContain('performer');
  expect(text('conditions.yaml')).toContain('recorder: { ref: practitioners, on: { user_id: creator } }');
  // A row that was never changed is new since it was created, and a deletion since it was marked.
  expect(text('conditions.yaml')).toMatch(/^# {3}changed: \[date_created, date_changed\] /m);
  expect(text('conditions.yaml')).toMatch(/^# {3}deleted: \{ voided: "1" \} .*\n# {3}deleted-at: date_voided /m);
  // The text of an answer is not the question, and a result of a patient who is left out is nobody's.
  expect(text('vitals.yaml')).not.toContain('table: term');
  expect(text('vitals.yaml')).toContain('# needs: [status, subject]');
  expect(text('encounters.yaml')).toContain('# needs: [subject]');
  expect((await errors()).filter(message => !/is missing$/.test(message))).toEqual([]);
});
