import { describe, expect, test } from 'vitest';
import { problemsOfElements } from './problems-of.ts';

describe('bindings of columns are checked against the schema and the codecs', () => {
  test('an unknown column is reported with the nearest spelling', () => {
    expect(problemsOfElements('  gender: { from: SX }')).toEqual([
      'm.yaml:6:19: unknown column of dbo.PT; found SX; did you mean SEX?',
    ]);
  });

  test('an unknown alias is reported with the nearest spelling', () => {
    expect(problemsOfElements('  name: { family: { from: pp.LST_NM } }')).toEqual([
      'm.yaml:6:27: unknown alias; found pp; did you mean p?',
    ]);
  });

  test('a column of a type that no codec takes is rejected', () => {
    expect(problemsOfElements('  name: { text: { from: NOTE } }')).toEqual([
      'm.yaml:6:25: no codec takes column PT.NOTE; expected an element with `sql` that makes a value of another type of it, or a view that does; found XML',
    ]);
  });

  test('a denied column is rejected', () => {
    expect(problemsOfElements('  identifier: { value: { from: SSN } }')).toEqual([
      'm.yaml:6:32: column PT.SSN is denied by `*.SSN` and is never read',
    ]);
  });

  test('a concept bound to a column without a code map is rejected', () => {
    expect(problemsOfElements('  maritalStatus: { from: SEX }')).toEqual([
      'm.yaml:6:18: Patient.maritalStatus is a CodeableConcept and cannot be bound to a column; expected `via:` a code map, or a map of elements',
    ]);
  });

  test('a column without a default codec for its element requires a `via`', () => {
    expect(problemsOfElements('  active: { from: LST_NM }')).toEqual([
      'm.yaml:6:11: no default codec for the types of column and element; expected `via: { boolean: { true: Y, false: N } }` with the values of the column; found NVARCHAR(40) for boolean',
    ]);
  });

  test('a column under a required binding without a code map is a warning', () => {
    expect(problemsOfElements('  gender: { from: SEX }')).toEqual([
      'm.yaml:6:19: warning: column SEX may hold codes outside the required binding of Patient.gender; expected `via:` a code map',
    ]);
  });

  test('an unknown codec is reported with the nearest spelling', () => {
    expect(problemsOfElements('  birthDate: { from: DOB, via: ymd }')).toEqual([
      'm.yaml:6:32: unknown codec or code map; found ymd; did you mean ymd8?',
    ]);
  });

  test('a codec that does not read the column is rejected', () => {
    expect(problemsOfElements('  birthDate: { from: LST_NM, via: datetime }')).toEqual([
      'm.yaml:6:35: datetime does not read NVARCHAR(40); expected `via:` one of ymd8, ymd14, yddd, horolog, dtm, iso, or `via: [{ written: YYYY-MM-DD }, ymd8]` for dates with separators, or `via: [{ written: DD/MM/YYYY HH:mm }, ymd14]` for dates with times',
    ]);
  });

  test('a codec that does not give the element is rejected', () => {
    expect(problemsOfElements('  active: { from: DOB, via: ymd8 }')).toEqual([
      'm.yaml:6:29: ymd8: gives no boolean; expected an element of type date, dateTime',
    ]);
  });

  test('a column of numbers under a wrong codec is told the codecs of counted days', () => {
    expect(problemsOfElements('  birthDate: { from: PT_NO, via: datetime }')).toEqual([
      'm.yaml:6:34: datetime does not read INT; expected `via:` one of ymd8, ymd14, yddd, epoch, julian, or `via: { days: { since: 1899-12-30 } }` for days that count from one',
    ]);
  });

  test('a codec given too many columns is rejected', () => {
    expect(problemsOfElements('  birthDate: { from: [DOB, DOB], via: ymd8 }')).toEqual([
      'm.yaml:6:39: ymd8: takes 1 columns; expected a list of 1 in `from:`',
    ]);
  });

  test('an unknown facet of a codec is rejected', () => {
    expect(problemsOfElements('  name: { family: { from: LST_NM, via: range-text.mid } }')).toEqual([
      'm.yaml:6:40: range-text: no such facet; expected .low or .high',
    ]);
  });

  test('an unknown option of a codec is rejected at its place', () => {
    expect(problemsOfElements('  deceasedDateTime: { from: DTH_DTM, via: { datetime: { midnight: noon } } }')).toEqual([
      'm.yaml:6:67: not one of the values allowed; expected date or absent or time; found noon',
    ]);
  });

  test('base64 is accepted only after a codec of notes', () => {
    expect(
      problemsOfElements('  photo: { contentType: text/plain, data: { from: LST_NM, via: [html, base64] } }'),
    ).toEqual([]);
    expect(problemsOfElements('  photo: { data: { from: LST_NM, via: [text, base64] } }')).toContain(
      'm.yaml:6:46: text steps must come before the codec; found base64',
    );
    expect(problemsOfElements('  name: { family: { from: LST_NM, via: [html, base64] } }')).toEqual([
      'm.yaml:6:40: html: gives no string; expected an element of type base64Binary',
    ]);
  });

  test('a text step after the codec is rejected', () => {
    expect(problemsOfElements('  name: { family: { from: LST_NM, via: [text, upper] } }')).toEqual([
      'm.yaml:6:47: text steps must come before the codec; found upper',
    ]);
  });

  test('an unknown key of a binding is reported with the nearest spelling', () => {
    expect(problemsOfElements('  name: { family: { from: LST_NM, vai: text } }')).toEqual([
      'm.yaml:6:35: unknown key; found vai; did you mean via?',
    ]);
  });

  test('a raw value that the column cannot hold is rejected', () => {
    expect(problemsOfElements('  deceasedDateTime: { from: DTH_DTM, none: [yesterday] }')).toEqual([
      'm.yaml:6:45: literal not of the type of column DTH_DTM; expected a date and time, 2024-01-31 or 2024-01-31 08:30:00; found yesterday',
    ]);
  });

  test('a separator of two characters is rejected', () => {
    expect(
      problemsOfElements('  name: { each: { split: RACE_CD, by: ";;" }, item: { text: { from: piece } } }'),
    ).toEqual(['m.yaml:6:39: a separator is one character, neither letter nor digit; found ;;']);
  });

  test('parts of a piece without text between them are rejected', () => {
    expect(
      problemsOfElements(
        '  name: { each: { split: RACE_CD, by: ";", parse: "{a}{b}", as: d }, item: { text: { from: d.a } } }',
      ),
    ).toEqual([
      'm.yaml:6:51: `parse` is ambiguous: two parts without text between them; expected "{sys}:{code}"; found {a}{b}',
    ]);
  });

  test('an unknown part of a piece is reported with the nearest spelling', () => {
    expect(
      problemsOfElements(
        '  name: { each: { split: RACE_CD, by: ";", parse: "{sys}:{code}", as: d }, item: { text: { from: d.cod } } }',
      ),
    ).toEqual(['m.yaml:6:98: unknown part of d; found cod; did you mean code?']);
  });

  test('a separator within the parts of a piece is rejected', () => {
    expect(
      problemsOfElements(
        '  name: { each: { split: RACE_CD, by: ";", parse: "{a};{b}", as: d }, item: { text: { from: d.a } } }',
      ),
    ).toEqual(['m.yaml:6:51: `parse` contains the separator `;`; expected "{sys}:{code}"; found {a};{b}']);
  });

  test('a condition on the rows of a piece is rejected', () => {
    expect(
      problemsOfElements(
        '  name: { each: { split: RACE_CD, by: ";", as: d }, item: { text: { from: d.piece, if: { exists: { table: dbo.CD_LKUP, on: { CD: d.piece } } } } } }',
      ),
    ).toEqual([
      'm.yaml:6:130: a piece of a column cannot be joined here; expected a `lookup` in the `each` of the pieces, or an `each` of rows within it; found d.piece',
    ]);
  });

  test('more than one SQL expression is rejected', () => {
    expect(problemsOfElements('  name: { text: { sql: "{p.LST_NM}; DROP TABLE PT", type: nvarchar(40) } }')).toEqual([
      'm.yaml:6:24: not a single SQL expression; found ;',
    ]);
  });

  test.each([`"'" || (SELECT p.X) || "'"`, "`'` || (SELECT p.X) || `'`", "['] + (SELECT p.X) + [']"])(
    'a query behind a quoted name is rejected: %s',
    sql => {
      const yaml = JSON.stringify(sql);
      expect(problemsOfElements(`  name: { text: { sql: ${yaml}, type: nvarchar(40) } }`)).toEqual([
        `m.yaml:6:24: not a single SQL expression; found ${sql.charAt(0)}`,
      ]);
    },
  );

  test('a denied column in raw SQL is rejected, also without braces', () => {
    expect(problemsOfElements('  name: { text: { sql: "p.SSN", type: nvarchar(40) } }')).toEqual([
      'm.yaml:6:24: column SSN is denied and is never read',
    ]);
  });

  test('a type that SQL does not have is rejected', () => {
    expect(problemsOfElements('  name: { text: { sql: "{p.LST_NM}", type: nvarchr(40) } }')).toEqual([
      'm.yaml:6:44: not an SQL type; expected such as nvarchar(40); found nvarchr(40)',
    ]);
  });
});
