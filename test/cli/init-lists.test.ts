/** `lintel init` on a schema whose coded columns are numbers, with a table of meanings for each. */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

const TABLES = `
  CREATE TABLE PATIENT (PAT_ID VARCHAR(18) PRIMARY KEY, PAT_LAST_NAME VARCHAR(60), PAT_FIRST_NAME VARCHAR(60), BIRTH_DATE DATETIME,
    SEX_C VARCHAR(66), PAT_MRN_ID VARCHAR(25));
  CREATE TABLE PAT_ENC (PAT_ENC_CSN_ID NUMERIC(18,0) PRIMARY KEY, PAT_ID VARCHAR(18), CONTACT_DATE DATETIME, ENC_TYPE_C VARCHAR(66),
    APPT_STATUS_C INTEGER);
  CREATE TABLE ZC_SEX (RCPT_MEM_SEX_C INTEGER PRIMARY KEY, NAME VARCHAR(80), ABBR VARCHAR(30));
  CREATE TABLE ZC_DISP_ENC_TYPE (DISP_ENC_TYPE_C VARCHAR(66) PRIMARY KEY, NAME VARCHAR(80));
  CREATE TABLE ZC_APPT_STATUS (APPT_STATUS_C INTEGER PRIMARY KEY, NAME VARCHAR(80));
  CREATE TABLE ZC_OTHER_STATUS (STATUS_C INTEGER PRIMARY KEY, NAME VARCHAR(80));
  INSERT INTO ZC_SEX VALUES (1, 'Female', 'F'), (2, 'Male', 'M'), (3, 'Unknown', 'U');
  INSERT INTO ZC_DISP_ENC_TYPE VALUES ('101', 'Office Visit'), ('3', 'Inpatient');
  INSERT INTO ZC_APPT_STATUS VALUES (1, 'Scheduled'), (2, 'Completed'), (4, 'No Show');
  INSERT INTO ZC_OTHER_STATUS VALUES (1, 'Wrong'), (2, 'Wrong'), (4, 'Wrong');`;

test('codes have the texts of the list, by key or by name, and suggestions are made of these', async () => {
  const { text, errors } = await begun(TABLES, insert => {
    for (let i = 1; i <= 40; i++) {
      insert('PATIENT', `Z${i}`, 'Quxa', 'Quxb', `19${40 + i}-03-14 00:00:00`, String(1 + (i % 3)), `00${i}`);
      insert('PAT_ENC', 900 + i, `Z${i}`, '2024-03-14 00:00:00', i % 2 ? '101' : '3', [1, 2, 4][i % 3] ?? null);
    }
  });
  const codes = text('codes.yaml');
  expect(codes).toMatch(/^# {5}"1": female {2}## 13 rows of "Female"; suggested: ZC_SEX has "Female": it is the code/m);
  expect(codes).toMatch(/^# {5}"2": male {2}## \d+ rows of "Male"; suggested: /m);
  expect(codes).toMatch(/^# {5}"2": finished {2}## \d+ rows of "Completed"; /m);
  expect(codes).toMatch(/^# {5}"4": absent {2}## \d+ rows of "No Show"; nothing is suggested$/m);
  expect(codes).toMatch(/^# {5}"3": IMP {2}## 20 rows of "Inpatient"; /m);
  expect(codes).not.toContain('Wrong');
  expect(text('patients.yaml')).toContain('3 codes, listed in ZC_SEX');
  expect((await errors()).filter(message => !message.startsWith('required element'))).toEqual([]);
});
