/**
 * Generates a pack of 5 MB over a SQLite file of 5,000 tables: 600 mappings in 300 files, 40 code maps of 500 rows, and
 * one of 12,000 in a CSV; a quarter of that without TEST_ALL. In: a folder. Out: the options to open a workbench with.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { runsOf } from '../share.ts';

export const TABLES = runsOf(5000);
export const FILES = runsOf(300);
const MAPS = runsOf(40);
const ROWS_OF_MAP = 500;
const ROWS_OF_CSV = runsOf(12_000);

export interface LargePack {
  readonly pack: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly bytes: number;
}

/** Writes database and pack below the folder. */
export function makeLargePack(folder: string): LargePack {
  const pack = join(folder, 'pack');
  mkdirSync(pack, { recursive: true });
  const file = join(folder, 'large.sqlite');
  const database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN');
  database.exec('CREATE TABLE PERSON (ID INTEGER NOT NULL PRIMARY KEY, SURNAME VARCHAR(40), BORN DATE, SEX CHAR(1))');
  for (let i = 0; i < TABLES - 1; i++) database.exec(tableOf(i));
  database.exec("INSERT INTO PERSON VALUES (1, 'Kowalski', '1970-02-03', 'F')");
  for (const i of [0, 1])
    database.exec(`INSERT INTO ${nameOf(i)} (NO, PERSON_ID, TAKEN, C0) VALUES (7, 1, '2024-03-10', 'raw-0')`);
  database.exec('COMMIT');
  database.close();
  const texts: Readonly<Record<string, string>> = {
    'pack.yaml':
      'name: large\ntitle: A large hospital\nzone: Europe/Warsaw\nsystems:\n  loinc: http://loinc.org\n  own: urn:oid:1.2.3\n',
    'person.yaml': PERSON,
    'codes.yaml': Array.from({ length: MAPS }, (_, i) => mapOf(i)).join(''),
    'many.csv': `raw,code,display,system\n${Array.from({ length: ROWS_OF_CSV }, (_, i) => `raw-${i},C${i},What the laboratory calls its test number ${i} of the list,own\n`).join('')}`,
    ...Object.fromEntries(
      Array.from({ length: FILES }, (_, i) => [`part-${i}.yaml`, `${mappingOf(2 * i)}---\n${mappingOf(2 * i + 1)}`]),
    ),
  };
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(pack, name), text);
  return {
    pack,
    environment: { DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack, DATA_DIR: join(folder, 'data'), PORT: '0' },
    bytes: Object.values(texts).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  };
}

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [ { family: { from: SURNAME } } ]
  birthDate: { from: BORN }
`;

function nameOf(i: number): string {
  return `RESULT_OF_DEPARTMENT_${i}`;
}

/** Columns of codes that a mapping reads. */
const CODES = 24;

function tableOf(i: number): string {
  const columns = Array.from({ length: CODES }, (_, j) => `C${j} VARCHAR(20)`).join(', ');
  return `CREATE TABLE ${nameOf(i)} (NO INTEGER NOT NULL PRIMARY KEY, PERSON_ID INTEGER NOT NULL, TAKEN DATE, ${columns})`;
}

function mapOf(i: number): string {
  const rows = Array.from(
    { length: ROWS_OF_MAP },
    (_, j) => `    raw-${j}: M${i}-${j} What department ${i} calls finding ${j}\n`,
  );
  return `map-${i}:\n  system: own\n  rows:\n${rows.join('')}`;
}

/** About 6 kB: a panel with a component for each column of codes. */
function mappingOf(i: number): string {
  const component = (
    j: number,
  ): string => `    # what the department found in its examination ${j}, as it stands in column C${j} of its table of results
    - code: { coding: [ { system: own, code: finding-${j}, display: The finding ${j} of the examination } ], text: The finding ${j} }
      valueCodeableConcept: { coding: [ { from: C${j}, via: ${j === 0 ? 'many' : `map-${(i + j) % MAPS}`} } ], text: { from: C${j} } }
`;
  return `mapping: results-${i}
resource: Observation
source: { table: ${nameOf(i)}, as: r, key: [NO] }
id: "d${i}-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
  effectiveDateTime: { from: TAKEN }
  component:
${Array.from({ length: CODES }, (_, j) => component(j)).join('')}`;
}
