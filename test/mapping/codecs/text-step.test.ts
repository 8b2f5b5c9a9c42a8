import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeCodec } from '../../../src/mapping/codecs/code.ts';
import { type Coded, type CodeMap, codeMapCodec, type Unmapped } from '../../../src/mapping/codecs/code-map.ts';
import { numberCodec } from '../../../src/mapping/codecs/number.ts';
import { textCodec } from '../../../src/mapping/codecs/text.ts';
import type { TextStep } from '../../../src/mapping/codecs/text-step.ts';
import {
  dottedStep,
  entitiesStep,
  escapesStep,
  pieceStep,
  prefixStep,
  stepped,
  upperStep,
  wordsStep,
} from '../../../src/mapping/codecs/text-step.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, exact, nullable, numberCriterion, RUNS, rowsOf, stringCriterion, text } from './arbitrary.ts';
import { CLOCK, decodeAll, expectMatch, expectPresent, table } from './law.ts';

const names = fc.constantFrom(
  'LAST^FIRST^MI',
  'DOE^JOHN',
  'DOE^',
  '^JOHN',
  '^^',
  'DOE',
  'Ann Mary Smith',
  ' Ann  Smith ',
  'Smith',
  'Tom &amp; Ann',
  '&amp;lt;',
  '&lt;b&gt;',
  '&quot;&apos;',
  '&#39;',
  '120/80',
  '120/80/60',
  '20240310/20240100',
  'LOINC:2345-7',
  'loinc:2345-7',
  'LOINC:2345-7 ',
  'LOINC:',
  'LOINC: ',
  'LOINC: 2345-7',
  'LOINC:LCL:7',
  'LOINC:a  b',
  'xLOINC:2345-7',
  'A[*]?%_7',
  'Axx%_7',
  'E119',
  'E119   ',
  'E11',
  'E11.9',
  'E1.19',
  'E11..9',
  'E11 9',
  'é119',
  'E1é9',
  'S72001A',
);

const sexes = (fold: boolean, otherwise: Unmapped, blank?: Coded): CodeMap => ({
  name: 'sex',
  rows: new Map([
    ['M', { code: 'male', system: 'urn:sex' }],
    ['F', { code: 'female', system: 'urn:sex' }],
  ]),
  blank,
  else: otherwise,
  fold,
});

describe('text steps', () => {
  it.each<[string, TextStep, string, string | undefined]>([
    ['the first piece', pieceStep('^', 1), 'DOE^JOHN^Q', 'DOE'],
    ['the last piece', pieceStep('^', 3), 'DOE^JOHN^Q', 'Q'],
    ['ASCII letters in upper case and no others', upperStep(), 'aé ß', 'Aé ß'],
    ['a piece without the blanks around it', pieceStep('|', 2), 'A | B\t\r\n| C', 'B'],
    ['a piece between tabs', pieceStep('\t', 2), 'A\tB\tC', 'B'],
    ['a line', pieceStep('\n', 2), 'A\r\nB\r\nC', 'B'],
    ['a piece that is missing', pieceStep('^', 4), 'DOE^JOHN^Q', undefined],
    ['the last word', wordsStep('last'), ' Ann Mary Smith ', 'Smith'],
    ['all but the last word', wordsStep('all-but-last'), 'Ann Mary Smith', 'Ann Mary'],
    ['what precedes a single word', wordsStep('all-but-last'), 'Smith', undefined],
    ['the first word', wordsStep('first'), 'Ann Mary Smith', 'Ann'],
    ['all but the first word', wordsStep('all-but-first'), 'Ann Mary Smith', 'Mary Smith'],
    ['what is behind a prefix', prefixStep(['LOINC:']), 'LOINC:2345-7', '2345-7'],
    ['what is behind the first prefix that fits', prefixStep(['L', 'LOINC:']), 'LOINC:1', 'OINC:1'],
    ['nothing of a text without the prefix', prefixStep(['LOINC:']), 'loinc:2345-7', undefined],
    ['a point that is not stored', dottedStep(3), 'S72001A', 'S72.001A'],
    ['no second point', dottedStep(3), 'E1.19', 'E1.19'],
    ['no point at the end', dottedStep(3), 'E11', 'E11'],
    ['no point before blanks', dottedStep(3), 'E11    ', 'E11    '],
    ['entities once', entitiesStep(), '&amp;lt; &lt;b&gt; &#39;', '&lt; <b> &#39;'],
    ['escapes of HL7 v2', escapesStep(), 'A \\T\\ B\\.br\\C \\F\\\\S\\\\R\\ \\H\\D\\N\\', 'A & B\nC |^~ D'],
    ['no escape of what one stands for', escapesStep(), '\\E\\T\\E\\ \\T\\E\\E\\', '\\T\\ &E\\'],
    ['escapes that nobody knows as they are', escapesStep(), 'C:\\temp\\x \\t\\ \\T', 'C:\\temp\\x \\t\\ \\T'],
    ['ASCII letters in upper case', upperStep(), 'aé', 'Aé'],
  ])('take %s', (_, step, raw, wanted) => {
    expect(step.apply(raw)).toBe(wanted);
  });

  const steps: readonly (readonly TextStep[])[] = [
    [pieceStep('^', 1)],
    [pieceStep('^', 2)],
    [pieceStep('/', 2)],
    [pieceStep(' ', 2)],
    [pieceStep('\t', 2)],
    [pieceStep('\n', 1)],
    [wordsStep('first')],
    [wordsStep('last')],
    [wordsStep('all-but-last')],
    [wordsStep('all-but-first')],
    [entitiesStep()],
    [escapesStep()],
    [pieceStep('^', 1), escapesStep()],
    [upperStep()],
    [prefixStep(['LOINC:'])],
    [prefixStep(['LOINC:', 'loinc:'])],
    [prefixStep(['L', 'LOINC:', 'x'])],
    [prefixStep(['LOINC:LCL:', 'LOINC:'])],
    [prefixStep(['A[*]?%_', 'A'])],
    [dottedStep(3)],
    [dottedStep(2)],
    [upperStep(), dottedStep(3)],
    [prefixStep(['DOE^']), upperStep()],
    [pieceStep('^', 1), wordsStep('last'), upperStep()],
  ];

  it.each(steps.map(some => [some.map(step => step.label).join(', '), some] as const))(
    'keep the law: %s',
    (_, some) => {
      const rows = table('NVARCHAR(80)');
      fc.assert(
        fc.property(rowsOf(nullable(fc.oneof(names, text))), fc.gen(), (raws, g) => {
          rows.fill(raws.map(one => [one]));
          for (const codec of [stepped(some, textCodec()), stepped(some, codeCodec())]) {
            expectPresent(codec, rows);
            const values = decodeAll(codec, rows);
            for (const criterion of [exact, exact, stringCriterion]) expectMatch(codec, rows, g(criterion, values));
          }
        }),
        RUNS,
      );
    },
  );

  it('of a prefix compare the bare column in a search for a code', () => {
    const rows = table('VARCHAR(50)');
    const codec = stepped([prefixStep(['LOINC:', 'loinc:'])], codeCodec());
    const found = codec.match(rows.columns, { kind: 'exact', text: '2345-7' }, CLOCK);
    expect(codec.inverse).toBe('indexed');
    expect(found).toMatchObject({ kind: 'in', left: { kind: 'column' } });
    expect(found).toMatchObject({ values: [{ value: 'LOINC:2345-7' }, { value: 'loinc:2345-7' }] });
  });

  it('of a point compare the bare column in a search for a code', () => {
    const rows = table('CHAR(7)');
    rows.fill([['E119'], ['E119   '], ['E11.9'], ['E11'], ['E1.19'], ['.E119'], [null], [''], ['e119']]);
    const codec = stepped([dottedStep(3)], codeCodec());
    expect(codec.inverse).toBe('indexed');
    const found = codec.match(rows.columns, { kind: 'exact', text: 'E11.9' }, CLOCK);
    expect(found).toMatchObject({
      kind: 'in',
      left: { kind: 'column' },
      values: [{ value: 'E119' }, { value: 'E11.9' }],
    });
    for (const text of ['E11.9', 'E119', 'E11', 'E1.19', '.E119', 'e11.9', 'E11.', '.'])
      expectMatch(codec, rows, { kind: 'exact', text });
    expectPresent(codec, rows);
  });

  it('of a prefix do not find what an earlier prefix reads otherwise', () => {
    const rows = table('VARCHAR(50)');
    rows.fill([['LOINC:LCL:7'], ['LOINC:7'], ['LOINC:LCL:LCL:7']]);
    const codec = stepped([prefixStep(['LOINC:LCL:', 'LOINC:'])], codeCodec());
    expectMatch(codec, rows, { kind: 'exact', text: 'LCL:7' });
    expectMatch(codec, rows, { kind: 'exact', text: '7' });
  });

  it('of a prefix keep the law before a code map', () => {
    const rows = table('VARCHAR(50)');
    const keys = fc.constantFrom('SEX:M', 'SEX:f', 'SEX:F', 'SEX:', 'sex:M', 'M', 'SEX:x', 'SEX:M ', ' SEX:M');
    const maps = [false, true].flatMap(fold => [
      sexes(fold, { kind: 'absent' }),
      sexes(fold, { kind: 'local', system: 'urn:local' }),
      sexes(fold, { kind: 'code', coded: { code: 'other' } }, { code: 'unknown' }),
    ]);
    fc.assert(
      fc.property(fc.array(nullable(keys), { minLength: 1, maxLength: 12 }), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        for (const map of maps) {
          const codec = stepped(
            [prefixStep(['SEX:'])],
            codeMapCodec({ map, facet: 'code', columnType: UNICODE, boolean: false }),
          );
          expectPresent(codec, rows);
          expectMatch(codec, rows, g(exact, decodeAll(codec, rows)));
        }
      }),
      RUNS,
    );
  });

  /** Texts with separators and characters that JSON escapes: SQL splits pieces by making a JSON array of the text. */
  const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '/', 'a', ' ', 'u', '\n'), maxLength: 8 });

  it.each(['"', '\\', '/', ';'])('keep the law with the separator %s in any text', by => {
    const rows = table('NVARCHAR(80)');
    fc.assert(
      fc.property(rowsOf(nullable(tricky)), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        for (const codec of [1, 2].map(at => stepped([pieceStep(by, at)], textCodec()))) {
          expectPresent(codec, rows);
          expectMatch(codec, rows, g(exact, decodeAll(codec, rows)));
        }
      }),
      RUNS,
    );
  });

  it('keep the law before numbers and dates', () => {
    const rows = table('NVARCHAR(80)');
    const pressure = stepped([pieceStep('/', 2)], numberCodec({ columnType: UNICODE, fhirType: 'decimal' }));
    const day = stepped([pieceStep('/', 2)], ymd8Codec({ zone: zoneOf('UTC'), columnType: UNICODE }));
    fc.assert(
      fc.property(rowsOf(nullable(names)), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        for (const codec of [pressure, day]) expectPresent(codec, rows);
        expectMatch(pressure, rows, g(numberCriterion, decodeAll(pressure, rows)));
        expectMatch(day, rows, g(dateCriterion, decodeAll(day, rows), 'UTC', [0]));
      }),
      RUNS,
    );
  });
});
