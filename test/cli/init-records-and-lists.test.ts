/**
 * `lintel init` where names fit several columns and tables, and only rows tell records, lists and dates apart. In: the
 * tables of a large vendor's reporting database, as far as names go.
 */
import { expect, test } from 'vitest';
import { begun } from './begun-pack.ts';

const TABLES = `
  CREATE TABLE PATIENT (PAT_ID VARCHAR(18) PRIMARY KEY, PAT_LAST_NAME VARCHAR(60), PAT_FIRST_NAME VARCHAR(60), BIRTH_DATE DATETIME);
  CREATE TABLE PAT_ENC (CSN NUMERIC(18,0) PRIMARY KEY, PAT_ID VARCHAR(18), START_DATE DATETIME);
  CREATE TABLE PAT_ENC_HSP (CSN NUMERIC(18,0) PRIMARY KEY, PAT_ID VARCHAR(18), ADMIT_C INTEGER, HOSP_ADMSN_INTO_UNIT_TIME DATETIME,
    HOSP_DISCH_TIME DATETIME);
  CREATE TABLE PAT_ENC_DX (LINE_NO INTEGER PRIMARY KEY, PAT_ID VARCHAR(18), CSN NUMERIC(18,0), DX_ID INTEGER, ONSET_C INTEGER);
  CREATE TABLE TERM_EDG (DX_ID INTEGER PRIMARY KEY, DX_NAME VARCHAR(200));
  CREATE TABLE IMMUNE (IMMUNE_ID INTEGER PRIMARY KEY, PAT_ID VARCHAR(18), SITE_C INTEGER, PRODUCT_ID INTEGER, IMM_STATUS_C INTEGER,
    IMMUNE_DATE DATETIME);
  CREATE TABLE LIST_PRODUCT (PRODUCT_ID INTEGER PRIMARY KEY, NAME VARCHAR(200));
  CREATE TABLE ZC_SITE (SITE_C INTEGER PRIMARY KEY, NAME VARCHAR(200));
  CREATE TABLE ZC_IMM_STATUS (IMM_STATUS_C INTEGER PRIMARY KEY, NAME VARCHAR(200));
  CREATE TABLE FLO_MEAS (NO INTEGER PRIMARY KEY, FSD_ID VARCHAR(18), RECORDED_TIME DATETIME, MEAS_VALUE VARCHAR(200));
  CREATE TABLE FLO_REC (FSD_ID VARCHAR(18) PRIMARY KEY, PAT_ID VARCHAR(18));
  INSERT INTO ZC_SITE VALUES (1, 'Left arm'), (2, 'Right arm');
  INSERT INTO ZC_IMM_STATUS VALUES (1, 'Given'), (2, 'Refused');`;

test('dates, lists and whole tables are told by their rows', async () => {
  const { proposals, first, columns, text } = await begun(TABLES, insert => {
    for (let i = 1; i <= 9; i++) {
      insert('LIST_PRODUCT', i, `Vaccine ${'abcdefghij'[i]}`);
      insert('TERM_EDG', i, `Disease ${'abcdefghij'[i]}`);
    }
    for (let i = 1; i <= 40; i++) {
      const [patient, day] = [`Z${i}`, `2024-03-${10 + (i % 20)} 08:30:00`];
      insert('PATIENT', patient, 'Quxa', 'Quxb', `19${40 + i}-03-14 00:00:00`);
      insert('PAT_ENC', 900 + i, patient, day);
      if (i <= 10) insert('PAT_ENC_HSP', 900 + i, patient, 1 + (i % 2), day, day);
      insert('PAT_ENC_DX', i, patient, 900 + i, 1 + (i % 9), 3);
      insert('IMMUNE', i, patient, 1 + (i % 2), 1 + (i % 9), 1 + (i % 2), day);
      insert('FLO_REC', `F${i}`, patient);
      insert('FLO_MEAS', i, `F${i}`, day, `${60 + i}`);
    }
  });
  const stays = proposals.filter(({ kind }) => kind === 'encounters');
  // The larger of two tables with one key is the record, and references lead to it.
  expect(stays.slice(0, 2).map(({ table }) => table)).toEqual(['PAT_ENC', 'PAT_ENC_HSP']);
  expect(stays[1]?.reasons).toContain('PAT_ENC has the same key and more rows');
  expect(columns('conditions')['encounter']).toBe('CSN');
  // A code that reads as "start" is no date, so the next best name is taken; where no column is a date, none is.
  expect(stays[1]?.elements).toContainEqual(
    expect.objectContaining({ path: 'period.start', column: 'HOSP_ADMSN_INTO_UNIT_TIME' }),
  );
  expect(columns('conditions')['onsetDateTime']).toBeUndefined();
  expect(text('encounters.yaml')).not.toContain('no date');
  // Names of what a record is about are in the longest list that its columns lead to, and not in that of a status.
  expect(columns('conditions')['code.text']).toBe('DX_NAME');
  expect(first('immunizations').table).toBe('IMMUNE');
  expect(text('immunizations.yaml')).toMatch(/table: LIST_PRODUCT/);
  expect(columns('vitals')).toMatchObject({ subject: 'PAT_ID', effectiveDateTime: 'RECORDED_TIME' });
});
