import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeCodec } from '../../../src/mapping/codecs/code.ts';
import { numberCodec } from '../../../src/mapping/codecs/number.ts';
import { textCodec } from '../../../src/mapping/codecs/text.ts';
import type { TextStep } from '../../../src/mapping/codecs/text-step.ts';
import { entitiesStep, pieceStep, stepped, upperStep, wordsStep } from '../../../src/mapping/codecs/text-step.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, exact, nullable, numberCriterion, RUNS, stringCriterion, text } from './arbitrary.ts';
import { decodeAll, expectMatch, expectPresent, table } from './law.ts';

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
);

describe('text steps', () => {
  it.each<[string, TextStep, string, string | undefined]>([
    ['the first piece', pieceStep('^', 1), 'DOE^JOHN^Q', 'DOE'],
    ['the last piece', pieceStep('^', 3), 'DOE^JOHN^Q', 'Q'],
    ['ASCII letters in upper case and no others', upperStep(), 'aé ß', 'Aé ß'],
    ['a piece that is missing', pieceStep('^', 4), 'DOE^JOHN^Q', undefined],
    ['the last word', wordsStep('last'), ' Ann Mary Smith ', 'Smith'],
    ['all but the last word', wordsStep('all-but-last'), 'Ann Mary Smith', 'Ann Mary'],
    ['what precedes a single word', wordsStep('all-but-last'), 'Smith', undefined],
    ['the first word', wordsStep('first'), 'Ann Mary Smith', 'Ann'],
    ['all but the first word', wordsStep('all-but-first'), 'Ann Mary Smith', 'Mary Smith'],
    ['entities once', entitiesStep(), '&amp;lt; &lt;b&gt; &#39;', '&lt; <b> &#39;'],
    ['ASCII letters in upper case', upperStep(), 'aé', 'Aé'],
  ])('take %s', (_, step, raw, wanted) => {
    expect(step.apply(raw)).toBe(wanted);
  });

  const steps: readonly (readonly TextStep[])[] = [
    [pieceStep('^', 1)],
    [pieceStep('^', 2)],
    [pieceStep('/', 2)],
    [pieceStep(' ', 2)],
    [wordsStep('first')],
    [wordsStep('last')],
    [wordsStep('all-but-last')],
    [wordsStep('all-but-first')],
    [entitiesStep()],
    [upperStep()],
    [pieceStep('^', 1), wordsStep('last'), upperStep()],
  ];

  it.each(steps.map(some => [some.map(step => step.label).join(', '), some] as const))(
    'keep the law: %s',
    (_, some) => {
      const rows = table('NVARCHAR(80)');
      fc.assert(
        fc.property(fc.array(nullable(fc.oneof(names, text)), { minLength: 1, maxLength: 12 }), fc.gen(), (raws, g) => {
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

  /** Texts of separators and of what JSON escapes: pieces are cut by making a JSON array of the text. */
  const tricky = fc.string({ unit: fc.constantFrom('"', '\\', '/', 'a', ' ', 'u', '\n'), maxLength: 8 });

  it.each(['"', '\\', '/', ';'])('keep the law with the separator %s in any text', by => {
    const rows = table('NVARCHAR(80)');
    fc.assert(
      fc.property(fc.array(nullable(tricky), { minLength: 1, maxLength: 12 }), fc.gen(), (raws, g) => {
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
      fc.property(fc.array(nullable(names), { minLength: 1, maxLength: 12 }), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        for (const codec of [pressure, day]) expectPresent(codec, rows);
        expectMatch(pressure, rows, g(numberCriterion, decodeAll(pressure, rows)));
        expectMatch(day, rows, g(dateCriterion, decodeAll(day, rows), 'UTC', [0]));
      }),
      RUNS,
    );
  });
});
