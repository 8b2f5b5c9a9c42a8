/**
 * `changed` with several columns of several tables: the latest counts in meta.lastUpdated, in `_lastUpdated` and in its
 * order.
 */
import { describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { openSmall, openSmallFacade, searchSmall } from './small-pack.ts';

const SCHEMA = `
CREATE TABLE HEAD (NO INTEGER NOT NULL PRIMARY KEY, UPD DATETIME);
CREATE TABLE LINE (NO INTEGER NOT NULL PRIMARY KEY, HEAD INTEGER NOT NULL, TX VARCHAR(20), UPD DATETIME);
CREATE TABLE NOTE (NO INTEGER NOT NULL PRIMARY KEY, LINE INTEGER NOT NULL, TX VARCHAR(20), UPD DATETIME);
CREATE INDEX NOTE_LINE ON NOTE (LINE);
INSERT INTO HEAD VALUES (1, '2024-01-05 10:00:00.000'), (2, '2024-03-01 00:00:00.000'), (3, NULL);
INSERT INTO LINE VALUES
  (10, 1, 'head is later', '2024-01-01 08:00:00.000'),
  (11, 1, 'note is latest', '2024-01-01 08:00:00.000'),
  (12, 2, 'line is later', '2024-04-01 08:00:00.000'),
  (13, 3, 'no stamp of the head', '2024-02-01 08:00:00.000'),
  (14, 3, 'no stamp at all', NULL),
  (15, 2, 'all the same', '2024-03-01 00:00:00.000');
INSERT INTO NOTE VALUES (100, 11, 'old', '2023-01-01 00:00:00.000'), (101, 11, 'new', '2024-06-01 12:30:00.000'), (102, 15, 'x', '9999-12-31 00:00:00.000');
`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\nabsent: { date: ["9999-12-31"] }\n',
  'line.yaml': `mapping: lines
resource: Observation
source:
  table: LINE
  as: l
  key: [NO]
  changed: [UPD, h.UPD, n.UPD]
  lookup:
    h: { table: HEAD, on: { NO: HEAD } }
    n: { table: NOTE, on: { LINE: l.NO }, pick: [-UPD] }
id: "{NO}"
elements:
  status: final
  code: { text: Line }
  valueString: { from: TX }
`,
};

const LATEST: Readonly<Record<string, string | undefined>> = {
  10: '2024-01-05T10:00:00.000Z',
  11: '2024-06-01T12:30:00.000Z',
  12: '2024-04-01T08:00:00.000Z',
  13: '2024-02-01T08:00:00.000Z',
  14: undefined,
  15: '2024-03-01T00:00:00.000Z',
};

test('lastUpdated is the latest of the columns, ignoring sentinels', async () => {
  const { resources } = await searchSmall(SCHEMA, PACK, 'Observation');
  expect(Object.fromEntries(resources.map(({ id, meta }) => [id, meta?.lastUpdated]))).toEqual(LATEST);
});

describe('searches and sorts use the same latest time', async () => {
  test.each([
    ['_lastUpdated=ge2024-04-01', ['11', '12']],
    ['_lastUpdated=lt2024-02-01', ['10']],
    ['_lastUpdated=2024-03-01', ['15']],
    ['_lastUpdated=2024-06-01T12:30:00Z', ['11']],
    ['_lastUpdated:missing=true', ['14']],
    ['_lastUpdated:missing=false', ['10', '11', '12', '13', '15']],
    ['_sort=_lastUpdated', ['10', '13', '15', '12', '11', '14']],
    ['_sort=-_lastUpdated', ['11', '12', '15', '13', '10', '14']],
  ])('%s', async (query, ids) => {
    expect((await searchSmall(SCHEMA, PACK, `Observation?${query}`)).ids).toEqual(ids);
  });

  test('page by page', async () => {
    const search = await openSmall(SCHEMA, PACK);
    const found: string[] = [];
    for (let next: string | undefined = 'Observation?_sort=_lastUpdated&_count=2'; next !== undefined; ) {
      const page: Awaited<ReturnType<typeof search>> = await search(next);
      found.push(...page.ids);
      next = page.next;
    }
    expect(found).toEqual(['10', '13', '15', '12', '11', '14']);
  });
});

test('columns of different forms are compared as times', async () => {
  const other = SCHEMA.replaceAll(/'2024-0(\d)-01 08:00:00.000'/g, "'2024-0$1-01T08:00:00Z'");
  const { resources } = await searchSmall(other, PACK, 'Observation');
  expect(Object.fromEntries(resources.map(({ id, meta }) => [id, meta?.lastUpdated]))).toEqual(LATEST);
});

test('columns that SQLite keeps alike, whatever their declared names, are compared as times', async () => {
  const mixed = SCHEMA.replace(/UPD DATETIME/, 'UPD TIMESTAMP').replace(/UPD DATETIME/, 'UPD DATETIME2(7)');
  expect(mixed.match(/UPD \w+/g)).toEqual(['UPD TIMESTAMP', 'UPD DATETIME2', 'UPD DATETIME']);
  const { resources } = await searchSmall(mixed, PACK, 'Observation');
  expect(Object.fromEntries(resources.map(({ id, meta }) => [id, meta?.lastUpdated]))).toEqual(LATEST);
});

test('columns of different types are refused', async () => {
  const wrong = { ...PACK, 'line.yaml': PACK['line.yaml'].replace('[UPD, h.UPD, n.UPD]', '[UPD, TX]') };
  await expect(searchSmall(SCHEMA, wrong, 'Observation')).rejects.toThrow('must have one type');
});

describe('a read has lastUpdated only if it covers every row of the resource', async () => {
  const packOf = (changed: string, required: boolean): typeof PACK => ({
    ...PACK,
    'line.yaml': `mapping: lines
resource: Observation
source:
  table: LINE
  as: l
  key: [NO]
  changed: ${changed}
  lookup: { h: { table: HEAD, on: { NO: HEAD }, required: ${required} } }
id: "{NO}"
elements:
  status: final
  code: { text: Line }
  valueString: { from: TX }
  issued: { from: h.UPD }
`,
  });

  test.each([
    ['[UPD, h.UPD]', true, '2024-04-01T08:00:00.000Z'],
    ['[UPD, h.UPD]', false, undefined],
    ['UPD', true, undefined],
    ['h.UPD', true, undefined],
  ])('changed: %s, required: %s', async (changed, required, expected) => {
    const { facade } = await openSmallFacade(SCHEMA, packOf(changed, required));
    const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;
    expect((await facade.read('Observation', '12', [], context))?.lastUpdated).toBe(expected);
  });
});
