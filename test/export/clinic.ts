/** Makes a pack and a database for exports: people, some of them members of a Group, and the data of each. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { PACK_YAML } from '../cli/small-clinic.ts';

const SCHEMA = `
CREATE TABLE PERSON (ID INTEGER NOT NULL PRIMARY KEY, SURNAME VARCHAR(40), UPD DATETIME);
CREATE TABLE LEFT_FOR_GOOD (PERSON_ID INTEGER NOT NULL PRIMARY KEY, SINCE DATETIME);
CREATE TABLE STAFF (NO INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), CLINIC INTEGER);
CREATE TABLE CLINIC (NO INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40), OVER INTEGER);
CREATE TABLE WEIGHING (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, STAFF_NO INTEGER, DEVICE_NO INTEGER,
  TAKEN DATETIME, KG DECIMAL(6,2), UPD DATETIME, GONE CHAR(1));
CREATE INDEX WEIGHING_PERSON ON WEIGHING (PERSON_ID);
CREATE TABLE IMPLANT (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, TEXT VARCHAR(40));
CREATE TABLE PAPER (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, BODY VARCHAR(80));
CREATE TABLE RELATIVE (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER, OTHER_ID INTEGER);
CREATE TABLE LIST (NO INTEGER NOT NULL PRIMARY KEY, NAME VARCHAR(40));
CREATE TABLE LISTED (LIST_NO INTEGER NOT NULL, PERSON_ID INTEGER NOT NULL, PRIMARY KEY (LIST_NO, PERSON_ID));
`;

const PACK: Readonly<Record<string, string>> = {
  'pack.yaml': PACK_YAML,
  'all.yaml': `mapping: people
resource: Patient
source:
  table: PERSON
  as: p
  key: [ID]
  changed: UPD
  deleted: { present: [l.PERSON_ID] }
  deleted-at: l.SINCE
  lookup: { l: { table: LEFT_FOR_GOOD, on: { PERSON_ID: ID } } }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
---
mapping: staff
resource: Practitioner
source: { table: STAFF, as: s, key: [NO] }
id: "s-{NO}"
elements:
  name: [ { family: { from: NAME } } ]
---
mapping: roles
resource: PractitionerRole
source: { table: STAFF, as: s, key: [NO] }
id: "r-{NO}"
elements:
  practitioner: { ref: staff, on: { NO: NO } }
  organization: { ref: clinics, on: { NO: CLINIC } }
---
mapping: clinics
resource: Organization
source: { table: CLINIC, as: c, key: [NO] }
id: "c-{NO}"
elements:
  name: { from: NAME }
  partOf: { ref: clinics, on: { NO: OVER } }
---
mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO], changed: UPD, deleted: { GONE: Y } }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  performer: [ { ref: roles, on: { NO: STAFF_NO } } ]
  device: { ref: implants, on: { NO: DEVICE_NO } }
  effectiveDateTime: { from: TAKEN }
  valueQuantity: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
---
mapping: implants
resource: Device
source: { table: IMPLANT, as: i, key: [NO] }
id: "i-{NO}"
elements:
  patient: { ref: people, on: { ID: PERSON_ID } }
  lotNumber: { from: TEXT }
---
mapping: papers
resource: DocumentReference
source: { table: PAPER, as: d, key: [NO] }
id: "d-{NO}"
needs: [content]
elements:
  status: current
  subject: { ref: people, on: { ID: PERSON_ID } }
  content:
    - attachment: { contentType: text/plain, url: { ref: contents, on: { NO: NO }, as: url } }
      needs: [attachment]
---
mapping: contents
resource: Binary
source: { table: PAPER, as: d, key: [NO] }
id: "b-{NO}"
compartment: { none: seen through its document }
elements:
  contentType: text/plain
  securityContext: { ref: papers, on: { NO: NO } }
  data: { from: BODY, via: base64 }
---
mapping: cover
resource: Coverage
source: { table: RELATIVE, as: r, key: [NO] }
id: "v-{NO}"
needs: [beneficiary, payor]
elements:
  status: active
  beneficiary: { ref: people, on: { ID: PERSON_ID } }
  subscriber: { ref: people, on: { ID: OTHER_ID } }
  payor: [ { ref: people, on: { ID: PERSON_ID } } ]
---
mapping: stamps
resource: Provenance
source: { table: WEIGHING, as: w, key: [NO] }
id: "pw-{NO}"
needs: [recorded, target, agent]
elements:
  target: [ { ref: weights, on: { NO: NO } }, { ref: people, on: { ID: PERSON_ID } } ]
  recorded: { from: UPD }
  agent: [ { who: { ref: staff, on: { NO: STAFF_NO } }, needs: [who] } ]
---
mapping: implants-stamps
resource: Provenance
source: { table: IMPLANT, as: i, key: [NO] }
id: "pi-{NO}"
compartment: { none: the stores write of devices }
needs: [target]
elements:
  target: [ { ref: implants, on: { NO: NO } } ]
  recorded: "2020-01-01T00:00:00Z"
  agent: [ { who: { display: Stores } } ]
---
mapping: lists
resource: Group
source: { table: LIST, as: g, key: [NO] }
id: "g-{NO}"
elements:
  type: person
  actual: true
  name: { from: NAME }
  member:
    - each: { table: LISTED, as: m, on: { LIST_NO: NO }, order: [PERSON_ID] }
      item: { entity: { ref: people, on: { ID: m.PERSON_ID } }, needs: [entity] }
`,
};

export interface Clinic {
  readonly folder: string;
  readonly file: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Changes the legacy database, as its own application does. */
  change(sql: string): void;
}

/**
 * People 1 to `people`; list 1 has the odd numbers of the first ten, list 2 nobody. Each person has `each` weighings.
 */
export function makeClinic(folder: string, people: number, each: number): Clinic {
  const pack = join(folder, 'pack');
  mkdirSync(pack);
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(pack, name), text);
  const file = join(folder, 'clinic.sqlite');
  const change = (sql: string): void => {
    const database = new DatabaseSync(file);
    try {
      database.exec(sql);
    } finally {
      database.close();
    }
  };
  change(`PRAGMA journal_mode = WAL; BEGIN; ${SCHEMA}
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${people})
      INSERT INTO PERSON SELECT i, 'Canary' || i, '2024-01-01 00:00:00.000' FROM n;
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${people * each})
      INSERT INTO WEIGHING SELECT i, (i - 1) % ${people} + 1, (i - 1) % ${people} % 2 + 1, CASE WHEN i <= 10 THEN i + 1 END,
        '2024-03-10 08:30:00.000', '61.50', '2024-03-10 08:30:00.000', NULL FROM n;
    INSERT INTO IMPLANT SELECT ID, ID, 'Lot of ' || SURNAME FROM PERSON;
    INSERT INTO PAPER SELECT ID, ID, 'Letter about ' || SURNAME FROM PERSON;
    INSERT INTO RELATIVE SELECT ID, ID, ID + 2 FROM PERSON;
    INSERT INTO STAFF VALUES (1, 'Odd', 1), (2, 'Even', 2);
    INSERT INTO CLINIC VALUES (1, 'North', 3), (2, 'South', NULL), (3, 'Trust', NULL);
    INSERT INTO LIST VALUES (1, 'Odd ones'), (2, 'Nobody');
    INSERT INTO LISTED SELECT 1, ID FROM PERSON WHERE ID < 10 AND ID % 2 = 1; COMMIT;`);
  const environment = {
    DATABASE_URL: `sqlite:${file}`,
    MAPPINGS: pack,
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
  };
  return { folder, file, environment, change };
}
