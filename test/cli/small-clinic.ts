/**
 * Makes the smallest database that a server can serve: a SQLite file with two tables, and a pack that maps them. It has
 * nothing from the demo, so it tests that no code depends on the demo.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { onTestFinished } from 'vitest';

export interface SmallClinic {
  readonly folder: string;
  readonly pack: string;
  readonly environment: Readonly<Record<string, string>>;
}

const SCHEMA = `
CREATE TABLE PERSON (ID INTEGER NOT NULL PRIMARY KEY, SURNAME VARCHAR(40) COLLATE RTRIM, BORN DATE, SEX CHAR(1));
CREATE TABLE WEIGHING (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, TAKEN DATETIME, KG DECIMAL(6,2));
CREATE INDEX WEIGHING_PERSON ON WEIGHING (PERSON_ID);
INSERT INTO PERSON VALUES (1, 'Kowalski', '1970-02-03', 'F'), (2, 'Müller', NULL, 'M');
INSERT INTO WEIGHING VALUES (7, 1, '2024-03-10 08:30:00.000', '61.50'), (8, 1, '2024-04-10 08:30:00.000', '62.00');
`;

export const PACK_YAML = `name: small
title: A small clinic
zone: Europe/Warsaw
systems: { loinc: http://loinc.org, ucum: http://unitsofmeasure.org }
`;

export const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  gender: { from: SEX, via: sex }
  birthDate: { from: BORN }
`;

/** A mapping of people without their names, or their sex. */
export const NAMELESS = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  birthDate: { from: BORN }
`;

export const WEIGHTS = `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  effectiveDateTime: { from: TAKEN }
  valueQuantity: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
`;

const PACK: Readonly<Record<string, string>> = {
  'pack.yaml': PACK_YAML,
  'codes.yaml': `sex:
  system: http://hl7.org/fhir/administrative-gender
  rows: { F: female, M: male }
`,
  'person.yaml': PEOPLE,
  'weighing.yaml': WEIGHTS,
};

/** A mapping of each person as an Organization: `place-1`, `place-2`. */
export const PLACES = `mapping: places
resource: Organization
source: { table: PERSON, as: o, key: [ID] }
id: "place-{ID}"
compartment: { none: rooms are called after people }
elements:
  active: true
  name: { from: SURNAME }
`;

/** A mapping of each weighing as a finished Encounter. */
export const VISITS = `mapping: visits
resource: Encounter
source: { table: WEIGHING, as: w, key: [NO] }
id: "{NO}"
elements:
  status: finished
  class: http://terminology.hl7.org/CodeSystem/v3-ActCode#AMB
  subject: { ref: people, on: { ID: PERSON_ID } }
`;

/** Removed when the test is over. `files` replace or add files of the pack. */
export function smallClinic(files: Readonly<Record<string, string>> = {}): SmallClinic {
  const clinic = keptClinic(files);
  onTestFinished(() => rmSync(clinic.folder, { recursive: true, force: true }));
  return clinic;
}

/** The same; the caller removes its folder. */
export function keptClinic(files: Readonly<Record<string, string>> = {}): SmallClinic {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-'));
  const pack = join(folder, 'pack');
  mkdirSync(pack);
  for (const [name, text] of Object.entries({ ...PACK, ...files })) writeFileSync(join(pack, name), text);
  const file = join(folder, 'clinic.sqlite');
  const database = new DatabaseSync(file);
  database.exec(SCHEMA);
  database.close();
  return {
    folder,
    pack,
    environment: { DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack, DATA_DIR: join(folder, 'data'), PORT: '0' },
  };
}
