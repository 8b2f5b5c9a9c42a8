import { describe, expect, test } from 'vitest';
import { openSmall } from './small-pack.ts';

const ROWS = 40;

/** Results with a number of their own, and older ones without; samples numbered per laboratory. */
const SCHEMA = `
CREATE TABLE RES (ACC VARCHAR(8) COLLATE RTRIM NOT NULL, TST CHAR(8) COLLATE RTRIM NOT NULL, SEQ SMALLINT NOT NULL, NO INTEGER, LAB VARCHAR(4) COLLATE RTRIM, SAM VARCHAR(8) COLLATE RTRIM, DEL CHAR(1) COLLATE RTRIM);
CREATE INDEX RES_1 ON RES (ACC, TST, SEQ);
CREATE INDEX RES_2 ON RES (NO);
CREATE INDEX RES_3 ON RES (LAB, SAM);
CREATE TABLE SAM (LAB VARCHAR(4) COLLATE RTRIM NOT NULL, NO VARCHAR(8) COLLATE RTRIM NOT NULL, KIND VARCHAR(8) COLLATE RTRIM, PRIMARY KEY (LAB, NO));
CREATE TABLE REP (NO INTEGER NOT NULL PRIMARY KEY, ACC VARCHAR(8) COLLATE RTRIM, TST CHAR(8) COLLATE RTRIM, SEQ SMALLINT);
CREATE INDEX REP_1 ON REP (ACC, TST, SEQ);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${ROWS})
INSERT INTO RES SELECT 'A' || (i / 4), 'T' || (i % 4), 1, CASE WHEN i % 2 = 0 THEN i END, 'L' || (i % 3), 'S' || i, 'N' FROM n;
INSERT INTO SAM SELECT LAB, SAM, 'BLD' FROM RES;
INSERT INTO REP SELECT rowid, ACC, TST, SEQ FROM RES;
INSERT INTO RES VALUES ('A1', 'T1', 1, 777, 'L0', 'S3', 'Y');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { own: http://example.org/own }\n',
  'm.yaml': `mapping: results
resource: Observation
source: { table: RES, as: r, key: [ACC, TST, SEQ], deleted: { DEL: Y } }
needs: [specimen]
id: ["r-{NO}", "r-{ACC}.{TST|escaped}.{SEQ}"]
elements:
  status: final
  code: { text: result }
  specimen: { ref: samples, on: { LAB: LAB, NO: SAM } }
---
mapping: samples
resource: Specimen
source: { table: SAM, as: s, key: [LAB, NO] }
id: "{LAB|escaped}-{NO|escaped}"
elements: { note: [{ text: { from: KIND } }] }
---
mapping: reports
resource: DiagnosticReport
source: { table: REP, as: p, key: [NO] }
id: "{NO}"
elements:
  status: final
  code: { text: report }
  result: [{ ref: results, on: { ACC: ACC, TST: TST, SEQ: SEQ } }]
`,
};

/** The id as the writer makes it. */
function idOf(i: number): string {
  return i % 2 === 0 ? `r-${i}` : `r-A${Math.floor(i / 4)}.T${i % 4}.1`;
}

const scans = (served: readonly string[]): readonly string[] => served.filter(one => /^SCAN \w/.test(one));

describe('lists of ids', () => {
  /** More ids than fit the placeholders of a shared plan, and fewer. */
  test.each([30, 5])('of two forms of text parts use the indexes of both: %i ids', async many => {
    const search = await openSmall(SCHEMA, PACK);
    const ids = Array.from({ length: many }, (_, i) => idOf(i + 1));
    const found = await search(`Observation?_id=${ids.join()}`);
    expect(found.ids.toSorted()).toEqual(ids.toSorted());
    expect(scans(found.served)).toEqual([]);
    const others = ids.map((_, i) => idOf(ROWS - i));
    expect((await search(`Observation?_id=${others.join()}`)).ids.toSorted()).toEqual(others.toSorted());
    // An id in another form than its row's matches no row.
    expect((await search('Observation?_id=r-A0.T2.1,r-3,r-4,r-none,x')).ids).toEqual(['r-4']);
    expect((await search('Observation?_id=r-3,r-A0.T2.1')).ids).toEqual([]);
    // A deleted row has the key of another row.
    expect((await search('Observation?_id=r-777,r-3')).ids).toEqual([]);
    const rest = await search(`Observation?_id:not=${ids.join()}`);
    expect(rest.ids.length + found.ids.length).toBe(ROWS);
  });

  test('of several columns are searched by all of them', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const ids = Array.from({ length: 30 }, (_, i) => `L${(i + 1) % 3}-S${i + 1}`);
    const found = await search(`Specimen?_id=${ids.join()}`);
    expect(found.ids.toSorted()).toEqual(ids.toSorted());
    expect(scans(found.served)).toEqual([]);
    expect(found.served).toContainEqual(expect.stringMatching(/^SEARCH s USING .*\(LAB=\? AND NO=\?\)/));
    // Each value is in the list of its column, but no row has both.
    expect((await search('Specimen?_id=L1-S2,L2-S1')).ids).toEqual([]);
  });

  test('find rows that refer to resources of two forms', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const found = await search(`DiagnosticReport?result=${[1, 2, 3, 4].map(idOf).join()}`);
    expect(found.ids).toEqual(['1', '2', '3', '4']);
    expect(scans(found.served)).toEqual([]);
  });

  test('find rows that refer to resources of several columns', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const found = await search('Observation?specimen=L1-S1,L2-S2,L0-S3');
    expect(found.ids.toSorted()).toEqual([1, 2, 3].map(idOf).toSorted());
    expect(scans(found.served)).toEqual([]);
  });
});
