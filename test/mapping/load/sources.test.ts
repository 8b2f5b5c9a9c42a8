import { describe, expect, test } from 'vitest';
import { loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import { DEMO_PACK } from '../../../src/start/demo.ts';
import { catalog } from './catalog.ts';
import { load, PEOPLE, problemsOf, problemsOfSource } from './problems-of.ts';

test('a database without most tables of the pack is reported once, with the setting that names it', () => {
  const { registry, problems } = loadPack(DEMO_PACK, { ...catalog, tables: new Map() });
  expect(registry).toBeUndefined();
  const told = problems.map(formatProblem);
  expect(told.filter(line => line.includes('unknown table'))).toEqual([]);
  const message =
    /^pack\.yaml:1:1: the database lacks \d+ of the \d+ tables of this pack: does DATABASE_URL name another/;
  expect(told).toContainEqual(expect.stringMatching(message));
});

test('tables in another schema, or with a similar name, are reported one by one with their location', () => {
  const schema = { name: 'ehr', needed: true };
  const tables = new Map([...catalog.tables].map(([name, table]) => [`ehr.${name}`, { ...table, schema }]));
  const names = ['PT', 'ALLRGY', 'ALLRGY_RXN', 'CD_LKUP', 'VITS'];
  const mappings = names.map(name => [
    `${name}.yaml`,
    `mapping: of-${name}\nresource: Basic\nsource: { table: ${name}, as: p, key: [X] }\nid: "{X}"\n`,
  ]);
  const { problems } = load(Object.fromEntries(mappings), { ...catalog, tables });
  expect(problems.map(formatProblem)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^ALLRGY\.yaml:3:18: unknown table; found ALLRGY; did you mean ehr\.ALLRGY\?/),
      expect.stringMatching(/^VITS\.yaml:3:18: unknown table; found VITS; did you mean ehr\.VIT\?/),
    ]),
  );
});

describe('the rows of a mapping are checked against the schema', () => {
  test('an unknown table is reported with the nearest spelling', () => {
    expect(problemsOfSource('{ table: dbo.PTT, as: p, key: [PT_NO] }')).toEqual([
      'm.yaml:3:18: unknown table; found dbo.PTT; did you mean dbo.PT?',
    ]);
  });

  test('for a missing table only the table is reported, not its columns', () => {
    const looked = 'lookup: { c: { table: dbo.CD_LKUPS, on: { CD: SEX } } }';
    const source = `source: { table: dbo.PT, as: p, key: [PT_NO], ${looked} }`;
    const elements = `  birthDate: { first: [{ from: c.STD_CD, via: ymd8 }, { from: DOB, via: ymd8 }] }
  gender: { first: [{ from: c.ALT_CD }, unknown] }
  name: [{ text: { from: c.DESCR }, needs: [text] }, { each: { table: dbo.NAMES, as: n, on: { PT_NO: PT_NO } }, elements: { text: { from: n.X } } }]
`;
    expect(problemsOf({ 'm.yaml': PEOPLE.replace(/^source: .*/m, source) + elements })).toEqual([
      'm.yaml:3:69: unknown table; found dbo.CD_LKUPS; did you mean dbo.CD_LKUP?',
      'm.yaml:8:71: unknown table; found dbo.NAMES',
    ]);
  });

  test('an unknown alias is reported even with a missing table', () => {
    const source =
      'source: { table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUPS, on: { CD: SEX } } } }';
    expect(problemsOf({ 'm.yaml': `${PEOPLE.replace(/^source: .*/m, source)}  gender: { from: d.SEX }\n` })).toEqual([
      'm.yaml:3:69: unknown table; found dbo.CD_LKUPS; did you mean dbo.CD_LKUP?',
      'm.yaml:6:19: unknown alias; found d; did you mean p?',
    ]);
  });

  test('a table of another database is rejected', () => {
    expect(problemsOfSource('{ table: other.dbo.PT, as: p, key: [PT_NO] }')).toEqual([
      'm.yaml:3:18: not a table; expected TABLE or schema.TABLE; found other.dbo.PT',
    ]);
  });

  test('an unknown key column is reported with the nearest spelling', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PTNO] }')).toEqual([
      'm.yaml:3:39: unknown column of dbo.PT; found PTNO; did you mean PT_NO?',
    ]);
  });

  test('a source without a key is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p }')).toEqual(['m.yaml:3:9: key `key` is missing']);
  });

  test('an invalid alias is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p;q, key: [PT_NO] }')).toEqual([
      'm.yaml:3:30: not an alias; found p;q',
    ]);
  });

  test('a lookup without a condition is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP } } }')).toEqual([
      'm.yaml:3:60: a lookup must define its row; expected `on: {THEIRS: ours}`, or a `where` that leaves one row',
    ]);
  });

  test('a lookup can be one fixed row, or compare a text after text steps', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, where: { TBL_ID: RACE, CD: W }, required: true } } }',
      ),
    ).toEqual([]);
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: { from: SEX, via: upper } }, required: true } } }',
      ),
    ).toEqual([]);
  });

  test('an unused lookup is a warning, unless it filters rows or another lookup needs it', () => {
    const C = 'c: { table: dbo.CD_LKUP, on: { CD: SEX }, where: { TBL_ID: SEX } }';
    const told = (lookups: string, more = '') =>
      problemsOfSource(`{ table: dbo.PT, as: p, key: [PT_NO], lookup: { ${lookups} }${more} }`);
    expect(told(C)).toEqual(['m.yaml:3:57: warning: lookup c is never used']);
    expect(told(C, ', where: { c.ALT_CD: X }')).toEqual([]);
    expect(told(C, ', deleted: { c.ALT_CD: X }')).toEqual([]);
    expect(told(C.replace(/}$/, ', required: true }'))).toEqual([]);
    expect(told(`${C}, d: { table: dbo.CD_LKUP, on: { CD: c.ALT_CD } }`)).toEqual([
      'm.yaml:3:125: warning: lookup d is never used',
    ]);
  });

  test('a lookup that one row of a macro uses is used', () => {
    const mapping = (columns: string) => `mapping: $m
with: [$m, $name]
rows: ${columns}
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX } } } }
id: "$m-{PT_NO}"
elements:
  name: [{ family: { from: $name } }]
`;
    expect(problemsOf({ 'm.yaml': mapping('[[a, LST_NM], [b, c.DESCR]]') })).toEqual([]);
    expect(problemsOf({ 'm.yaml': mapping('[[a, LST_NM], [b, MRN]]') })).toEqual([
      'm.yaml:5:57: warning: lookup c is never used; in the row m.yaml:3:8',
    ]);
  });

  test('items without an order are a warning, unless there is at most one row', () => {
    const told = (each: string) =>
      problemsOf({
        'm.yaml': `${PEOPLE}  name: [{ each: ${each}, elements: { text: { from: ALG_TXT } } }]\n`,
      });
    const all = '{ table: dbo.ALLRGY, as: a, on: { PT_NO: p.PT_NO } }';
    expect(told(all)).toEqual([
      'm.yaml:6:18: warning: rows without `order`: the order in which they come is undefined; expected `order: [ALG_ID]`',
    ]);
    expect(told('{ table: dbo.ALLRGY_RXN, as: a, on: { ALG_ID: p.PT_NO } }').join()).toContain(
      'expected `order` by columns of dbo.ALLRGY_RXN',
    );
    expect(told(all.replace(/ }$/, ', order: [-ONSET_DT] }'))).toEqual([]);
    expect(told(all.replace('PT_NO:', 'ALG_ID:'))).toEqual([]);
    expect(told(all.replace(/ }$/, ', where: { ALG_ID: "1" } }'))).toEqual([]);
    expect(told('{ split: RACE_CD, by: ";", as: a }').join()).not.toContain('order');
  });

  test('a codec in the on of a lookup is rejected', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: { from: SEX, via: code } } } } }',
      ),
    ).toEqual(['m.yaml:3:110: `on` takes text steps on a text column, and no codec']);
  });

  test('a literal in on is rejected', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { TBL_ID: RACE } } } }',
      ),
    ).toEqual([
      'm.yaml:3:96: unknown column of dbo.PT; expected a column: literals belong in `where`, not in `on`; found RACE',
    ]);
  });

  test('an alias used twice is rejected', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { p: { table: dbo.CD_LKUP, on: { CD: SEX } } } }',
      ),
    ).toEqual(['m.yaml:3:57: alias used twice; found p']);
  });

  test('a join of columns that no cast makes equal is rejected', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { v: { table: dbo.VIT, on: { VIT_DTM: UID } } } }',
      ),
    ).toEqual(['m.yaml:3:93: a datetime column cannot be joined with a uuid column; found VIT_DTM: UID']);
  });

  test('an unknown column in pick is reported with the nearest spelling', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, pick: [-DSCR] } } }',
      ),
    ).toEqual(['m.yaml:3:106: unknown column of dbo.CD_LKUP; found DSCR; did you mean DESCR?']);
  });

  test('a column of another table is reported with its alias', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEX }, where: { MRN: A } } } }',
      ),
    ).toEqual(['m.yaml:3:108: unknown column of dbo.CD_LKUP; found MRN; did you mean p.MRN?']);
  });

  test('a denied column as the key is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [SSN] }')).toEqual([
      'm.yaml:3:39: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a denied column in a lookup is rejected on either side', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { q: { table: dbo.PT, on: { SSN: MRN } }, r: { table: dbo.PT, on: { MRN: SSN } } } }',
      ),
    ).toEqual([
      'm.yaml:3:83: column PT.SSN is denied by `*.SSN` and is never read',
      'm.yaml:3:128: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a denied column in pick is rejected', () => {
    expect(
      problemsOfSource(
        '{ table: dbo.PT, as: p, key: [PT_NO], lookup: { q: { table: dbo.PT, on: { PT_NO: PT_NO }, pick: [SSN] } } }',
      ),
    ).toEqual(['m.yaml:3:106: column PT.SSN is denied by `*.SSN` and is never read']);
  });

  test('a denied column as the time of change is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], changed: SSN }')).toEqual([
      'm.yaml:3:56: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a time of change in a column of another type requires a `via`', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], changed: DOB }')).toEqual([
      'm.yaml:3:56: no default codec for the types of column and element; expected `via: { ymd8: { at: "00:00" } }` (or ymd14, yddd, horolog, dtm, iso) where a row has no time; found CHAR(8) for instant',
    ]);
  });

  test('a codec of days as the time of change requires the time of a day alone, and no other codec', () => {
    const changed = (via: string): readonly string[] =>
      problemsOfSource(`{ table: dbo.PT, as: p, key: [PT_NO], changed: { from: DOB, via: ${via} } }`);
    expect(changed('ymd8')).toEqual([
      'm.yaml:3:74: ymd8: an instant has a time of day, and a row may have none; expected `ymd8: {at: "00:00"}`, which says the time that is meant',
    ]);
    expect(changed('ymd14')).toEqual([
      'm.yaml:3:74: ymd14: an instant has a time of day, and a row may have none; expected `at: "00:00"`, which says the time that is meant',
    ]);
  });

  test('an id of columns outside of `one-per` is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], one-per: [MRN] }')).toEqual([
      'm.yaml:4:5: with `one-per` the id is made of its columns and no others; expected p.MRN, or `where: { missing: … }` of a row with a lower key in place of `one-per`; found p.PT_NO',
    ]);
  });

  test('a time of deletion without a time type, and an unknown column, are reported at their place', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], deleted: { SEXX: Z }, deleted-at: DOB }')).toEqual([
      'm.yaml:3:58: unknown column of dbo.PT; found SEXX; did you mean SEX?',
      'm.yaml:3:81: no default codec for the types of column and element; expected `via: { ymd8: { at: "00:00" } }` (or ymd14, yddd, horolog, dtm, iso) where a row has no time; found CHAR(8) for instant',
    ]);
  });

  test('a time of deletion without a condition of deletion is rejected', () => {
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], deleted-at: UPD_DTM }')).toEqual([
      'm.yaml:3:59: `deleted-at` requires `deleted`; expected `deleted` beside it',
    ]);
  });
});
