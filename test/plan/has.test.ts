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

// A reference in child rows uses the same alias as the mapping that it leads to.
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

test('so are child rows of which a lookup says which count', async () => {
  const schema = `${SCHEMA}
CREATE TABLE KIND (KIND INTEGER NOT NULL PRIMARY KEY, MEANING VARCHAR(9) COLLATE RTRIM);
ALTER TABLE TEAM_SITE ADD COLUMN KIND INTEGER;
INSERT INTO KIND VALUES (1, 'OPEN'), (2, 'SHUT');
UPDATE TEAM_SITE SET KIND = CASE NO WHEN 1 THEN 1 ELSE 2 END;
`;
  const open = 'lookup: { k: { table: KIND, on: { KIND: s.KIND }, where: { MEANING: OPEN }, required: true } }';
  const pack = { ...PACK, 'team.yaml': PACK['team.yaml'].replace('order: [NO]', `order: [NO], ${open}`) };
  const { ids, sql } = await searchSmall(schema, pack, 'Location?_has:HealthcareService:location:name=red');
  expect(ids).toEqual(['1']);
  const child = sql.at(-1)?.indexOf('FROM TEAM_SITE') ?? -1;
  expect(child).toBeGreaterThan(0);
  expect(sql.at(-1)?.indexOf('FROM TEAM AS')).toBeGreaterThan(child);
});

const VISITS = `
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, STAY VARCHAR(5) COLLATE RTRIM, NM VARCHAR(20) COLLATE RTRIM);
CREATE INDEX VISIT_STAY ON VISIT (STAY);
CREATE TABLE SHEET (NO INTEGER NOT NULL PRIMARY KEY, STAY VARCHAR(5) COLLATE RTRIM, WARD VARCHAR(9), TX VARCHAR(9));
CREATE INDEX SHEET_STAY ON SHEET (STAY);
INSERT INTO VISIT VALUES (1, 'A', 'one'), (2, 'A', 'two'), (3, 'B', 'three'), (4, NULL, 'four');
INSERT INTO SHEET VALUES (10, 'A', 'W/3', 'red'), (11, 'B', 'W/4', 'red'), (12, 'B', NULL, 'blue'), (13, 'C', 'W', 'red');
`;

const ON = {
  pick: '{ STAY: STAY }, pick: [NO]',
  'computed key': '{ NO: { from: WARD, via: { piece: { by: "/", at: 2 } } } }',
};

test.each([
  ['pick', ['1', '3']],
  ['computed key', ['3', '4']],
] as const)('rows that refer here by a lookup with a %s are read once, and not for each row', async (kind, found) => {
  const pack = {
    'pack.yaml': PACK['pack.yaml'],
    'visit.yaml': `mapping: visits
resource: Location
source: { table: VISIT, as: v, key: [NO] }
id: "{NO}"
elements:
  name: { from: NM }
`,
    'sheet.yaml': `mapping: sheets
resource: HealthcareService
source:
  table: SHEET
  as: s
  key: [NO]
  lookup: { v: { table: VISIT, on: ${ON[kind]} } }
id: "{NO}"
elements:
  name: { from: TX }
  location: [{ ref: visits, on: { NO: v.NO } }]
`,
  };
  const { ids, sql } = await searchSmall(VISITS, pack, 'Location?_has:HealthcareService:location:name=red');
  expect(ids).toEqual(found);
  expect(sql.at(-1)).toContain('WHERE v.[NO] IN (SELECT');
});

test('a value of a picked row is searched in all rows by an index, then tested on the picked row', async () => {
  const pack = {
    'pack.yaml': PACK['pack.yaml'],
    'visit.yaml':
      'mapping: visits\nresource: Location\nsource: { table: VISIT, as: v, key: [NO] }\nid: "{NO}"\nelements: { name: { from: NM } }\n',
    'sheet.yaml': `mapping: sheets
resource: HealthcareService
source:
  table: SHEET
  as: s
  key: [NO]
  lookup: { v: { table: VISIT, on: { STAY: STAY }, pick: [NO] } }
id: "{NO}"
elements:
  name: { from: TX }
  location: [{ ref: visits, on: { NO: v.NO } }]
`,
  };
  const of = (query: string): Promise<Found> => searchSmall(VISITS, pack, query);
  const { ids, served } = await of('HealthcareService?location=1');
  expect(ids).toEqual(['10']);
  // Visit 2 belongs to the same stay, but `pick` chooses another one.
  expect((await of('HealthcareService?location=2')).ids).toEqual([]);
  expect((await of('HealthcareService?location=3')).ids).toEqual(['11', '12']);
  expect((await of('HealthcareService?location:missing=true')).ids).toEqual(['13']);
  expect(served.join()).toContain('SEARCH s USING INDEX SHEET_STAY');
  const included = await of('Location?_id=1,2&_revinclude=HealthcareService:location');
  expect(included.ids).toEqual(['1', '2', '10']);
  expect(included.served.join()).toContain('SEARCH s USING INDEX SHEET_STAY');
});
