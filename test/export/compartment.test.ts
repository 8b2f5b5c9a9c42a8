/** Tests which types of an export belong to patients, and which resources may belong to several of them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { isBound, isShared } from '../../src/export/compartment.ts';
import { openSource } from '../../src/export/export-source.ts';
import { clinic, contents, finished, kickOff, served } from './exporting.ts';

test.each([
  ['Patient', 'is bound', 'is of one patient'],
  ['Observation', 'is bound', 'is of one patient'],
  // By a parameter, which R4's compartment lacks.
  ['Device', 'is bound', 'is of one patient'],
  // By the document that refers to it.
  ['Binary', 'is bound', 'is of one patient'],
  // By two elements that name patients, and by a list of them.
  ['Coverage', 'is bound', 'may be of several'],
  ['Group', 'is bound', 'may be of several'],
  ['Practitioner', 'is free', 'is of one patient'],
  ['Organization', 'is free', 'is of one patient'],
])('%s %s and %s', async (type, bound, shared) => {
  const source = await openSource(readConfig(clinic().environment));
  onTestFinished(() => source.database().close());
  expect(isBound(type, source.registry) ? 'is bound' : 'is free').toBe(bound);
  expect(isShared(type, source.registry) ? 'may be of several' : 'is of one patient').toBe(shared);
});

test('a type that refers to patients by a choice element is exported with their data', async () => {
  const where = clinic();
  writeFileSync(
    join(where.environment['MAPPINGS'] ?? '', 'library.yaml'),
    `mapping: protocols
resource: Library
source: { table: LIST, as: g, key: [NO] }
id: "l-{NO}"
compartment: { none: seen through its list }
elements:
  status: active
  type: { coding: [{ system: http://terminology.hl7.org/CodeSystem/library-type, code: asset-collection }] }
  subjectReference: { ref: lists, on: { NO: NO } }
`,
  );
  const { fhir } = await served(where);
  const found = await contents(await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Library`)));
  expect(found).toEqual(['Library/l-1']);
});
