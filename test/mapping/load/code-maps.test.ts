import { describe, expect, test } from 'vitest';
import { ACTIVE, PEOPLE, problemsOf } from './problems-of.ts';

describe('code maps are checked in themselves and in their uses', () => {
  test('a code outside the required binding is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { M: mael }
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:11: code map sex gives a code outside the required binding of Patient.gender by row M (codes.yaml:2:11); expected one of male, female, other, unknown; found mael; did you mean male?',
    ]);
  });

  test('a blank and an else outside the required binding are rejected too', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { M: male }
  blank: none
  else: any
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:11: code map sex gives a code outside the required binding of Patient.gender by `blank`; expected one of male, female, other, unknown; found none',
      'm.yaml:6:11: code map sex gives a code outside the required binding of Patient.gender by `else`; expected one of male, female, other, unknown; found any',
    ]);
  });

  test('a concept of a code map without a system is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { M: male }
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:18: code map sex has codes without a system, so it cannot make a CodeableConcept; expected `system:` in the code map',
    ]);
  });

  test('a concept of one facet is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex.code }
`,
      'codes.yaml': `sex:
  system: sct
  rows: { M: "44054006" }
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:18: Patient.maritalStatus is a CodeableConcept and takes all of a code map; expected sex',
    ]);
  });

  test('an unknown facet is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex.cod }
`,
      'codes.yaml': `sex:
  rows: { M: male }
`,
    };
    expect(problemsOf(files)).toEqual(['m.yaml:6:29: unknown facet of code map sex; found cod; did you mean code?']);
  });

  test('keys that are equal without case are rejected under fold', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { M: male, m: male }
  fold: true
`,
    };
    expect(problemsOf(files)).toEqual([
      'codes.yaml:2:20: two rows differ only in case, which `fold` ignores; found M and m',
    ]);
  });

  test('a raw value that is a code of the map, but maps to another code, is a warning', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { M: male, FEMALE: other, Other: female, unknown: unknown, male: absent }
`,
    };
    expect(problemsOf(files)).toEqual([
      'codes.yaml:2:20: warning: row FEMALE of a code map gives another code of the map than its name; expected female; found other',
      'codes.yaml:2:35: warning: row Other of a code map gives another code of the map than its name; expected other; found female',
    ]);
  });

  test.each([
    ['M: female, F: male', 'M', 'female', 'F', 'male'],
    ['"M": female, U: unknown, F: male, O: other', 'M', 'female', 'F', 'male'],
  ])('two letters whose codes are swapped are a warning: %s', (rows, ...[one, its, other, theirs]) => {
    const files = (text: string) => ({
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }\n`,
      'codes.yaml': `sex:\n  rows: { ${text} }\n`,
    });
    expect(problemsOf(files(rows))).toEqual([
      expect.stringMatching(
        `^codes.yaml:2:\\d+: warning: rows ${one} and ${other} of a code map begin the code of each other: they may be swapped; found ${one}: ${its}, ${other}: ${theirs}$`,
      ),
    ]);
    expect(problemsOf(files('M: male, F: female, W: female, O: other'))).toEqual([]);
    expect(problemsOf(files('W: female, M: male, D: other, U: unknown, X: unknown'))).toEqual([]);
  });

  test('keys with letters beyond ASCII are rejected under fold', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { É: male }
  fold: true
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:2:11: a key under `fold` has characters other than ASCII; found É']);
  });

  test('an unknown system is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  system: loink
  rows: { M: male }
`,
    };
    expect(problemsOf(files)).toEqual([
      'codes.yaml:2:11: unknown system; expected an alias of `systems` in pack.yaml or an absolute URI; found loink; did you mean loinc?',
    ]);
  });

  test('a blank key is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { "": male }
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:2:11: a blank key is written `blank:`']);
  });

  test('keys that differ in trailing blanks are rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rows: { "M": male, "M ": female }
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:2:22: two rows for one raw value; found M']);
  });

  test('an unknown key is reported with the nearest spelling', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  rowz: { M: male }
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:2:3: unknown key; found rowz; did you mean rows?']);
  });

  test('a map without rows is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  blank: unknown
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:1:1: code map sex has no rows; expected `rows:` or a file sex.csv']);
  });

  test('an unused map is a warning', () => {
    const files = {
      'm.yaml': ACTIVE,
      'codes.yaml': `sex:
  rows: { M: male }
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:1:1: warning: code map sex is never used']);
  });

  test('a column in the table of a code map is checked against the schema', () => {
    const files = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  table: dbo.CD_LKUP
  where: { TBL: SEX }
  key: [CDE]
  code: STD
  system: sct
`,
    };
    expect(problemsOf(files)).toEqual([
      'codes.yaml:3:12: unknown column of dbo.CD_LKUP; found TBL',
      'codes.yaml:4:9: unknown column of dbo.CD_LKUP; found CDE; did you mean CD?',
    ]);
  });

  test('a denied column in the table of a code map is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  maritalStatus: { from: SEX, via: sex }
`,
      'codes.yaml': `sex:
  table: dbo.PT
  key: [MRN]
  code: SSN
  system: sct
`,
    };
    expect(problemsOf(files)).toEqual(['codes.yaml:4:9: column PT.SSN is denied by `*.SSN` and is never read']);
  });

  test('fold is rejected on a code table of numbers and on a lookup by numbers', () => {
    const files = {
      'codes.yaml': 'visit:\n  table: dbo.VIT\n  key: VIT_ID\n  code: RES\n  fold: true\n',
      'm.yaml': `${PEOPLE}  language: { from: PT_NO, via: visit }\n`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:13: code map visit: `fold` is for texts; expected a text column and a key of text; found VIT_ID: PT_NO',
    ]);
    const lookup = 'lookup: { v: { table: dbo.VIT, on: { VIT_ID: PT_NO }, fold: true } }';
    expect(
      problemsOf({
        'm.yaml': `${PEOPLE}  language: { from: v.RES }\n`.replace('key: [PT_NO]', `key: [PT_NO], ${lookup}`),
      }),
    ).toEqual(['m.yaml:3:107: `fold` is for texts, and `on` joins none; expected no `fold`']);
  });

  test('an unmapped code that leaves a required element empty is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  communication: { language: { from: SEX, via: lang } }
`,
      'codes.yaml': `lang:
  system: urn:ietf:bcp:47
  rows: { E: en }
  blank: en
`,
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:30: required element Patient.communication.language may be absent; expected `needs: [language]` of the object, or an `else` beside `via` that is never absent',
    ]);
  });

  test('the `else` of a code map is no code of NULL: the message names the other `else`', () => {
    const files = {
      'm.yaml': `${PEOPLE}  communication: { language: { from: SEX, via: lang } }\n`,
      'codes.yaml': 'lang:\n  system: urn:ietf:bcp:47\n  rows: { E: en }\n  else: en\n',
    };
    expect(problemsOf(files)).toEqual([
      'm.yaml:6:30: required element Patient.communication.language may be absent; expected `needs: [language]` of the object, or an `else` beside `via` that is never absent',
    ]);
    files['codes.yaml'] += '  blank: en\n';
    expect(problemsOf(files)).toEqual([]);
  });

  test('a CSV file with an unknown column, a double and a missing code is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'sex.csv': `raw,code,disp
M,male
M,female
F,
`,
    };
    expect(problemsOf(files)).toEqual([
      'sex.csv:1:1: unknown column of a code map; found disp',
      'sex.csv:3:1: two rows for one raw value; found M',
      'sex.csv:4:1: no code; found nothing',
    ]);
  });

  test('a CSV file without raw and code is rejected', () => {
    const files = {
      'm.yaml': `${PEOPLE}  gender: { from: SEX, via: sex }
`,
      'sex.csv': `a,b
`,
    };
    expect(problemsOf(files)).toEqual([
      'sex.csv:1:1: unknown column of a code map; found a',
      'sex.csv:1:1: unknown column of a code map; found b',
      'sex.csv:1:1: not a code map; expected a first line raw,code,display,system',
    ]);
  });
});
