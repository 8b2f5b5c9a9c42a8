import { describe, expect, test } from 'vitest';
import { cpuTime } from '../../cpu-time.ts';
import { ACTIVE, ALLERGIES, PEOPLE, problemsOf, SMALL } from './problems-of.ts';

describe('files are checked against YAML and the mapping language', () => {
  test('a syntax error is reported at its place', () => {
    const files = {
      'm.yaml': `mapping: [a
b: c`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:1:10: `[` is not closed; expected `]` at its end']);
  });

  test('a syntax error hides the rest of its file, and references to the file report nothing more', () => {
    const files = {
      'm.yaml': ACTIVE.replace('elements:', 'elements: ['),
      'n.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }\n  gendr: male\n`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:5:11: `[` is not closed; expected `]` at its end',
      'n.yaml:8:3: unknown element of AllergyIntolerance; found gendr',
    ]);
  });

  test('a syntax error in a shared file stops the check', () => {
    const files = { 'pack.yaml': `${SMALL}systems: {`, 'codes.yaml': 'a: [', 'm.yaml': `${PEOPLE}  gendr: [` };
    expect(problemsOf(files)).toHaveLength(3);
  });

  test('a key written twice is rejected', () => {
    const files = {
      'm.yaml': `${ACTIVE}  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:7:3: key written twice']);
  });

  test('a very large code map is read in linear time, and duplicates are found', () => {
    const rows = Array.from({ length: 80_000 }, (_, i) => `    C${i}: c${i}\n`).join('');
    const codes = `many:\n  system: https://codes.example.org/many\n  rows:\n${rows}`;
    expect(problemsOf({ 'm.yaml': ACTIVE, 'codes.yaml': codes })).toEqual([
      'codes.yaml:1:1: warning: code map many is never used',
    ]);
    expect(problemsOf({ 'm.yaml': ACTIVE, 'codes.yaml': `${codes}    "C7": c8\n` })).toContain(
      'codes.yaml:80004:5: key written twice',
    );
  });

  test.each([
    ['lists in brackets', '['.repeat(20_000) + ']'.repeat(20_000)],
    ['maps in brackets', `${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`],
    ['lists', '- '.repeat(20_000)],
    ['maps', Array.from({ length: 1500 }, (_, i) => `${' '.repeat(i)}a:\n`).join('')],
    ['keys', '? '.repeat(20_000)],
    // What a parser's recursion still reaches is refused alike.
    ...Array.from({ length: 7 }, (_, i) => [`${50 << i} lists`, `a: ${'['.repeat(50 << i)}${']'.repeat(50 << i)}`]),
  ])('%s that nest deep are rejected in words', (_title = '', text = '') => {
    expect(problemsOf({ 'm.yaml': text })).toEqual([
      expect.stringMatching(/^m\.yaml:\d+:\d+: nested more than 40 deep$/),
    ]);
  });

  test.each([
    ['aliases', '*a '.repeat(100_000)],
    ['quotes', '"'.repeat(100_000)],
    ['tags', '!!a '.repeat(100_000)],
    ['bangs', '!'.repeat(100_000)],
    ['escapes', `"${'\\x'.repeat(100_000)}"`],
  ])('a line of a hundred thousand %s is rejected within seconds, by a short message', (_title, text) => {
    let problem = '';
    const read = (): void => {
      [problem = ''] = problemsOf({ 'm.yaml': text });
    };
    // It took 10 s and more.
    expect(cpuTime(read, 4000)).toBeLessThan(4000);
    expect(problem.length).toBeLessThan(500);
  });

  test('a message repeats no more than the beginning of a long text', () => {
    const long = 'x'.repeat(900);
    const problems = problemsOf({ 'm.yaml': `${PEOPLE}  ${long}: { from: SEX }\n  gender: { from: ${long} }\n` });
    expect(problems.length).toBeGreaterThan(1);
    for (const problem of problems) expect(problem.length).toBeLessThan(500);
  });

  test('anchors and aliases are rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  active: &x "true"
  gender: *x
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:14: anchors and aliases are not part of the mapping language; expected `insert:` of a fragment',
      'm.yaml:7:11: anchors and aliases are not part of the mapping language; expected `insert:` of a fragment',
    ]);
  });

  test('a document that is no map is rejected', () => {
    const files = {
      'm.yaml': `- a
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:1:1: a document is a map that begins with `mapping:`']);
  });

  test('a document without a mapping is rejected', () => {
    const files = {
      'm.yaml': `resource: Patient
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:1:1: key `mapping` is missing']);
  });

  test('every missing key is reported', () => {
    const files = {
      'm.yaml': `mapping: x
resource: Patient
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:1:1: key `source` is missing',
      'm.yaml:1:1: key `id` is missing',
      'm.yaml:1:1: key `elements` is missing',
    ]);
  });

  test('an unknown key is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `mapping: people
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO] }
ide: x
id: "{PT_NO}"
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:4:1: unknown key; found ide; did you mean id?']);
  });

  test('an unknown resource type is reported with the nearest spelling', () => {
    const files = { 'm.yaml': ACTIVE.replace('resource: Patient', 'resource: Pateint') };
    expect(problemsOf(files)).toEqual(['m.yaml:2:11: unknown resource type; found Pateint; did you mean Patient?']);
  });

  test('an unknown profile is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `mapping: people
resource: Patient
profile: us-core-patinet
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:3:10: unknown profile or extension for Patient.meta.profile; expected a short name of US Core or R4, or an absolute URL; found us-core-patinet; did you mean us-core-patient?',
    ]);
  });

  test('a profile of another type is rejected', () => {
    const files = {
      'm.yaml': `mapping: people
resource: Patient
profile: us-core-condition
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:3:10: profile of another type than Patient; found us-core-condition, a profile of Condition',
    ]);
  });

  test('an unknown zone and a system that is no URI are rejected', () => {
    const files = {
      'pack.yaml': `name: a
title: b
zone: America/New_Yrok
systems: { a: b }
`,
      'm.yaml': ACTIVE,
    };
    expect(problemsOf(files)).toEqual([
      'pack.yaml:3:7: unknown time zone; expected the IANA name of a place, such as America/New_York, or UTC; found America/New_Yrok; did you mean America/New_York?',
      'pack.yaml:4:15: not an absolute URI; found b',
    ]);
  });

  test('a deny rule that protects nothing is rejected', () => {
    const files = {
      'pack.yaml': `${SMALL}deny: [PT.SSNN]
`,
      'm.yaml': ACTIVE,
    };
    expect(problemsOf(files)).toEqual(['pack.yaml:5:8: `deny` names no column; found PT.SSNN; did you mean PT.SSN?']);
  });

  test('an absent rule of an unknown column is rejected', () => {
    const files = {
      'pack.yaml': `${SMALL}absent: { columns: { dbo.PT.PHON: [x] } }
`,
      'm.yaml': ACTIVE,
    };
    expect(problemsOf(files)).toEqual(['pack.yaml:5:22: `absent` names no column; found dbo.PT.PHON']);
  });

  test('an unused list and an unused fragment are warnings', () => {
    const files = {
      'pack.yaml': `${SMALL}lists: { a: [x] }
fragments: { b: { use: usual } }
`,
      'm.yaml': ACTIVE,
    };
    expect(problemsOf(files)).toEqual([
      'pack.yaml:5:10: warning: list a is never used',
      'pack.yaml:6:14: warning: fragment b is never inserted',
    ]);
  });

  test('problems of all files are reported at once, in their order', () => {
    const files = {
      'pack.yaml': `${SMALL}zon: UTC
`,
      'a.yaml': ACTIVE.replace(
        'source: { table: dbo.PT, as: p, key: [PT_NO] }',
        'source: { table: dbo.PX, as: p, key: [PT_NO] }',
      ),
      'm.yaml': `mapping: others
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_N] }
id: "{PT_NO}"
elements:
  gendr: male
`,
      'codes.yaml': `x:
  rows: { "": a }
`,
    };
    expect(problemsOf(files)).toEqual([
      'a.yaml:3:18: unknown table; found dbo.PX; did you mean dbo.PT?',
      'codes.yaml:2:11: a blank key is written `blank:`',
      'm.yaml:3:39: unknown column of dbo.PT; found PT_N; did you mean PT_NO?',
      'm.yaml:6:3: unknown element of Patient; found gendr; did you mean gender?',
      'pack.yaml:5:1: unknown key; found zon; did you mean zone?',
    ]);
  });
});
