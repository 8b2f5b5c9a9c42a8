import { describe, expect, test } from 'vitest';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import type { Mapping } from '../../../src/mapping/model.ts';
import { conditionText, onText, outline, scopeText } from './outline.ts';
import { ACTIVE, HEAD, load, PEOPLE, SMALL } from './problems-of.ts';

type Files = Readonly<Record<string, string>>;

function mappingsOf(files: Files): readonly Mapping[] {
  const { registry, problems } = load(files);
  expect(problems.filter(p => p.severity === 'error').map(formatProblem)).toEqual([]);
  return registry?.mappings ?? [];
}

function only(mappings: readonly Mapping[]): Mapping {
  const [mapping] = mappings;
  if (!mapping || mappings.length > 1) throw new Error(`${mappings.length} mappings`);
  return mapping;
}

/** The resource of a single mapping of patients with these elements. */
function elementsOf(elements: string, files: Files = {}): unknown {
  return outline(only(mappingsOf({ 'm.yaml': `${PEOPLE}${elements}\n`, ...files })).root);
}

function whereOf(where: string, pack?: string): string {
  const files = {
    'm.yaml': ACTIVE.replace('key: [PT_NO]', `key: [PT_NO], where: ${where}`),
    ...(pack === undefined ? {} : { 'pack.yaml': SMALL + pack }),
  };
  return conditionText(only(mappingsOf(files)).source.where);
}

describe('deleted records', () => {
  test('are the rows that match the condition, resources are all others', () => {
    const text = ACTIVE.replace('key: [PT_NO]', 'key: [PT_NO], where: { MRN: A }, deleted: { SEX: Z }');
    const { source, deleted } = only(mappingsOf({ 'm.yaml': text }));
    expect(conditionText(source.where)).toBe('(p.MRN is "A" and not p.SEX is "Z")');
    expect(deleted && conditionText(deleted.source.where)).toBe('(p.MRN is "A" and p.SEX is "Z")');
    expect(deleted?.at).toBeUndefined();
  });
});

describe('elements', () => {
  test('stand in the order of the specification, whatever the order of the file', () => {
    const root = elementsOf('  birthDate: { from: DOB, via: ymd8 }\n  gender: unknown\n  active: "true"');
    expect(Object.keys(root as object)).toEqual(['active', 'gender', 'birthDate']);
  });

  test('with constants only fold into one constant, typed by FHIR', () => {
    const mapping = only(mappingsOf({ 'm.yaml': `${PEOPLE}  contact: { name: { family: "01" }, gender: other }\n` }));
    const [member] = mapping.root.members;
    expect(member?.kind === 'element' && member.node).toMatchObject({
      kind: 'constant',
      json: [{ name: { family: '01' }, gender: 'other' }],
    });
  });

  test('accept JSON numbers and booleans', () => {
    expect(elementsOf('  active: "false"\n  multipleBirthInteger: 2')).toEqual({
      active: false,
      multipleBirthInteger: 2,
    });
  });

  test('accept an alias with a code as a concept', () => {
    expect(elementsOf('  maritalStatus: sct#87915002 Married')).toEqual({
      maritalStatus: {
        coding: [{ system: 'http://snomed.info/sct', code: '87915002', display: 'Married' }],
        text: 'Married',
      },
    });
  });

  test('accept short names of extensions and aliases of systems', () => {
    expect(elementsOf('  extension: { url: us-core-birthsex, valueUri: sct }')).toEqual({
      extension: [
        { url: 'http://hl7.org/fhir/us/core/StructureDefinition/us-core-birthsex', valueUri: 'http://snomed.info/sct' },
      ],
    });
  });

  test('need their carriers if these are written', () => {
    expect(
      elementsOf(
        '  identifier: { system: sct, value: { from: MRN } }\n  telecom: { use: home, value: { from: PHONE } }',
      ),
    ).toEqual({
      identifier: [{ system: 'http://snomed.info/sct', value: 'p.MRN via code', '(needs)': 'value' }],
      telecom: [{ use: 'home', value: 'p.PHONE via text', '(needs)': 'value' }],
    });
  });

  test('with the name of a directive are written under `elements`', () => {
    expect(elementsOf('  contact: { elements: { name: { text: { from: LST_NM } } }, if: { SEX: M } }')).toEqual({
      contact: [{ if: 'p.SEX is "M"', node: { name: { text: 'p.LST_NM via text' } } }],
    });
  });

  test('with `first` keep their alternatives, each with its condition', () => {
    expect(
      elementsOf('  first: [{ deceasedDateTime: { from: DTH_DTM } }, { if: { SEX: M }, deceasedBoolean: "false" }]'),
    ).toEqual({
      first: [{ deceasedDateTime: 'p.DTH_DTM via datetime' }, { deceasedBoolean: { if: 'p.SEX is "M"', node: false } }],
    });
  });

  test('with `else` have it as the second alternative', () => {
    expect(elementsOf('  gender: { from: SEX, via: code, if: { SEX: [F] }, else: unknown }')).toEqual({
      gender: { first: [{ if: 'p.SEX is "F"', node: 'p.SEX via code' }, 'unknown'] },
    });
  });

  test('of joined and filled-in text keep texts and values', () => {
    expect(
      elementsOf(
        '  name:\n    - { text: { join: [{ from: LST_NM }, born, { from: DOB, via: ymd8 }], with: ", " } }\n' +
          '    - { text: { template: "{LST_NM} ({DOB|ymd8})" } }',
      ),
    ).toEqual({
      name: [
        { text: { join: ['p.LST_NM via text', 'born', 'p.DOB via ymd8'], separator: ', ' } },
        { text: { template: ['p.LST_NM via text', ' (', 'p.DOB via ymd8', ')'], separator: '' } },
      ],
    });
  });

  test('with raw SQL keep the expression with its columns resolved', () => {
    expect(elementsOf('  name: { text: { sql: "UPPER({p.LST_NM})", type: nvarchar(40) } }')).toEqual({
      name: [{ text: 'UPPER(p.LST_NM) via text' }],
    });
  });
});

describe('meta', () => {
  test('has the profiles, the time of change, and the values of the mapping', () => {
    const text = `${PEOPLE}  meta: { source: urn:x, profile: [us-core-vital-signs] }\n  active: "true"\n`
      .replace('resource: Patient', 'resource: Observation')
      .replace('source: { table: dbo.PT', 'profile: [us-core-heart-rate, { us-core-observation-lab: { SEX: M } }]\n$&')
      .replace('key: [PT_NO]', 'key: [PT_NO], changed: UPD_DTM')
      .replace('  active: "true"', '  status: final\n  code: sct#1');
    const mapping = only(mappingsOf({ 'm.yaml': text }));
    const base = 'http://hl7.org/fhir/us/core/StructureDefinition';
    expect(outline(mapping.root)).toMatchObject({
      meta: {
        lastUpdated: 'p.UPD_DTM via datetime',
        source: 'urn:x',
        profile: [
          `${base}/us-core-heart-rate`,
          { if: 'p.SEX is "M"', node: `${base}/us-core-observation-lab` },
          `${base}/us-core-vital-signs`,
        ],
      },
    });
    expect(mapping.changed && outline(mapping.changed)).toBe('p.UPD_DTM via datetime');
  });
});

describe('code maps', () => {
  const codes = (text: string): Files => ({ 'codes.yaml': text });

  test('give a concept its system, code and display at once', () => {
    const map = 'm:\n  system: sct\n  rows: { M: "1 Married", X: absent }\n';
    expect(elementsOf('  maritalStatus: { from: SEX, via: m }', codes(map))).toEqual({
      maritalStatus: {
        coding: [
          {
            system: 'http://snomed.info/sct',
            code: 'p.SEX via code map m.code',
            display: 'p.SEX via code map m.display',
            '(needs)': 'code',
          },
        ],
      },
    });
  });

  test('with codes of two systems bind the system too, and keep unmapped text as text', () => {
    const map = 'm:\n  rows: { M: sct#1, S: loinc#2 }\n  else: text\n';
    expect(elementsOf('  maritalStatus: { from: SEX, via: m }', codes(map))).toEqual({
      maritalStatus: {
        coding: [{ system: 'p.SEX via code map m.system', code: 'p.SEX via code map m.code', '(needs)': 'code' }],
        text: 'p.SEX via code map m.text',
      },
    });
  });

  test('with a code for every value leave no required element empty', () => {
    const map = 'm:\n  system: sct\n  rows: { E: en }\n  blank: en\n  else: en\n';
    expect(elementsOf('  communication: { language: { from: SEX, via: m } }', codes(map))).toHaveProperty(
      'communication',
    );
  });

  test('come from CSV files beside the mappings', () => {
    const files = { 'gender.csv': 'raw,code\r\nM,male\r\n"F",female\r\n' };
    expect(elementsOf('  gender: { from: SEX, via: gender }', files)).toEqual({
      gender: 'p.SEX via code map gender.code',
    });
  });

  test('in a table become lookups, made once per column', () => {
    const map =
      'lang:\n  table: dbo.CD_LKUP\n  where: { TBL_ID: LANG }\n  key: [CD, ALT_CD]\n  code: STD_CD\n  display: DESCR\n' +
      '  system: sct\n  blank: en English\n  else: { system: loinc }\n';
    const elements =
      '  language: { from: SEX, via: lang }\n' +
      '  communication: { needs: [language], language: { from: SEX, via: lang } }';
    const mapping = only(mappingsOf({ 'm.yaml': `${PEOPLE}${elements}\n`, ...codes(map) }));
    expect(mapping.source.lookups.map(l => `${l.alias} on ${onText(l.on)} where ${conditionText(l.where)}`)).toEqual([
      'lang on lang.CD=p.SEX where lang.TBL_ID is "LANG"',
      'lang2 on lang2.ALT_CD=p.SEX where lang2.TBL_ID is "LANG"',
    ]);
    const coding = (alias: string): unknown => ({
      coding: [
        {
          system: 'http://snomed.info/sct',
          code: `${alias}.STD_CD via code`,
          display: `${alias}.DESCR via text`,
          '(needs)': 'code',
        },
      ],
    });
    const blank = { coding: [{ system: 'http://snomed.info/sct', code: 'en', display: 'English' }] };
    const local = { coding: [{ system: 'http://loinc.org', code: 'p.SEX via code', '(needs)': 'code' }] };
    expect(outline(mapping.root)).toEqual({
      language: {
        first: [
          'lang.STD_CD via code',
          'lang2.STD_CD via code',
          { if: 'not p.SEX present', node: 'en' },
          'p.SEX via code',
        ],
      },
      communication: [
        {
          language: { first: [coding('lang'), coding('lang2'), { if: 'not p.SEX present', node: blank }, local] },
          '(needs)': 'language',
        },
      ],
    });
  });
});

describe('values that mean "no value"', () => {
  const pack = {
    'pack.yaml': `${SMALL}absent: { text: [N/A], date: ["00000000", "17530101"], columns: { PT.MRN: ["9"] } }\n`,
  };

  test('come from `none`, from the column, and from the rules for its type', () => {
    expect(
      elementsOf(
        '  identifier: { value: { from: MRN, none: ["0"] } }\n  birthDate: { from: DOB, via: ymd8 }\n  deceasedDateTime: { from: DTH_DTM }',
        pack,
      ),
    ).toEqual({
      identifier: [{ value: 'p.MRN via code but 0, 9, N/A', '(needs)': 'value' }],
      birthDate: 'p.DOB via ymd8 but N/A, 00000000, 17530101',
      deceasedDateTime: 'p.DTH_DTM via datetime but 1753-01-01 00:00:00.000',
    });
  });

  test('do not override a row of a code map', () => {
    const codes = { 'codes.yaml': 'sex:\n  rows: { M: male, N/A: other }\n' };
    expect(elementsOf('  gender: { from: SEX, via: sex }', { ...pack, ...codes })).toEqual({
      gender: 'p.SEX via code map sex.code',
    });
  });

  test('do not apply to keys, ids and references', () => {
    const text = `${HEAD.replace('{PT_NO}', 'x-{MRN}')}elements:\n  link: { needs: [other], other: { ref: people, on: { MRN: MRN } }, type: refer }\n`;
    const mapping = only(mappingsOf({ 'm.yaml': text, ...pack }));
    expect(JSON.stringify(mapping.id)).not.toContain('N/A');
    expect(outline(mapping.root)).toEqual({
      link: [{ other: { ref: 'reference to people on p.MRN=p.MRN' }, type: 'refer', '(needs)': 'other' }],
    });
  });
});

describe('rows', () => {
  test('within rows name their own columns without an alias; a repeated alias is renamed in SQL', () => {
    const each = `  name:
    each: { table: dbo.ALLRGY, as: p, on: { PT_NO: p.PT_NO }, order: [-ALG_ID], lookup: { c: { table: dbo.CD_LKUP, on: { CD: ALG_CD } } } }
    item:
      text: { from: c.DESCR, if: { p.STS: { not: [A, I] } } }
      given: { each: { table: dbo.ALLRGY_RXN, as: c, on: { ALG_ID: p.ALG_ID } }, item: { from: RXN_TXT } }`;
    expect(elementsOf(each)).toEqual({
      name: [
        {
          each: 'ALLRGY p2 on p2.PT_NO=p.PT_NO',
          order: ['-p2.ALG_ID'],
          item: {
            text: { if: 'not p2.STS is "A"|"I"', node: 'c.DESCR via text' },
            given: [{ each: 'ALLRGY_RXN c2 on c2.ALG_ID=p2.ALG_ID', order: [], item: 'c2.RXN_TXT via text' }],
          },
        },
      ],
    });
  });

  test('of the pieces of a column name their parts', () => {
    expect(
      elementsOf(
        '  communication: { each: { split: RACE_CD, by: ";", parse: "{sys}:{code}", as: d }, item: { needs: [language], language: { coding: { code: { from: code } }, text: { from: d.sys } }, preferred: { from: SEX, via: { boolean: { true: Y, false: N } } } } }',
      ),
    ).toEqual({
      communication: [
        {
          each: 'p.RACE_CD by ; as d',
          parts: ['sys', 'code'],
          item: {
            language: { coding: [{ code: 'd.code via code', '(needs)': 'code' }], text: 'd.sys via text' },
            preferred: expect.stringMatching(/^p\.SEX via/),
            '(needs)': 'language',
          },
        },
      ],
    });
  });
});

describe('conditions', () => {
  test.each([
    ['{ SEX: M }', 'p.SEX is "M"'],
    ['{ SEX: Y, DEL_FL: { not: Y } }', '(p.SEX is "Y" and not p.DEL_FL is "Y")'],
    ['{ PT_NO: [01, 2] }', 'p.PT_NO is 1|2'],
    ['{ DOB: { ge: "19000101", lt: "20000101" } }', '(p.DOB >= "19000101" and p.DOB < "20000101")'],
    ['{ UPD_DTM: { before: now } }', 'p.UPD_DTM before now via datetime'],
    ['{ DOB: { after: now, via: ymd8 } }', 'p.DOB after now via ymd8'],
    ['{ UPD_DTM: { after: 2020-01-01 } }', 'p.UPD_DTM > "2020-01-01 00:00:00.000"'],
    ['{ MRN: { matches: "A*[0-9]?" } }', 'p.MRN like A*[0-9]?'],
    ['{ MRN: { same-as: p.SEX } }', 'p.MRN is p.SEX'],
    ['{ any: [{ SEX: M }, { SEX: F }], none: { MRN: x } }', '((p.SEX is "M" or p.SEX is "F") and not p.MRN is "x")'],
    ['{ present: [MRN, SEX], absent: DOB }', '(p.MRN present and p.SEX present and not p.DOB present)'],
    [
      '{ missing: { table: dbo.PT, on: { PT_NO: PT_NO }, where: { SEX: M } } }',
      'not exists PT pt where pt.SEX is "M" on pt.PT_NO=p.PT_NO',
    ],
    ['{ UID: 0f8fad5b-d9cb-469f-a165-70867728950e }', 'p.UID is "0F8FAD5B-D9CB-469F-A165-70867728950E"'],
  ])('%s', (written, read) => {
    expect(whereOf(written)).toBe(read);
  });

  test('of a list of the pack hold its values', () => {
    expect(whereOf('{ SEX: { not: { in-list: sexes } } }', 'lists: { sexes: [M, F] }\n')).toBe('not p.SEX is "M"|"F"');
  });

  test('that compare with now are marked in the mapping', () => {
    const files = {
      'm.yaml': `${PEOPLE}  active: { const: "true", if: { UPD_DTM: { before: now } } }\n`,
      'n.yaml': ACTIVE.replaceAll('people', 'b').replace('{PT_NO}', 'b-{PT_NO}'),
    };
    expect(mappingsOf(files).map(m => m.usesNow)).toEqual([true, false]);
  });
});

describe('variants', () => {
  const text =
    `${HEAD.replace('resource: Patient', 'resource: Observation').replace('id: "{PT_NO}"', 'needs: [subject]')}elements:
  status: final
  subject: { ref: people, on: { PT_NO: PT_NO } }
  code: sct#1
variants:
  - { variant: sex, id: "s-{PT_NO}", elements: { code: sct#2, valueString: { from: SEX } } }
  - with: [$v, $col]
    rows: [[mrn, MRN], [name, LST_NM]]
    variant: $v
    id: "$v-{PT_NO}"
    needs: [valueString]
    elements: { valueString: { from: $col, none: ["0"] } }
`.replace('mapping: people', 'mapping: facts');
  const mappings = (): readonly Mapping[] => mappingsOf({ 'a.yaml': text, 'm.yaml': ACTIVE });

  test('are mappings of one group, over the same rows, in the order of the file', () => {
    expect(mappings().map(m => [m.name, m.group, m.ordinal])).toEqual([
      ['facts.sex', 'facts', 0],
      ['facts.mrn', 'facts', 1],
      ['facts.name', 'facts', 2],
      ['people', 'people', 3],
    ]);
    const [a, b] = mappings();
    expect(a && scopeText(a.source)).toBe(b && scopeText(b.source));
  });

  test('replace shared elements of the same name and add to the shared needs', () => {
    const [sex, mrn] = mappings();
    const subject = { ref: 'reference to people on p.PT_NO=p.PT_NO' };
    const concept = (code: string): unknown => ({ coding: [{ system: 'http://snomed.info/sct', code }] });
    expect(sex && outline(sex.root)).toEqual({
      status: 'final',
      code: concept('2'),
      subject,
      valueString: 'p.SEX via text',
    });
    expect(mrn && outline(mrn.root)).toEqual({
      status: 'final',
      code: concept('1'),
      subject,
      valueString: 'p.MRN via text but 0',
    });
    expect(mrn?.needs.map(outline)).toEqual([subject, 'p.MRN via text but 0']);
  });

  test('together are the target of a reference to their mapping', () => {
    const other = `mapping: notes
resource: Observation
source: { table: dbo.ALLRGY, as: a, key: [ALG_ID] }
id: "n-{ALG_ID}"
elements:
  status: final
  code: sct#3
  derivedFrom: { ref: facts, on: { PT_NO: PT_NO } }
`;
    const notes = mappingsOf({ 'a.yaml': text, 'm.yaml': ACTIVE, 'z.yaml': other }).find(m => m.name === 'notes');
    const to = (name: string): unknown => ({ ref: `reference to facts.${name} on p.PT_NO=a.PT_NO` });
    expect(notes && outline(notes.root)).toMatchObject({
      derivedFrom: [{ first: [to('sex'), to('mrn'), to('name')] }],
    });
  });
});

describe('versions of the schema', () => {
  const patch = '---\nmapping: people\nonly: { schema: "4.2" }\npatch: { elements.telecom.0.value.from: MRN }\n';
  const text = `${PEOPLE}  telecom: [{ value: { from: PHONE } }]\n${patch}`;

  test('change a path of a mapping only if they are selected', () => {
    const from = (schema: string): unknown =>
      outline(only(mappingsOf({ 'm.yaml': text, 'pack.yaml': SMALL.replace('4.1', schema) })).root);
    expect(from('4.1')).toMatchObject({ telecom: [{ value: 'p.PHONE via text' }] });
    expect(from('4.2')).toMatchObject({ telecom: [{ value: 'p.MRN via text' }] });
  });

  test('select between documents of one name', () => {
    const document = (schema: string, gender: string): string =>
      `${HEAD}only: { schema: "${schema}" }\nelements: { gender: ${gender} }\n`;
    const files = { 'm.yaml': `${document('4.1', 'male')}---\n${document('4.2', 'female')}` };
    expect(outline(only(mappingsOf(files)).root)).toEqual({ gender: 'male' });
  });
});

describe('fragments', () => {
  test('replace a node, a list item, or a node with further keys', () => {
    const pack = `${SMALL}fragments:
  phone: { system: phone, value: { from: $col }, use: $use }
  both: [{ insert: phone, $col: PHONE, $use: home }, { insert: phone, $col: MRN, $use: work }]
`;
    expect(
      elementsOf('  telecom: [{ insert: both }, { insert: phone, $col: PHONE, $use: old, rank: 2, system: fax }]', {
        'pack.yaml': pack,
      }),
    ).toEqual({
      telecom: [
        { system: 'phone', value: 'p.PHONE via text', use: 'home', '(needs)': 'value' },
        { system: 'phone', value: 'p.MRN via text', use: 'work', '(needs)': 'value' },
        { system: 'fax', value: 'p.PHONE via text', use: 'old', rank: 2, '(needs)': 'value' },
      ],
    });
  });
});

describe('a parameter passed on under its own name', () => {
  const pack = `${SMALL}fragments:
  phone: { system: phone, value: { from: $col }, use: $use }
  home: [{ insert: phone, $col: $col, $use: home }]
`;

  test('from one fragment to another', () => {
    expect(elementsOf('  telecom: [{ insert: home, $col: PHONE }]', { 'pack.yaml': pack })).toEqual({
      telecom: [{ system: 'phone', value: 'p.PHONE via text', use: 'home', '(needs)': 'value' }],
    });
  });

  test('from the rows of a macro to a fragment', () => {
    const mapping = `${HEAD}variants:
  - { with: [$v, $col], rows: [[a, PHONE], [b, MRN]], variant: $v, id: "$v-{PT_NO}", elements: { telecom: [{ insert: home, $col: $col }] } }
elements: { active: "true" }
`;
    expect(mappingsOf({ 'pack.yaml': pack, 'm.yaml': mapping }).map(({ root }) => outline(root))).toMatchObject([
      { telecom: [{ value: 'p.PHONE via text' }] },
      { telecom: [{ value: 'p.MRN via text' }] },
    ]);
  });
});

test('a name beside `insert` that is no parameter of the fragment is a key like others', () => {
  const pack = `${SMALL}fragments:
  usual: { use: usual }
  name: { insert: usual, $part: { from: $col } }
`;
  expect(elementsOf('  name: [{ insert: name, $part: family, $col: MRN }]', { 'pack.yaml': pack })).toMatchObject({
    name: [{ use: 'usual', family: 'p.MRN via text' }],
  });
});

describe('needs of the mapping', () => {
  test('name a choice by an element of its first alternative', () => {
    const text = `${HEAD}needs: [deceasedDateTime]\nelements:\n  first: [{ deceasedDateTime: { from: DTH_DTM } }, { deceasedBoolean: "true" }]\n`;
    expect(only(mappingsOf({ 'm.yaml': text })).needs.map(outline)).toEqual(['p.DTH_DTM via datetime']);
  });
});

describe('the version of a pack', () => {
  test('changes with its files and with nothing else', () => {
    const version = (files: Files): string | undefined => load(files).registry?.version;
    const first = version({ 'm.yaml': ACTIVE });
    expect(first).toMatch(/^[0-9a-f]{16}$/);
    expect(version({ 'm.yaml': ACTIVE })).toBe(first);
    expect(version({ 'm.yaml': `${ACTIVE}# more\n` })).not.toBe(first);
    expect(version({ 'm.yaml': ACTIVE, 'x.csv': 'raw,code\na,b\n' })).not.toBe(first);
  });
});
