import { describe, expect, test } from 'vitest';
import { ACTIVE, HEAD, problemsOf } from './problems-of.ts';

describe('ids can be parsed without ambiguity', () => {
  test('characters that no FHIR id has are rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "x_{PT_NO}"') };
    expect(problemsOf(files)).toEqual(['m.yaml:4:5: characters that no id has; expected A-Z a-z 0-9 . -; found x_']);
  });

  test('an id without a column is rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "all"') };
    expect(problemsOf(files)).toEqual([
      'm.yaml:4:5: id without a column: all resources would share it; expected "{COL}"; found all',
    ]);
  });

  test('two columns without a literal between them are rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "{PT_NO}{MRN}"') };
    expect(problemsOf(files)).toEqual([
      'm.yaml:4:5: two columns of an id without a literal between them; found {PT_NO}{MRN}',
    ]);
  });

  test('a literal that both text columns beside it may contain is rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "{MRN}-{SEX}"') };
    expect(problemsOf(files)).toEqual([
      'm.yaml:4:5: ambiguous id: `-` may occur in both columns beside it; expected `|escaped` for one of them; found {MRN}-{SEX}',
    ]);
  });

  test('a column of a type that no id has is rejected', () => {
    const vitals = ACTIVE.replace('table: dbo.PT, as: p', 'table: dbo.VIT, as: p');
    const files = { 'm.yaml': vitals.replace('id: "{PT_NO}"', 'id: "{DONE}"') };
    expect(problemsOf(files).filter(line => line.includes('DONE'))).toEqual([
      'm.yaml:4:5: column DONE cannot be used in an id; expected a text, number, date, moment or UUID; found BIT',
    ]);
  });

  test('an unknown codec of an id is rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "{MRN|hex}"') };
    expect(problemsOf(files)).toEqual(['m.yaml:4:5: unknown codec of an id; found hex']);
  });

  test('a codec of an id that does not fit the column is rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "{MRN|uuid}"') };
    expect(problemsOf(files)).toEqual([
      'm.yaml:4:5: column MRN cannot be used in an id as uuid; expected {MRN}; found VARCHAR(12)',
    ]);
  });

  test('a denied column in an id is rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: "{SSN}"') };
    expect(problemsOf(files)).toEqual(['m.yaml:4:5: column PT.SSN is denied by `*.SSN` and is never read']);
  });

  test('ids of texts that may hold UUIDs can be told to be UUIDs', () => {
    const mapping = (name: string, id: string) => `mapping: ${name}
resource: Organization
source: { table: dbo.CD_LKUP, as: c, key: [CD] }
id: "${id}"
elements: { active: "true" }
`;
    const told = (first: string, second: string) =>
      problemsOf({ 'm.yaml': mapping('one', first), 'n.yaml': mapping('two', second) });
    const cure = ', or `{DESCR|uuid}` in both if these texts are UUIDs';
    expect(told('{DESCR}', '{DESCR}')).toEqual([expect.stringContaining(cure)]);
    expect(told('{DESCR}', '{CD}')).toEqual([expect.not.stringContaining('UUID')]);
  });

  test('two mappings of one type whose ids can be equal are rejected', () => {
    const files = { 'm.yaml': ACTIVE, 'n.yaml': ACTIVE.replace('mapping: people', 'mapping: others') };
    expect(problemsOf(files)).toEqual([
      'n.yaml:4:5: ids of mappings people and others can be equal, such as 0; expected a literal that distinguishes them, or a `where` in both by which no row is of both',
    ]);
  });

  describe('two mappings of a table with the same ids', () => {
    const mapped = (name: string, where: string, id = '"{PT_NO}"'): string =>
      ACTIVE.replace('mapping: people', `mapping: ${name}`)
        .replace('key: [PT_NO] }', `key: [PT_NO], ${where} }`)
        .replace('id: "{PT_NO}"', `id: ${id}`);
    const told = (a: string, b: string, id?: string): readonly string[] =>
      problemsOf({ 'a.yaml': mapped('a', a, id), 'b.yaml': mapped('b', b, id) });
    const LOOKUP = 'lookup: { d: { table: dbo.CD_LKUP, on: { CD: SEX }, pick: [TBL_ID] } }';
    const RENAMED =
      'lookup: { r: { table: dbo.CD_LKUP, on: { CD: RACE_CD }, pick: [TBL_ID] }, ' +
      's: { table: dbo.CD_LKUP, on: { CD: SEX }, pick: [TBL_ID] } }';
    const CHAINED = LOOKUP.replace(
      'pick: [TBL_ID] } }',
      'pick: [TBL_ID] }, e: { table: dbo.CD_LKUP, on: { CD: d.STD_CD }, pick: [TBL_ID] } }',
    );
    // Rows with a child, and those without: the alias of the child table does not matter.
    const ALLERGIC = (as: string): string =>
      `exists: { table: dbo.ALLRGY, as: ${as}, on: { PT_NO: PT_NO }, where: { ALG_CD: PEANUT } }`;
    const CHAINED_OTHERWISE = CHAINED.replaceAll('d: {', 'f: {').replaceAll('d.STD_CD', 'f.DESCR');

    test.each([
      ['where: { SEX: M }', 'where: { SEX: [F, X] }'],
      ['where: { SEX: M }', 'where: { none: { SEX: [M, F] } }'],
      ['where: { SEX: [M, F] }', 'where: { none: { any: [{ SEX: M }, { SEX: F }] } }'],
      ['where: { any: [{ SEX: M }, { RACE_CD: x, SEX: F }] }', 'where: { none: { SEX: [M, F] }, MRN: present }'],
      ['where: { none: { SEX: M } }', 'where: { SEX: M, RACE_CD: x }'],
      [`${LOOKUP}, where: { d.STD_CD: M }`, `${LOOKUP}, where: { none: { d.STD_CD: M } }`],
      // What other lookups there are, and how a lookup is named, does not matter.
      [`${LOOKUP}, where: { d.STD_CD: M }`, `${RENAMED}, where: { s.STD_CD: F, r.STD_CD: X }`],
      [
        `${CHAINED}, where: { e.STD_CD: M }`,
        `${CHAINED.replaceAll('d.', 'g.').replace('d: {', 'g: {')}, where: { e.STD_CD: F }`,
      ],
      [`where: { ${ALLERGIC('x')} }`, `where: { ${ALLERGIC('y').replace('exists', 'missing')} }`],
      [`where: { none: { ${ALLERGIC('x')} } }`, `where: { SEX: M, ${ALLERGIC('x')} }`],
      ['where: { MRN: { matches: "A*" } }', 'where: { none: { MRN: { matches: "A*" } } }'],
      ['where: { PT_NO: { gt: "5" } }', 'where: { none: { PT_NO: { gt: "5" } } }'],
    ])('are allowed where no row fulfils both conditions: %s and %s', (a, b) => {
      expect(told(a, b)).toEqual([]);
      expect(told(b, a)).toEqual([]);
      expect(told(a, b, '"{MRN}"')).toEqual([
        expect.stringContaining(
          'warning: ids of mappings a and b are of one key: only the rows show whether they differ',
        ),
      ]);
    });

    test.each([
      ['where: { SEX: M }', 'where: { SEX: [F, m] }'],
      ['where: { SEX: M }', 'where: { RACE_CD: x }'],
      ['where: { SEX: [M, F] }', 'where: { none: { SEX: M } }'],
      ['where: { SEX: M }', 'where: { none: { SEX: M, RACE_CD: x } }'],
      ['where: { PT_NO: "1" }', 'where: { PT_NO: "01" }'],
      [`${LOOKUP}, where: { d.STD_CD: M }`, `${LOOKUP.replace('CD: SEX', 'CD: RACE_CD')}, where: { d.STD_CD: F }`],
      [`${LOOKUP}, where: { d.STD_CD: M }`, `${RENAMED}, where: { r.STD_CD: F, s.STD_CD: M }`],
      [`${LOOKUP}, where: { d.STD_CD: M }`, `${LOOKUP.replace('[TBL_ID]', '[-TBL_ID]')}, where: { d.STD_CD: F }`],
      [`${CHAINED}, where: { e.STD_CD: M }`, `${CHAINED_OTHERWISE}, where: { e.STD_CD: F }`],
      [
        `where: { ${ALLERGIC('x')} }`,
        `where: { ${ALLERGIC('x').replace('PEANUT', 'LATEX').replace('exists', 'missing')} }`,
      ],
      [
        `where: { ${ALLERGIC('x')} }`,
        `where: { ${ALLERGIC('x').replace('PT_NO: PT_NO', 'ALG_ID: PT_NO').replace('exists', 'missing')} }`,
      ],
      ['where: { MRN: { matches: "A*" } }', 'where: { none: { MRN: { matches: "A?" } } }'],
      ['where: { DTH_DTM: { before: now } }', 'where: { none: { DTH_DTM: { before: now } } }'],
    ])('are rejected where a row may: %s and %s', (a, b) => {
      expect(told(a, b)).toEqual([
        'b.yaml:4:5: ids of mappings a and b can be equal, such as 0; expected a literal that distinguishes them, or a' +
          ' `where` in both by which no row is of both',
      ]);
    });
  });

  test('two mappings of one type with UUID ids are a warning, as only rows can be checked', () => {
    const people = ACTIVE.replace('{PT_NO}', '{UID}');
    const files = { 'm.yaml': people, 'n.yaml': people.replace('mapping: people', 'mapping: others') };
    expect(problemsOf(files)).toEqual([
      'n.yaml:4:5: warning: ids of mappings people and others are UUIDs: only the rows show whether they differ; expected `lintel check` on the database, which counts ids that both have',
    ]);
    expect(problemsOf({ ...files, 'n.yaml': people.replace(/people/, 'others').replace('{UID}', '{MRN}') })).toEqual([
      expect.stringMatching(/^n\.yaml:4:5: ids of mappings people and others can be equal, such as 0{8}-/),
    ]);
  });

  test('mappings that share a table are named in one warning each, and not in one for each pair', () => {
    const people = ACTIVE.replace('{PT_NO}', '{UID}');
    const files = Object.fromEntries(
      ['a', 'b', 'c', 'd'].map(name => [`${name}.yaml`, people.replace('mapping: people', `mapping: ${name}`)]),
    );
    expect(problemsOf(files).map(problem => problem.replace(/ are UUIDs.*/, ''))).toEqual([
      'b.yaml:4:5: warning: ids of mappings a and b',
      'c.yaml:4:5: warning: ids of mappings a, b and c',
      'd.yaml:4:5: warning: ids of mappings a, b, c and d',
    ]);
  });

  test('two variants of the same UUID are rejected: every row would have both', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - { variant: a, id: "{UID}" }
  - { variant: b, id: "{UID}" }
elements: { active: "true" }
`,
    };
    expect(problemsOf(files)).toEqual([
      expect.stringMatching(/^m\.yaml:7:23: ids of mappings people\.a and people\.b can be/),
    ]);
  });

  test('two alternatives that can give the same id are rejected', () => {
    const files = { 'm.yaml': ACTIVE.replace('id: "{PT_NO}"', 'id: ["{MRN}", "p-{PT_NO}"]') };
    expect(problemsOf(files)).toEqual([
      'm.yaml:4:5: ids of two alternatives can be equal, such as p-0; expected a literal that distinguishes them',
    ]);
  });

  test('two variants whose ids can be equal are rejected', () => {
    const files = {
      'm.yaml': `${HEAD}variants:
  - { variant: a, id: "a-{MRN}" }
  - { variant: b, id: "a-{PT_NO}" }
elements:
  active: "true"
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:7:23: ids of mappings people.a and people.b can be equal, such as a-0; expected a literal that distinguishes them',
    ]);
  });
});
