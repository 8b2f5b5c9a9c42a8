import { describe, expect, test } from 'vitest';
import { wordsIn } from '../../src/sql/shared-functions.ts';
import { openSmall } from './small-pack.ts';

const NAMES: readonly (readonly [family: string, given: string, middle?: string])[] = [
  ["O'Brien-Nuñez", 'Amelia'],
  ['O’Brien', 'Zoë', 'Ann-Marie'],
  ['Okonkwo', 'Amelia', 'Grace'],
  ['Van der Berg', 'Jo'],
  ['OBRIEN   NUNEZ', 'Sam'],
  ['Bergman', 'St. John'],
  ['-', "'"],
];

const SCHEMA = `
CREATE TABLE PAT (NO INTEGER NOT NULL PRIMARY KEY, FAM VARCHAR(40), GIV VARCHAR(40), MID VARCHAR(40), CTY VARCHAR(40), LN VARCHAR(80));
CREATE TABLE LOC (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(80), TY VARCHAR(4));
${NAMES.map((name, i) => `INSERT INTO PAT VALUES (${i}, ${[0, 1, 2].map(at => literal(name[at])).join()}, ${literal(i === 0 ? 'New York' : 'Winston-Salem')}, '${i} Main St.');`).join('\n')}
INSERT INTO LOC VALUES (1, 'Operating Room 2', 'A'), (2, 'Bathroom', 'B'), (3, 'Ward/Room 12', NULL), (4, '  ', 'A'), (5, NULL, 'B');
`;

function literal(text: string | undefined): string {
  return text === undefined ? 'NULL' : `'${text.replaceAll("'", "''")}'`;
}

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { own: http://example.org/own }\n',
  'patient.yaml': `mapping: patients
resource: Patient
source: { table: PAT, as: p, key: [NO] }
id: "p-{NO}"
elements:
  name: [{ family: { from: FAM }, given: [{ from: GIV }, { from: MID }] }]
  address: [{ line: [{ from: LN }], city: { from: CTY }, country: United States }]
`,
  'location.yaml': `mapping: places
resource: Location
source: { table: LOC, as: l, key: [NO] }
id: "l-{NO}"
elements:
  name: { from: NM }
`,
};

const found = async (query: string): Promise<readonly string[]> =>
  (await (await openSmall(SCHEMA, PACK))(query)).ids.map(id => id.slice(2)).toSorted();

describe('a name is found by its words', () => {
  test.each([
    ['family=nunez', '0 4'],
    ['family=obrien', '0 1 4'],
    ["family=o'brien", '0 1 4'],
    ['family=o’brien', '0 1 4'],
    ['family=obrien nunez', '0 4'],
    ['family=NUNEZ OBRIEN', '0 4'],
    ['family=obrien-nunez ', '0 4'],
    ['family=berg', '3 5'],
    ['family=der b', '3'],
    ['family=rien', ''],
    ['family=-', '6'],
    ['name=amelia okonkwo', '2'],
    ['name=Okonkwo, Amelia'.replace(',', '\\,'), '2'],
    ['name=amelia nunez', '0'],
    ['name=marie', '1'],
    ['name=zoe marie obrien', '1'],
    ['name=amelia okonkwo,jo berg', '2 3 5'],
    ['name=st john', '5'],
    ['given=st john', '5'],
    ['family:exact=nunez', ''],
    ['family:contains=rien', '0 1 4'],
    ['address=york', '0'],
    ['address=york main states', '0'],
    ['address=salem 3', '3'],
    ['address-city=winston salem', '1 2 3 4 5 6'],
    ['name=a b c d e f g h i', ''],
  ])('Patient?%s', async (query, ids) => {
    expect(
      (await found(`Patient?${query.replace(/=.*/, all => `=${encodeURIComponent(all.slice(1))}`)}`)).join(' '),
    ).toBe(ids);
  });

  test.each([
    [
      'name',
      ['amelia okonkwo', 'jo berg', 'nunez sam', 'nobody at all', 'zoe marie obrien', 'grace amelia', "o'brien amelia"],
    ],
    ['family', ['obrien nunez', 'van berg', 'der berg', 'nobody here', 'brien nunez', 'okonkwo x']],
    ['address', ['york main', 'salem main 3', 'united york', 'united main 5', 'main nowhere', 'states winston 2']],
  ])('a long list of values with several words finds the union of single searches: %s', async (code, values) => {
    const each = await Promise.all(values.map(value => found(`Patient?${code}=${encodeURIComponent(value)}`)));
    const any = [...new Set(each.flat())].toSorted();
    expect(any.length).toBeGreaterThan(2);
    expect(await found(`Patient?${code}=${encodeURIComponent([...values, 'nobody'].join())}`)).toEqual(any);
  });

  test('a long list of values with several words looks into parts that a code map gives, too', async () => {
    const search = await openSmall(SCHEMA, {
      ...PACK,
      'patient.yaml': PACK['patient.yaml'].replace(
        /address: .*/,
        'address: [{ city: { from: CTY }, state: { from: LN, via: state } }]',
      ),
      'codes.yaml': 'state: { rows: { "0 Main St.": NY, "1 Main St.": NC, "2 Main St.": NJ } }\n',
    });
    const values = ['york ny', 'salem nc', 'nj salem', 'nobody here', 'ny new york', 'salem nowhere'];
    const ids = async (query: string) => (await search(`Patient?address=${encodeURIComponent(query)}`)).ids;
    const each = await Promise.all(values.map(ids));
    expect(each).toEqual([['p-0'], ['p-1'], ['p-2'], [], ['p-0'], []]);
    expect(await ids(values.join())).toEqual(['p-0', 'p-1', 'p-2']);
  });

  test('a long list is one comparison per name', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const sqlOf = async (count: number): Promise<string> => {
      const values = Array.from({ length: count }, (_, i) => `Given${i} Family${i}`);
      return (await search(`Patient?name=${values.join()}`)).sql.join();
    };
    expect(await sqlOf(6)).toBe(await sqlOf(300));
    expect((await sqlOf(6)).match(/lintel_contains/g)).toHaveLength(1);
  });

  test('the name of a location is found by its words', async () => {
    expect(await found('Location?name=room')).toEqual(['1', '3']);
    expect(await found('Location?name=room%20operating')).toEqual(['1']);
    expect(await found('Location?name=oom')).toEqual([]);
  });

  test('T-SQL normalises characters before a comparison that ignores case and accents', async () => {
    const { mssql } = await (await openSmall(SCHEMA, PACK))('Location?name=room');
    const [sql = ''] = mssql;
    const trimmed = 'TRIM(CONCAT(CHAR(32), CHAR(9), CHAR(13), CHAR(10)) FROM l.NM)';
    expect(sql).toContain(`REPLACE(TRANSLATE((N' ' + ${trimmed}) COLLATE Latin1_General_BIN2, CONCAT(CHAR(9), `);
    expect(sql).toContain(", N'''', N'') COLLATE Latin1_General_100_CI_AI LIKE @p1");
    const [from = '', to = ''] = [...sql.matchAll(/N'((?:[^']|'')+)'/g)].flatMap(([, text]) =>
      text !== undefined && text.length > 10 ? [text.replaceAll("''", "'")] : [],
    );
    expect(to).toHaveLength(from.length + 3);
    for (const [at, character] of [...from].entries())
      expect(to[at + 3]).toBe(wordsIn(`a${character}b`).length === 2 ? ' ' : "'");
  });
});
