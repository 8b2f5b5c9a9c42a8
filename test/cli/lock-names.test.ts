/**
 * The JSON Schema that `lintel lock` writes: it adds the database's names, and rejects no mapping that was valid
 * before.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { readLock } from '../../src/mapping/load/pack/lock.ts';
import { createReport } from '../../src/mapping/load/problem.ts';
import { namesSchema } from '../../src/mapping/load/read/names-schema.ts';
import { fits, type JsonSchema } from '../mapping/load/json-schema-subset.ts';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const DEMO = new URL('../../mappings/medkeep/', import.meta.url).pathname;

test('has the tables and columns of the database, without those under deny', async () => {
  const { environment, pack } = smallClinic({
    'pack.yaml':
      'name: small\ntitle: S\nzone: Europe/Warsaw\nsystems: { loinc: http://loinc.org, ucum: http://unitsofmeasure.org }\ndeny: [WEIGHING.TAKEN]\n',
    'weighing.yaml': `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  subject: { ref: people, on: { ID: PERSON_ID } }
`,
  });
  const { code, out } = await lintel(environment, 'lock');
  expect(code).toBe(0);
  expect(out).toContain(`Written: ${join(pack, 'mapping.schema.json')}`);
  const schema = JSON.parse(readFileSync(join(pack, 'mapping.schema.json'), 'utf8'));
  const { definitions } = schema;
  expect(definitions.table.anyOf[0].enum).toEqual(['PERSON', 'WEIGHING']);
  expect(definitions.column.anyOf[0].enum).toEqual(['BORN', 'ID', 'KG', 'NO', 'PERSON_ID', 'SEX', 'SURNAME']);
  const { table, key } = definitions.source.anyOf[0].properties;
  expect(table.$ref).toBe('#/definitions/table');
  expect(JSON.stringify(key)).toContain('#/definitions/columns');
  const binding = definitions.node.anyOf.find((one: JsonSchema) =>
    JSON.stringify(one).includes('"from":{"$ref":"#/definitions/columns"}'),
  );
  expect(binding).toBeDefined();
  // With the file in it the pack is checked as before.
  expect((await lintel(environment, 'check')).code).toBe(0);
});

test('the JSON Schema made from the lock accepts each mapping of the demo, and refuses wrong names', () => {
  const lock = readLock('schema.lock.json', readFileSync(join(DEMO, 'schema.lock.json'), 'utf8'), createReport());
  const schema: JsonSchema = JSON.parse(namesSchema(lock ?? { engine: 'sqlite', tables: new Map() }, () => undefined));
  const files = globSync('*.yaml', { cwd: DEMO }).filter(
    file => !/(^|\.)(codes|pack|access|ccds|test)\.yaml$/.test(file),
  );
  expect(files.length).toBeGreaterThan(20);
  for (const file of files) {
    for (const document of parseAllDocuments(readFileSync(join(DEMO, file), 'utf8')))
      expect([file, fits(schema, document.toJSON(), schema)]).toEqual([file, true]);
  }
  expect(
    fits(schema, { mapping: 'x', resource: 'Patient', source: { table: { no: 1 } }, id: 'x', elements: {} }, schema),
  ).toBe(false);
});
