/**
 * Whole numbers of ours that lead to texts of theirs, as pointers of VistA's files do to `PatientIEN VARCHAR(50)` of
 * its warehouse: searches use the index of the number, and agree with the resources on `7` and `007`.
 */
import { expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const KEYS = ['7', '007', '8', '9 ', ' 9', '-3', '1.0', 'x', '99999999999999999999', '9223372036854775807'];

const SCHEMA = `
CREATE TABLE PERSON (SID INTEGER NOT NULL PRIMARY KEY, STA INTEGER, IEN VARCHAR(50), NM VARCHAR(9));
CREATE UNIQUE INDEX PERSON_IEN ON PERSON (STA, IEN);
CREATE TABLE VITAL (STA INTEGER NOT NULL, NO INTEGER NOT NULL, PERSON_IEN BIGINT, PRIMARY KEY (STA, NO));
CREATE INDEX VITAL_PERSON ON VITAL (STA, PERSON_IEN);
INSERT INTO PERSON VALUES ${KEYS.map((key, i) => `(${i + 1}, 516, '${key}', 'ann')`).join()}, (50, 675, '7', 'ann'), (51, 675, '70', 'bob');
INSERT INTO VITAL VALUES (516, 1, 7), (516, 2, 8), (516, 3, 9), (516, 4, -3), (516, 5, 1), (516, 6, NULL), (516, 7, 77),
  (675, 8, 7), (675, 9, 70), (516, 10, 9223372036854775807);
WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
INSERT INTO VITAL SELECT 516, i, i FROM n;
ANALYZE;
`;

const FILES = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'a.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [SID] }
id: "{SID}"
elements: { name: [{ family: { from: NM } }] }
---
mapping: vitals
resource: Basic
source: { table: VITAL, as: v, key: [STA, NO] }
id: "{NO}"
elements:
  code: { text: x }
  subject: { ref: people, on: { STA: STA, IEN: PERSON_IEN } }
`,
};

test('searches find what the resources refer to, by the index of our number', async () => {
  const search = await openSmall(SCHEMA, FILES);
  const { resources } = await search('Basic?_count=50&_sort=_id');
  const referring = (ids: readonly string[]): readonly string[] =>
    resources
      .filter(one =>
        ids.includes((Object(one['subject'])['reference'] as string | undefined)?.slice('Patient/'.length) ?? ''),
      )
      .map(({ id }) => id);
  for (const [i] of KEYS.entries()) {
    const found = await search(`Basic?_count=50&subject=Patient/${i + 1}`);
    expect([KEYS[i], found.ids]).toEqual([KEYS[i], referring([String(i + 1)])]);
  }
  expect(referring(['1'])).toEqual(['1']);
  expect(referring(['2'])).toEqual([]);
  expect((await search('Basic?subject=Patient/50')).ids).toEqual(['8']);
  const one = await search('Basic?subject=Patient/3');
  expect(one.ids).toEqual(['2']);
  expect(one.served.join()).toMatch(/VITAL_PERSON \(STA=\? AND PERSON_IEN=\?\)/);
  expect(one.mssql.join()).toMatch(/v\.PERSON_IEN = @p\d/);
  const several = await search('Basic?subject=Patient/1,Patient/3,Patient/51');
  expect(several.ids).toEqual(['1', '2', '9']);
  expect(several.served.join()).toMatch(/VITAL_PERSON \(STA=\? AND PERSON_IEN=\?\)/);
  const all = KEYS.map((_, i) => String(i + 1));
  const chained = await search('Basic?_count=50&subject:Patient.family=ann');
  expect(new Set(chained.ids)).toEqual(new Set(referring([...all, '50'])));
});
