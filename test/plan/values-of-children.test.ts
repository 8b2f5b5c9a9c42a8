/**
 * Searches for a value in child rows, such as an identifier, begin with the child rows: an engine that evaluates EXISTS
 * per row would read all rows.
 */
import { describe, expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const rows = (count: number, row: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `(${row(i)})`).join();

const SCHEMA = `
CREATE TABLE PAT (NO INTEGER NOT NULL PRIMARY KEY, SEX CHAR(1));
CREATE TABLE NUM (PAT_NO INTEGER NOT NULL, SRC VARCHAR(4), VAL VARCHAR(20) COLLATE RTRIM, OFF CHAR(1));
CREATE INDEX NUM_PAT ON NUM (PAT_NO);
CREATE INDEX NUM_VAL ON NUM (VAL);
INSERT INTO PAT VALUES ${rows(700, i => `${i}, ${i % 2 === 0 ? "'F'" : 'NULL'}`)};
INSERT INTO NUM VALUES ${rows(700, i => `${i}, 'A', 'N${i}', ${i === 9 ? "'Y'" : 'NULL'}`)};
INSERT INTO NUM VALUES ${rows(600, i => `${i}, 'B', 'SAME', NULL`)}, (3, 'B', 'N4', NULL), (9999, 'A', 'LOST', NULL);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'codes.yaml': 'sex: { system: http://hl7.org/fhir/administrative-gender, rows: { F: female } }\n',
  'm.yaml': `mapping: patients
resource: Patient
source: { table: PAT, as: p, key: [NO] }
id: "{NO}"
elements:
  identifier:
    - each: { table: NUM, as: n, on: { PAT_NO: NO }, where: { OFF: { not: Y } }, order: [SRC, VAL] }
      elements:
        system: { first: [{ const: urn:a, if: { n.SRC: A } }, { const: urn:b }] }
        value: { from: n.VAL, via: code }
  gender: { from: SEX, via: sex }
`,
};

describe('an identifier in child rows', () => {
  test.each([
    ['identifier=urn:a|N4', ['4']],
    ['identifier=N4', ['3', '4']],
    ['identifier=N4,N7&gender=female', ['4']],
    ['identifier=urn:b|N4', ['3']],
    ['identifier=N9', []],
    ['identifier=LOST', []],
    ['identifier=none', []],
  ])('is found by its index: Patient?%s', async (query, ids) => {
    const search = await openSmall(SCHEMA, PACK);
    const { ids: found, served } = await search(`Patient?${query}`);
    expect(found).toEqual(ids);
    expect(served.join('\n')).toMatch(/SEARCH n USING .*INDEX NUM_VAL \(VAL=\?\)/);
    expect(served.join('\n')).not.toMatch(/^SCAN p\b/m);
  });

  test('that many rows have is tested row by row, in the order of the key', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const { ids } = await search('Patient?identifier=SAME&_count=3');
    expect(ids).toEqual(['0', '1', '2']);
    expect((await search('Patient?identifier=SAME&gender:missing=true&_count=2')).ids).toEqual(['1', '3']);
    expect((await search('Patient?identifier:not=SAME&_count=2')).ids).toEqual(['600', '601']);
    expect((await search('Patient?identifier=SAME,N650&_count=1')).ids).toEqual(['0']);
  });
});
