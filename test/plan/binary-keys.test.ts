/**
 * SQLite texts with binary indexes, such as an undeclared `TEXT PRIMARY KEY`: the index serves if no row ends in a
 * blank, and the answers always equal those of COLLATE RTRIM.
 */
import { describe, expect, it, test } from 'vitest';
import { openSmall } from './small-pack.ts';

/** Endings of the texts of a column. */
type Ends = 'trimmed' | 'blanks';
const ENDS: readonly Ends[] = ['trimmed', 'blanks'];
const PEOPLE = ['aa', 'ab', 'b!', 'b', 'c c'];

interface Columns {
  readonly key: Ends;
  readonly reference: Ends;
  readonly collation: '' | 'COLLATE RTRIM' | 'COLLATE NOCASE';
}

const stored = (text: string, ends: Ends, row: number): string =>
  `'${text}${ends === 'blanks' ? ' '.repeat(row % 3) : ''}'`;

const schema = ({ key, reference, collation }: Columns): string => {
  const people = PEOPLE.map(
    (id, i) => `(${stored(id, key, i)}, ${stored(`code${i % 3}`, key, i + 1)}, ${i === 2 ? 'NULL' : i})`,
  );
  const visits = [...PEOPLE, ...PEOPLE].map(
    (id, i) => `(${stored(`v${i}`, key, i)}, ${stored(id, reference, i + 1)}, ${stored(`code${i % 3}`, reference, i)})`,
  );
  return `CREATE TABLE PERSON (ID TEXT ${collation} PRIMARY KEY, CODE VARCHAR(9) ${collation}, N INTEGER);
    CREATE TABLE VISIT (NO VARCHAR(9) ${collation} NOT NULL, PERSON TEXT ${collation}, CODE TEXT ${collation}, PRIMARY KEY (NO));
    CREATE TABLE CODE (CD TEXT ${collation} PRIMARY KEY, TITLE TEXT);
    CREATE INDEX PERSON_CODE ON PERSON (CODE);
    CREATE INDEX VISIT_PERSON ON VISIT (PERSON, CODE);
    INSERT INTO PERSON VALUES ${people.join()};
    INSERT INTO VISIT VALUES ${visits.join()}, ('v98', NULL, ''), ('v99', 'nobody', ' ');
    INSERT INTO CODE VALUES ('code0', 'none'), ('code1', 'one'), (${stored('code2', key, 2)}, 'two');`;
};

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\nsystems: { own: "urn:own", kind: "urn:kind" }\n',
  'codes.yaml': '{}\n',
  'a.yaml': `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID|escaped}"
elements:
  identifier: [{ system: own, value: { from: CODE } }]
  contact:
    - each: { table: VISIT, as: v, on: { PERSON: ID }, order: [NO] }
      item: { name: { text: { from: v.NO } } }
---
mapping: visits
resource: Encounter
source: { table: VISIT, as: v, key: [NO], lookup: { c: { table: CODE, on: { CD: CODE } } } }
id: "{NO}"
elements:
  status: finished
  class: { system: own, code: AMB }
  type: [{ coding: [{ system: kind, code: { from: CODE }, display: { from: c.TITLE } }] }]
  identifier: [{ system: own, value: { from: NO } }]
  subject: { ref: people, on: { ID: PERSON }, exists: true }
`,
};

const QUERIES = [
  'Patient?_sort=_id',
  'Patient?_sort=-identifier',
  'Patient?_id=aa,b,b.21&_sort=_id',
  'Patient?_id:not=b&_sort=_id',
  'Patient?identifier=code1',
  'Patient?identifier=code1%20&_sort=_id',
  'Patient?identifier=urn:own|code0,code2&_sort=_id',
  'Patient?identifier:not=code1&_sort=_id',
  'Patient?_has:Encounter:patient:identifier=v3&_sort=_id',
  'Patient?_has:Encounter:patient:type=code2&_sort=_id',
  'Patient?_sort=_id&_revinclude=Encounter:patient',
  'Encounter?_sort=_id',
  'Encounter?_sort=identifier&_count=3',
  'Encounter?_sort=-type,_id&_count=50',
  'Encounter?patient=b&_sort=_id',
  'Encounter?patient=b,c.20c,nobody&_sort=_id',
  'Encounter?patient:missing=true',
  'Encounter?type:missing=true&_sort=_id',
  'Encounter?type=code1&_sort=_id',
  'Encounter?type:text=two&_sort=_id',
  'Encounter?patient.identifier=code2&_sort=_id',
  'Encounter?patient.identifier:not=code2&_sort=_id',
  'Encounter?patient=aa&type=code0&_include=Encounter:patient',
] as const;

const alike = ENDS.flatMap(key => ENDS.map(reference => ({ key, reference })));

describe.each(alike)('keys $key, references $reference', ends => {
  it.each(['', 'COLLATE NOCASE'] as const)('find what COLLATE RTRIM finds, declared "%s"', async collation => {
    const search = await openSmall(schema({ ...ends, collation }), PACK);
    const oracle = await openSmall(schema({ ...ends, collation: 'COLLATE RTRIM' }), PACK);
    for (const query of QUERIES) {
      const [found, expected] = [await search(query), await oracle(query)];
      expect({ query, found: found.resources }).toEqual({ query, found: expected.resources });
      expect(found.ids.length > 0, query).toBe(!query.includes('%20'));
      let next = [found.next, expected.next];
      while (next[1] !== undefined) {
        const pages = [await search(next[0] ?? ''), await oracle(next[1])];
        expect({ query, ids: pages[0]?.ids }).toEqual({ query, ids: pages[1]?.ids });
        next = pages.map(page => page.next);
      }
    }
  });
});

test('a binary index serves where no text ends in a blank', async () => {
  const columns = { reference: 'trimmed', collation: '' } as const;
  const served = await openSmall(schema({ ...columns, key: 'trimmed' }), PACK);
  const scanned = await openSmall(schema({ ...columns, key: 'blanks' }), PACK);
  for (const query of [
    'Patient?_id=aa',
    'Patient?_id=aa,b',
    'Patient?identifier=code1',
    'Encounter?patient=b',
    'Encounter?identifier=v1,v2,v3',
    'Patient?_id=aa&_revinclude=Encounter:patient',
    'Encounter?patient=b&_include=Encounter:patient',
  ]) {
    const whole = (lines: readonly string[]) => lines.filter(line => /^SCAN (?!json_each|CONSTANT)/.test(line));
    expect({ query, whole: whole((await served(query)).served) }).toEqual({ query, whole: [] });
    expect(whole((await scanned(query)).served), query).not.toEqual([]);
  }
});
