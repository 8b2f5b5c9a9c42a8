/** A search parameter of a guide, added as docs/extending.md describes: by its package alone. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { smallClinic } from '../cli/small-clinic.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { copiedTree, isListed } from './tree.ts';

const EYES = 'http://example.org/StructureDefinition/eyes';

const PERSON = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  extension: [ { url: ${EYES}, valueCode: { from: SURNAME, via: code } } ]
`;

const TEST = `mapping: people
rows: { PERSON: [{ ID: "1", SURNAME: brown }] }
matches: [eyes=brown]
misses: [eyes=blue]
`;

interface Parameter {
  readonly [key: string]: string | readonly string[];
  readonly id: string;
}

/** In the form of FHIR registries. */
function writePackage(folder: string, name: string, version: string, resources: readonly Parameter[]) {
  const files = join(folder, name, 'package');
  mkdirSync(files, { recursive: true });
  const write = (file: string, content: object) => writeFileSync(join(files, file), JSON.stringify(content));
  write('package.json', { name, version });
  for (const one of resources) write(`SearchParameter-${one.id}.json`, one);
  execFileSync('tar', ['-czf', join(folder, `${name}-${version}.tgz`), '-C', join(folder, name), 'package']);
}

test('a parameter of a guide is read from its package, and offered if a mapping has the element', async () => {
  const { environment } = smallClinic({ 'person.yaml': PERSON, 'person.test.yaml': TEST });
  const tree = copiedTree();
  const before = await tree.lintel(environment, 'test');
  expect(before.out).toMatch(/^person\.test\.yaml:3:11: this search is refused: .*eyes/m);

  const packages = temporaryFolder();
  writePackage(packages, 'hl7.fhir.us.core', '7.0.0', []);
  const parameter = { resourceType: 'SearchParameter', version: '1.0.0', base: ['Patient'], type: 'token' };
  writePackage(packages, 'org.example.eyes', '12.0.0', [
    {
      ...parameter,
      id: 'eyes',
      code: 'eyes',
      url: 'http://example.org/eyes',
      expression: `Patient.extension('${EYES}')`,
    },
    { ...parameter, id: 'odd', code: 'odd', url: 'http://example.org/odd', expression: 'Patient.name.first().family' },
    // R4 defines this one already, and keeps its meaning.
    { ...parameter, id: 'sex', code: 'gender', url: 'http://example.org/sex', expression: 'Patient.maritalStatus' },
  ]);
  const made = await tree.run({}, 'tools/r4/generate.ts', '--igs', packages);
  expect(made, made.notes).toMatchObject({ code: 0 });
  expect(made.out).toContain('no steps: Patient.odd: Patient.name.first().family');
  expect(made.out, 'what only the real package of US Core says').toMatch(/^gone: Patient\.race; /m);
  expect(made.out).toMatch(/^gone: profile us-core-patient; /m);
  expect(made.out.match(/^gone: Patient\.gender;/m)).toBeNull();

  writePackage(packages, 'org.example.wrong', '1.0.0', [
    { ...parameter, id: 'tail', code: 'tail', url: 'http://example.org/tail', expression: 'Patient.tail' },
  ]);
  const wrong = await tree.run({}, 'tools/r4/generate.ts', '--igs', packages);
  expect(wrong).toMatchObject({ code: 1, notes: expect.stringContaining('http://example.org/tail: no element tail') });

  const { code, out } = await tree.lintel(environment, 'check', '--parameters');
  expect({ code, out }).toMatchObject({ code: 0, out: expect.stringMatching(/^Patient\n {2}offered .*\beyes\b/m) });
  expect(tree.touched().filter(file => !isListed('A search parameter')(file))).toEqual([]);
});
