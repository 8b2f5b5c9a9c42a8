/** `pick` of a lookup over SQLite rows without a rowid: views, and tables WITHOUT ROWID. */
import { describe, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { openSmallFacade } from './small-pack.ts';

const ROWS = `INSERT INTO NOTE VALUES
  (1, 1, 'b', 'late'), (1, 2, 'a', 'early'), (1, 2, 'c', NULL),
  (2, 1, 'a', NULL), (2, 2, 'b', 'second'),
  (3, 1, 'a', 'same'), (3, 1, 'b', 'same')`;
// A column may have a name that the statement itself would use.
const TABLE = 'CREATE TABLE NOTE (LINE INTEGER, PLACE INTEGER, SEQ VARCHAR(2) COLLATE NOCASE, FOUND VARCHAR(10)';
const LINES = `CREATE TABLE LINE (NO INTEGER NOT NULL PRIMARY KEY); INSERT INTO LINE VALUES (1), (2), (3), (4);
  CREATE TABLE GONE (A); CREATE VIEW LOST AS SELECT A FROM GONE; DROP TABLE GONE;`;

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: America/New_York\n',
  'codes.yaml': '{}\n',
  'line.yaml': `mapping: lines
resource: Observation
source:
  table: LINE
  as: l
  key: [NO]
  lookup:
    n: { table: NAMED, on: { LINE: NO }, pick: [-PLACE, SEQ] }
id: "{NO}"
elements:
  status: final
  code: { text: Remark }
  valueString: { from: n.FOUND }
  note: [{ text: { from: n.SEQ } }]
`,
};

describe.each([
  ['a view', `${TABLE}); ${ROWS}; CREATE VIEW NAMED AS SELECT * FROM NOTE WHERE PLACE > 0`],
  [
    'a table WITHOUT ROWID',
    `${TABLE.replace('NOTE', 'NAMED')}, PRIMARY KEY (LINE, PLACE, SEQ)) WITHOUT ROWID; ${ROWS.replace('NOTE', 'NAMED')}`,
  ],
  ['a table', `${TABLE.replace('NOTE', 'NAMED')}); ${ROWS.replace('NOTE', 'NAMED')}`],
  [
    'a table with a column of that name',
    `${TABLE.replace('NOTE', 'NAMED')}, ROWID INTEGER DEFAULT 1); ${ROWS.replace('NOTE VALUES', 'NAMED (LINE, PLACE, SEQ, FOUND) VALUES')}`,
  ],
])('a lookup that picks a row of %s', (_, schema) => {
  const found = async (query: string): Promise<readonly string[]> => {
    const { facade } = await openSmallFacade(`${LINES} ${schema};`, PACK);
    const parameters = [...new URLSearchParams(query)];
    const context = { access: OPEN_ACCESS, base: 'http://127.0.0.1', handling: 'strict' } as const;
    const { json } = await facade.search({ type: 'Observation', parameters }, context);
    const { entry = [] }: { entry?: readonly { resource: { id: string } }[] } = JSON.parse(json);
    return entry.map(({ resource }) => resource.id);
  };

  test('finds the first row, once, and no row where there is none', async () => {
    expect(await found('_sort=_id')).toEqual(['1', '2', '3', '4']);
    expect(await found('value-string=early')).toEqual(['1']);
    expect(await found('value-string=late')).toEqual([]);
    expect(await found('value-string=second')).toEqual(['2']);
    expect(await found('value-string=same')).toEqual(['3']);
  });
});
