/** Tests that the law notices faults: each codec here breaks one rule, and the property must fail. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeCodec } from '../../../src/mapping/codecs/code.ts';
import { codeMapCodec } from '../../../src/mapping/codecs/code-map.ts';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { datetimeCodec } from '../../../src/mapping/codecs/datetime.ts';
import { numberCodec } from '../../../src/mapping/codecs/number.ts';
import { isTimed } from '../../../src/mapping/codecs/stored-time.ts';
import { textCodec } from '../../../src/mapping/codecs/text.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import type { Criterion } from '../../../src/mapping/criterion.ts';
import { isNull, not } from '../../../src/sql/construct.ts';
import type { Expression, Predicate, SqlValue } from '../../../src/sql/expression.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, exact, nullable, numberCriterion, rowsOf, stringCriterion, text } from './arbitrary.ts';
import { columnType, decodeAll, expectMatch, expectPresent, table } from './law.ts';

const NEW_YORK = 'America/New_York';
const GAP = [
  '2024-03-10 01:30:00.000',
  '2024-03-10 02:30:00.000',
  '2024-03-10 03:00:00.000',
  '2024-03-10 03:30:00.000',
];
const DATES = ['20240310', '20240300', '20240000', '20240230', '00000000', 'N/A', ''];
const VARCHAR = columnType('VARCHAR(40)');
const DATETIME = columnType('DATETIME');
if (!isTimed(DATETIME)) throw new Error('DATETIME has times');
const datetimes = { columnType: DATETIME, fhirType: 'dateTime', midnight: 'time' } as const;
const newYork = datetimeCodec({ ...datetimes, zone: zoneOf(NEW_YORK) });
/** Reads times in New York, but searches as if its offset were always -05:00. */
const fixed = datetimeCodec({ ...datetimes, zone: zoneOf('Etc/GMT+5') });
const map = codeMapCodec({
  map: { name: 'm', rows: new Map([['A', { code: 'a' }]]), blank: { code: 'a' }, else: { kind: 'text' }, fold: false },
  facet: 'text',
  columnType: VARCHAR,
  boolean: false,
});
const anyGiven = (columns: readonly Expression[]): Predicate =>
  columns[0] ? not(isNull(columns[0])) : { kind: 'false' };
const number = numberCodec({ columnType: VARCHAR, fhirType: 'decimal' });
const ymd8 = ymd8Codec({ zone: zoneOf(NEW_YORK), columnType: VARCHAR });

const texts = nullable(text);
const dated = (values: readonly unknown[]): fc.Arbitrary<Criterion> => dateCriterion(values, NEW_YORK, [0]);

describe('the law', () => {
  it.each<[string, Codec, string, fc.Arbitrary<SqlValue>, (values: readonly unknown[]) => fc.Arbitrary<Criterion>]>([
    ['text that is searched untrimmed', { ...textCodec(), match: codeCodec().match }, 'VARCHAR(40)', texts, exact],
    ['text that is present when blank', { ...textCodec(), present: anyGiven }, 'VARCHAR(40)', texts, exact],
    [
      'codes that are not told from other texts',
      { ...codeCodec(), match: textCodec().match },
      'VARCHAR(40)',
      texts,
      stringCriterion,
    ],
    [
      'local times searched with one offset',
      { ...newYork, match: fixed.match },
      'DATETIME',
      fc.constantFrom(...GAP),
      dated,
    ],
    [
      'mapped values taken for unmapped ones',
      { ...map, match: textCodec().match },
      'VARCHAR(40)',
      fc.constantFrom('A', 'B', ''),
      values => exact([...values, 'A']),
    ],
    [
      'numbers without a grammar',
      { ...number, present: anyGiven },
      'VARCHAR(40)',
      fc.constantFrom('5', '5.', '1e2'),
      numberCriterion,
    ],
    ['dates that are impossible', { ...ymd8, present: anyGiven }, 'VARCHAR(40)', fc.constantFrom(...DATES), dated],
  ])('detects %s', (_, codec, declared, raw, criterion) => {
    const rows = table(declared);
    const outcome = fc.check(
      fc.property(rowsOf(raw), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (let i = 0; i < 4; i++) expectMatch(codec, rows, g(criterion, values), NEW_YORK, values);
      }),
      { numRuns: 300, endOnFailure: true },
    );
    expect(outcome.failed).toBe(true);
  });
});
