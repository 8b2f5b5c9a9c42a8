import { expect, test } from 'vitest';
import { type Found, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE DOC (NO INTEGER NOT NULL PRIMARY KEY, OLD_NO INTEGER);
INSERT INTO DOC VALUES (1, NULL), (2, 1), (3, 1), (4, 2);
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'document.yaml': `mapping: documents
resource: DocumentReference
source: { table: DOC, as: d, key: [NO] }
id: "{NO}"
elements:
  status: current
  relatesTo:
    - { code: replaces, target: { ref: documents, on: { NO: OLD_NO } }, needs: [target] }
  content: [{ attachment: { title: Note } }]
`,
};

const related = (value: string): Promise<Found> =>
  searchSmall(SCHEMA, PACK, `DocumentReference?relationship=${encodeURIComponent(value)}`);

test('a composite of a reference and a code finds the pair', async () => {
  expect((await related('DocumentReference/1$replaces')).ids).toEqual(['2', '3']);
  expect((await related('2$replaces')).ids).toEqual(['4']);
  expect((await related('DocumentReference/1$appends')).ids).toEqual([]);
});

test('a code within a composite has the system of its binding, as by itself', async () => {
  const system = 'http://hl7.org/fhir/document-relationship-type';
  expect((await related(`DocumentReference/1$${system}|replaces`)).ids).toEqual(['2', '3']);
  expect((await related('DocumentReference/1$http://example.org/other|replaces')).ids).toEqual([]);
});

const VITALS = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nsystems: { v: http://example.org/v }\n',
  'vital.yaml': `mapping: vitals
resource: Observation
compartment: { none: no patients here }
source: { table: VITAL, as: v, key: [NO] }
id: "{NO}"
needs: [code]
elements:
  status: final
  code: { coding: [{ system: { const: http://example.org/v }, code: { from: KIND } }] }
  valueQuantity: { value: { from: AMOUNT }, code: { from: UNIT } }
`,
};
const VITAL = `
CREATE TABLE VITAL (NO INTEGER NOT NULL PRIMARY KEY, KIND VARCHAR(9), AMOUNT INTEGER, UNIT VARCHAR(9));
INSERT INTO VITAL VALUES (1, 'a', 1, 'u'), (2, 'a', 5, 'u'), (3, 'b', 1, 'u'), (4, 'b', 5, 'v'), (5, 'c', 5, 'u');
`;
const search = (query: string) => searchSmall(VITAL, VITALS, `Observation?${query}`);

test('composites that differ in one part are compared together, and each pair holds within one item', async () => {
  const few = await search('code-value-quantity=a$1,a$2,b$5||v,b$6||v');
  const more = await search('code-value-quantity=a$1,a$2,b$5||v,b$6||v,a$3,a$4,b$7||v,a$7,a$8');
  const comparisons = ({ sql }: Found): number => sql.join().split('KIND').length;
  expect([few.ids, more.ids, comparisons(more)]).toEqual([['1', '4'], ['1', '4'], comparisons(few)]);
  expect((await search('code-value-quantity=a$1,b$1,a$5,b$5')).ids).toEqual(['1', '2', '3', '4']);
  expect((await search('code-value-quantity=a$gt1,b$lt5,c$1')).ids).toEqual(['2', '3']);
});

test('units and composites that cannot be compared together are limited', async () => {
  const many = (value: (i: number) => string, count: number) =>
    Array.from({ length: count }, (_, i) => value(i)).join();
  const refused = 'more than 30 units or composite values in one search';
  for (const [name, value] of [
    ['value-quantity', (i: number) => `gt1||m${i}`],
    ['code-value-quantity', (i: number) => `a${i}$gt${i}`],
    ['code-value-quantity', (i: number) => `a$gt${i}||m${i}`],
  ] as const) {
    expect((await search(`${name}=${many(value, 30)}`)).ids).toEqual([]);
    await expect(search(`${name}=${many(value, 31)}`)).rejects.toThrow(refused);
    await expect(search(many(i => `${name}=${value(i)}`, 31).replaceAll(',', '&'))).rejects.toThrow(refused);
  }
  expect((await search(`code-value-quantity=${many(i => `a$${i}`, 240)}`)).ids).toEqual(['1', '2']);
  expect((await search(`value-quantity=${many(i => `gt${i}||u`, 240)}`)).ids).toEqual(['1', '2', '3', '5']);
});
