import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { catalog } from './catalog.ts';
import { ALLERGIES, HEAD, load, PEOPLE, problemsOf, problemsOfElements } from './problems-of.ts';

describe('mistakes typical of SQL and YAML users are explained in terms of the mapping language', () => {
  test('an unquoted id, which YAML reads as a map, is rejected', () => {
    expect(problemsOf({ 'm.yaml': `${HEAD.replace('"{PT_NO}"', '{PT_NO}')}elements: { active: "true" }\n` })).toEqual([
      'm.yaml:4:5: not in the right form; expected "{PT_NO}" in quotes; found a map',
    ]);
  });

  test('a single profile with a condition, which requires a list, is reported with the allowed forms', () => {
    const profile = 'profile: { us-core-patient: { PT_NO: "1" } }\n';
    expect(problemsOf({ 'm.yaml': `${HEAD}${profile}elements: { active: "true" }\n` })).toEqual([
      'm.yaml:5:10: not in the right form; expected a single value or a list; found a map',
    ]);
  });

  test('options of a codec without options are rejected', () => {
    expect(problemsOfElements('  name: [{ text: { from: LST_NM, via: { html: {} } } }]')).toEqual([
      'm.yaml:6:47: not in the right form; expected the name alone, as it has no options; found a map',
    ]);
  });

  test('misplaced `needs` and `if` of `each` items are reported', () => {
    expect(
      problemsOf({
        'm.yaml': `${ALLERGIES}  patient: { display: x }\n  reaction: [{ each: { table: dbo.ALLRGY_RXN, as: r, on: { ALG_ID: ALG_ID }, order: [SEQ_NO] }, elements: { needs: [manifestation], manifestation: [{ text: x }] } }]\n`,
      }),
    ).toEqual([
      'm.yaml:8:109: unknown element of AllergyIntolerance.reaction; expected `needs` beside `elements`; found needs',
    ]);
  });

  test('a reference without `on` is rejected', () => {
    expect(problemsOfElements('  link: [{ type: seealso, other: { ref: people } }]')).toEqual([
      'm.yaml:6:34: key `on` is missing',
    ]);
  });

  test('a known key in the wrong place is reported as misplaced', () => {
    expect(problemsOfElements('  gender: { const: male, else: unknown }')).toEqual([
      'm.yaml:6:26: `else` is not allowed here',
    ]);
  });

  test('a `needs` of a choice must name the typed element', () => {
    expect(
      problemsOf({ 'm.yaml': `${HEAD}needs: [deceased]\nelements: { deceasedDateTime: { from: DTH_DTM } }\n` }),
    ).toEqual([
      'm.yaml:5:9: `needs` names an element that is not mapped; found deceased; did you mean deceasedDateTime?',
    ]);
  });

  test('an expression in place of a column is rejected', () => {
    for (const sql of ['UPPER(SEX)', "LST_NM + ', '", 'LST_NM || SEX'])
      expect(problemsOfElements(`  name: [{ text: { from: "${sql}" } }]`)).toEqual([
        `m.yaml:6:26: not a column; expected COL or alias.COL; values are changed by \`via\`, joined by \`join\`, and computed by \`sql\`; found ${sql}`,
      ]);
  });
});

describe('SQL of a mapping', () => {
  const sql = (text: string) => `${PEOPLE}  name: [{ text: { sql: "${text}", type: varchar(20), via: text } }]\n`;
  const pack = (deny: string) => `name: a\ntitle: b\nzone: UTC\ndeny: ${deny}\n`;

  test('has a type in the spelling of the engine', () => {
    const files = { 'm.yaml': sql('{p.LST_NM}').replace('varchar(20)', 'words') };
    const told = (engine: 'mssql' | 'sqlite') => load(files, { ...catalog, engine }).problems.map(formatProblem);
    expect(told('mssql')).toEqual(['m.yaml:6:45: not an SQL type; expected such as nvarchar(40); found words']);
    expect(told('sqlite')).toEqual(['m.yaml:6:45: not an SQL type; expected such as TEXT; found words']);
  });

  test('cannot read another table', () => {
    expect(problemsOf({ 'm.yaml': sql('(SELECT MAX(CD) FROM CD_LKUP)') })).toEqual([
      'm.yaml:6:25: not a single SQL expression; found SELECT',
    ]);
  });

  test('cannot name columns denied by a table rule or a pattern', () => {
    for (const rule of ['[CD_LKUP.*]', '["*.DES*"]'])
      expect(problemsOf({ 'pack.yaml': pack(rule), 'm.yaml': sql('DESCR || {p.SEX}') })).toEqual([
        'm.yaml:6:25: column DESCR is denied and is never read',
      ]);
    expect(problemsOf({ 'pack.yaml': pack('[CD_LKUP.*]'), 'm.yaml': sql('UPPER({p.SEX})') })).toEqual([]);
  });
});

describe('addresses and encodings', () => {
  const pack = (loinc: string) => ({ 'pack.yaml': `name: a\ntitle: b\nzone: UTC\nsystems: { loinc: ${loinc} }\n` });

  test('a misspelt well-known system is reported, in pack.yaml and in mappings', () => {
    const code =
      'mapping: o\nresource: Observation\nsource: { table: dbo.VIT, as: v, key: [VIT_ID] }\nid: "{VIT_ID}"\n';
    expect(
      problemsOf({
        ...pack('https://loinc.org'),
        'm.yaml': `${code}elements: { status: final, code: loinc#8867-4 }\n`,
      }),
    ).toEqual(['pack.yaml:4:19: warning: an unknown system; found https://loinc.org; did you mean http://loinc.org?']);
    expect(
      problemsOfElements(
        '  identifier: [{ system: "http://hl7.org/fhir/sid/us-ssn/", value: { from: MRN, via: code } }]',
      ),
    ).toEqual([
      'm.yaml:6:26: warning: an unknown system; found http://hl7.org/fhir/sid/us-ssn/; did you mean http://hl7.org/fhir/sid/us-ssn?',
    ]);
  });

  test('a file that is not UTF-8 is reported at its first invalid byte', () => {
    const codes = 'sex:\n  system: urn:x\n  rows: { M: m M\uFFFDnnlich }\n';
    expect(problemsOfElements('  active: "true"', codes)).toEqual([
      'codes.yaml:3:17: not UTF-8; expected the file to be saved as UTF-8',
    ]);
  });

  test('a code whose check digit is wrong is reported, in constants, rows and CSV', () => {
    const told = (place: string, code: string) =>
      `${place}: warning: a code that is invalid in its system, by form or check digit; found ${code}`;
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

  test('a reference assembled from text is reported', () => {
    expect(problemsOfElements('  managingOrganization: { reference: { template: "Organization/{PT_NO}" } }')).toEqual([
      'm.yaml:6:38: warning: a reference that no search or include can follow; expected {ref: mapping, on: {THEIRS: ours}}',
    ]);
  });
});
