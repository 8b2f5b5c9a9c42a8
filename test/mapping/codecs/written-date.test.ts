import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { textAfter } from '../../../src/law/read-steps.ts';
import { stepped, writtenDateStep } from '../../../src/mapping/codecs/text-step.ts';
import { ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { wrongWrittenForm } from '../../../src/time/written-form.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const ZONE = 'America/New_York';

function codec(form: string, from?: number) {
  return stepped([writtenDateStep(form, from)], ymd8Codec({ zone: zoneOf(ZONE), columnType: UNICODE }));
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
    ['MON D, YYYY', 'DEC 07, 2024', '2024-12-07'],
    ['MON D, YYYY', 'Dec  7, 2024', '2024-12-07'],
    ['MON D, YYYY', 'Dec 7 2024', undefined],
    ['MON D, YYYY', 'Dec 7,2024', undefined],
    ['D MON, YYYY', '7 Dec, 2024', '2024-12-07'],
    ['DD MM YYYY', '10 03 2024', '2024-03-10'],
    ['YYYY-MM-DD', '2024-03-10', '2024-03-10'],
    ['MMDDYYYY', '03102024', '2024-03-10'],
    ['MM/DD/YYYY', '٠٣/10/2024', undefined],
    ['MM/YYYY', '03/2019', '2019-03'],
    ['MM/YYYY', '00/2019', '2019'],
    ['MM/YYYY', '13/2019', undefined],
    ['MM/YYYY', '03/10/2019', undefined],
    ['M/YYYY', '3/2019', '2019-03'],
    ['MON YYYY', ' mar 2019', '2019-03'],
    ['MON YYYY', 'XXX 2019', undefined],
    ['YYYY-MM', '2019-12', '2019-12'],
    ['YYYYMM', '201903', '2019-03'],
    ['YYYY', '2019', '2019'],
    ['YYYY', '0000', undefined],
    ['YYYY', '19', undefined],
  ])('as %s: %j is %j', (form, raw, wanted) => {
    expect(codec(form).decode(raw)).toBe(wanted);
  });

  it.each([
    ['DD-MON-YY', 1930, '14-MAR-24', '2024-03-14'],
    ['DD-MON-YY', 1930, '14-MAR-30', '1930-03-14'],
    ['DD-MON-YY', 1930, '14-MAR-29', '2029-03-14'],
    ['DD-MON-YY', 1935, '14-MAR-34', '2034-03-14'],
    ['DD-MON-YY', 1935, '14-MAR-35', '1935-03-14'],
    ['DD-MON-YY', 1930, '14-MAR-2024', undefined],
    ['MM/DD/YY', 2000, '03/10/99', '2099-03-10'],
    ['MM/DD/YY', 1999, '03/10/99', '1999-03-10'],
    ['MM/DD/YY', 1999, '03/10/98', '2098-03-10'],
    ['MM/DD/YY', 1930, '00/00/85', '1985'],
    ['MM/DD/YY', 1930, '00/00/00', undefined],
    ['M/D/YY', 1930, '0/0/00', undefined],
    ['M/D/YY', 1930, '1/2/00', '2000-01-02'],
    ['YYMMDD', 1950, '000229', '2000-02-29'],
    ['YYMMDD', 1850, '000229', undefined],
    ['YYMMDD', 1950, '000000', undefined],
    ['MM/YY', 1930, '03/19', '2019-03'],
    ['MON-YY', 1930, 'MAR-85', '1985-03'],
    ['MM/YY', 1930, '00/00', undefined],
  ])('as %s from %i: %j is %j', (form, from, raw, wanted) => {
    expect(codec(form, from).decode(raw)).toBe(wanted);
  });

  it('with years of two digits are read in their century, whichever year is the first', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1800, max: 2099 }), fc.integer({ min: 0, max: 99 }), (from, later) => {
        const year = from + later;
        expect(codec('DD/MM/YY', from).decode(`10/03/${String(year % 100).padStart(2, '0')}`)).toBe(`${year}-03-10`);
      }),
    );
  });

  it('with years of two digits are to the reference what they are to the codec', () => {
    const digits = fc.constantFrom('00', '1', '12', '29', '30', '35', '99');
    fc.assert(
      fc.property(
        fc.integer({ min: 1800, max: 2099 }),
        fc.constantFrom('D/M/YY', 'YYMMDD', 'M/YY'),
        fc.gen(),
        (from, form, g) => {
          const { apply, options } = writtenDateStep(form, from);
          const raw = form.replace(/YY|MM?|DD?/g, () => g(() => digits));
          expect(textAfter([options], raw)).toBe(apply(raw));
        },
      ),
    );
  });

  it.each<[form: string, from?: number]>([
    ...['MM/DD/YYYY', 'M/D/YYYY', 'D.M.YYYY', 'YYYY-MM-DD', 'DDMMYYYY', 'DD-MON-YYYY'].map((form): [string] => [form]),
    ['DD-MON-YY', 1935],
    ['M/D/YY', 1900],
    ['YYMMDD', 1925],
    ...['MM/YYYY', 'M/YYYY', 'MON YYYY', 'YYYYMM', 'YYYY'].map((form): [string] => [form]),
    ['MM/YY', 1950],
  ])('keep the law as %s from %j', (form, from) => {
    const parts = fc.record({
      Y: fc.constantFrom('2024', '2023', '0000', '9999', '202'),
      YY: fc.constantFrom('24', '25', '99', '00', '2', '2024'),
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
              .replace(/YYYY|YY/, part => (part === 'YY' ? of.YY : of.Y))
              .replace(/DD?/, of.D)
              .replace(/MON|MM?/, part => (part === 'MON' ? of.name : of.M)) + of.end,
        ),
      },
      fc.constantFrom('', '  ', 'UNKNOWN', '//', '20240310', '[0-9]/1/2024'),
    );
    const rows = table('VARCHAR(40)');
    const of = codec(form, from);
    fc.assert(
      fc.property(rowsOf(nullable(raw)), fc.gen(), (raws, g) => {
        rows.fill(raws.map(one => [one]));
        expectPresent(of, rows);
        const values = decodeAll(of, rows);
        for (let i = 0; i < 6; i++)
          expectMatch(of, rows, g(dateCriterion, values, ZONE, [Date.UTC(2024, 2, 10)]), ZONE, values);
        expectOrder(of, rows);
      }),
      RUNS,
    );
  });

  it.each([
    'MM/DD',
    'MYYYY',
    'MM',
    'YY',
    'MM/MM',
    'MM/YYYY HH:mm',
    'MM/MM/YYYY',
    'MDYYYY',
    'MM%DD%YYYY',
    'mm/dd/yyyy',
    'YYYY-MM-DDTHH',
    'DD/MM/YYY',
    '',
  ])('cannot have the form %j', form => {
    expect(wrongWrittenForm(form, undefined)).toMatch(/^not a date format/);
  });

  it('name the first of the hundred years that two digits stand for, and of four digits no such year', () => {
    expect(wrongWrittenForm('DD/MM/YY', undefined)).toContain('`{ form: DD/MM/YY, from: 1930 }`');
    expect(wrongWrittenForm('DD/MM/YY', 1930)).toBeUndefined();
    expect(wrongWrittenForm('DD/MM/YYYY', 1930)).toContain('`from` is for years of two digits');
    expect(wrongWrittenForm('DD/MM/YYYY', undefined)).toBeUndefined();
  });
});
