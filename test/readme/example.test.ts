/** The worked example of docs/mapping-language.md loads, and serves what the text promises. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { lintel } from '../cli/lintel.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SCHEMA = `
CREATE TABLE PT (PT_NO INTEGER NOT NULL PRIMARY KEY, MRN VARCHAR(12) NOT NULL COLLATE RTRIM);
CREATE UNIQUE INDEX PT_MRN ON PT (MRN);
CREATE TABLE LAB_RSLT (RSLT_ID INTEGER NOT NULL PRIMARY KEY, ACC_NO VARCHAR(12) COLLATE RTRIM, STS CHAR(1),
  TST_CD VARCHAR(10) COLLATE RTRIM, MRN VARCHAR(12) COLLATE RTRIM, RSLT_TX VARCHAR(40) COLLATE RTRIM,
  UNITS VARCHAR(12) COLLATE RTRIM);
`;
const PACK = {
  'pack.yaml': `name: example
title: Example
zone: UTC
systems: { accession: https://lab.example.org/accession }
`,
  'codes.yaml': `result-status:
  system: http://hl7.org/fhir/observation-status
  rows: { F: final, P: preliminary }
loinc-local:
  system: http://loinc.org
  rows: { K: 2823-3 Potassium }
`,
  'patient.yaml':
    'mapping: patients\nresource: Patient\nsource: { table: dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements: { active: "true" }\n',
};

test('the worked example is valid, and without its `needs` it is refused', async () => {
  const folder = temporaryFolder();
  const pack = join(folder, 'pack');
  mkdirSync(pack);
  for (const [name, text] of Object.entries(PACK)) writeFileSync(join(pack, name), text);
  const database = new DatabaseSync(join(folder, 'example.sqlite'));
  database.exec(SCHEMA);
  database.close();
  const reference = readFileSync('docs/mapping-language.md', 'utf8');
  const [, example = ''] = /```yaml\n(mapping: results\n[\s\S]*?)```/.exec(reference) ?? [];
  const environment = { DATABASE_URL: `sqlite:${join(folder, 'example.sqlite')}`, MAPPINGS: pack };

  writeFileSync(join(pack, 'results.yaml'), example);
  const sound = await lintel(environment, 'check');
  expect(sound.out).toMatch(/2 mappings of 2 types; 0 errors/);

  writeFileSync(join(pack, 'results.yaml'), example.replace(/^needs:.*\n/m, ''));
  const spoiled = await lintel(environment, 'check');
  expect(spoiled.code).toBe(1);
  expect(spoiled.out).toContain('required element Observation.code may be absent');
});
