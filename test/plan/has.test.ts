import { expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE SITE (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM, WITHIN INTEGER);
CREATE TABLE TEAM (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM, SITE INTEGER);
CREATE TABLE TEAM_SITE (TEAM INTEGER NOT NULL, NO INTEGER NOT NULL, PRIMARY KEY (TEAM, NO));
INSERT INTO SITE VALUES (1, 'Harbor', 2), (2, 'Hill', NULL), (3, 'Mill', 2);
INSERT INTO TEAM VALUES (10, 'Red', 1), (11, 'Blue', NULL);
INSERT INTO TEAM_SITE VALUES (10, 1), (10, 3);
`;

// Child rows that refer to a mapping stand under the alias that the mapping has for its own.
const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'site.yaml': `mapping: sites
resource: Location
source: { table: SITE, as: s, key: [NO] }
id: "{NO}"
elements:
  name: { from: NM }
  partOf: { ref: sites, on: { NO: WITHIN } }
`,
  'team.yaml': `mapping: teams
resource: HealthcareService
source: { table: TEAM, as: t, key: [NO] }
id: "{NO}"
elements:
  name: { from: NM }
  location:
    - each: { table: TEAM_SITE, as: s, on: { TEAM: NO }, order: [NO] }
      item: { ref: sites, on: { NO: NO } }
`,
};

const search = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, query);

test('_has by references in child rows finds their targets, for any alias', async () => {
  expect((await search('Location?_has:HealthcareService:location:name=red')).ids).toEqual(['1', '3']);
  expect((await search('Location?_has:HealthcareService:location:name=blue')).ids).toEqual([]);
});

test('_has of a type that refers to itself', async () => {
  expect((await search('Location?_has:Location:partof:name=harbor')).ids).toEqual(['2']);
  expect((await search('Location?partof._has:Location:partof:name=mill')).ids).toEqual(['1', '3']);
  const twice = 'Location?_has:Location:partof:_has:HealthcareService:location:name=red';
  expect((await search(twice)).ids).toEqual(['2']);
});

test('child rows are searched by their target, then the parent row by its key', async () => {
  const { sql } = await search('Location?_has:HealthcareService:location:name=red');
  const child = sql.at(-1)?.indexOf('FROM TEAM_SITE') ?? -1;
  expect(child).toBeGreaterThan(0);
  expect(sql.at(-1)?.indexOf('FROM TEAM AS')).toBeGreaterThan(child);
});
