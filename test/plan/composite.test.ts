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
