import { expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, LGN VARCHAR(20) COLLATE RTRIM);
CREATE TABLE USR (LOGIN VARCHAR(20) COLLATE RTRIM PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE SITE (CD CHAR(4) COLLATE RTRIM PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO USR VALUES ('ADA', 'Lovelace'), ('BO', 'Katan');
INSERT INTO SITE VALUES ('HERE', 'Harbor'), ('AWAY', 'Hill');
INSERT INTO NOTE VALUES (1, 'ADA'), (2, 'ada  '), (3, 'nobody'), (4, NULL);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'note.yaml': `mapping: notes
resource: Location
source:
  table: NOTE
  as: n
  key: [NO]
  lookup:
    u: { table: USR, on: { LOGIN: { from: LGN, via: upper } } }
    s: { table: SITE, where: { CD: HERE } }
id: "{NO}"
needs: [alias.0]
elements:
  name: { from: u.NM }
  alias: [{ from: LGN }, { from: s.NM }]
  address: { city: { from: s.NM } }
`,
};

const search = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, `Location?${query}`);

test('a lookup finds its row by a text after text steps', async () => {
  expect((await search('name=lovelace')).ids).toEqual(['1', '2']);
});

test('a lookup without `on` gives every row the one row that matches its `where`', async () => {
  expect((await search('address-city=harbor')).ids).toEqual(['1', '2', '3']);
  expect((await search('address-city=hill')).ids).toEqual([]);
});

test('a row without a needed item is not served, whatever other items there are', async () => {
  expect((await search('')).ids).toEqual(['1', '2', '3']);
});
