import { describe, expect, test } from 'vitest';
import { ColumnTally, isPersonal } from '../../src/profile/column.ts';
import { formOf, impossibleDay, isDayForm, looksLikeNone } from '../../src/profile/form.ts';

test.each([
  ['20240310', 'yyyymmdd'],
  ['20240300', 'yyyymm00'],
  ['20240000', 'yyyy0000'],
  ['20241399', 'whole number'],
  ['202403100915', 'yyyymmddhhmm'],
  ['20240310-0500', 'yyyymmdd+hhmm'],
  ['2024031009+0100', 'yyyymmddhh+hhmm'],
  ['202403100915-0500', 'yyyymmddhhmm+hhmm'],
  ['20240310091530.123', 'yyyymmddhhmmss.fff'],
  ['20240310091530.1-0330', 'yyyymmddhhmmss.f+hhmm'],
  ['202413100915-0500', '99999999…-9999'],
  ['20240310091530-9900', '99999999…-9999'],
  ['20240310.5', 'number, 1 decimal'],
  ['2024-03-10', 'yyyy-mm-dd'],
  ['2024-03-10 09:15', 'yyyy-mm-dd hh:mm'],
  ['2024-03-10 09:15:00.000', 'yyyy-mm-dd hh:mm:ss.fff'],
  ['2024-03-10T09:15:00Z', 'yyyy-mm-ddThh:mm:ssZ'],
  ['2024-03-10T09:15:00-05:00', 'yyyy-mm-ddThh:mm:ss+hh:mm'],
  ['03/14/2020', 'mm/dd/yyyy'],
  ['14/03/2020', 'dd/mm/yyyy'],
  ['03/04/2020', 'dd/mm/yyyy or mm/dd/yyyy'],
  ['14.03.2020', 'dd.mm.yyyy'],
  ['14-03-2020', 'dd-mm-yyyy'],
  ['14-MAR-2020', 'dd-mon-yyyy'],
  ['4-Mar-20', 'dd-mon-yy'],
  ['MAR 04, 2020', 'mon dd, yyyy'],
  ['Mar  4 2020', 'mon dd yyyy'],
  ['FEB 04, 2015@14:00:14', 'mon dd, yyyy@hh:mm:ss'],
  ['Mar  4 2020  8:30AM', 'mon dd yyyy hh:mm AM'],
  ['14/03/2020, 8:30 pm', 'dd/mm/yyyy, hh:mm AM'],
  ['ABC 04, 2020', 'ABC 99, 9999'],
  ['14-MAR-20 09:15', 'dd-mon-yy hh:mm'],
  ['03/14/24', 'mm/dd/yy'],
  ['14/3/24', 'dd/mm/yy'],
  ['03-04-24', 'dd-mm-yy or mm-dd-yy'],
  ['14.03.24', 'dd.mm.yy'],
  ['03/14/24 09:15', 'mm/dd/yy hh:mm'],
  ['94-03-14', 'yy-mm-dd'],
  ['94/3/4', 'yy/mm/dd'],
  ['94.03.14 09:15', 'yy.mm.dd hh:mm'],
  ['94-13-14', '99-99-99'],
  ['32-03-94', '99-99-99'],
  ['2024/03/14', 'yyyy/mm/dd'],
  ['2024.03.14 09:15', 'yyyy.mm.dd hh:mm'],
  ['14/03/024', '99/99/999'],
  ['14/03/2020 09:15:30', 'dd/mm/yyyy hh:mm:ss'],
  ['3/14/2020 9:15 PM', 'mm/dd/yyyy hh:mm AM'],
  ['03/04/2020 09:15', 'dd/mm/yyyy or mm/dd/yyyy hh:mm'],
  ['14.03.2020 09:15:30.123', 'dd.mm.yyyy hh:mm:ss.fff'],
  ['20200314 09:15', 'yyyymmdd hh:mm'],
  ['09:15', 'hh:mm'],
  [12, 'whole number'],
  [-1, 'negative whole number'],
  ['0012', 'whole number, leading zeros'],
  ['12.50', 'number, 2 decimals'],
  [1e-7, 'number with an exponent'],
  ['LAST^FIRST', 'ABC^ABC'],
  ['Kowalski', 'Abc'],
  ["O'Brien-Nuñez", 'Abc-Abc'],
  ['A-123', 'A-999'],
  ['(555) 555-0123', '(999) 999-9999'],
  ['seen today and well', 'several words'],
  [new Uint8Array(16), '16 bytes'],
  ['6f9619ff-8b86-d011-b42d-00cf4fc964ff', 'UUID'],
  ['{6F9619FF-8B86-D011-B42D-00CF4FC964FF}', 'UUID'],
  ['6f9619ff8b86d011b42d00cf4fc964ff', '32 hexadecimal digits'],
])('the form of %j is %s', (value, form) => {
  expect(formOf(value)).toBe(form);
});

test.each([
  ['20230230', '02-30'],
  ['2023-02-29', '02-29'],
  ['2023-13-01 08:00:00', '13-01'],
  ['31.04.2021', '04-31'],
  ['94-02-30', '02-30'],
  ['94/02/28', undefined],
  ['2023/02/29', '02-29'],
  ['20240229', undefined],
  ['2024-02-29T08:00:00Z', undefined],
  ['2024-00-00', undefined],
  ['20240300', undefined],
  ['12345678', undefined],
  ['02/30/2023', '02-30'],
  ['30/02/2023', '02-30'],
  ['12/04/2023', undefined],
  ['30/02/2023 08:00:00', '02-30'],
  ['31-04-2023', '04-31'],
  ['31/12/2023', undefined],
  ['02/30/24', '02-30'],
  ['02/29/00', undefined],
  ['31.04.24', '04-31'],
  ['31-12-23 08:00', undefined],
  ['19801330', undefined],
])('an impossible date in %j is detected: %s', (text, day) => {
  const impossible = isDayForm(formOf(text)) ? impossibleDay(text) : undefined;
  expect(impossible).toBe(day);
});

test('a form shows no letter and no digit of a text', () => {
  expect(formOf('Zebra^42')).not.toMatch(/Z|e|r|4|2/);
});

test.each([
  '1753-01-01',
  '9999-12-31 00:00:00',
  '12/31/9999',
  '31/12/9999 00:00:00',
  '31-DEC-9999',
  '01/01/1900',
  '00000000',
  '0000-00-00',
  '00/00/0000',
  '00/00/00',
  'N/A',
  '@',
  '#',
  '\\N',
  '(null)',
  'unknown',
  '000-000-0000',
  '999',
  '-1',
])('%s looks like a placeholder', text => {
  expect(looksLikeNone(text)).toBe(true);
});

test.each(['11-11-11', '1.1.11', '2024-03-10', '2024-03-10 09:15:00.9999', '12', 'Naomi', '555-0123', 'M'])(
  '%s does not look like a placeholder',
  text => {
    expect(looksLikeNone(text)).toBe(false);
  },
);

test('columns of names, addresses, telephone numbers and notes are recognised by name', () => {
  for (const name of ['LST_NM', 'pname', 'patientName', 'HM_PH', 'address1', 'RSLT_TX', 'notes', 'EMAIL'])
    expect(isPersonal(name), name).toBe(true);
  for (const name of ['LASTNAME', 'firstname', 'FORENAME', 'PT_FULLNAME', 'nickname', 'USERNAME', 'TOWN', 'POSTCODE'])
    expect(isPersonal(name), name).toBe(true);
  for (const name of ['TELEPHONE', 'STREETADDRESS', 'next_of_kin', 'EMPLOYER', 'GUARDIAN', 'HOMEPHONE', 'ZIPCODE'])
    expect(isPersonal(name), name).toBe(true);
  for (const name of ['SEX', 'STATUS', 'PHASE', 'context', 'DESCR', 'NUMBER', 'TBL_ID', 'TABLENAME', 'CELLCOUNT'])
    expect(isPersonal(name), name).toBe(false);
});

test('dates with two-digit years do not count as codes, so that no value is shown', () => {
  const tally = new ColumnTally(false);
  for (const day of ['03/14/24', '03/15/24', '03/16/24']) for (let i = 0; i < 9; i++) tally.add(day);
  expect(tally.profile('codes').frequent).toBeUndefined();
});

test('impossible days of a date column are reported as impossible dates', () => {
  const impossibleOf = (values: readonly string[]) => {
    const tally = new ColumnTally(false);
    for (const one of values) tally.add(one);
    return tally.profile('codes').impossible;
  };
  const dates = ['20230101', '20230202', '20230303', '20230230', '19801330', '19801332', '20230001', '99999999'];
  expect(impossibleOf(dates).map(({ what }) => what)).toEqual(['02-30', '13-30', '13-32']);
  expect(impossibleOf(['01.02.2023', '02.02.2023', '03.13.2023'])).toEqual([{ what: '13-03', rows: 1 }]);
  expect(impossibleOf(['01/02/2023', '02/02/2023', '31/31/2023'])).toEqual([{ what: '31-31', rows: 1 }]);
  // Eight-digit numbers are no dates, although some look like one.
  expect(impossibleOf(['19801330', '20230101', '20991332'])).toEqual([]);
});

test.each([
  [['14/03/2020', '03/04/2020', '05/06/2020'], ['dd/mm/yyyy 3']],
  [
    ['03/14/2020', '03/04/2020', '05/06/2020', 'x y'],
    ['mm/dd/yyyy 3', 'a a 1'],
  ],
  [['03/04/2020', '05/06/2020'], ['dd/mm/yyyy or mm/dd/yyyy 2']],
  [
    ['14/03/2020', '03/04/2020 09:15', '03-04-2020'],
    ['dd-mm-yyyy or mm-dd-yyyy 1', 'dd/mm/yyyy 1', 'dd/mm/yyyy hh:mm 1'],
  ],
  [
    ['03/04/24', '14/03/24', '03/04/2024', '05/06/24 09:15'],
    ['dd/mm/yy 2', 'dd/mm/yy hh:mm 1', 'dd/mm/yyyy 1'],
  ],
  // A value beyond 31 proves that years come first.
  [
    ['94-03-14', '24-03-14', '03-04-05', '24-03-14 09:15', '94/3/4'],
    ['yy-mm-dd 3', 'yy-mm-dd hh:mm 1', 'yy/mm/dd 1'],
  ],
  [['94.03.14', '24.03.14'], ['yy.mm.dd 2']],
  // In others a value beyond 12 is in second place, so years come last there.
  [
    ['94-03-14', '03-14-94', '24-03-14'],
    ['dd-mm-yy 1', 'mm-dd-yy 1', 'yy-mm-dd 1'],
  ],
  [
    ['94-03-14', '14-03-94', '24-03-14'],
    ['dd-mm-yy 2', 'yy-mm-dd 1'],
  ],
  [
    ['03/04/2020', '14/03/2020', '03/14/2020'],
    ['dd/mm/yyyy 1', 'dd/mm/yyyy or mm/dd/yyyy 1', 'mm/dd/yyyy 1'],
  ],
])('in the column %j, ambiguous days take the order that other rows prove', (values, forms) => {
  const tally = new ColumnTally(false);
  for (const one of values) tally.add(one);
  expect(tally.profile('codes').forms.map(({ what, rows }) => `${what} ${rows}`)).toEqual(forms);
});

/** Bell-shaped numbers, as results are: the middle values are frequent. */
const BELL = Array.from({ length: 4000 }, (_, i) => 60 + (((i * 7) % 50) + ((i * 13) % 60) + ((i * 29) % 70)));

/** From 5.0 to 104.9, each once or twice, as measurements are. */
const TENTHS = Array.from({ length: 1500 }, (_, i) => (5 + ((i * 7) % 1000) / 10).toFixed(1));

test.each([
  ['0 among 0 to 10', true, Array.from({ length: 110 }, (_, i) => i % 11), '0 to 10', []],
  ['0 alone', true, [0, 0, 0, 0], '0 to 0', []],
  ['0 as none', true, [...Array(90).fill(0), ...Array.from({ length: 60 }, (_, i) => 50 + i)], '50 to 109', ['0']],
  ['999 far from others', true, [...Array(5).fill(999), ...BELL], '60 to 229', ['999']],
  ['results', true, BELL, '60 to 229', []],
  ['results in texts', false, [...BELL.map(String), ...BELL.map(one => `${one / 10}`.replace('.', ','))], '', []],
  ['results with a decimal in texts', false, [...TENTHS, ...TENTHS.slice(0, 700)], '', []],
  ['88.8 far from others', false, [...Array(5).fill('88.8'), ...TENTHS.filter(one => Number(one) < 40)], '', ['88.8']],
  ['99.9 more often than values', false, [...Array(30).fill('99.9'), ...TENTHS], '', ['99.9']],
  ['zeros in texts', false, [...Array(9).fill('0000000'), ...BELL.map((_, i) => `${1_000_000 + i}`)], '', ['0000000']],
  ['sodium', false, Array.from({ length: 90 }, (_, i) => ['NA', 'K', 'GLU'][i % 3] ?? ''), '', []],
  ['@ of i2b2', false, [...Array(9).fill('@'), ...Array.from({ length: 90 }, (_, i) => `Word${i}`)], '', ['@']],
  ['n/a', false, [...Array(9).fill('N/A'), ...Array.from({ length: 90 }, (_, i) => `Word${i}`)], '', ['N/A']],
] as const)('range and none of a column: %s', (_, isNumber, values, range, sentinels) => {
  const tally = new ColumnTally(isNumber);
  for (const one of values) tally.add(one);
  const told = tally.profile('codes');
  expect(told.range ? `${told.range.least} to ${told.range.most}` : '').toBe(range);
  expect(told.sentinels.map(({ what }) => what)).toEqual(sentinels);
});

describe('numbers that may be dates which count from a century', () => {
  const formsOf = (values: readonly (string | number)[]): readonly string[] => {
    const tally = new ColumnTally(true);
    for (const one of values) tally.add(one);
    return tally.profile('codes').forms.map(({ what, rows }) => `${what} ${rows}`);
  };
  const ymd = Array.from({ length: 60 }, (_, i) => {
    const day = new Date(Date.UTC(1998, 0, 1) + i * 31 * 86_400_000);
    return Number(day.toISOString().slice(0, 10).replaceAll('-', ''));
  });

  test('are dates where nearly all rows are', () => {
    const cyymmdd = ymd.map(one => one - 19_000_000);
    expect(formsOf(cyymmdd)).toEqual(['cyymmdd 60']);
    expect(formsOf([...cyymmdd, 0, 0, 9_999_999])).toEqual(['cyymmdd 60', 'whole number 3']);
    expect(formsOf(cyymmdd.map(one => String(one).padStart(7, '0')))).toEqual(['cyymmdd 60']);
    expect(formsOf(ymd.map(one => one - 17_000_000))).toEqual(['yyymmdd 60']);
    expect(formsOf(ymd.map(one => one - 17_000_000 + 0.083))).toEqual(['yyymmdd.hhmmss 60']);
    expect(formsOf(ymd.map((one, i) => one - 17_000_000 + (i % 3 === 0 ? 0 : 0.083)))).toEqual(['yyymmdd.hhmmss 60']);
    expect(formsOf(ymd.map((_, i) => `${66_000 + i},${(i * 997) % 86_400}`))).toEqual(['days,seconds 60']);
  });

  test('show neither codes nor a range', () => {
    const tally = new ColumnTally(true);
    for (const one of [...ymd, ...ymd, ...ymd]) tally.add(one - 19_000_000);
    const { range, frequent } = tally.profile('codes');
    expect([range, frequent]).toEqual([undefined, undefined]);
  });

  test.each<[string, readonly (string | number)[]]>([
    ['keys that follow each other', Array.from({ length: 400 }, (_, i) => 1_240_301 + i)],
    ['a few keys of one month', Array.from({ length: 30 }, (_, i) => 1_240_301 + i)],
    ['few rows', ymd.slice(0, 10).map(one => one - 19_000_000)],
    ['numbers of any kind', Array.from({ length: 300 }, (_, i) => 1_000_000 + ((i * 7919) % 500_000))],
    ['six digits', ymd.map(one => one % 1_000_000)],
    ['record numbers by year', Array.from({ length: 300 }, (_, i) => (2022 + (i % 3)) * 1000 + 1 + Math.floor(i / 3))],
    ['keys of six digits', Array.from({ length: 300 }, (_, i) => 124_001 + i)],
    ['decimals with a comma', Array.from({ length: 300 }, (_, i) => `${100 + i},5`)],
    ['postal codes', Array.from({ length: 300 }, (_, i) => 10_000 + ((i * 7919) % 90_000))],
  ])('are none where they are %s', (_, values) => {
    expect(formsOf(values).join()).not.toMatch(/yymmdd|yyddd|seconds/);
  });
});
