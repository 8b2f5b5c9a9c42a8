/** Texts in several rows, such as notes by lines: what is served and found, and the statements for the engines. */
import { expect, test } from 'vitest';
import { searchSmall } from '../plan/small-pack.ts';

const SCHEMA = `
CREATE TABLE NOTE (NO INTEGER PRIMARY KEY, PT INTEGER, TITLE VARCHAR(20));
CREATE TABLE NOTE_LINE (NO INTEGER, SEQ INTEGER, KIND VARCHAR(1), TX VARCHAR(80), PRIMARY KEY (NO, SEQ));
INSERT INTO NOTE VALUES (1, 1, 'by lines'), (2, 1, 'blank lines'), (3, 1, 'no line'), (4, 1, 'cut'), (5, 1, 'html');
INSERT INTO NOTE_LINE VALUES
  (1, 20, 'T', 'Chest is clear.   '), (1, 10, 'T', '  HISTORY'), (1, 15, 'T', '   '), (1, 17, 'X', 'not this'),
  (2, 1, 'T', ' '), (2, 2, 'T', NULL), (2, 3, 'T', ''),
  (4, 1, 'T', 'She has ne'), (4, 2, 'T', 'ver smoked. '), (4, 3, 'T', 'Ever.'),
  (5, 1, 'T', '<p>Fever &'), (5, 2, 'T', 'amp; cough</p><script>x()</script>');
`;

const LINES = 'rows-as-text: { table: NOTE_LINE, as: l, on: { NO: NO }, where: { l.KIND: T }, order: [SEQ] }, from: TX';

function pack(node: string, needs = '', absent = ''): Readonly<Record<string, string>> {
  return {
    'pack.yaml': `name: notes\ntitle: Notes\nzone: America/New_York\n${absent}`,
    'm.yaml': `mapping: notes
resource: Basic
source: { table: NOTE, as: n, key: [NO] }
id: "{NO}"
compartment: { none: a test }
${needs}elements:
  code: { text: a note }
  extension: [{ url: http://example.org/note, ${node} }]
`,
  };
}

async function notes(node: string, needs = '', absent = ''): Promise<Readonly<Record<string, unknown>>> {
  const { resources } = await searchSmall(SCHEMA, pack(node, needs, absent), 'Basic?_sort=_id');
  return Object.fromEntries(
    resources.map(({ id, ...resource }) => {
      const [extension] = (resource['extension'] ?? []) as readonly Readonly<Record<string, unknown>>[];
      const value = Object.entries(extension ?? {}).find(([name]) => name !== 'url')?.[1];
      return [id, value];
    }),
  );
}

test('rows are lines of one text, in their order; a blank row is an empty line, and blank rows alone are no text', async () => {
  expect(await notes(`valueString: { ${LINES} }`)).toEqual({
    1: 'HISTORY\n\nChest is clear.',
    2: undefined,
    3: undefined,
    4: 'She has ne\nver smoked.\nEver.',
    5: '<p>Fever &\namp; cough</p><script>x()</script>',
  });
});

test('without a separator rows are concatenated as they are stored', async () => {
  const found = await notes(`valueMarkdown: { ${LINES}, with: "", via: html }`);
  expect(found['4']).toBe('She has never smoked. Ever.');
  expect(found['5']).toBe('Fever & cough');
});

test('a codec makes a file of the whole text', async () => {
  const found = await notes(`valueBase64Binary: { ${LINES}, via: base64 }`);
  const text = (id: string): string => Buffer.from(String(found[id]), 'base64').toString();
  expect(text('1')).toBe('  HISTORY\n\nChest is clear.');
  expect(found['2']).toBeUndefined();
  const safe = await notes(`valueBase64Binary: { ${LINES}, with: "", via: [html, base64] }`);
  expect(Buffer.from(String(safe['5']), 'base64').toString()).toBe('Fever & cough');
});

test('an item that needs the text is served if some row has one', async () => {
  expect(Object.keys(await notes(`valueString: { ${LINES} }`, 'needs: [extension]\n'))).toEqual(['1', '4', '5']);
});

const ALL_TEXTS = "absent: { text: [Ever., HISTORY, '  HISTORY'] }\n";

test('with a separator that shows, rows are a list: blank rows, and values that mean none, are left out', async () => {
  expect((await notes(`valueString: { ${LINES}, with: ", " }`))['1']).toBe('HISTORY, Chest is clear.');
  const found = await notes(`valueString: { ${LINES}, with: ", " }`, 'needs: [extension]\n', ALL_TEXTS);
  expect(found).toMatchObject({ 1: 'Chest is clear.', 4: 'She has ne, ver smoked.' });
  const none = await notes(
    `valueString: { ${LINES}, with: "; " }`,
    '',
    'absent: { columns: { "NOTE_LINE.TX": [Ever.] } }\n',
  );
  expect(none['4']).toBe('She has ne; ver smoked.');
});

test('in lines of a text, words that mean none elsewhere stay; a rule of the column counts', async () => {
  expect((await notes(`valueString: { ${LINES} }`, '', ALL_TEXTS))['4']).toBe('She has ne\nver smoked.\nEver.');
  const rule = 'absent: { columns: { "NOTE_LINE.TX": [Ever.] } }\n';
  expect((await notes(`valueString: { ${LINES} }`, '', rule))['4']).toBe('She has ne\nver smoked.');
  expect((await notes(`valueString: { ${LINES}, with: " " }`, '', ALL_TEXTS))['4']).toBe(
    'She has ne ver smoked. Ever.',
  );
});
