/**
 * `lookup` in the `each` of pieces: values found by a piece are served, searched and sorted by, and `check` reports
 * pieces without a row.
 */
import { describe, expect, test } from 'vitest';
import { problemsOf, SMALL } from '../mapping/load/problems-of.ts';
import { expectLaw } from './small-law.ts';
import { openSmall, searchSmall } from './small-pack.ts';

/** Known and unknown pieces, in any case and padding, empty, doubled; whole values that are blank or NULL. */
const RAWS = ['ADM;LAB', 'lab ; ADM', 'XX', ';;', ' ', '', undefined, 'NONE', 'ADM;ADM', 'LAB;XX;', 'adm'];

const SCHEMA = `
CREATE TABLE VST (NO INTEGER NOT NULL PRIMARY KEY, CDS VARCHAR(40) COLLATE RTRIM, PAIRS VARCHAR(40) COLLATE RTRIM);
CREATE TABLE KIND (NO INTEGER NOT NULL PRIMARY KEY, CD VARCHAR(20) COLLATE RTRIM, GRP VARCHAR(4), STD VARCHAR(20) COLLATE RTRIM, NM VARCHAR(40) COLLATE RTRIM, SYS INT);
CREATE TABLE SYST (NO INTEGER NOT NULL PRIMARY KEY, URL VARCHAR(80) COLLATE RTRIM);
INSERT INTO SYST VALUES (1, 'http://example.org/one'), (2, 'http://example.org/two');
INSERT INTO KIND VALUES (1, 'ADM ', 'K', 'adm-code', 'Admission', 1), (2, 'LAB', 'K', 'lab-code', 'Laboratory', 2),
  (3, 'NONE', 'K', NULL, NULL, NULL), (4, 'LAB', 'X', 'other', 'of another group', 1);
${RAWS.map((raw, i) => `INSERT INTO VST VALUES (${i}, ${raw === undefined ? 'NULL, NULL' : `'${raw}', 'a:1;b:${i % 5};c:${raw}'`});`).join('\n')}
`;

const pack = (elements: string, resource = 'Location'): Readonly<Record<string, string>> => ({
  'pack.yaml':
    'name: small\ntitle: Small\nzone: UTC\nsystems: { own: http://example.org/kinds, raw: http://example.org/raw }\n',
  'm.yaml': `mapping: visits
resource: ${resource}
source: { table: VST, as: v, key: [NO] }
id: "v-{NO}"
elements:
${elements}
`,
});

const EACH = (more: string) =>
  `each: { split: CDS, by: ";", as: d, lookup: { k: { table: KIND, on: { CD: d.piece }, where: { GRP: K }${more} } } }`;
const TYPES = (more: string, item: string) => `  type: [{ ${EACH(more)}, ${item} }]`;
const CODING =
  'elements: { coding: [{ system: own, code: { from: k.STD, via: code }, display: { from: k.NM } }], text: { from: d.piece } }';

interface Concept {
  readonly coding?: readonly { readonly code: string }[];
  readonly text?: string;
}

const shownBy = (resources: readonly Readonly<Record<string, unknown>>[]): readonly string[][] =>
  resources.map(({ ['type']: type }) =>
    ((type ?? []) as Concept[]).map(({ coding = [], text }) => `${coding.map(({ code }) => code)}/${text}`),
  );

describe('a lookup by a piece', () => {
  test('is emitted with its piece, in the order of the pieces', async () => {
    const { resources, sql } = await searchSmall(SCHEMA, pack(TYPES('', CODING)), 'Location?');
    expect(shownBy(resources)).toEqual([
      ...[['adm-code/ADM', 'lab-code/LAB'], ['/lab', 'adm-code/ADM'], ['/XX'], [], [], [], [], ['/NONE']],
      ...[['adm-code/ADM', 'adm-code/ADM'], ['lab-code/LAB', '/XX'], ['/adm']],
    ]);
    expect(sql.filter(text => text.includes('KIND'))).toHaveLength(1);
  });

  test('that is required leaves out pieces without a row', async () => {
    const { resources } = await searchSmall(SCHEMA, pack(TYPES(', required: true', CODING)), 'Location?');
    expect(shownBy(resources)).toEqual([
      ...[['adm-code/ADM', 'lab-code/LAB'], ['adm-code/ADM'], [], [], [], [], [], ['/NONE']],
      ...[['adm-code/ADM', 'adm-code/ADM'], ['lab-code/LAB'], []],
    ]);
  });

  test.each([
    ['', CODING],
    [', required: true', CODING],
    [', fold: true', CODING],
    [
      '',
      'elements: { coding: [{ system: own, code: { first: [{ from: k.STD, via: code }, { from: d.piece, via: code }] } }] }',
    ],
    ['', 'item: { coding: [{ system: own, code: { from: d.piece, via: code } }], if: { k.GRP: { not: K } } }'],
    ['', 'item: { coding: [{ system: own, code: { from: d.piece, via: code } }], if: { absent: [k.STD] } }'],
    [
      '',
      'item: { coding: [{ system: raw, code: { from: d.piece, via: code }, display: known }], if: { k.NO: { ge: "2" } } }',
    ],
    ['', 'elements: { coding: [{ system: own, code: { from: k.STD, via: code, none: [lab-code] } }] }'],
  ])('is found by exactly what it emits: %j %s', async (more, item) => {
    await expectLaw(SCHEMA, pack(TYPES(more, item)), 'Location', 'type');
  });

  test('of several rows uses the first by `pick`', async () => {
    const each = EACH('').replace('where: { GRP: K }', 'pick: [-NO]');
    const files = pack(`  type: [{ ${each}, ${CODING} }]`);
    const { resources } = await searchSmall(SCHEMA, files, 'Location?');
    expect(shownBy(resources)[0]).toEqual(['adm-code/ADM', 'other/LAB']);
    expect((await searchSmall(SCHEMA, files, 'Location?type=lab-code')).ids).toEqual([]);
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });

  test('supports parts of a piece, text steps, and further lookups', async () => {
    const lookups = `k: { table: KIND, on: { CD: { from: d.b, via: upper } }, where: { GRP: K } }, s: { table: SYST, on: { NO: k.SYS } }, n: { table: KIND, on: { NO: d.b } }`;
    const item =
      'elements: { coding: [{ system: { from: s.URL }, code: { from: k.STD, via: code } }, { system: own, code: { from: n.CD, via: code } }] }';
    const files = pack(
      `  type: [{ each: { split: PAIRS, by: ";", parse: "{a}:{b}", as: d, lookup: { ${lookups} } }, ${item} }]`,
    );
    const found = async (query: string) => (await searchSmall(SCHEMA, files, `Location?${query}`)).ids;
    expect(await found('type=http://example.org/one|adm-code')).toEqual(['v-0', 'v-8', 'v-10']);
    expect(await found('type=http://example.org/kinds|LAB')).toEqual(['v-2', 'v-4', 'v-7', 'v-9']);
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });

  test('is one join on both engines', async () => {
    const { sql, mssql } = await searchSmall(SCHEMA, pack(TYPES('', CODING)), 'Location?type=adm-code');
    for (const texts of [sql, mssql])
      expect(texts[0]).toMatch(
        /EXISTS \(SELECT 1 FROM \([\s\S]*piece[\s\S]*\) AS d LEFT JOIN \S*KIND AS k ON [\s\S]*WHERE /,
      );
  });

  test('supports `each` and `exists` on its row', async () => {
    const item = `item: { from: k.NM, if: { exists: { table: SYST, as: s, on: { NO: k.SYS }, where: { URL: http://example.org/one } } } }`;
    const files = pack(`  alias: [{ ${EACH('')}, ${item} }]`);
    const { resources } = await searchSmall(SCHEMA, files, 'Location?');
    expect(resources.slice(0, 2).map(({ ['alias']: alias }) => alias)).toEqual([['Admission'], ['Admission']]);
    const rows = `item: { each: { table: SYST, as: s, on: { NO: k.SYS }, order: [NO] }, item: { from: s.URL } }`;
    const children = await searchSmall(SCHEMA, pack(`  alias: [{ ${EACH('')}, ${rows} }]`), 'Location?');
    expect(children.resources[0]?.['alias']).toEqual(['http://example.org/one', 'http://example.org/two']);
    expect((await searchSmall(SCHEMA, files, 'Location?name:exact=Admission')).ids).toEqual(['v-0', 'v-1', 'v-8']);
    expect((await searchSmall(SCHEMA, files, 'Location?name:exact=Laboratory')).ids).toEqual([]);
  });

  test('supports sorting', async () => {
    const elements = `  status: finished
  class: { system: raw, code: AMB }
  reasonCode: [{ ${EACH('')}, elements: { coding: [{ system: own, code: { from: k.STD, via: code } }] } }]`;
    const search = await openSmall(SCHEMA, pack(elements, 'Encounter'));
    expect((await search('Encounter?_sort=reason-code,_id')).ids.slice(0, 4)).toEqual(['v-0', 'v-1', 'v-8', 'v-9']);
    expect((await search('Encounter?_sort=-reason-code,_id')).ids.slice(0, 4)).toEqual(['v-0', 'v-9', 'v-1', 'v-8']);
  });
});

describe('an impossible lookup of a piece is a problem of the pack', () => {
  const told = (lookup: string, item = '{ from: c.DESCR }') =>
    problemsOf({
      'pack.yaml': SMALL,
      'm.yaml': `mapping: people\nresource: Patient\nsource: { table: dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements:
  name: [{ given: [{ each: { split: LST_NM, by: ";", as: d, lookup: { ${lookup} } }, item: ${item} }] }]\n`,
    });

  test.each([
    [
      'c: { table: dbo.CD_LKUP, on: { CD: d.piece, TBL_ID: p.SEX } }',
      /a lookup in the `each` of pieces joins parts of a piece/,
    ],
    ['c: { table: dbo.CD_LKUP, on: { CD: p.SEX } }', /a lookup in the `each` of pieces joins parts of a piece/],
    ['c: { table: dbo.CD_LKUP, where: { CD: A } }', /a lookup in the `each` of pieces joins parts of a piece/],
    ['c: { table: dbo.CD_LKUP, on: { CD: d.nope } }', /unknown part of d/],
    [
      'c: { table: dbo.CD_LKUP, on: { CD: d.piece }, where: { TBL_ID: { same-as: p.SEX } } }',
      /`where` or `lookup` uses columns of two different rows/,
    ],
  ])('%s', (lookup, problem) => {
    expect(
      told(lookup)
        .filter(one => !one.includes('warning'))
        .join('\n'),
    ).toMatch(problem);
  });

  test('SQL on its row', () => {
    expect(
      told('c: { table: dbo.CD_LKUP, on: { CD: d.piece } }', '{ sql: "{c.DESCR} || 1", type: varchar(9) }').join(),
    ).toMatch(/`sql` uses a lookup of a piece/);
  });
});
