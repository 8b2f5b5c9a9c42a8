import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { catalog } from './catalog.ts';
import { ALLERGIES, HEAD, load, PEOPLE, problemsOf, problemsOfElements } from './problems-of.ts';

describe('what somebody who knows SQL and YAML writes is told in terms of the language', () => {
  test('an id without quotes is a map to YAML', () => {
    expect(problemsOf({ 'm.yaml': `${HEAD.replace('"{PT_NO}"', '{PT_NO}')}elements: { active: "true" }\n` })).toEqual([
      'm.yaml:4:5: not in the right form; expected "{PT_NO}" in quotes; found a map',
    ]);
  });

  test('a codec without options takes none', () => {
    expect(problemsOfElements('  name: [{ text: { from: LST_NM, via: { html: {} } } }]')).toEqual([
      'm.yaml:6:47: not in the right form; expected the name alone, for it has no options; found a map',
    ]);
  });

  test('`needs` and `if` of the items of an `each` stand beside their elements', () => {
    expect(
      problemsOf({
        'm.yaml': `${ALLERGIES}  patient: { display: x }\n  reaction: [{ each: { table: dbo.ALLRGY_RXN, as: r, on: { ALG_ID: ALG_ID }, order: [SEQ_NO] }, elements: { needs: [manifestation], manifestation: [{ text: x }] } }]\n`,
      }),
    ).toEqual([
      'm.yaml:8:109: unknown element of AllergyIntolerance.reaction; expected `needs` beside `elements`; found needs',
    ]);
  });

  test('a reference without `on` lacks it', () => {
    expect(problemsOfElements('  link: [{ type: seealso, other: { ref: people } }]')).toEqual([
      'm.yaml:6:34: key `on` is missing',
    ]);
  });

  test('a key of the language in the wrong place is not unknown', () => {
    expect(problemsOfElements('  gender: { const: male, else: unknown }')).toEqual([
      'm.yaml:6:26: `else` cannot stand here',
    ]);
  });

  test('a need of a choice names the element that is written', () => {
    expect(
      problemsOf({ 'm.yaml': `${HEAD}needs: [deceased]\nelements: { deceasedDateTime: { from: DTH_DTM } }\n` }),
    ).toEqual([
      'm.yaml:5:9: `needs` names an element that is not mapped; found deceased; did you mean deceasedDateTime?',
    ]);
  });

  test('an expression is no column', () => {
    for (const sql of ['UPPER(SEX)', "LST_NM + ', '", 'LST_NM || SEX'])
      expect(problemsOfElements(`  name: [{ text: { from: "${sql}" } }]`)).toEqual([
        `m.yaml:6:26: not a column; expected COL or alias.COL; values are changed by \`via\`, joined by \`join\`, and worked out by \`sql\`; found ${sql}`,
      ]);
  });
});

describe('SQL of a mapping', () => {
  const sql = (text: string) => `${PEOPLE}  name: [{ text: { sql: "${text}", type: varchar(20), via: text } }]\n`;
  const pack = (deny: string) => `name: a\ntitle: b\nzone: UTC\ndeny: ${deny}\n`;

  test('has a type as the engine at hand spells it', () => {
    const files = { 'm.yaml': sql('{p.LST_NM}').replace('varchar(20)', 'words') };
    const told = (engine: 'mssql' | 'sqlite') => load(files, { ...catalog, engine }).problems.map(formatProblem);
    expect(told('mssql')).toEqual(['m.yaml:6:45: not an SQL type; expected such as nvarchar(40); found words']);
    expect(told('sqlite')).toEqual(['m.yaml:6:45: not an SQL type; expected such as TEXT; found words']);
  });

  test('asks no other table', () => {
    expect(problemsOf({ 'm.yaml': sql('(SELECT MAX(CD) FROM CD_LKUP)') })).toEqual([
      'm.yaml:6:25: not a single SQL expression; found SELECT',
    ]);
  });

  test('cannot name what a rule for a whole table or a part of a name denies', () => {
    for (const rule of ['[CD_LKUP.*]', '["*.DES*"]'])
      expect(problemsOf({ 'pack.yaml': pack(rule), 'm.yaml': sql('DESCR || {p.SEX}') })).toEqual([
        'm.yaml:6:25: column DESCR is denied and is never read',
      ]);
    expect(problemsOf({ 'pack.yaml': pack('[CD_LKUP.*]'), 'm.yaml': sql('UPPER({p.SEX})') })).toEqual([]);
  });
});

describe('addresses and encodings', () => {
  const pack = (loinc: string) => ({ 'pack.yaml': `name: a\ntitle: b\nzone: UTC\nsystems: { loinc: ${loinc} }\n` });

  test('a well-known system that is misspelt is reported, in pack.yaml and where it is written out', () => {
    const code =
      'mapping: o\nresource: Observation\nsource: { table: dbo.VIT, as: v, key: [VIT_ID] }\nid: "{VIT_ID}"\n';
    expect(
      problemsOf({
        ...pack('https://loinc.org'),
        'm.yaml': `${code}elements: { status: final, code: loinc#8867-4 }\n`,
      }),
    ).toEqual([
      'pack.yaml:4:19: warning: a system that nobody knows; found https://loinc.org; did you mean http://loinc.org?',
    ]);
    expect(
      problemsOfElements(
        '  identifier: [{ system: "http://hl7.org/fhir/sid/us-ssn/", value: { from: MRN, via: code } }]',
      ),
    ).toEqual([
      'm.yaml:6:26: warning: a system that nobody knows; found http://hl7.org/fhir/sid/us-ssn/; did you mean http://hl7.org/fhir/sid/us-ssn?',
    ]);
  });

  test('a file in another encoding than UTF-8 is told where it begins to differ', () => {
    const codes = 'sex:\n  system: urn:x\n  rows: { M: m M\uFFFDnnlich }\n';
    expect(problemsOfElements('  active: "true"', codes)).toEqual([
      'codes.yaml:3:17: not UTF-8; expected the file to be saved as UTF-8',
    ]);
  });

  test('a code whose check digit is wrong is reported, in constants, rows and CSV', () => {
    const told = (place: string, code: string) =>
      `${place}: warning: a code that its system cannot have, by its form or its check digit; found ${code}`;
    expect(problemsOfElements('  maritalStatus: loinc#8867-5 Heart rate')).toEqual([told('m.yaml:6:18', '8867-5')]);
    expect(problemsOfElements('  maritalStatus: sct#38341004')).toEqual([told('m.yaml:6:18', '38341004')]);
    expect(problemsOfElements('  maritalStatus: loinc#8867-4')).toEqual([]);
    const bound = '  maritalStatus: { from: SEX, via: sex }';
    expect(problemsOfElements(bound, 'sex: { system: loinc, rows: { A: 8867-5, B: absent, C: 8867-4 } }\n')).toEqual([
      told('codes.yaml:1:34', '8867-5'),
    ]);
    expect(
      problemsOf({ 'm.yaml': `${PEOPLE}${bound}\n`, 'sex.csv': 'raw,code,display,system\nA,8867-5,,loinc\n' }),
    ).toEqual([told('sex.csv:2:1', '8867-5')]);
  });

  test('a reference that is put together is reported', () => {
    expect(problemsOfElements('  managingOrganization: { reference: { template: "Organization/{PT_NO}" } }')).toEqual([
      'm.yaml:6:38: warning: a reference that nobody looks for, searches by or includes; expected {ref: mapping, on: {THEIRS: ours}}',
    ]);
  });
});
