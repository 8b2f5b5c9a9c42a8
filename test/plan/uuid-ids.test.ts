import { expect, test } from 'vitest';
import { openSmall, searchSmall } from './small-pack.ts';

const A = '0a000000-0000-4000-8000-000000000001';
const B = '0b000000-0000-4000-8000-000000000002';

const SCHEMA = `
CREATE TABLE DOC (NO INTEGER NOT NULL PRIMARY KEY, UID UNIQUEIDENTIFIER, NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE NRS (NO INTEGER NOT NULL PRIMARY KEY, UID UNIQUEIDENTIFIER, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO DOC VALUES (1, '${A.toUpperCase()}', 'Ada'), (2, NULL, 'Bo');
INSERT INTO NRS VALUES (1, '${B.toUpperCase()}', 'Cy');
`;

const mapping = (name: string, table: string): string => `mapping: ${name}
resource: Practitioner
source: { table: ${table}, key: [NO] }
id: "{UID}"
elements: { name: [{ family: { from: NM } }] }
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'm.yaml': `${mapping('doctors', 'DOC')}---\n${mapping('nurses', 'NRS')}`,
};

test('two mappings with UUID ids read their own rows, and a search queries both', async () => {
  const search = async (query: string) => (await searchSmall(SCHEMA, PACK, `Practitioner?${query}`)).ids;
  expect(await search(`_id=${A}`)).toEqual([A]);
  expect(await search(`_id=${B}`)).toEqual([B]);
  expect(await search(`_id=${B},${A}`)).toEqual([A, B]);
  expect(await search('name=cy')).toEqual([B]);
  expect(await search('_sort=-family')).toEqual([B, A]);
});

test('text UUIDs are ids in their own spelling, for two mappings too; other texts are not', async () => {
  const schema = `
CREATE TABLE DOC (NO INTEGER NOT NULL PRIMARY KEY, UID CHAR(38) COLLATE RTRIM, NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE NRS (NO INTEGER NOT NULL PRIMARY KEY, UID VARCHAR(36) COLLATE RTRIM, NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO DOC VALUES (1, '${A}  ', 'Ada'), (2, NULL, 'Bo'), (3, 'none', 'Di'), (4, '${A}0', 'Ed');
INSERT INTO NRS VALUES (1, '${B.toUpperCase()}', 'Cy'), (2, '', 'Flo');
`;
  const pack = { ...PACK, 'm.yaml': PACK['m.yaml'].replaceAll('{UID}', '{UID|uuid}') };
  const search = await openSmall(schema, pack);
  const upper = B.toUpperCase();
  expect((await search('Practitioner?')).ids).toEqual([A, upper]);
  expect((await search(`Practitioner?_id=${A},${upper},none,${B}`)).ids).toEqual([A, upper]);
  expect((await search('Practitioner?_sort=_id')).ids).toEqual([A, upper].toSorted());
});
