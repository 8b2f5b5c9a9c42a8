import { describe, expect, test } from 'vitest';
import { problemsOfCondition, problemsOfSource } from './problems-of.ts';

describe('conditions are checked against the schema', () => {
  test('a literal that its column cannot hold is rejected', () => {
    expect(problemsOfCondition('{ PT_NO: abc }')).toEqual([
      'm.yaml:3:63: literal not of the type of column PT_NO; expected a whole number; found abc',
    ]);
  });

  test('a bound that its column cannot hold is rejected', () => {
    expect(problemsOfCondition('{ UPD_DTM: { gt: soon } }')).toEqual([
      'm.yaml:3:71: unknown column of dbo.PT; expected a column, or a date and time, 2024-01-31 or 2024-01-31 08:30:00; found soon',
    ]);
  });

  test('a text that its column cannot hold is rejected: with `deleted` it would let deleted rows pass', () => {
    expect(problemsOfCondition('{ SEX: Male }')).toEqual([
      'm.yaml:3:61: literal longer than column SEX; expected at most 1 character; found Male',
    ]);
    expect(problemsOfSource('{ table: dbo.PT, as: p, key: [PT_NO], deleted: { DEL_FL: [Y, Yes] } }')).toEqual([
      'm.yaml:3:70: literal longer than column DEL_FL; expected at most 1 character; found Yes',
    ]);
    expect(
      problemsOfCondition('{ SEX: "M   ", LST_NM: { gt: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz } }'),
    ).toEqual([]);
  });

  test('a literal for a text column that names a column of a row is rejected: it would be compared with that name', () => {
    expect(problemsOfCondition('{ MRN: p.LST_NM }')).toEqual([
      'm.yaml:3:61: a literal is compared with the text column MRN, and names a column; expected `{ same-as: p.LST_NM }`; found p.LST_NM',
    ]);
    expect(problemsOfCondition('{ MRN: { not: [A, p.lst_nm] } }')[0]).toContain('names a column');
    expect(
      problemsOfCondition(
        '{ missing: { table: dbo.ALLRGY, as: g, on: { PT_NO: PT_NO }, where: { ALG_CD: { gt: p.MRN } } } }',
      )[0],
    ).toContain(
      'names a column; expected columns of numbers or of dates, since texts have no other order; `via:` beside the test reads texts as dates, `{ ge: COL, via: ymd8 }`',
    );
    expect(problemsOfCondition('{ MRN: [p.NONE, x.MRN, MRN, p.MRN.x] }')).toEqual([]);
  });

  test('a comparison with blank or NULL, which never match, is rejected', () => {
    for (const blank of ['""', '"  "', '{ not: "" }'])
      expect(problemsOfCondition(`{ SEX: ${blank} }`)[0]).toMatch(
        /a blank means no value, so that nothing equals it; expected `absent: \[SEX\]` or `present: \[SEX\]`; found a blank$/,
      );
    for (const nothing of ['null', 'NULL', '~', '{ not: null }', '["1", null]'])
      for (const column of ['MRN', 'PT_NO'])
        expect(problemsOfCondition(`{ ${column}: ${nothing} }`)[0]).toMatch(
          /nothing is equal to NULL; expected `absent: \[\w+\]`, `present: \[\w+\]`, or the text in quotes; found/,
        );
    expect(problemsOfCondition('{ MRN: "null" }')).toEqual([]);
  });

  test('a regular expression is rejected as a pattern', () => {
    for (const pattern of ['^A', 'A$', String.raw`A\d`])
      expect(problemsOfCondition(`{ MRN: { matches: ${JSON.stringify(pattern)} } }`)[0]).toMatch(
        /pattern that cannot be used: it reads like a regular expression; write literal characters in brackets; expected text with/,
      );
    expect(problemsOfCondition('{ MRN: { matches: "[^0-9]*[$]" } }')).toEqual([]);
  });

  test('a circumflex, a dollar sign or a backslash in brackets is that character', () => {
    for (const pattern of ['[^]*', '*[$]', String.raw`*[\]T[\]*`, '[^][^]x', '[^]', '[^a]^'])
      expect(problemsOfCondition(`{ MRN: { matches: ${JSON.stringify(pattern)} } }`), pattern).toEqual([]);
  });

  test('a number too large for its column is rejected', () => {
    expect(problemsOfCondition('{ PT_NO: "99999999999" }')).toEqual([
      'm.yaml:3:63: literal not of the type of column PT_NO; expected a whole number; found 99999999999',
    ]);
  });

  test('a pattern that LIKE cannot express is rejected', () => {
    expect(problemsOfCondition('{ SEX: { matches: "[a" } }')).toEqual([
      'm.yaml:3:72: pattern that cannot be used: a bracket is not closed, empty, or holds `]`, `[`, `^` or a loose `-`; expected text with * ? [0-9] [^…]; found [a',
    ]);
  });

  test('a pattern on a column that is no text is rejected', () => {
    expect(problemsOfCondition('{ PT_NO: { matches: "1*" } }')).toEqual([
      'm.yaml:3:74: pattern that cannot be used: column PT_NO is no text; expected text with * ? [0-9] [^…]; found 1*',
    ]);
  });

  test('an unknown column is reported', () => {
    expect(problemsOfCondition('{ DEL: { not: Y } }')).toEqual(['m.yaml:3:56: unknown column of dbo.PT; found DEL']);
  });

  test('a denied column is rejected', () => {
    expect(problemsOfCondition('{ SSN: { not: Y } }')).toEqual([
      'm.yaml:3:56: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a denied column among those present is rejected', () => {
    expect(problemsOfCondition('{ present: [SSN] }')).toEqual([
      'm.yaml:3:66: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a denied column within exists is rejected', () => {
    expect(
      problemsOfCondition('{ exists: { table: dbo.PT, as: q, on: { PT_NO: PT_NO }, where: { SSN: { not: "" } } } }'),
    ).toEqual(['m.yaml:3:119: column PT.SSN is denied by `*.SSN` and is never read']);
  });

  test('an unknown list is reported', () => {
    expect(problemsOfCondition('{ SEX: { in-list: sexes } }')).toEqual(['m.yaml:3:72: unknown list; found sexes']);
  });

  test('a comparison of text with now requires a `via`', () => {
    expect(problemsOfCondition('{ DOB: { before: now } }')).toEqual([
      'm.yaml:3:71: column DOB cannot be compared with now; expected `via:` a date codec',
    ]);
  });

  test('an unknown operator is rejected', () => {
    expect(problemsOfCondition('{ SEX: { equals: M } }')).toEqual(['m.yaml:3:63: unknown key; found equals']);
  });

  test('any without a list is rejected', () => {
    expect(problemsOfCondition('{ any: { SEX: M } }')).toEqual([
      'm.yaml:3:61: not in the right form; expected a list; found a map',
    ]);
  });

  test('an unknown alias is reported with the nearest spelling', () => {
    expect(problemsOfCondition('{ SEX: { same-as: x.SEX } }')).toEqual([
      'm.yaml:3:72: unknown alias; found x; did you mean p?',
    ]);
  });

  test('an unknown column of a table that must exist is reported with the nearest spelling', () => {
    expect(problemsOfCondition('{ exists: { table: dbo.ALLRGY, on: { PTNO: PT_NO } } }')).toEqual([
      'm.yaml:3:91: unknown column of dbo.ALLRGY; found PTNO; did you mean PT_NO?',
    ]);
  });
});
