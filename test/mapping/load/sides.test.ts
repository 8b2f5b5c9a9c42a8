import { describe, expect, test } from 'vitest';
import { ALLERGIES, problemsOf, problemsOfSource } from './problems-of.ts';

const lookup = (written: string): readonly string[] =>
  problemsOfSource(`{ table: dbo.PT, as: p, key: [PT_NO], lookup: { ${written} } }`);

/** Returns the problems of allergies with these elements; patients to refer to exist. */
const elements = (written: string): readonly string[] =>
  problemsOf({
    'p.yaml':
      'mapping: people\nresource: Patient\nsource: { table: dbo.PT, as: p, key: [PT_NO] }\nid: "{PT_NO}"\nelements: { active: "true" }\n',
    'm.yaml': `${ALLERGIES}  patient: { ref: people, on: { PT_NO: PT_NO } }\n  ${written}\n`,
  });

describe('a column is accepted only on the side of its table', () => {
  test('the sides of `on` in a lookup cannot be exchanged', () => {
    expect(lookup('a: { table: dbo.ALLRGY, on: { p.PT_NO: a.PT_NO }, pick: [ALG_ID] }')).toEqual([
      'm.yaml:3:87: the left side of `on` must be a column of the joined table; expected a column of dbo.ALLRGY; found p.PT_NO; did you mean PT_NO: p.PT_NO?',
    ]);
  });

  test('a lookup joined to its own column would find every row', () => {
    expect(lookup('a: { table: dbo.ALLRGY, on: { PT_NO: a.PT_NO }, pick: [ALG_ID] }')).toEqual([
      'm.yaml:3:94: the right side of `on` must be a column of the outer rows; found a.PT_NO, which is of dbo.ALLRGY itself',
    ]);
  });

  test('an earlier lookup can be on the right side of `on`, not on the left', () => {
    const first = 'a: { table: dbo.ALLRGY, on: { PT_NO: PT_NO }, pick: [ALG_ID] }';
    const second = (on: string) => `r: { table: dbo.ALLRGY_RXN, on: ${on}, pick: [SEQ_NO], required: true }`;
    expect(lookup(`${first}, ${second('{ ALG_ID: a.ALG_ID }')}`)).toEqual([]);
    expect(lookup(`${first}, ${second('{ a.ALG_ID: PT_NO }')}`)).toHaveLength(1);
  });

  test('`pick` orders by the table that is joined', () => {
    expect(lookup('a: { table: dbo.ALLRGY, on: { PT_NO: PT_NO }, pick: [-p.UPD_DTM] }')).toEqual([
      'm.yaml:3:110: an order by a column that is equal in all of these rows; expected a column of dbo.ALLRGY; found p.UPD_DTM',
    ]);
  });

  test('`order` of an `each` accepts columns of its rows and of their lookups', () => {
    const each = (order: string): string =>
      `reaction: [{ each: { table: dbo.ALLRGY_RXN, as: r, on: { ALG_ID: ALG_ID }, lookup: { c: { table: dbo.CD_LKUP, on: { CD: SEV }, pick: [CD] } }, order: [${order}] }, elements: { manifestation: [{ text: { from: r.RXN_TXT, else: x } }] } }]`;
    expect(elements(each('SEQ_NO, c.DESCR'))).toEqual([]);
    expect(elements(each('a.UPD_DTM'))).toEqual([
      'm.yaml:8:154: an order by a column that is equal in all of these rows; expected a column of dbo.ALLRGY_RXN; found a.UPD_DTM',
    ]);
    expect(elements(each('SEQ_NO desc'))).toEqual([
      'm.yaml:8:154: unknown column of dbo.ALLRGY_RXN; expected `-SEQ_NO` for the highest first; found SEQ_NO desc',
    ]);
  });

  test('the left side of a reference is of its target', () => {
    expect(elements('recorder: { ref: people, on: { a.PT_NO: PT_NO } }')).toEqual([
      'm.yaml:8:34: unknown alias; found a; did you mean p?',
    ]);
  });

  test('rows of an `each` are joined by a column of their own', () => {
    expect(
      elements(
        'reaction: [{ each: { table: dbo.ALLRGY_RXN, as: r, on: { a.ALG_ID: ALG_ID }, order: [SEQ_NO] }, elements: { manifestation: [{ text: { from: r.RXN_TXT, else: x } }] } }]',
      ),
    ).toEqual([
      'm.yaml:8:60: the left side of `on` must be a column of the joined table; expected a column of dbo.ALLRGY_RXN; found a.ALG_ID',
    ]);
  });
});
