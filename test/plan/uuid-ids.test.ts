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

test('a UUID in braces or without hyphens is the same one, in ids, references and searches', async () => {
  const [c, d] = ['0c000000-0000-4000-8000-00000000000c', '0d000000-0000-4000-8000-00000000000d'];
  const schema = `
CREATE TABLE DOC (UID UNIQUEIDENTIFIER NOT NULL PRIMARY KEY, NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, DOC UNIQUEIDENTIFIER);
INSERT INTO DOC VALUES ('{${A.toUpperCase()}}', 'Ada'), ('${B.toUpperCase()}', 'Bo'), ('${c.replaceAll('-', '')}', 'Cy'),
  ('{${d}', 'Di');
INSERT INTO VISIT VALUES (1, '${A.toUpperCase()}'), (2, '{${B}}'), (3, '{${c}}'), (4, '{${d}'), (5, '{${A}}');
`;
  const visits = `mapping: visits
resource: Encounter
source: { table: VISIT, as: v, key: [NO] }
id: "{NO}"
elements:
  status: finished
  class: { code: AMB }
  participant: [{ individual: { ref: doctors, on: { UID: DOC } } }]
`;
  const pack = { ...PACK, 'm.yaml': `${mapping('doctors', 'DOC').replace('NO', 'UID')}---\n${visits}` };
  const search = await openSmall(schema, pack);
  expect((await search('Practitioner?')).ids.toSorted()).toEqual([A, B, c]);
  for (const [id, name, of] of [
    [A, 'ada', ['1', '5']],
    [B, 'bo', ['2']],
    [c, 'cy', ['3']],
  ] as const) {
    expect((await search(`Practitioner?_id=${id}`)).ids).toEqual([id]);
    expect((await search(`Encounter?participant=Practitioner/${id}`)).ids).toEqual(of);
    expect((await search(`Encounter?participant:Practitioner.name=${name}`)).ids).toEqual(of);
  }
  expect((await search('Encounter?participant:missing=true')).ids).toEqual(['4']);
});

test('bytes of another number than sixteen are no id: neither the row nor what needs it is found or counted', async () => {
  const schema = `
CREATE TABLE DOC (NO INTEGER NOT NULL PRIMARY KEY, UID BINARY(16), NM VARCHAR(20) COLLATE RTRIM);
CREATE TABLE VISIT (NO INTEGER NOT NULL PRIMARY KEY, DOC INTEGER, UID BINARY(16));
INSERT INTO DOC VALUES (1, x'${A.replaceAll('-', '')}', 'Ada'), (2, x'', 'Bo'), (3, x'0a00', 'Cy'), (4, 'none', 'Di');
INSERT INTO VISIT VALUES (1, 1, x'${A.replaceAll('-', '')}'), (2, 2, x''), (3, 3, x'0a00'), (4, 4, NULL);
`;
  const visits = `mapping: visits
resource: Encounter
source: { table: VISIT, as: v, key: [NO] }
id: "{NO}"
needs: [participant]
elements:
  status: finished
  class: { system: "urn:own", code: AMB }
  participant: [{ individual: { ref: doctors, on: { NO: DOC } }, needs: [individual] }]
---
mapping: visits-by-uid
resource: Encounter
source: { table: VISIT, as: v, key: [NO] }
id: "u-{NO}"
needs: [participant]
elements:
  status: finished
  class: { system: "urn:own", code: AMB }
  participant: [{ individual: { ref: doctors, on: { UID: UID }, exists: false }, needs: [individual] }]
`;
  const pack = { ...PACK, 'm.yaml': `${mapping('doctors', 'DOC')}---\n${visits}` };
  const search = await openSmall(schema, pack);
  const found = async (query: string) => {
    const { ids, json } = await search(`${query}&_total=accurate`);
    return { ids, total: JSON.parse(json).total };
  };
  expect(await found('Practitioner?')).toEqual({ ids: [A], total: 1 });
  expect(await found('Practitioner?_sort=-family')).toEqual({ ids: [A], total: 1 });
  expect(await found('Encounter?')).toEqual({ ids: ['1', 'u-1'], total: 2 });
  expect(await found('Encounter?practitioner:missing=false')).toEqual({ ids: ['1', 'u-1'], total: 2 });
  expect(await found('Practitioner?_has:Encounter:practitioner:_id=2,3,u-2,u-3')).toEqual({ ids: [], total: 0 });
});

test('a row whose bytes are no UUID has the id of the next alternative', async () => {
  const schema = `
CREATE TABLE DOC (NO INTEGER NOT NULL PRIMARY KEY, UID BINARY(16), NM VARCHAR(20) COLLATE RTRIM);
INSERT INTO DOC VALUES (1, x'${A.replaceAll('-', '')}', 'Ada'), (2, x'', 'Bo'), (3, NULL, 'Cy');
`;
  const pack = { ...PACK, 'm.yaml': mapping('doctors', 'DOC').replace('"{UID}"', '["{UID}", "n-{NO}"]') };
  const search = await openSmall(schema, pack);
  expect((await search('Practitioner?')).ids).toEqual([A, 'n-2', 'n-3']);
  expect((await search('Practitioner?_id=n-2,n-3,n-1')).ids).toEqual(['n-2', 'n-3']);
  expect((await search('Practitioner?_sort=-_id')).ids.toSorted()).toEqual([A, 'n-2', 'n-3']);
});
