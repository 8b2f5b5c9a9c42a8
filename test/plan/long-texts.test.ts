/** Page links contain the sort values of the last resource, and the length of a request is limited. */
import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

const LONG = 'x'.repeat(3500);

const SCHEMA = `
  CREATE TABLE WARD (WARD_NO INTEGER NOT NULL PRIMARY KEY, NM NVARCHAR(4000), CD VARCHAR(4000));
  INSERT INTO WARD VALUES (1, '${LONG} b', '${LONG}b'), (2, 'a', 'a'), (3, '${LONG} a', '${LONG}a'), (4, 'é${LONG}', 'z'), (5, NULL, NULL);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { wards: "http://example.org/wards" }\n',
  'ward.yaml': `
mapping: wards
resource: Location
source: { table: WARD, key: [WARD_NO] }
id: "{WARD_NO}"
elements:
  identifier: [{ system: wards, value: { from: CD } }]
  name: { from: NM }
`,
};

test.each(['name', '-name', 'identifier', '-identifier', 'name,identifier'])(
  'pages sorted by %s continue behind a text of any length',
  async sort => {
    const ids: string[] = [];
    let query: string | undefined = `Location?_sort=${sort}&_count=1`;
    for (let page = 0; query !== undefined && page < 9; page++) {
      expect(query.length).toBeLessThan(4000);
      const found = await searchSmall(SCHEMA, PACK, query);
      ids.push(...found.ids);
      query = found.next;
    }
    expect(ids.toSorted()).toEqual(['1', '2', '3', '4', '5']);
    expect(ids.at(-1)).toBe('5');
    expect(ids[sort.startsWith('-') ? 3 : 0]).toBe('2');
  },
);
