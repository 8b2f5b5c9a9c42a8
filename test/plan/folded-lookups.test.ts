import { describe, expect, test } from 'vitest';
import { expectLaw } from './small-law.ts';
import { searchSmall } from './small-pack.ts';

/** Texts in every case and padding, blank and NULL. */
const RAWS = ['adm', 'ADM', 'Adm ', 'x-adm', 'X-ADM', ' adm', 'ä', 'Ä', '', '  ', 'other', undefined];

const SCHEMA = `
CREATE TABLE VST (NO INTEGER NOT NULL PRIMARY KEY, CD VARCHAR(20) COLLATE RTRIM);
CREATE TABLE KIND (CD VARCHAR(20) COLLATE RTRIM NOT NULL, STD VARCHAR(20) COLLATE RTRIM, NM VARCHAR(40) COLLATE RTRIM);
INSERT INTO KIND VALUES ('ADM ', 'adm-code', 'Admission'), ('ä', 'a-code', 'Umlaut'), ('None', NULL, 'no code');
${RAWS.map((raw, i) => `INSERT INTO VST VALUES (${i}, ${raw === undefined ? 'NULL' : `'${raw}'`});`).join('\n')}
`;

const pack = (codes: string, elements: string, lookup = ''): Readonly<Record<string, string>> => ({
  'pack.yaml':
    'name: small\ntitle: Small\nzone: UTC\nsystems: { own: http://example.org/kinds, raw: http://example.org/raw }\n',
  'codes.yaml': `kind:\n  table: KIND\n  key: [CD]\n  code: STD\n  display: NM\n  system: own\n${codes}`,
  'm.yaml': `mapping: visits
resource: Location
source: { table: VST, as: v, key: [NO]${lookup} }
id: "v-{NO}"
elements:
${elements}
`,
});

const codesOf = async (files: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    (await searchSmall(SCHEMA, files, 'Location?_count=50')).resources.map(({ id, ['type']: type }) => {
      const [concept] = (type ?? [{}]) as { coding?: { code: string }[]; text?: string }[];
      return [id.slice(2), concept?.coding?.[0]?.code ?? concept?.text];
    }),
  );

describe('a code map in a table', () => {
  test('ignores case under `fold`, for ASCII letters only', async () => {
    const files = pack('  fold: true\n  else: { system: raw }\n', '  type: { from: CD, via: kind }');
    expect(await codesOf(files)).toMatchObject({
      ...{ 0: 'adm-code', 1: 'adm-code', 2: 'adm-code', 3: 'x-adm', 6: 'a-code', 7: 'Ä', 10: 'other' },
    });
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });

  test('is case-sensitive otherwise', async () => {
    const files = pack('', '  type: { from: CD, via: kind }');
    expect(await codesOf(files)).toMatchObject({ 1: 'adm-code' });
    expect((await codesOf(files))['0']).toBeUndefined();
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });

  test.each([
    '',
    '  blank: empty\n',
    '  else: other\n',
    '  blank: empty\n  else: { system: raw }\n',
    '  blank: empty\n  else: text\n',
    '  fold: true\n  else: text\n',
  ])('supports text steps before it: %j', async rest => {
    const step = '  type: { from: CD, via: [{ piece: { by: "-", at: 2 } }, upper, kind] }';
    const files = pack(rest, step);
    expect(await codesOf(files)).toMatchObject({ 3: 'adm-code', 4: 'adm-code' });
    await expectLaw(SCHEMA, files, 'Location', 'type');
  });
});

describe('a lookup under `fold`', () => {
  const lookup = (rest: string): string => `, lookup: { k: { table: KIND, on: { CD: CD }${rest} } }`;

  test('finds its row without case', async () => {
    const files = pack('', '  name: { from: k.NM }', lookup(', fold: true'));
    delete (files as Record<string, string>)['codes.yaml'];
    const named = (await searchSmall(SCHEMA, files, 'Location?name=admission')).ids;
    expect(named).toEqual(['v-0', 'v-1', 'v-2']);
    await expectLaw(SCHEMA, files, 'Location', 'name');
  });

  test('compares both sides in upper case on each engine', async () => {
    const files = { ...pack('', '  name: { from: k.NM }', lookup(', fold: true')), 'codes.yaml': '' };
    const { sql, mssql } = await searchSmall(SCHEMA, files, 'Location?');
    expect(sql.join()).toContain('LEFT JOIN KIND AS k ON upper(k.CD) COLLATE RTRIM = upper(v.CD)');
    expect(mssql.join()).toMatch(/LEFT JOIN KIND AS k ON TRANSLATE\(k\.CD.* = TRANSLATE\(v\.CD/);
  });

  test('may be required, and supports text steps before it', async () => {
    const on =
      ', lookup: { k: { table: KIND, on: { CD: { from: CD, via: [{ piece: { by: "-", at: 2 } }] } }, fold: true, required: true } }';
    const files = pack('', '  name: { from: k.NM }', on);
    delete (files as Record<string, string>)['codes.yaml'];
    expect((await searchSmall(SCHEMA, files, 'Location?')).ids).toEqual(['v-3', 'v-4']);
  });
});
