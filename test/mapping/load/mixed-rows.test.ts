/**
 * An SQL expression reads one row: a pack that mixes two rows gets an error at its line, and does not fail at the start
 * or at a request.
 */
import { describe, expect, test } from 'vitest';
import { searchSmall } from '../../plan/small-pack.ts';

const SCHEMA = `
CREATE TABLE P (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(40) COLLATE RTRIM);
CREATE TABLE C (NO INTEGER NOT NULL PRIMARY KEY, P_NO INT, TX VARCHAR(40) COLLATE RTRIM);
CREATE TABLE X (A INT, B INT, T VARCHAR(40) COLLATE RTRIM);
INSERT INTO P VALUES (1, 'A;B');
INSERT INTO C VALUES (5, 1, 'x');
INSERT INTO X VALUES (5, 1, 'A');`;

/** Returns the resources, or the problems of the pack. */
async function made(item: string, each = 'table: C, as: c, on: { P_NO: NO }, order: [NO]'): Promise<string> {
  const pack = {
    'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
    'm.yaml': `mapping: people
resource: Patient
source: { table: P, as: p, key: [NO] }
id: "{NO}"
elements:
  name: [{ given: [{ each: { ${each} }, item: ${item} }] }]
`,
  };
  try {
    return JSON.stringify((await searchSmall(SCHEMA, pack, 'Patient?')).resources.map(({ ['name']: name }) => name));
  } catch (error) {
    return `${error}`;
  }
}

const PIECES = 'split: NM, by: ";", as: d';

describe('columns of two rows', () => {
  test.each([
    ['sql', '{ sql: "{c.TX} || {p.NM}", type: varchar(80) }', undefined],
    ['exists', '{ from: c.TX, if: { exists: { table: X, as: x, on: { A: c.NO, B: p.NO } } } }', undefined],
    ['exists', '{ from: c.TX, if: { none: { exists: { table: X, as: x, on: { A: c.NO, B: p.NO } } } } }', undefined],
    [
      'exists',
      '{ from: c.TX, if: { exists: { table: X, as: x, on: { A: c.NO }, where: { B: { same-as: p.NO } } } } }',
      undefined,
    ],
    ['on', '{ each: { table: X, as: x, on: { A: c.NO, B: p.NO }, order: [T] }, item: { from: x.T } }', undefined],
    [
      'where` or `lookup',
      '{ from: c.TX }',
      'table: C, as: c, on: { P_NO: NO }, order: [NO], where: { c.TX: { same-as: p.NM } }',
    ],
    [
      'where` or `lookup',
      '{ from: x.T }',
      'table: C, as: c, on: { P_NO: NO }, order: [NO], lookup: { x: { table: X, on: { A: c.NO, B: p.NO } } }',
    ],
  ])('are reported if `%s` uses both: %s', async (what, item, each) => {
    const told = await made(item, each);
    expect(told).toContain(`\`${what}\` uses columns of two different rows`);
    expect(told).toMatch(/"file":"m.yaml","line":6/);
  });

  test('may be used side by side without SQL', async () => {
    expect(await made('{ template: "{c.TX} of {p.NM}" }')).toBe('[[{"given":["x of A;B"]}]]');
    expect(await made('{ from: c.TX, if: { c.TX: { not: A }, p.NM: { not: A } } }')).toBe('[[{"given":["x"]}]]');
    expect(await made('{ sql: "{p.NM} || {p.NO}", type: varchar(80) }')).toBe('[[{"given":["A;B1"]}]]');
    expect(await made('{ from: c.TX, if: { exists: { table: X, as: x, on: { A: c.NO } } } }')).toBe(
      '[[{"given":["x"]}]]',
    );
  });
});

describe('a piece of a column', () => {
  test('cannot be used in SQL', async () => {
    expect(await made('{ sql: "{d.piece} || 1", type: varchar(80) }', PIECES)).toContain(
      '`sql` uses a piece of a column',
    );
  });

  test('that is joined is reported once', async () => {
    const told = await made('{ from: d.piece, if: { exists: { table: X, as: x, on: { T: d.piece } } } }', PIECES);
    expect(told.match(/"message"/g)).toHaveLength(1);
    expect(told).toContain('a piece of a column cannot be joined here');
  });
});
