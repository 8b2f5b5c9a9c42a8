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

test('a lookup that joins a row of another lookup includes that one, even if nothing else names it', async () => {
  const schema = `
    CREATE TABLE STAY (NO INTEGER NOT NULL PRIMARY KEY, BED_NO INTEGER);
    CREATE TABLE BED (NO INTEGER NOT NULL PRIMARY KEY, WARD_NO INTEGER);
    CREATE TABLE WARD (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20));
    INSERT INTO WARD VALUES (1, 'North'), (2, 'South');
    INSERT INTO BED VALUES (10, 1), (20, 2), (30, NULL);
    INSERT INTO STAY VALUES (1, 10), (2, 20), (3, 30), (4, NULL);`;
  const pack = {
    'pack.yaml': PACK['pack.yaml'],
    'stay.yaml': `mapping: stays
resource: Location
source:
  table: STAY
  as: s
  key: [NO]
  lookup:
    b: { table: BED, on: { NO: BED_NO } }
    w: { table: WARD, on: { NO: b.WARD_NO } }
id: "{NO}"
elements:
  name: { from: w.NM }
`,
  };
  expect((await searchSmall(schema, pack, 'Location?name=north')).ids).toEqual(['1']);
  expect((await searchSmall(schema, pack, 'Location?name:missing=true&_sort=name')).ids).toEqual(['3', '4']);
});

test('a picked row that joins a row of another lookup is searched by its code', async () => {
  const schema = `
    CREATE TABLE RESULT (NO INTEGER NOT NULL PRIMARY KEY, TEST CHAR(4));
    CREATE TABLE TEST (CD CHAR(4) NOT NULL PRIMARY KEY, NM VARCHAR(20));
    CREATE TABLE TEST_CODE (TEST CHAR(4) NOT NULL, SINCE INTEGER NOT NULL, CODE VARCHAR(10), PRIMARY KEY (TEST, SINCE));
    INSERT INTO TEST VALUES ('GLU', 'Glucose'), ('HGB', 'Hemoglobin');
    INSERT INTO TEST_CODE VALUES ('GLU', 2003, 'OLD'), ('GLU', 2019, 'NEW'), ('HGB', 2003, 'OLD'), ('OUT', 2003, 'NEW');
    INSERT INTO RESULT VALUES (1, 'GLU'), (2, 'HGB'), (3, 'OUT'), (4, NULL);`;
  const pack = {
    'pack.yaml': PACK['pack.yaml'],
    'result.yaml': `mapping: results
resource: Observation
source:
  table: RESULT
  as: r
  key: [NO]
  lookup:
    t: { table: TEST, on: { CD: TEST } }
    c: { table: TEST_CODE, on: { TEST: t.CD }, pick: [-SINCE] }
id: "{NO}"
compartment: { none: a test }
needs: [code]
elements:
  status: final
  code: { coding: [{ code: { from: c.CODE, via: code }, display: { from: t.NM } }] }
`,
  };
  const idsOf = async (query: string) => (await searchSmall(schema, pack, `Observation?${query}`)).ids;
  expect(await idsOf('code=NEW')).toEqual(['1']);
  expect(await idsOf('code=OLD')).toEqual(['2']);
  expect(await idsOf('code=OLD,NEW')).toEqual(['1', '2']);
  expect(await idsOf('code=NONE')).toEqual([]);
});
