import { expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

// More target rows than a list of keys holds, so a sub-select finds them.
const SCHEMA = `
CREATE TABLE SITE (ID INTEGER NOT NULL PRIMARY KEY, KIND CHAR(1) COLLATE RTRIM);
CREATE TABLE KIND (CD CHAR(1) COLLATE RTRIM PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE TEAM (ID INTEGER NOT NULL PRIMARY KEY, SITE_ID INTEGER);
INSERT INTO KIND VALUES ('W', 'Ward'), ('L', 'Laboratory');
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1300)
INSERT INTO SITE SELECT i, CASE WHEN i % 2 = 0 THEN 'W' ELSE 'L' END FROM n;
INSERT INTO TEAM VALUES (1, 2), (2, 3), (3, NULL), (4, 1298);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'site.yaml': `mapping: sites
resource: Location
source: { table: SITE, as: s, key: [ID], lookup: { k: { table: KIND, on: { CD: KIND } } } }
id: "{ID}"
elements:
  name: { from: k.NM }
`,
  'team.yaml': `mapping: teams
resource: PractitionerRole
source: { table: TEAM, as: t, key: [ID] }
id: "{ID}"
elements:
  active: true
  location: [{ ref: sites, on: { ID: SITE_ID } }]
`,
};

const search = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, `PractitionerRole?${query}`);

test('a chain to many rows searches the rows of their lookups', async () => {
  expect((await search('location.name=ward')).ids).toEqual(['1', '4']);
  expect((await search('location.name=lab')).ids).toEqual(['2']);
});

test('a chain of two steps, the first to many rows, searches them, too', async () => {
  const found = await searchSmall(SCHEMA, PACK, 'Location?_has:PractitionerRole:location:location.name=ward&_sort=_id');
  expect(found.ids).toEqual(['2', '1298']);
});
