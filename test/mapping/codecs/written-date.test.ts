import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stepped } from '../../../src/mapping/codecs/text-step.ts';
import { isDateForm, writtenDateStep } from '../../../src/mapping/codecs/written-date.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, nullable, RUNS } from './arbitrary.ts';
import { decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const ZONE = 'America/New_York';

function codec(form: string) {
  return stepped([writtenDateStep(form)], ymd8Codec({ zone: zoneOf(ZONE), columnType: UNICODE }));
}

describe('dates that a text spells', () => {
  it.each([
    ['MM/DD/YYYY', '03/10/2024', '2024-03-10'],
    ['MM/DD/YYYY', ' 03/10/2024\t', '2024-03-10'],
    ['MM/DD/YYYY', '3/10/2024', undefined],
    ['MM/DD/YYYY', '13/01/2024', undefined],
    ['MM/DD/YYYY', '02/30/2024', undefined],
    ['MM/DD/YYYY', '00/00/2024', '2024'],
    ['MM/DD/YYYY', '03/00/2024', '2024-03'],
    ['MM/DD/YYYY', '00/00/0000', undefined],
    ['MM/DD/YYYY', '03/10/2024 08:00', undefined],
    ['MM/DD/YYYY', '03-10-2024', undefined],
    ['MM/DD/YYYY', 'UNKNOWN', undefined],
    ['MM/DD/YYYY', '', undefined],
    ['M/D/YYYY', '3/1/2024', '2024-03-01'],
    ['M/D/YYYY', '03/1/2024', '2024-03-01'],
    ['D.M.YYYY', '10.3.2024', '2024-03-10'],
    ['DD-MON-YYYY', '10-MAR-2024', '2024-03-10'],
    ['DD-MON-YYYY', '01-sep-1999 ', '1999-09-01'],
    ['DD-MON-YYYY', '30-FEB-2024', undefined],
    ['DD-MON-YYYY', '10-XXX-2024', undefined],
    ['DD-MON-YYYY', '10-ANF-2024', undefined],
    ['DD-MON-YYYY', '10-MAR-24', undefined],
    ['DD-MON-YYYY', '00-MAR-2024', '2024-03'],
    ['MON D YYYY', 'Dec 7 2024', '2024-12-07'],
    ['DD MM YYYY', '10 03 2024', '2024-03-10'],
    ['YYYY-MM-DD', '2024-03-10', '2024-03-10'],
    ['MMDDYYYY', '03102024', '2024-03-10'],
    ['MM/DD/YYYY', '٠٣/10/2024', undefined],
  ])('as %s: %j is %j', (form, raw, wanted) => {
    expect(codec(form).decode(raw)).toBe(wanted);
  });

  it.each(['MM/DD/YYYY', 'M/D/YYYY', 'D.M.YYYY', 'YYYY-MM-DD', 'DDMMYYYY', 'DD-MON-YYYY'])(
    'keep the law as %s',
    form => {
      const parts = fc.record({
        Y: fc.constantFrom('2024', '2023', '0000', '9999', '202'),
        M: fc.constantFrom('03', '3', '11', '00', '13', '2'),
        name: fc.constantFrom('MAR', 'mar', 'Feb', 'DEC', 'XXX', 'ANF', 'MA'),
        D: fc.constantFrom('10', '1', '01', '00', '31', '32', '29'),
        end: fc.constantFrom('', ' ', ' 08:00', 'x'),
      });
      const raw = fc.oneof(
        {
          weight: 4,
          arbitrary: parts.map(
            of =>
              form
                .replace('YYYY', of.Y)
                .replace(/DD?/, of.D)
                .replace(/MON|MM?/, part => (part === 'MON' ? of.name : of.M)) + of.end,
          ),
        },
        fc.constantFrom('', '  ', 'UNKNOWN', '//', '20240310', '[0-9]/1/2024'),
      );
      const rows = table('VARCHAR(40)');
      const of = codec(form);
      fc.assert(
        fc.property(fc.array(nullable(raw), { minLength: 1, maxLength: 12 }), fc.gen(), (raws, g) => {
          rows.fill(raws.map(one => [one]));
          expectPresent(of, rows);
          const values = decodeAll(of, rows);
          for (let i = 0; i < 6; i++)
            expectMatch(of, rows, g(dateCriterion, values, ZONE, [Date.UTC(2024, 2, 10)]), ZONE, values);
          expectOrder(of, rows);
        }),
        RUNS,
      );
    },
  );

  it.each(['MM/DD', 'MM/MM/YYYY', 'DD/MM/YY', 'MDYYYY', 'MM%DD%YYYY', 'mm/dd/yyyy', 'YYYY-MM-DDTHH', ''])(
    'cannot have the form %j',
    form => {
      expect(isDateForm(form)).toBe(false);
    },
  );
});
