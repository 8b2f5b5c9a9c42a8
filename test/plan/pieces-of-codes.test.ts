import { describe, expect, test } from 'vitest';
import { problemsOf, SMALL } from '../mapping/load/problems-of.ts';
import { expectLaw } from './small-law.ts';
import { openSmall, searchSmall } from './small-pack.ts';

/** Known and unknown pieces, in any case and padding, empty, doubled; whole values that are blank or NULL. */
const RAWS = ['ADM;LAB', 'lab ; ADM', 'XX', ';;', ' ', '', undefined, 'NONE', 'ADM;ADM', 'LAB;XX;', 'adm'];

const SCHEMA = `
CREATE TABLE VST (NO INTEGER NOT NULL PRIMARY KEY, CDS VARCHAR(40) COLLATE RTRIM, PAIRS VARCHAR(40) COLLATE RTRIM);
CREATE TABLE KIND (NO INTEGER NOT NULL PRIMARY KEY, CD VARCHAR(20) COLLATE RTRIM, GRP VARCHAR(4), STD VARCHAR(20) COLLATE RTRIM, NM VARCHAR(40) COLLATE RTRIM);
INSERT INTO KIND VALUES (1, 'ADM ', 'K', 'adm-code', 'Admission'), (2, 'LAB', 'K', 'lab-code', 'Laboratory'), (3, 'NONE', 'K', NULL, 'no code'),
  (4, 'LAB', 'X', 'other', 'of another group');
${RAWS.map((raw, i) => `INSERT INTO VST VALUES (${i}, ${raw === undefined ? 'NULL, NULL' : `'${raw}', 'a:1;b:${i % 5};c:${raw}'`});`).join('\n')}
`;

const pack = (codes: string, elements: string): Readonly<Record<string, string>> => ({
  'pack.yaml':
    'name: small\ntitle: Small\nzone: UTC\nsystems: { own: http://example.org/kinds, raw: http://example.org/raw }\n',
  'codes.yaml': `kind:\n  table: KIND\n  where: { GRP: K }\n  key: [CD]\n  code: STD\n  display: NM\n  system: own\n${codes}`,
  'm.yaml': `mapping: visits
resource: Location
source: { table: VST, as: v, key: [NO] }
id: "v-{NO}"
elements:
${elements}
`,
});

const PIECES = '  type: [{ each: { split: CDS, by: ";", as: d }, item: { from: d.piece, via: kind } }]';

describe('a code map in a table on the pieces of a column', () => {
  test('gives each piece the code of its row', async () => {
    const { resources } = await searchSmall(SCHEMA, pack('  else: { system: raw }\n', PIECES), 'Location?');
    const codes = resources.map(({ ['type']: type }) =>
      ((type ?? []) as { coding: { code: string }[] }[]).map(({ coding }) => coding.map(({ code }) => code).join()),
    );
    expect(codes).toEqual([
      ...[['adm-code', 'lab-code'], ['lab', 'adm-code'], ['XX'], [], [], [], [], ['NONE']],
      ...[['adm-code', 'adm-code'], ['lab-code', 'XX'], ['adm']],
    ]);
  });

  test.each([
    '',
    '  else: other\n',
    '  else: { system: raw }\n',
    '  fold: true\n',
    '  fold: true\n  else: { system: raw }\n',
    '  else: text\n',
  ])('is found by exactly what it emits: %j', async rest => {
    await expectLaw(SCHEMA, pack(rest, PIECES), 'Location', 'type');
  });

  test('supports text steps, and parts of a piece', async () => {
    const steps = '  type: [{ each: { split: CDS, by: ";", as: d }, item: { from: d.piece, via: [upper, kind] } }]';
    await expectLaw(SCHEMA, pack('  else: { system: raw }\n', steps), 'Location', 'type');
    const parts =
      '  type: [{ each: { split: PAIRS, by: ";", parse: "{a}:{b}", as: d }, item: { from: d.b, via: kind } }]';
    const files = pack('  else: { system: raw }\n', parts);
    expect((await searchSmall(SCHEMA, files, 'Location?type=adm-code')).ids).toEqual(['v-0', 'v-8']);
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });

  test('sends one query for all pieces of a page', async () => {
    const { sql } = await searchSmall(SCHEMA, pack('', PIECES), 'Location?');
    expect(sql.filter(text => text.includes('KIND'))).toHaveLength(1);
  });

  test('is searched within the pieces on both engines', async () => {
    const { sql, mssql } = await searchSmall(SCHEMA, pack('', PIECES), 'Location?type=adm-code');
    for (const texts of [sql, mssql]) {
      expect(texts[0]).toMatch(
        /EXISTS \(SELECT 1 FROM \([\s\S]*piece[\s\S]*\) AS d WHERE EXISTS \(SELECT 1\s+FROM KIND/,
      );
    }
  });
});

describe('rows on the pieces of a column', () => {
  const NAMES =
    '  alias: [{ each: { split: CDS, by: ";", as: d }, item: { each: { table: KIND, as: k, on: { CD: d.piece }, order: [NO] }, item: { from: k.NM } } }]';

  test('become items, in the order of the pieces', async () => {
    const files = pack('', NAMES);
    const { resources } = await searchSmall(SCHEMA, files, 'Location?');
    expect(resources.slice(0, 2).map(({ ['alias']: alias }) => alias)).toEqual([
      ['Admission', 'Laboratory', 'of another group'],
      ['Admission'],
    ]);
    const search = await openSmall(SCHEMA, files);
    expect((await search('Location?name:exact=of another group')).ids).toEqual(['v-0', 'v-9']);
  });
});

describe('sorting by the codes of pieces', () => {
  test('uses the first piece in sort order, known or unknown', async () => {
    const files = {
      ...pack('  else: { system: raw }\n', ''),
      'm.yaml': `mapping: visits
resource: Encounter
source: { table: VST, as: v, key: [NO] }
id: "{NO}"
elements:
  status: finished
  class: { system: raw, code: AMB }
  reasonCode: [{ each: { split: CDS, by: ";", as: d }, item: { from: d.piece, via: kind } }]
`,
    };
    const search = await openSmall(SCHEMA, files);
    const firsts = async (sort: string, last: boolean) =>
      (await search(`Encounter?_sort=${sort}`)).resources.map(({ ['reasonCode']: reasons }) => {
        const codes = ((reasons ?? []) as { coding: { code: string }[] }[]).flatMap(
          ({ coding }) => coding[0]?.code ?? [],
        );
        return codes.toSorted().at(last ? -1 : 0);
      });
    const [up, down] = [await firsts('reason-code', false), await firsts('-reason-code', true)];
    const given = (codes: readonly (string | undefined)[]) => codes.filter(code => code !== undefined);
    expect(given(up)).toEqual(given(up).toSorted());
    expect(given(down)).toEqual(given(down).toSorted().toReversed());
    expect([given(up).length, up.slice(given(up).length)]).toEqual([7, [undefined, undefined, undefined, undefined]]);
  });
});

describe('an impossible join to pieces is a problem of the pack', () => {
  const told = (elements: string, codes = '') =>
    problemsOf({
      'pack.yaml': SMALL,
      'codes.yaml': `kind:\n  table: dbo.CD_LKUP\n  key: [CD]\n  code: STD_CD\n${codes}`,
      'm.yaml': `mapping: people\nresource: Patient\nsource: { table: dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements:\n${elements}\n`,
    });

  test('a code that is no concept, and a map that picks', () => {
    expect(
      told('  name: [{ given: [{ each: { split: LST_NM, by: ";", as: d }, item: { from: d.piece, via: kind } }] }]')[0],
    ).toMatch(/code map kind is in a table: of a piece it makes a whole CodeableConcept; .*; found string$/);
    expect(
      told(
        '  communication: [{ each: { split: LST_NM, by: ";", as: d }, needs: [language], elements: { language: { from: d.piece, via: kind } } }]',
        '  system: http://a.example\n  pick: [ALT_CD]\n',
      ).join(),
    ).toMatch(/expected a `where` that leaves one row, in place of `pick`/);
  });

  test('a join on a piece and a column of the row, and a lookup on a piece', () => {
    const rows = (on: string) =>
      told(
        `  name: [{ given: [{ each: { split: LST_NM, by: ";", as: d }, item: { each: { table: dbo.CD_LKUP, as: c, on: ${on}, order: [CD] }, item: { from: c.DESCR } } }] }]`,
      ).filter(one => !one.includes('warning'));
    expect(rows('{ CD: d.piece }')).toEqual([]);
    expect(rows('{ CD: d.piece, TBL_ID: p.SEX }')[0]).toMatch(/rows cannot be joined on these pieces/);
  });
});
