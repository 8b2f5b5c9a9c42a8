import { expect, test } from 'vitest';
import { searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, TX NVARCHAR(400) COLLATE RTRIM, ADD_TX NVARCHAR(400) COLLATE RTRIM);
INSERT INTO NOTE VALUES (1, '<p>Fever <script>x()</script>gone</p>', NULL), (2, '  ', ''), (3, NULL, NULL), (4, 'Plain & short', 'Later');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'note.yaml': `mapping: notes
resource: DocumentReference
source: { table: NOTE, as: n, key: [NO] }
id: "{NO}"
elements:
  status: current
  content:
    - { needs: [attachment], attachment: { needs: [data], contentType: text/plain; charset=utf-8, data: { from: TX, via: [html, base64] } } }
    - { needs: [attachment], attachment: { needs: [data], contentType: text/html; charset=utf-8, data: { from: [TX, ADD_TX], via: [xhtml, base64] } } }
needs: [content]
`,
};

const decoded = (data: unknown): string => Buffer.from(String(data), 'base64').toString('utf8');

test('a note is served as a file of plain text and of HTML; a row without one is not served', async () => {
  const { resources } = await searchSmall(SCHEMA, PACK, 'DocumentReference?');
  const texts = resources.map(({ id, ['content']: content }) => [
    id,
    (content as { attachment: { data: string } }[]).map(({ attachment }) => decoded(attachment.data)),
  ]);
  const page = (body: string) =>
    `<!DOCTYPE html><html><head><meta charset="utf-8"/></head><body><div xmlns="http://www.w3.org/1999/xhtml">${body}</div></body></html>`;
  expect(texts).toEqual([
    ['1', ['Fever gone', page('<p>Fever gone</p>')]],
    ['4', ['Plain & short', page('<div>Plain &amp; short</div><div>Later</div>')]],
  ]);
});
