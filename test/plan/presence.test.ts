import { describe, expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE DX (NO INTEGER NOT NULL PRIMARY KEY, CDS VARCHAR(60) COLLATE RTRIM, TX VARCHAR(20) COLLATE RTRIM, UPD DATETIME);
INSERT INTO DX (NO, CDS, TX) VALUES (1, 'A:1.5;B: 77 ', 'x'), (2, 'B:1.5', 'x'), (3, 'A:1:5', 'x'), (4, 'A', 'x'), (5, NULL, 'x');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'codes.yaml': 'system:\n  rows: { A: http://a.example, B: http://b.example }\n',
  'dx.yaml': `mapping: places
resource: Location
profile: us-core-location
source: { table: DX, as: d, key: [NO], changed: UPD }
id: "{NO}"
elements:
  status: active
  name: { from: TX }
  type:
    - coding:
        - each: { split: CDS, by: ";", parse: "{sys}:{code}", as: c }
          item: { system: { from: c.sys, via: system }, code: { from: c.code } }
`,
};

const search = (query: string): Promise<Found> => searchSmall(SCHEMA, PACK, `Location?${query}`);

describe('parts of a piece, searched', () => {
  test('a part is matched together with the other parts of the same piece', async () => {
    expect((await search('type=http://a.example|1.5')).ids).toEqual(['1']);
    expect((await search('type=1.5')).ids).toEqual(['1', '2']);
  });

  test('parts are trimmed, and the last one has the rest', async () => {
    expect((await search('type=http://b.example|77')).ids).toEqual(['1']);
    expect((await search('type=http://a.example|1:5')).ids).toEqual(['3']);
  });

  test('a piece without the separator is no item', async () => {
    expect((await search('type=A')).ids).toEqual([]);
    expect((await search('type:not=1.5')).ids).toEqual(['3', '4', '5']);
  });
});

test('a search for a constant adds no condition on other elements', async () => {
  const { ids, sql } = await search('status=active');
  expect(ids).toEqual(['1', '2', '3', '4', '5']);
  expect(sql[0]).not.toMatch(/WHERE.*(CDS|TX)/s);
});

test('a profile is found in a resource with no other elements', async () => {
  const { ids } = await search('_profile=http://hl7.org/fhir/us/core/StructureDefinition/us-core-location');
  expect(ids).toEqual(['1', '2', '3', '4', '5']);
});
