/** Output of `check` and `test` for pipelines: SARIF with lines of the files, JUnit with the failures, exit codes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { XMLParser } from 'fast-xml-parser';
import { expect, test } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

const TESTS = `mapping: people
rows: { PERSON: [{ ID: 5, SURNAME: "O'Neil & <Sons>", SEX: F }] }
resource: { gender: female, name: [ { family: "O'Neil & <Sons>" } ] }
---
mapping: people
rows: { PERSON: [{ ID: 6, SURNAME: Lang, SEX: M }] }
resource:
  gender: female
`;

/** A pack with two tests, one of which fails. */
function withTests(files: Readonly<Record<string, string>> = {}) {
  const clinic = smallClinic({ 'person.test.yaml': TESTS, ...files });
  const [sarif, junit] = [join(clinic.folder, 'out.sarif'), join(clinic.folder, 'out.xml')];
  return {
    ...clinic,
    run: (command: string, ...more: string[]) =>
      lintel(clinic.environment, command, ...more, '--sarif', sarif, '--junit', junit),
    sarif: () => JSON.parse(readFileSync(sarif, 'utf8')),
    junit: () =>
      new XMLParser({ ignoreAttributes: false, isArray: name => /^test/.test(name) }).parse(readFileSync(junit)),
  };
}

test('lintel test runs the tests alone: text, exit code, SARIF and JUnit name the line that failed', async () => {
  const { run, sarif, junit } = withTests();
  const { code, out } = await run('test');
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    'person.test.yaml:8:11: Patient.gender is another; expected female; found male [LNT-801]',
    '2 tests, 1 failed',
  ]);
  const [{ results, tool }] = sarif().runs;
  expect(tool.driver.name).toBe('lintel');
  expect(results).toHaveLength(1);
  expect(results[0]).toMatchObject({
    ruleId: 'LNT-801',
    level: 'error',
    message: { text: expect.stringContaining('Patient.gender') },
  });
  const { artifactLocation, region } = results[0].locations[0].physicalLocation;
  expect(artifactLocation.uri).toMatch(/\/pack\/person\.test\.yaml$/);
  expect(region).toEqual({ startLine: 8, startColumn: 11 });
  const [suite] = junit().testsuites[0].testsuite;
  expect(suite).toMatchObject({ '@_name': 'lintel test', '@_tests': '2', '@_failures': '1' });
  expect(suite.testcase[0]).not.toHaveProperty('failure');
  expect(suite.testcase[1].failure['@_type']).toBe('LNT-801');
  expect(suite.testcase[1].failure['@_message']).toBe('Patient.gender is another; expected female; found male');
});

test('--json lists each test', async () => {
  const { environment } = withTests();
  const { code, out } = await lintel(environment, 'test', '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({ ran: 2, failed: 1, tests: [{ mapping: 'people', problems: [] }, {}] });
});

test('check writes both: problems of the pack and tests', async () => {
  const { run, sarif, junit } = withTests({
    'codes.yaml': 'sex:\n  system: http://hl7.org/fhir/administrative-gender\n  rows: { F: female }\n',
  });
  expect((await run('check')).code).toBe(1);
  const results: { level: string; message: { text: string } }[] = sarif().runs[0].results;
  expect(results.map(({ level }) => level)).toEqual(expect.arrayContaining(['warning', 'error']));
  expect(results.map(({ message }) => message.text).join('\n')).toMatch(/^code map sex has no row for 1 value/m);
  const [check, tests] = junit().testsuites[0].testsuite;
  expect(check).toMatchObject({ '@_name': 'lintel check', '@_failures': '0' });
  expect(check.testcase.some((one: object) => 'system-out' in one)).toBe(true);
  expect(tests).toMatchObject({ '@_failures': '1' });
});

test('a pack with errors fails both, a valid one without tests neither', async () => {
  const broken = withTests({
    'person.yaml':
      'mapping: people\nresource: Patient\nsource: { table: PERSONS, key: [ID] }\nid: "{ID}"\nelements: {}\n',
  });
  expect((await broken.run('test')).code).toBe(1);
  expect(broken.sarif().runs[0].results[0].level).toBe('error');
  const clinic = smallClinic();
  const { code, out } = await lintel(clinic.environment, 'test');
  expect([code, out]).toEqual([0, '0 tests, 0 failed']);
});
