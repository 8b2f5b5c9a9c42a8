/**
 * Forms of old tables in docs/mapping-language.md: each is in the page exactly as here, and does what the page says.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from 'vitest';
import { allOf } from '../../src/law/searches.ts';
import { loadPackFiles } from '../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';
import { readPackFiles } from '../../src/mapping/load/read/files.ts';
import { openSqlite } from '../../src/sql/sqlite/database.ts';
import { facadeOver } from '../facade-over.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const folder = temporaryFolder(afterAll);

const SQL = `
CREATE TABLE PERSON (ID INTEGER NOT NULL PRIMARY KEY, PNAME VARCHAR(40), BORN VARCHAR(10), UPD INTEGER, FLAGS CHAR(3), BITS INTEGER, LANGS VARCHAR(20), DEL_AT INTEGER, DOCTOR VARCHAR(9), SUR1 VARCHAR(20), SUR2 VARCHAR(20));
CREATE TABLE ADDR (ID INTEGER NOT NULL, REV INTEGER NOT NULL, CITY VARCHAR(20), PRIMARY KEY (ID, REV));
CREATE TABLE STAFF (FAC VARCHAR(4) NOT NULL, CODE VARCHAR(4) NOT NULL, BORN_AT INTEGER, STILL CHAR(1), UPD_DT INTEGER, UPD_TM INTEGER, PRIMARY KEY (FAC, CODE));
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, UPD DATETIME, CAME VARCHAR(9));
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, VISIT INTEGER, UPD DATETIME);
CREATE TABLE REC (ID INTEGER NOT NULL, REV INTEGER NOT NULL, BP VARCHAR(9), AMT VARCHAR(20), OWNER_TYPE CHAR(1), OWNER_ID INTEGER, DOSE VARCHAR(9), TAKEN VARCHAR(19), SENT INTEGER, PRIMARY KEY (ID, REV));
CREATE TABLE NOTE_LINE (NOTE_NO INTEGER NOT NULL, SEQ INTEGER NOT NULL, TX VARCHAR(80), PRIMARY KEY (NOTE_NO, SEQ));
INSERT INTO NOTE_LINE VALUES (1, 2, 'Chest clear.'), (1, 1, 'Cough.'), (2, 1, ' ');
CREATE TABLE PID (NO INTEGER NOT NULL PRIMARY KEY, PID_5 VARCHAR(80), PID_13 VARCHAR(80));
INSERT INTO PID VALUES (1, 'OKONKWO^CHIDI^B~STONE\\T\\SON^CHIDI', '(312)555-0142'), (2, 'X\\R\\Y^', '^PRN^PH^^1^312^5550142');
CREATE TABLE MSG (NO INTEGER NOT NULL PRIMARY KEY, MSH_7 VARCHAR(26), OBX_14 VARCHAR(26));
INSERT INTO MSG VALUES (1, '20240314', '2024'), (2, '202403140830', '202403140830-0500'),
  (3, '20240314083005.123-0600', '20240314083005.123'), (4, '202403', '""');
CREATE TABLE CAME (NO INTEGER NOT NULL PRIMARY KEY, CAME_TX VARCHAR(30));
CREATE INDEX CAME_AT ON CAME (CAME_TX);
INSERT INTO CAME VALUES (1, '2016-09-27T07:48:18Z'), (2, '2016-09-27 07:48+02:00'), (3, '2016-09-27'), (4, 'soon'),
  (5, '9999-01-01T00:00:00');
CREATE TABLE ORDERS (NO INTEGER NOT NULL PRIMARY KEY, ORD_DT DECIMAL(7,0), CHG_DT DECIMAL(7,0), CHG_TM DECIMAL(6,0));
INSERT INTO ORDERS VALUES (1, 1240314, 1240701, 91500), (2, 991231, 0, 0), (3, 9999999, 1240701, 250000);
CREATE TABLE COUNTED (NO INTEGER NOT NULL PRIMARY KEY, DOB_NO INTEGER, CHG_NO REAL);
INSERT INTO COUNTED VALUES (1, 66913, 45365.35416667), (2, 0, 0), (3, -1, 'x'), (4, 40000, 45366);
CREATE TABLE MUMPS (NO INTEGER NOT NULL PRIMARY KEY, MOD_H VARCHAR(20), OBS_H INTEGER, OBS_S INTEGER);
INSERT INTO MUMPS VALUES (1, '66913,30600', 66913, 30600), (2, '66914', 66914, NULL), (3, '', 0, 0);
CREATE TABLE PUMP (NO INTEGER NOT NULL PRIMARY KEY, MADE CHAR(7), EXPJ DECIMAL(6,0), UPMJ DECIMAL(6,0), UPMT DECIMAL(6,0));
INSERT INTO PUMP VALUES (1, '2024074', 124366, 124074, 91500), (2, '2023366', 99365, 124075, 990000), (3, '', 0, 0, 0);
CREATE TABLE FM (NO INTEGER NOT NULL PRIMARY KEY, VISIT_FM NUMERIC);
INSERT INTO FM VALUES (1, 3240314.083), (2, 3240314), (3, 3240314.24), (4, 3240300), (5, 0);
CREATE TABLE SHOWN (NO INTEGER NOT NULL PRIMARY KEY, SHOWN VARCHAR(24));
INSERT INTO SHOWN VALUES (1, 'FEB 04, 2015@14:00'), (2, 'FEB 04, 2015'), (3, 'FEB 2015'), (4, '2015'), (5, 'NOW');
CREATE TABLE SUBFILE (LRDFN INTEGER NOT NULL, INV DECIMAL(14,6) NOT NULL, PRIMARY KEY (LRDFN, INV));
INSERT INTO SUBFILE VALUES (17, 6759684.917), (17, 6759684), (18, 6759684.858576);
INSERT INTO PERSON VALUES (1, 'DOE^JOHN^Q', '03/10/1980', 1710054000, 'NYN', 2, 'en,es', NULL, 'NO/A-1', 'Pérez ', 'Ruiz'), (2, 'ROE', '00/00/1970', 0, 'NNN', 5, '', NULL, 'B', 'Ibáñez', NULL), (3, 'GONE^X', NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
CREATE TABLE OBS (NO INTEGER NOT NULL PRIMARY KEY, GROUP_NO INTEGER, QUESTION VARCHAR(4), CONCEPT INTEGER, VALUE DECIMAL(6,1));
INSERT INTO OBS VALUES (1, NULL, 'BP', 5, NULL), (2, 1, 'SYS', 6, 120), (3, 1, 'DIA', 7, 80), (4, NULL, 'BP', 9, NULL);
CREATE TABLE ENTRY (NO INTEGER NOT NULL PRIMARY KEY, GROUP_NO INTEGER, VOID INTEGER, VOID_AT DATETIME);
INSERT INTO ENTRY VALUES (1, NULL, 1, '2024-03-10 08:00:00'), (2, 1, 0, NULL), (3, NULL, 0, NULL), (4, 3, 0, NULL),
  (5, 3, 1, '2024-03-11 08:00:00'), (6, 99, 0, NULL);
CREATE TABLE MAP (MAP_NO INTEGER NOT NULL PRIMARY KEY, CONCEPT INTEGER, TERM_NO INTEGER);
INSERT INTO MAP VALUES (1, 5, 11), (2, 5, 12), (3, 5, 13);
CREATE TABLE TERM (TERM_NO INTEGER NOT NULL PRIMARY KEY, SOURCE VARCHAR(9), CODE VARCHAR(20));
INSERT INTO TERM VALUES (11, 'LN', '85354-9'), (12, 'SCT', '75367002'), (13, 'HOUSE', 'H7');
CREATE TABLE ESTIMATE (NO INTEGER NOT NULL PRIMARY KEY, BORN DATE, ESTIMATED INTEGER);
INSERT INTO ESTIMATE VALUES (1, '1968-01-01', 1), (2, '1968-07-08', 0), (3, NULL, 1);
CREATE TABLE BIRTH (BIRTH_ID FLOAT NOT NULL PRIMARY KEY, BORN_UTC DATETIME, BORN_TZ INTEGER);
INSERT INTO BIRTH VALUES (600346, '1970-01-02 06:30:00.000', 127), (600347, '1970-01-02 06:30:00.000', 126), (600348.5, NULL, 0);
CREATE TABLE SLOT (NO INTEGER NOT NULL PRIMARY KEY, MADE_AT DATETIME, MADE_TZ SMALLINT, BEGINS DATETIME, MINUTES INTEGER, DAY CHAR(8), CLOCK VARCHAR(8), CAME_AT VARCHAR(23));
INSERT INTO SLOT VALUES (1, '2024-03-10 08:30:00.000', 705, '2024-03-14 23:45:00.000', 30, '20240314', '2:31 PM', '2016-09-27 00:00:00.000'),
  (2, '2024-03-10 09:15:00.000', 704, '2024-03-14 08:00:00.000', NULL, '20240314', '12:05 AM', '2016-09-27 07:48:18.000'), (3, '2024-03-10 09:00:00.000', NULL, '2024-03-14 08:00:00.000', 15, '20240314', NULL, NULL);
CREATE TABLE FLAGGED (NO INTEGER NOT NULL PRIMARY KEY, DAY_AT DATETIME, EXACT INTEGER);
INSERT INTO FLAGGED VALUES (1, '1970-03-09 22:00:00.000', 3), (2, '1970-03-09 22:00:00.000', 2), (3, '1970-03-09 22:00:00.000', 0);
CREATE TABLE FACT (NO INTEGER NOT NULL PRIMARY KEY, PATIENT_NUM INTEGER, CONCEPT_CD VARCHAR(50), MODIFIER_CD VARCHAR(20), INSTANCE_NUM INTEGER, NVAL_NUM DECIMAL(9,2));
INSERT INTO FACT VALUES (1, 1, 'LOINC:2345-7', '@', 1, 5), (2, 1, 'ICD10CM:E11.9', 'MED:DOSE', 1, 20), (3, 1, 'ICD10CM:E11.9', '@', 1, NULL), (4, 1, 'LOINC:', '@', 1, NULL), (5, 1, 'LOINC:2345-7', '@', 2, NULL);
CREATE TABLE DX (NO INTEGER NOT NULL PRIMARY KEY, ICD CHAR(7), VERSION SMALLINT, AGE SMALLINT, AT_YEAR SMALLINT);
INSERT INTO DX VALUES (1, 'E119', 10, 52, 2180), (2, 'E8889  ', 9, NULL, 2180), (3, '4019', 9, 0, 2112), (4, 'I10', 10, 91, 2150);
CREATE TABLE READING (VISIT INTEGER, TEST INTEGER, TAKEN DATETIME, PRIMARY KEY (VISIT, TEST, TAKEN));
INSERT INTO READING VALUES (17, 220045, '2024-03-10 08:30:00.000'), (17, 220045, '2024-03-10 08:30:00.500');
CREATE TABLE CHARTED (VISIT INTEGER, TEST INTEGER, TAKEN DATETIME, VAL INTEGER, STAMP TEXT);
CREATE VIEW READING_ROW AS SELECT rowid AS ROW_NO, * FROM CHARTED;
INSERT INTO CHARTED VALUES (9, 1, '2150-03-10 08:30:00.000', 70, '2150-03-10T13:30:00Z'), (9, 1, '2150-03-10 08:30:00.000', 70, ''), (9, 2, '2150-03-10 08:30:00.000', 71, 'soon'), (9, 1, '2150-03-10 08:30:00.000', 72, NULL);
INSERT INTO ADDR VALUES (1, 1, 'Old'), (1, 2, 'New');
INSERT INTO STAFF VALUES ('NO', 'A-1', -86400, 't', 20240301, 91500), ('NO-A', '1', NULL, 'f', 20240701, NULL);
INSERT INTO VISIT VALUES (50, 2, '2024-01-01 08:00:00.000', '14-MAR-24');
INSERT INTO NOTE VALUES (1, 50, '2024-02-01 08:00:00.000'), (2, 50, '2024-01-15 08:00:00.000');
INSERT INTO REC VALUES (7, 1, '1/1', '9 g', 'P', 2, NULL, NULL, NULL), (7, 2, '120/80', '5.4 mmol/L', 'P', 1, '2,75', '14/03/2024 08:30', 20240314), (8, 1, '118/', NULL, 'V', 50, 'many', '31/02/2024 08:30', 20240300);
`;

const PEOPLE = `mapping: people
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
  deleted: { present: [DEL_AT] }
  changed: { from: UPD, via: epoch }
  lookup: { h: { table: ADDR, on: { ID: ID }, pick: [-REV] }, s: { table: STAFF, on: { FAC: { from: DOCTOR, via: { piece: { by: "/", at: 1 } } }, CODE: { from: DOCTOR, via: { piece: { by: "/", at: 2 } } } } } }
id: "{ID}"
elements:
  active: { sql: "({p.BITS} & 2) / 2", type: bit, via: boolean }
  name: [{ family: { from: PNAME, via: { piece: { by: "^", at: 1 } } }, given: [{ from: PNAME, via: { piece: { by: "^", at: 2 } } }] }, { family: { sql: "RTRIM(CONCAT(RTRIM({SUR1}), ' ', {SUR2}))", type: varchar(41) } }]
  birthDate: { from: BORN, via: [{ written: MM/DD/YYYY }, ymd8] }
  deceasedBoolean: { const: "true", if: { FLAGS: { matches: "?Y*" } } }
  address: [{ city: { from: h.CITY } }]
  communication: [{ each: { split: LANGS, by: ",", as: l }, needs: [language], elements: { language: { text: { from: l.piece } } } }]
  generalPractitioner: [{ ref: staff, on: { FAC: s.FAC, CODE: s.CODE } }]
---
mapping: staff
resource: Practitioner
source:
  table: STAFF
  as: t
  key: [FAC, CODE]
  changed: { from: [UPD_DT, UPD_TM], via: { date-and-time: { date: ymd8, time: hhmmss, at: "00:00" } } }
id: "{FAC|escaped}-{CODE|escaped}"
elements:
  active: { from: STILL, via: { boolean: { true: t, false: f } } }
  birthDate: { from: BORN_AT, via: { epoch: { zone: UTC } } }
`;

const RECORDS = `mapping: records
resource: Observation
source:
  table: REC
  as: d
  key: [ID, REV]
  one-per: [ID]
  lookup:
    n: { table: REC, on: { ID: ID }, pick: [-REV] }
    v: { table: VISIT, on: { NO: OWNER_ID }, where: { d.OWNER_TYPE: V } }
id: "{ID}"
elements:
  status: final
  code: { text: x }
  subject:
    first: [{ ref: people, on: { ID: n.OWNER_ID }, if: { n.OWNER_TYPE: P } }, { ref: people, on: { ID: v.PERSON_ID } }]
  valueQuantity: { value: { from: n.AMT, via: [{ piece: { by: " ", at: 1 } }, number] }, unit: { from: n.AMT, via: { piece: { by: " ", at: 2 } } } }
  effectiveDateTime: { from: n.TAKEN, via: [{ written: DD/MM/YYYY HH:mm }, ymd14] }
  issued: { from: n.SENT, via: { ymd8: { at: "00:00" } } }
  component:
    - { code: { text: dose }, needs: [valueQuantity], valueQuantity: { value: { sql: "REPLACE({n.DOSE}, ',', '.')", type: varchar(9), via: number } } }
    - { code: { text: systolic }, needs: [valueQuantity], valueQuantity: { value: { from: n.BP, via: [{ piece: { by: "/", at: 1 } }, number] } } }
    - { code: { text: diastolic }, needs: [valueQuantity], valueQuantity: { value: { from: n.BP, via: [{ piece: { by: "/", at: 2 } }, number] } } }
`;

const VISITS = `mapping: visits
resource: Encounter
source:
  table: VISIT
  as: v
  key: [NO]
  lookup: { r: { table: NOTE, on: { VISIT: NO }, pick: [-UPD] } }
  changed: [UPD, r.UPD]
id: "{NO}"
elements:
  status: finished
  class: { system: http://terminology.hl7.org/CodeSystem/v3-ActCode, code: AMB }
  period: { start: { from: CAME, via: [{ written: { form: DD-MON-YY, from: 1930 } }, ymd8] } }
`;

const NOTES = `mapping: notes
resource: Binary
source: { table: NOTE, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  contentType: text/plain
  data: { rows-as-text: { table: NOTE_LINE, on: { NOTE_NO: NO }, order: [SEQ] }, from: TX, via: [html, base64] }
`;

const ORDERS = `mapping: orders
resource: ServiceRequest
source:
  table: ORDERS
  as: o
  key: [NO]
  changed: { from: [CHG_DT, CHG_TM], via: { date-and-time: { date: ymd8, since: 1900, time: hhmmss, at: "00:00" } } }
id: "{NO}"
elements:
  status: active
  intent: order
  subject: { display: x }
  authoredOn: { from: ORD_DT, via: { ymd8: { since: 1900 } } }
`;

const MESSAGES = `mapping: messages
resource: DiagnosticReport
source:
  table: MSG
  key: [NO]
  changed: { from: MSH_7, via: { dtm: { at: "00:00" } } }
id: "{NO}"
compartment: { none: a test }
elements:
  status: final
  code: { text: x }
  effectiveDateTime: { from: OBX_14, via: dtm }
`;

const CAME = `mapping: came
resource: Specimen
source:
  table: CAME
  as: c
  key: [NO]
  where: { CAME_TX: { before: now, via: iso } }
  changed: { from: CAME_TX, via: { iso: { at: "00:00" } } }
id: "came-{NO}"
compartment: { none: a test }
elements:
  type: { text: came }
  collection: { collectedDateTime: { from: CAME_TX, via: iso } }
`;

const PID = `mapping: pids
resource: Person
source: { table: PID, as: i, key: [NO] }
id: "i-{NO}"
elements:
  name: [{ each: { split: PID_5, by: "~", as: r }, item: { family: { from: r.piece, via: [{ piece: { by: "^", at: 1 } }, escapes] }, given: [{ from: r.piece, via: [{ piece: { by: "^", at: 2 } }, escapes] }] } }]
  telecom: [{ value: { first: [{ join: [{ from: PID_13, via: { piece: { by: "^", at: 6 } } }, { from: PID_13, via: { piece: { by: "^", at: 7 } } }], with: "-", if: { PID_13: { matches: "[^]*^PH^*" } } }, { from: PID_13 }] } }]
`;

const GROUPS = `mapping: groups
resource: Observation
source:
  table: OBS
  as: o
  key: [NO]
  where: { QUESTION: BP }
  lookup:
    s: { table: OBS, on: { GROUP_NO: NO }, where: { QUESTION: SYS }, pick: [NO] }
id: "g-{NO}"
compartment: { none: a test }
needs: [code]
elements:
  status: final
  code:
    coding: [{ each: { table: MAP, as: m, on: { CONCEPT: o.CONCEPT }, order: [MAP_NO], lookup: { t: { table: TERM, on: { TERM_NO: m.TERM_NO } } } }, needs: [system], elements: { system: { from: t.SOURCE, via: sources }, code: { from: t.CODE, via: code } } }]
  component: [{ code: { text: systolic }, valueQuantity: { value: { from: s.VALUE } }, needs: [valueQuantity] }]
---
mapping: entries
resource: Basic
source:
  table: ENTRY
  as: e
  key: [NO]
  lookup:
    g: { table: ENTRY, on: { NO: GROUP_NO } }
  deleted: { any: [{ VOID: 1 }, { g.VOID: 1 }] }
  deleted-at: { first: [{ from: VOID_AT }, { from: g.VOID_AT }] }
id: "{NO}"
compartment: { none: a test }
elements:
  code: { text: entry }
---
mapping: estimated
resource: Person
source: { table: ESTIMATE, as: p, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  birthDate: { first: [{ sql: "substr({p.BORN}, 1, 4) || '0000'", type: char(8), via: ymd8, if: { p.ESTIMATED: 1 } }, { from: p.BORN }] }
---
mapping: flagged
resource: Person
source: { table: FLAGGED, as: p, key: [NO] }
id: "g-{NO}"
compartment: { none: a test }
elements:
  birthDate: { first: [{ from: DAY_AT, via: { date: { precision: year } }, if: { EXACT: 3 } }, { from: DAY_AT, via: { date: { precision: month } }, if: { EXACT: 2 } }, { from: DAY_AT, via: date }] }
---
mapping: births
resource: Person
source: { table: BIRTH, as: p, key: [BIRTH_ID] }
id: "f-{BIRTH_ID}"
compartment: { none: a test }
elements:
  birthDate: { first: [{ from: BORN_UTC, via: { date: { zone: UTC, clock: America/Denver } }, if: { BORN_TZ: 127 } }, { from: BORN_UTC, via: { date: { zone: UTC } } }] }
`;

const SLOTS = `mapping: slots
resource: Slot
source:
  table: SLOT
  as: a
  key: [NO]
  changed: { from: [MADE_AT, MADE_TZ], via: { zoned: { 704: America/New_York, 705: America/Chicago } } }
id: "{NO}"
needs: [start, end]
compartment: { none: a test }
elements:
  schedule: { display: x }
  status: free
  start: { from: BEGINS }
  end: { sql: "datetime({a.BEGINS}, '+' || {a.MINUTES} || ' minutes')", type: datetime }
---
mapping: issues
resource: DetectedIssue
source: { table: SLOT, as: a, key: [NO] }
id: "{NO}"
compartment: { none: a test }
elements:
  status: final
  identifiedDateTime: { sql: "CONCAT({a.DAY}, ' ', {a.CLOCK})", type: varchar(17), via: [{ written: "YYYYMMDD h:mm AM" }, ymd14] }
---
mapping: days
resource: DetectedIssue
source: { table: SLOT, as: a, key: [NO] }
id: "d-{NO}"
compartment: { none: a test }
elements:
  status: preliminary
  identifiedDateTime: { first: [{ from: CAME_AT, via: [{ piece: { by: " ", at: 1 } }, iso], if: { CAME_AT: { matches: "* 00:00:00*" } } }, { from: CAME_AT, via: iso }] }
`;

const FACTS = `mapping: facts
resource: NutritionOrder
source:
  table: FACT
  as: f
  key: [NO]
  where: { missing: { table: FACT, as: g, on: { PATIENT_NUM: PATIENT_NUM, CONCEPT_CD: CONCEPT_CD, INSTANCE_NUM: INSTANCE_NUM }, where: { NO: { lt: f.NO } } } }
  lookup: { dose: { table: FACT, on: { PATIENT_NUM: PATIENT_NUM, CONCEPT_CD: CONCEPT_CD, INSTANCE_NUM: INSTANCE_NUM }, where: { MODIFIER_CD: "MED:DOSE" } } }
id: "{NO}"
elements:
  status: active
  intent: order
  patient: { display: x }
  dateTime: "2024-01-01"
  enteralFormula:
    baseFormulaType:
      coding: [{ first: [{ system: loinc, code: { from: CONCEPT_CD, via: [{ prefix: "LOINC:" }, code] } }, { system: icd10, code: { from: CONCEPT_CD, via: [{ prefix: "ICD10CM:" }, code] } }] }]
    maxVolumeToDeliver: { value: { from: dose.NVAL_NUM, via: { number: { scale: 0 } } } }
  foodPreferenceModifier: [{ text: x, if: { CONCEPT_CD: { matches: "LOINC:*" } } }]
`;

const READINGS = `mapping: readings
resource: Specimen
source:
  table: READING
  as: r
  key: [VISIT, TEST, TAKEN]
id: "{VISIT}-{TEST}-{TAKEN}"
compartment: { none: a test }
elements:
  receivedTime: { from: TAKEN }
---
mapping: charted
resource: Specimen
source:
  table: READING_ROW
  as: r
  key: [ROW_NO]
  one-per: [VISIT, TEST, TAKEN]
id: "c-{VISIT}-{TEST}-{TAKEN}"
compartment: { none: a test }
elements:
  receivedTime: { from: TAKEN }
  collection: { quantity: { value: { from: VAL } }, collectedDateTime: { sql: "{STAMP}", type: datetime } }
`;

const DIAGNOSES = `mapping: diagnoses
resource: FamilyMemberHistory
source: { table: DX, as: p, key: [NO] }
id: "{NO}"
compartment: { none: a test }
needs: [relationship]
elements:
  status: completed
  patient: { display: x }
  relationship:
    coding: [{ first: [{ system: icd10, code: { from: ICD, via: [{ dotted: 3 }, code] }, if: { VERSION: 10 } }, { system: icd9, code: { from: ICD, via: [{ dotted: 4 }, code] }, if: { ICD: { matches: "E*" } } }, { system: icd9, code: { from: ICD, via: [{ dotted: 3 }, code] } }] }]
---
mapping: born
resource: RelatedPerson
source: { table: DX, as: p, key: [NO] }
id: "b-{NO}"
compartment: { none: a test }
elements:
  patient: { display: x }
  birthDate: { sql: "({p.AT_YEAR} - {p.AGE}) || '0000'", type: char(8), via: ymd8 }
`;

const SOURCES = 'sources:\n  rows: { LN: http://loinc.org, SCT: http://snomed.info/sct, HOUSE: absent }\n';

const COUNTED = `mapping: counted
resource: RelatedPerson
source:
  table: COUNTED
  as: c
  key: [NO]
  changed: { from: CHG_NO, via: { days: { since: 1899-12-30 } } }
id: "{NO}"
elements:
  patient: { display: x }
  birthDate: { from: DOB_NO, via: { days: { since: 1840-12-31 } } }
`;

const MUMPS = `mapping: mumps
resource: Communication
source:
  table: MUMPS
  as: m
  key: [NO]
  changed: { from: MOD_H, via: { horolog: { at: "00:00" } } }
id: "{NO}"
elements:
  status: completed
  sent: { from: [OBS_H, OBS_S], via: { date-and-time: { date: days, since: 1840-12-31, time: seconds } } }
  received: { from: MOD_H, via: horolog }
`;

const PUMPS = `mapping: pumps
resource: Device
source:
  table: PUMP
  as: u
  key: [NO]
  changed: { from: [UPMJ, UPMT], via: { date-and-time: { date: yddd, since: 1900, time: hhmmss, at: "00:00" } } }
id: "{NO}"
elements:
  patient: { display: x }
  manufactureDate: { from: MADE, via: yddd }
  expirationDate: { from: EXPJ, via: { yddd: { since: 1900 } } }
`;

const FILEMAN = `mapping: fileman
resource: MedicationStatement
source: { table: FM, as: f, key: [NO], changed: { from: VISIT_FM, via: { ymd14: { since: 1700, at: "00:00" } } } }
id: "{NO}"
elements:
  status: active
  subject: { display: x }
  medicationCodeableConcept: { text: x }
  effectiveDateTime: { from: VISIT_FM, via: { ymd14: { since: 1700 } } }
---
mapping: shown
resource: Procedure
source: { table: SHOWN, as: s, key: [NO] }
id: "{NO}"
elements:
  status: completed
  subject: { display: x }
  performedDateTime: { first: [{ from: SHOWN, via: [{ written: "MON D, YYYY@HH:mm:ss" }, ymd14] }, { from: SHOWN, via: [{ written: MON YYYY }, ymd8] }, { from: SHOWN, via: [{ written: YYYY }, ymd8] }] }
---
mapping: subfile
resource: ClinicalImpression
source: { table: SUBFILE, as: f, key: [LRDFN, INV] }
id: "{LRDFN}-{INV}"
elements:
  status: completed
  subject: { display: x }
  effectiveDateTime: { sql: "ROUND(9999999 - {INV}, 6)", type: "decimal(14,6)", via: { ymd14: { since: 1700 } } }
`;

test('the forms in "What old tables have" work as documented', async () => {
  const database = new DatabaseSync(join(folder, 'old.sqlite'));
  database.exec(SQL);
  database.close();
  writeFileSync(
    join(folder, 'pack.yaml'),
    'name: old\ntitle: Old\nzone: America/New_York\nsystems: { loinc: http://loinc.org, icd10: http://hl7.org/fhir/sid/icd-10-cm, icd9: urn:icd9 }\n',
  );
  writeFileSync(join(folder, 'people.yaml'), PEOPLE);
  writeFileSync(join(folder, 'records.yaml'), RECORDS);
  writeFileSync(join(folder, 'visits.yaml'), VISITS);
  writeFileSync(join(folder, 'notes.yaml'), NOTES);
  writeFileSync(join(folder, 'orders.yaml'), ORDERS);
  writeFileSync(join(folder, 'counted.yaml'), COUNTED);
  writeFileSync(join(folder, 'mumps.yaml'), MUMPS);
  writeFileSync(join(folder, 'pumps.yaml'), PUMPS);
  writeFileSync(join(folder, 'fileman.yaml'), FILEMAN);
  writeFileSync(join(folder, 'messages.yaml'), MESSAGES);
  writeFileSync(join(folder, 'came.yaml'), CAME);
  writeFileSync(join(folder, 'groups.yaml'), GROUPS);
  writeFileSync(join(folder, 'pids.yaml'), PID);
  writeFileSync(join(folder, 'slots.yaml'), SLOTS);
  writeFileSync(join(folder, 'facts.yaml'), FACTS);
  writeFileSync(join(folder, 'readings.yaml'), READINGS);
  writeFileSync(join(folder, 'diagnoses.yaml'), DIAGNOSES);
  writeFileSync(join(folder, 'codes.yaml'), SOURCES);
  const opened = openSqlite(join(folder, 'old.sqlite'));
  const { registry, problems } = loadPackFiles(readPackFiles(folder), await opened.catalog());
  expect(problems.map(formatProblem)).toEqual([]);
  if (!registry) return;
  const facade = facadeOver({ registry, database: opened });
  expect(await allOf(facade, 'Patient', [])).toEqual([
    {
      resourceType: 'Patient',
      id: '1',
      meta: { lastUpdated: '2024-03-10T03:00:00.000-04:00' },
      active: true,
      name: [{ family: 'DOE', given: ['JOHN'] }, { family: 'Pérez Ruiz' }],
      birthDate: '1980-03-10',
      deceasedBoolean: true,
      address: [{ city: 'New' }],
      communication: [{ language: { text: 'en' } }, { language: { text: 'es' } }],
      generalPractitioner: [{ reference: expect.stringMatching(/^Practitioner\/NO-A/) }],
    },
    {
      resourceType: 'Patient',
      id: '2',
      meta: { lastUpdated: '1969-12-31T19:00:00.000-05:00' },
      active: false,
      name: [{ family: 'ROE' }, { family: 'Ibáñez' }],
      birthDate: '1970',
    },
  ]);
  const staff = await allOf(facade, 'Practitioner', []);
  expect(new Set(staff.map(({ id }) => id)).size).toBe(2);
  expect(staff).toMatchObject([
    { active: true, birthDate: '1969-12-31', meta: { lastUpdated: '2024-03-01T09:15:00.000-05:00' } },
    { active: false, meta: { lastUpdated: '2024-07-01T00:00:00.000-04:00' } },
  ]);
  expect(staff[1]).not.toHaveProperty('birthDate');
  const quantity = (value: number) => ({ valueQuantity: { value } });
  expect(await allOf(facade, 'Observation', [['_id:not', 'g-1']])).toMatchObject([
    {
      id: '7',
      subject: { reference: 'Patient/1' },
      valueQuantity: { value: 5.4, unit: 'mmol/L' },
      effectiveDateTime: '2024-03-14T08:30:00-04:00',
      issued: '2024-03-14T00:00:00.000-04:00',
      component: [quantity(2.75), quantity(120), quantity(80)],
    },
    { id: '8', subject: { reference: 'Patient/2' }, component: [quantity(118)] },
  ]);
  const ids = async (type: string, name: string, text: string) =>
    (await allOf(facade, type, [[name, text]])).map(({ id }) => id);
  expect(await ids('Patient', 'family', 'perez')).toEqual(['1']);
  expect(await ids('Patient', 'family', 'ruiz')).toEqual(['1']);
  expect(await ids('Patient', 'name', 'ibanez')).toEqual(['2']);
  expect(await ids('Observation', 'component-value-quantity', '2.75')).toEqual(['7']);
  expect(await ids('Observation', 'date', '2024-03-14')).toEqual(['7']);
  expect(await allOf(facade, 'Encounter', [])).toMatchObject([
    { meta: { lastUpdated: '2024-02-01T08:00:00.000-05:00' }, period: { start: '2024-03-14' } },
  ]);
  expect(await allOf(facade, 'Binary', [])).toMatchObject([
    { id: '1', data: Buffer.from('Cough.\nChest clear.').toString('base64') },
    { id: '2', contentType: 'text/plain' },
  ]);
  const orders = await allOf(facade, 'ServiceRequest', []);
  expect(orders.map(({ authoredOn, meta }) => [authoredOn, meta])).toEqual([
    ['2024-03-14', { lastUpdated: '2024-07-01T09:15:00.000-04:00' }],
    ['1999-12-31', undefined],
    [undefined, { lastUpdated: '2024-07-01T00:00:00.000-04:00' }],
  ]);
  expect(await ids('ServiceRequest', 'authored', 'lt2000')).toEqual(['2']);
  expect(await ids('ServiceRequest', 'authored', '2024-03')).toEqual(['1']);
  expect(await ids('ServiceRequest', '_lastUpdated', 'ge2024-07-01T09:00:00-04:00')).toEqual(['1']);
  const named = await allOf(facade, 'Person', [['_id', 'i-1,i-2']]);
  expect(named.map(({ name }) => name)).toEqual([
    [
      { family: 'OKONKWO', given: ['CHIDI'] },
      { family: 'STONE&SON', given: ['CHIDI'] },
    ],
    [{ family: 'X~Y' }],
  ]);
  expect(named.map(({ telecom }) => telecom)).toEqual([[{ value: '(312)555-0142' }], [{ value: '312-5550142' }]]);
  expect(await ids('Person', 'name', 'stone&son')).toEqual(['i-1']);
  const messages = await allOf(facade, 'DiagnosticReport', [['_sort', '-_lastUpdated']]);
  expect(messages.map(({ id, meta, effectiveDateTime }) => [id, meta, effectiveDateTime])).toEqual([
    ['3', { lastUpdated: '2024-03-14T10:30:05.123-04:00' }, '2024-03-14T08:30:05-04:00'],
    ['2', { lastUpdated: '2024-03-14T08:30:00.000-04:00' }, '2024-03-14T09:30:00-04:00'],
    ['1', { lastUpdated: '2024-03-14T00:00:00.000-04:00' }, '2024'],
    ['4', undefined, undefined],
  ]);
  expect(await ids('DiagnosticReport', '_lastUpdated', 'gt2024-03-14T08:30:00-04:00')).toEqual(['3']);
  expect(await ids('DiagnosticReport', 'date', 'ge2024-03-14T09:00:00-04:00')).toEqual(['1', '2']);
  expect(await ids('DiagnosticReport', 'date', '2024-03-14')).toEqual(['2', '3']);
  const came = await allOf(facade, 'Specimen', [
    ['_id', 'came-1,came-2,came-3,came-4,came-5'],
    ['_sort', '_lastUpdated'],
  ]);
  expect(came.map(({ id, meta, collection }) => [id, meta, collection])).toEqual([
    ['came-3', { lastUpdated: '2016-09-27T00:00:00.000-04:00' }, { collectedDateTime: '2016-09-27' }],
    ['came-2', { lastUpdated: '2016-09-27T01:48:00.000-04:00' }, { collectedDateTime: '2016-09-27T01:48:00-04:00' }],
    ['came-1', { lastUpdated: '2016-09-27T03:48:18.000-04:00' }, { collectedDateTime: '2016-09-27T03:48:18-04:00' }],
  ]);
  expect(await ids('Specimen', '_lastUpdated', 'gt2016-09-27T06:00:00Z')).toEqual(['came-1']);
  expect(await ids('Specimen', 'collected', 'lt2016-09-27T06:00:00Z')).toEqual(['came-2', 'came-3']);
  const counted = await allOf(facade, 'RelatedPerson', [['_id:not', 'b-1,b-2,b-3,b-4']]);
  expect(counted.map(({ birthDate, meta }) => [birthDate, meta])).toEqual([
    ['2024-03-14', { lastUpdated: '2024-03-14T08:30:00.000-04:00' }],
    [undefined, undefined],
    [undefined, undefined],
    ['1950-07-08', { lastUpdated: '2024-03-15T00:00:00.000-04:00' }],
  ]);
  expect(await ids('RelatedPerson', 'birthdate', 'lt2024')).toEqual(['4']);
  expect(await ids('RelatedPerson', '_lastUpdated', 'ge2024-03-14T08:30:00-04:00')).toEqual(['1', '4']);
  expect(await ids('RelatedPerson', '_lastUpdated', 'gt2024-03-14T08:30:00-04:00')).toEqual(['4']);
  const mumps = await allOf(facade, 'Communication', []);
  expect(mumps.map(({ sent, received, meta }) => [sent, received, meta])).toEqual([
    ['2024-03-14T08:30:00-04:00', '2024-03-14T08:30:00-04:00', { lastUpdated: '2024-03-14T08:30:00.000-04:00' }],
    ['2024-03-15', '2024-03-15', { lastUpdated: '2024-03-15T00:00:00.000-04:00' }],
    [undefined, undefined, undefined],
  ]);
  expect(await ids('Communication', '_lastUpdated', 'ge2024-03-14T12:30:00Z')).toEqual(['1', '2']);
  expect(await ids('Communication', 'sent', 'lt2024-03-14T12:30:01Z')).toEqual(['1']);
  expect(await ids('Communication', 'received', '2024-03-15')).toEqual(['2']);
  const pumps = await allOf(facade, 'Device', []);
  expect(pumps.map(({ manufactureDate, expirationDate, meta }) => [manufactureDate, expirationDate, meta])).toEqual([
    ['2024-03-14', '2024-12-31', { lastUpdated: '2024-03-14T09:15:00.000-04:00' }],
    [undefined, '1999-12-31', { lastUpdated: '2024-03-15T00:00:00.000-04:00' }],
    [undefined, undefined, undefined],
  ]);
  expect(await ids('Device', '_lastUpdated', 'ge2024-03-14T13:15:00Z')).toEqual(['1', '2']);
  expect(await ids('Device', '_lastUpdated', 'gt2024-03-14T13:15:00Z')).toEqual(['2']);
  const fileman = await allOf(facade, 'MedicationStatement', []);
  expect(fileman.map(({ effectiveDateTime, meta }) => [effectiveDateTime, meta])).toEqual([
    ['2024-03-14T08:30:00-04:00', { lastUpdated: '2024-03-14T08:30:00.000-04:00' }],
    ['2024-03-14', { lastUpdated: '2024-03-14T00:00:00.000-04:00' }],
    ['2024-03-15T00:00:00-04:00', { lastUpdated: '2024-03-15T00:00:00.000-04:00' }],
    ['2024-03', undefined],
    [undefined, undefined],
  ]);
  expect(await ids('MedicationStatement', '_lastUpdated', 'gt2024-03-14T12:00:00Z')).toEqual(['1', '3']);
  expect(await ids('MedicationStatement', 'effective', '2024-03-14')).toEqual(['1', '2']);
  const shown = await allOf(facade, 'Procedure', []);
  expect(shown.map(one => one['performedDateTime'])).toEqual([
    '2015-02-04T14:00:00-05:00',
    '2015-02-04',
    '2015-02',
    '2015',
    undefined,
  ]);
  expect(await ids('Procedure', 'date', '2015-02')).toEqual(['1', '2', '3']);
  const subfile = await allOf(facade, 'ClinicalImpression', []);
  expect(subfile.map(one => [one.id, one['effectiveDateTime']])).toEqual([
    ['17-6759684.000000', '2024-03-15'],
    ['17-6759684.917000', '2024-03-14T08:30:00-04:00'],
    ['18-6759684.858576', '2024-03-14T14:14:24-04:00'],
  ]);
  expect(await ids('ClinicalImpression', '_id', '17-6759684.917000')).toEqual(['17-6759684.917000']);
  const [group] = await allOf(facade, 'Observation', [['_id', 'g-1']]);
  expect([group?.['code'], group?.['component']]).toEqual([
    {
      coding: [
        { system: 'http://loinc.org', code: '85354-9' },
        { system: 'http://snomed.info/sct', code: '75367002' },
      ],
    },
    [{ code: { text: 'systolic' }, valueQuantity: { value: 120 } }],
  ]);
  expect(await ids('Observation', 'code', 'http://snomed.info/sct|75367002')).toEqual(['g-1']);
  expect(await ids('Observation', 'code', 'H7')).toEqual([]);
  expect(await ids('Observation', 'component-value-quantity', '120')).toContain('g-1');
  expect((await allOf(facade, 'Basic', [])).map(({ id }) => id)).toEqual(['3', '4', '6']);
  const facts = await allOf(facade, 'NutritionOrder', []);
  expect(
    facts.map(({ id, enteralFormula, foodPreferenceModifier: of }) => [id, enteralFormula, of !== undefined]),
  ).toEqual([
    ['1', { baseFormulaType: { coding: [{ system: 'http://loinc.org', code: '2345-7' }] } }, true],
    [
      '2',
      {
        baseFormulaType: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10-cm', code: 'E11.9' }] },
        maxVolumeToDeliver: { value: 20 },
      },
      false,
    ],
    ['4', undefined, true],
    ['5', { baseFormulaType: { coding: [{ system: 'http://loinc.org', code: '2345-7' }] } }, true],
  ]);
  expect(await ids('NutritionOrder', 'formula', 'http://loinc.org|2345-7')).toEqual(['1', '5']);
  expect(await ids('NutritionOrder', 'formula', 'E11.9')).toEqual(['2']);
  expect(await ids('NutritionOrder', 'formula', 'http://loinc.org|')).toEqual(['1', '5']);
  expect(await ids('NutritionOrder', 'formula:missing', 'true')).toEqual(['4']);
  expect(await allOf(facade, 'Slot', [])).toMatchObject([
    { meta: { lastUpdated: '2024-03-10T08:30:00.000-05:00' }, end: '2024-03-15T00:15:00.000-04:00' },
    { meta: { lastUpdated: '2024-03-10T09:00:00.000-04:00' }, end: '2024-03-14T08:15:00.000-04:00' },
  ]);
  expect(await ids('Slot', '_lastUpdated', 'gt2024-03-10T09:20:00-04:00')).toEqual(['1']);
  expect(await ids('Slot', '_lastUpdated', 'lt2024-03-10T13:31:00Z')).toEqual(['1', '3']);
  const issues = await allOf(facade, 'DetectedIssue', []);
  expect(issues.map(({ identifiedDateTime }) => identifiedDateTime)).toEqual([
    '2024-03-14T14:31:00-04:00',
    '2024-03-14T00:05:00-04:00',
    '2024-03-14',
    '2016-09-27',
    '2016-09-27T07:48:18-04:00',
    undefined,
  ]);
  expect(await ids('DetectedIssue', 'identified', 'lt2016-09-27T08:00:00-04:00')).toEqual(['d-1', 'd-2']);
  expect(await ids('DetectedIssue', 'identified', 'eb2016-09-27T08:00:00-04:00')).toEqual(['d-2']);
  expect(await ids('DetectedIssue', 'identified', 'eb2024-03-14T12:00:00-04:00')).toEqual(['2', 'd-1', 'd-2']);
  const births = await allOf(facade, 'Person', [['_id', 'f-600346,f-600347,f-600348.5']]);
  expect(births.map(({ id, birthDate }) => [id, birthDate])).toEqual([
    ['f-600346', '1970-01-01'],
    ['f-600347', '1970-01-02'],
  ]);
  expect(await ids('Person', 'birthdate', '1970-01-01')).toEqual(['f-600346']);
  const flagged = await allOf(facade, 'Person', [['_id', 'g-1,g-2,g-3']]);
  expect(flagged.map(({ birthDate }) => birthDate)).toEqual(['1970', '1970-03', '1970-03-09']);
  expect(await ids('Person', 'birthdate', '1970')).toEqual(['g-1', 'g-2', 'g-3', 'f-600346', 'f-600347']);
  expect(await ids('Person', 'birthdate', '1970-03')).toEqual(['g-2', 'g-3']);
  const others = 'i-1,i-2,f-600346,f-600347,g-1,g-2,g-3';
  const estimated = await allOf(facade, 'Person', [['_id:not', others]]);
  expect(estimated.map(({ birthDate }) => birthDate)).toEqual(['1968', '1968-07-08', undefined]);
  expect(await ids('Person', 'birthdate', '1968')).toEqual(['1', '2']);
  expect(await ids('Person', 'birthdate', '1968-07')).toEqual(['2']);
  expect(await ids('FamilyMemberHistory', 'relationship', 'http://hl7.org/fhir/sid/icd-10-cm|E11.9')).toEqual(['1']);
  expect(await ids('FamilyMemberHistory', 'relationship', 'urn:icd9|E888.9,urn:icd9|401.9')).toEqual(['2', '3']);
  expect(await ids('FamilyMemberHistory', 'relationship', 'I10')).toEqual(['4']);
  expect(await ids('RelatedPerson', 'birthdate', 'ge2100')).toEqual(['b-1', 'b-3']);
  const readings = ['17-220045-20240310T083000', '17-220045-20240310T083000.5'];
  expect(await ids('Specimen', '_id', `${readings},17-220045-20240310T083000.50`)).toEqual(readings);
  const charted = await allOf(facade, 'Specimen', [['_id:not', `came-1,came-2,came-3,${readings}`]]);
  expect(charted).toMatchObject([
    { id: 'c-9-1-21500310T083000', collection: { quantity: { value: 70 } } },
    { id: 'c-9-2-21500310T083000', collection: { quantity: { value: 71 } } },
  ]);
  const collected = charted.map(one => Date.parse(Object(one['collection'])['collectedDateTime']));
  expect(collected).toEqual([Date.UTC(2150, 2, 10, 13, 30), Number.NaN]);
  expect(await ids('Specimen', 'collected', '2150-03-10T13:30:00Z')).toEqual(['c-9-1-21500310T083000']);
  await opened.close();
});

test('each form in the reference is tested here', () => {
  const reference = readFileSync('docs/mapping-language.md', 'utf8');
  const table = reference.split('## What old tables have')[1]?.split('\n## ')[0] ?? '';
  const forms = [...table.matchAll(/`((?:[a-z-]+: |\{ )[^`]*)`/gi)].map(([, form = '']) => form.replaceAll('\\|', '|'));
  expect(forms.length).toBeGreaterThan(15);
  // test/plan/uuid-ids.test.ts tests ids from UUIDs in texts. In the records all columns are those of the newest
  // revision, and a source lists its lookups one below the other.
  const tried =
    `${PEOPLE}${RECORDS}${VISITS}${NOTES}${ORDERS}${COUNTED}${MUMPS}${PUMPS}${FILEMAN}${MESSAGES}${CAME}${PID}${GROUPS}${SLOTS}${FACTS}${READINGS}${DIAGNOSES}id: "{UID|uuid}"\n`.replaceAll(
      /\bn\./g,
      '',
    );
  expect(forms.filter(form => !tried.includes(form.replace(/^lookup: \{ (.*) \}$/, '$1')))).toEqual([]);
});
