import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Codec } from '../../../src/mapping/codecs/codec.ts';
import { dateAndTimeCodec } from '../../../src/mapping/codecs/date-and-time.ts';
import { dateCodec, datetimeCodec } from '../../../src/mapping/codecs/datetime.ts';
import { isTimed, type TimedType } from '../../../src/mapping/codecs/stored-time.ts';
import type { CountedForm, TimeForm } from '../../../src/mapping/codecs/time-column.ts';
import { ymdPartsCodec } from '../../../src/mapping/codecs/ymd-parts.ts';
import { ymd8AtCodec, ymd8Codec } from '../../../src/mapping/codecs/ymd8.ts';
import type { SqlValue } from '../../../src/sql/expression.ts';
import { zoneOf } from '../../../src/time/zone.ts';
import { dateCriterion, nullable, RUNS, rowsOf } from './arbitrary.ts';
import { CLOCK, columnType, decodeAll, expectMatch, expectOrder, expectPresent, table } from './law.ts';

const NEW_YORK = 'America/New_York';
/** Gaps and overlaps in spring and autumn, midnights that do not exist, a skipped day. */
const ZONES = [
  NEW_YORK,
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Pacific/Apia',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'UTC',
];

const CHANGES = [
  '2024-03-10 01:59:59',
  '2024-03-10 02:00:00',
  '2024-03-10 02:30:00',
  '2024-03-10 03:00:00',
  '2024-03-10 03:30:00',
  '2024-11-03 00:59:59',
  '2024-11-03 01:00:00',
  '2024-11-03 01:30:00',
  '2024-11-03 02:00:00',
  '2024-03-31 02:00:00',
  '2024-03-31 02:30:00',
  '2024-03-31 03:00:00',
  '2024-10-27 02:30:00',
  '2018-11-04 00:00:00',
  '2018-11-04 00:30:00',
  '2018-02-17 23:30:00',
  '2018-02-18 00:00:00',
  '2011-12-29 23:59:59',
  '2011-12-30 00:00:00',
  '2011-12-30 12:00:00',
  '2011-12-31 00:00:00',
  '2024-04-07 01:45:00',
  '2024-10-06 02:15:00',
];
const PLAIN = [
  '2024-03-10 00:00:00',
  '2024-03-09 00:00:00',
  '2024-03-11 00:00:00',
  '2024-01-01 00:00:00',
  '2023-12-31 23:59:59',
  '2024-02-29 12:00:00',
  '1999-12-31 23:59:00',
  '1900-01-01 00:00:00',
  '2050-07-01 08:00:00',
  '2024-11-03 00:00:00',
];
/** First and last times of column types: searched for, but stored in no row. */
const ENDS = ['0001-01-01 00:00:00', '1753-01-01 00:00:00', '2079-06-06 23:59:00', '9999-12-31 23:59:59'];
const LOCALS = [...CHANGES, ...PLAIN, ...ENDS].map(text => Date.parse(`${text.replace(' ', 'T')}Z`));

const local = fc.constantFrom(...CHANGES, ...PLAIN);
const zones = fc.constantFrom(...ZONES);

function timed(declared: string): TimedType {
  const type = columnType(declared);
  if (!isTimed(type)) throw new Error(declared);
  return type;
}

/** Rows of any raw values, searched near their values; `codec` is made for a zone. */
function expectLaw(
  make: (zone: string) => Codec,
  declared: readonly string[],
  row: fc.Arbitrary<readonly SqlValue[]>,
  keys: readonly string[] | 'none' = [],
): void {
  const rows = table(...declared);
  fc.assert(
    fc.property(zones, rowsOf(row), fc.gen(), (zone, raws, g) => {
      const codec = make(zone);
      rows.fill(raws);
      expectPresent(codec, rows);
      const values = decodeAll(codec, rows);
      for (let i = 0; i < 8; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
      if (keys === 'none') expect(codec.order).toBeUndefined();
      else expectOrder(codec, rows, keys);
    }),
    RUNS,
  );
}

/** Keys of values of every precision, in the form of other codecs. */
const KEYS = [
  '2024-11-03 01:59:59.9999999~01800000',
  '2024-03-10',
  '2024-03-10 00:00:00.0000000',
  '2024-03-10 02:30:00.0000000',
  '2024-03-10 02:30:00.0010000',
  '2024-03-10 02:30:00.0000001',
  '2024-03-00 00:00:00.0000000',
  '2024-00-00 00:00:00.0000000',
  '2024-02-29 23:59:59.9999999',
  '2023-12-31 23:59:59.9990000',
  '2024-03-00',
  '2024-00-00',
  '2024-12-31 23:59:59.9999999',
];

describe('datetime', () => {
  const decode = (declared: string, raw: SqlValue, options: Partial<Parameters<typeof datetimeCodec>[0]> = {}) =>
    datetimeCodec({
      zone: zoneOf(NEW_YORK),
      columnType: timed(declared),
      fhirType: 'dateTime',
      midnight: 'time',
      ...options,
    }).decode(raw);

  it.each([
    [null, undefined],
    ['2024-01-15 13:05:09.000', '2024-01-15T13:05:09-05:00'],
    ['2024-07-15 13:05:09.997', '2024-07-15T13:05:09-04:00'],
    ['2024-03-10 02:30:00.000', '2024-03-10T02:30:00-05:00'],
    ['2024-03-10 03:30:00.000', '2024-03-10T03:30:00-04:00'],
    ['2024-11-03 01:30:00.000', '2024-11-03T01:30:00-04:00'],
    ['2024-11-03 02:00:00.000', '2024-11-03T02:00:00-05:00'],
    ['9999-12-31 23:59:59.997', '9999-12-31T23:59:59-05:00'],
    ['0000-00-00 00:00:00.000', undefined],
    ['2024-02-30 00:00:00.000', undefined],
    ['', undefined],
  ])('reads %j in New York as %j', (raw, wanted) => {
    expect(decode('DATETIME', raw)).toBe(wanted);
  });

  it('writes an instant with milliseconds', () => {
    expect(decode('DATETIME2(7)', '2024-01-15 13:05:09.1239999', { fhirType: 'instant' })).toBe(
      '2024-01-15T13:05:09.123-05:00',
    );
    expect(decode('SMALLDATETIME', '2024-01-15 13:05:00', { fhirType: 'instant' })).toBe(
      '2024-01-15T13:05:00.000-05:00',
    );
  });

  it('writes the day alone at midnight where midnight means that no time is known', () => {
    expect(decode('DATETIME', '2024-01-15 00:00:00.000', { midnight: 'date' })).toBe('2024-01-15');
    expect(decode('DATETIME', '2024-01-15 00:00:00.003', { midnight: 'date' })).toBe('2024-01-15T00:00:00-05:00');
    expect(decode('DATETIME', '2024-01-15 00:00:00.000')).toBe('2024-01-15T00:00:00-05:00');
  });

  it('has no value at midnight if a known time is required', () => {
    expect(decode('DATETIME', '2024-01-15 00:00:00.000', { midnight: 'absent' })).toBeUndefined();
    expect(decode('DATETIME', '2024-01-15 00:00:00.003', { midnight: 'absent' })).toBe('2024-01-15T00:00:00-05:00');
  });

  it('writes Z for no offset', () => {
    expect(decode('DATETIME', '2024-01-15 00:00:00.000', { zone: zoneOf('Europe/London') })).toBe(
      '2024-01-15T00:00:00Z',
    );
  });

  const fraction = fc.constantFrom('000', '003', '007', '500', '997');
  it.each([
    ['DATETIME', 'dateTime', fraction.map(digits => `.${digits}`)],
    ['DATETIME', 'instant', fraction.map(digits => `.${digits}`)],
    ['DATETIME', 'date', fraction.map(digits => `.${digits}`)],
    ['DATETIME2(7)', 'dateTime', fc.constantFrom('.0000000', '.0000001', '.9999999', '.5000000')],
    ['DATETIME2(7)', 'instant', fc.constantFrom('.0000000', '.0000001', '.0019999', '.9999999')],
    ['DATETIME2(3)', 'instant', fc.constantFrom('.000', '.001', '.999')],
    ['DATETIME2(1)', 'instant', fc.constantFrom('.0', '.1', '.9')],
    ['DATETIME2(0)', 'dateTime', fc.constant('')],
  ] as const)('keeps the law for %s as %s', (declared, fhirType, digits) => {
    const row = nullable(fc.tuple(local, digits).map(([text, more]) => text + more)).map(raw => [raw]);
    expectLaw(
      zone => datetimeCodec({ zone: zoneOf(zone), columnType: timed(declared), fhirType, midnight: 'time' }),
      [declared],
      row,
      KEYS,
    );
  });

  it('keeps the law for SMALLDATETIME', () => {
    const minutes = local.map(text => `${text.slice(0, 16)}:00`);
    const row = nullable(minutes).map(raw => [raw]);
    const columnType = timed('SMALLDATETIME');
    expectLaw(
      zone => datetimeCodec({ zone: zoneOf(zone), columnType, fhirType: 'instant', midnight: 'time' }),
      ['SMALLDATETIME'],
      row,
      KEYS,
    );
  });

  it.each([
    ['DATETIME', 'date'],
    ['DATETIME2(7)', 'date'],
    ['DATETIME', 'absent'],
    ['DATETIME2(7)', 'absent'],
  ] as const)('keeps the law for %s where midnight means %s', (declared, midnights) => {
    const zeros = declared === 'DATETIME' ? '.000' : '.0000000';
    const odd = declared === 'DATETIME' ? '.003' : '.0010000';
    const midnight = local.map(text => `${text.slice(0, 10)} 00:00:00`);
    const row = nullable(
      fc.tuple(fc.oneof(local, midnight), fc.constantFrom(zeros, zeros, odd)).map(([text, more]) => text + more),
    ).map(raw => [raw]);
    expectLaw(
      zone =>
        datetimeCodec({ zone: zoneOf(zone), columnType: timed(declared), fhirType: 'dateTime', midnight: midnights }),
      [declared],
      row,
      KEYS,
    );
  });

  it.each(['DATETIME', 'SMALLDATETIME', 'DATETIME2(1)'])(
    'compares %s with bounds that the column can represent',
    declared => {
      const rows = table(declared);
      const digits = declared === 'DATETIME' ? '.000' : declared === 'DATETIME2(1)' ? '.0' : '';
      rows.fill([[`2024-01-15 08:00:00${digits}`], [`2024-01-15 08:01:00${digits}`]]);
      const codec = datetimeCodec({
        zone: zoneOf('UTC'),
        columnType: timed(declared),
        fhirType: 'instant',
        midnight: 'time',
      });
      const within = (from: number, to: number) => [
        { edge: 'start', op: '>=', at: from } as const,
        { edge: 'end', op: '<=', at: to } as const,
      ];
      const last =
        declared === 'SMALLDATETIME' ? Date.UTC(2079, 5, 6, 23, 59) : Date.UTC(9999, 11, 31, 23, 59, 59, 999);
      for (const at of [Date.UTC(2024, 0, 15, 8), last]) {
        for (const by of [-1, 0, 1]) {
          expectMatch(codec, rows, { kind: 'date', any: [within(at + by, at + by + 1)] });
          expectMatch(codec, rows, {
            kind: 'date',
            any: [[{ edge: 'start', op: '<', at: at + by }], [{ edge: 'end', op: '>', at: at + by + 1 }]],
          });
        }
      }
    },
  );

  it('compares a plain column with one range per bound', () => {
    const { columns } = table('DATETIME');
    const codec = datetimeCodec({
      zone: zoneOf(NEW_YORK),
      columnType: timed('DATETIME'),
      fhirType: 'dateTime',
      midnight: 'time',
    });
    const at = Date.UTC(2024, 5, 1);
    expect(codec.match(columns, { kind: 'date', any: [[{ edge: 'start', op: '>=', at }]] }, CLOCK)).toEqual({
      kind: 'compare',
      left: columns[0],
      op: '>=',
      right: { kind: 'value', value: '2024-05-31 20:00:00.000', type: timed('DATETIME') },
      not: false,
    });
  });
});

describe('date', () => {
  it.each(['DATE', 'DATETIME'])('keeps the law for %s', declared => {
    const row = nullable(local.map(text => (declared === 'DATE' ? text.slice(0, 10) : `${text}.000`))).map(raw => [
      raw,
    ]);
    expectLaw(zone => dateCodec({ zone: zoneOf(zone), columnType: timed(declared) }), [declared], row, KEYS);
    for (const precision of ['month', 'year'] as const) {
      const of = (zone: string): Codec => dateCodec({ zone: zoneOf(zone), columnType: timed(declared), precision });
      expectLaw(of, [declared], row, 'none');
      expect(of(NEW_YORK).decode(declared === 'DATE' ? '2024-03-10' : '2024-03-10 00:00:00.000')).toBe(
        precision === 'month' ? '2024-03' : '2024',
      );
    }
  });
});

const packed = fc.constantFrom(
  '20240310',
  '20240309',
  '20240311',
  '20240301',
  '20240331',
  '20240300',
  '20240200',
  '20240400',
  '20240000',
  '20230000',
  '20250000',
  '20240101',
  '20241231',
  '20231231',
  '20240229',
  '20230229',
  '20240230',
  '20241300',
  '20240001',
  '20240132',
  '20111230',
  '20111229',
  '20111231',
  '20111200',
  '00000000',
  '00010101',
  '99991231',
  '99990000',
  '99991200',
  '00010000',
  '20180204',
  '20181104',
);

describe('ymd8', () => {
  const spoiled = fc.constantFrom(
    '',
    '        ',
    '2024031',
    '2024-3-1',
    ' 2024031',
    'N/A',
    '202403101',
    '2024031O',
    '-2024031',
  );

  it.each([
    ['20240310', '2024-03-10'],
    ['20240300', '2024-03'],
    ['20240000', '2024'],
    ['20240230', undefined],
    ['00000000', undefined],
    ['20240010', undefined],
    ['20241300', undefined],
    [' 2024031', undefined],
    ['20240310  ', '2024-03-10'],
    [20240310, '2024-03-10'],
    [0, undefined],
    [null, undefined],
  ])('reads %j as %j', (raw, wanted) => {
    expect(ymd8Codec({ zone: zoneOf('UTC'), columnType: columnType('CHAR(8)') }).decode(raw)).toBe(wanted);
  });

  it('keeps the law for CHAR(8)', () => {
    const row = nullable(fc.oneof({ weight: 4, arbitrary: packed }, spoiled)).map(raw => [raw]);
    expectLaw(zone => ymd8Codec({ zone: zoneOf(zone), columnType: columnType('CHAR(8)') }), ['CHAR(8)'], row, KEYS);
  });

  it('keeps the law for VARCHAR padded with blanks', () => {
    const padded = fc
      .tuple(fc.oneof({ weight: 4, arbitrary: packed }, spoiled), fc.constantFrom('', ' ', '  '))
      .map(([a, b]) => a + b);
    const zone = 'America/New_York';
    const rows = table('VARCHAR(12)');
    const codec = ymd8Codec({ zone: zoneOf(zone), columnType: columnType('VARCHAR(12)') });
    fc.assert(
      fc.property(rowsOf(padded), fc.gen(), (raws, g) => {
        rows.fill(raws.map(raw => [raw]));
        expectPresent(codec, rows);
        const values = decodeAll(codec, rows);
        for (let i = 0; i < 8; i++) expectMatch(codec, rows, g(dateCriterion, values, zone, LOCALS), zone, values);
      }),
      RUNS,
    );
  });

  it('keeps the law for INT', () => {
    const row = nullable(fc.oneof(packed.map(Number), fc.constantFrom(0, -20240310, 202403101, 7))).map(raw => [raw]);
    expectLaw(zone => ymd8Codec({ zone: zoneOf(zone), columnType: columnType('INT') }), ['INT'], row, KEYS);
  });

  describe.each([1900, 1700])('whose years count from %i', since => {
    const counted = packed.map(text => String(Number(text) - since * 10_000).padStart(7, '0'));
    const odd = fc.constantFrom('0', '0000000', '9999999', '1', '-1', '-890000', '99999999', '1240230', '1000000');

    it.each(['INT', 'BIGINT', 'DECIMAL(7,0)', 'DECIMAL(9,0)'])('keeps the law for %s', declared => {
      const row = nullable(fc.oneof({ weight: 4, arbitrary: counted }, odd).map(Number)).map(raw => [raw]);
      const of = { columnType: columnType(declared), since };
      expectLaw(zone => ymd8Codec({ ...of, zone: zoneOf(zone) }), [declared], row, KEYS);
      const at = { at: 150 * 60_000, fhirType: 'instant' as const };
      expectLaw(zone => ymd8AtCodec({ ...of, ...at, zone: zoneOf(zone) }), [declared], row, KEYS);
    });

    it('keeps the law for VARCHAR(9), with or without a zero before the digits', () => {
      const texts = fc.oneof(
        { weight: 4, arbitrary: counted },
        odd,
        fc.constantFrom('', 'N/A', ' 1240314', '1240314.0'),
      );
      const row = fc
        .tuple(texts, fc.constantFrom('', '0', ' '))
        .map(([text, end]) => (end === '0' ? text.replace(/^0/, '') : text + end));
      const of = { columnType: columnType('VARCHAR(9)'), since };
      expectLaw(zone => ymd8Codec({ ...of, zone: zoneOf(zone) }), ['VARCHAR(9)'], fc.tuple(nullable(row)), KEYS);
      const at = { at: 0, fhirType: 'dateTime' as const };
      expectLaw(
        zone => ymd8AtCodec({ ...of, ...at, zone: zoneOf(zone) }),
        ['VARCHAR(9)'],
        fc.tuple(nullable(row)),
        KEYS,
      );
    });
  });

  it.each([
    [1900, 'INT', 1_240_314, '2024-03-14'],
    [1900, 'INT', 991_231, '1999-12-31'],
    [1900, 'INT', 101, '1900-01-01'],
    [1900, 'INT', 1_240_300, '2024-03'],
    [1900, 'INT', 0, undefined],
    [1900, 'INT', 9_999_999, undefined],
    [1900, 'INT', 1_230_229, undefined],
    [1900, 'INT', -10_101, undefined],
    [1900, 'DECIMAL(7,0)', '1240314', '2024-03-14'],
    [1900, 'DECIMAL(7,0)', '0', undefined],
    [1900, 'CHAR(7)', '1240314', '2024-03-14'],
    [1900, 'CHAR(7)', '0991231', '1999-12-31'],
    [1900, 'CHAR(7)', '991231 ', '1999-12-31'],
    [1900, 'CHAR(7)', '0000000', undefined],
    [1900, 'CHAR(7)', '', undefined],
    [1700, 'INT', 3_240_314, '2024-03-14'],
    [1700, 'INT', 3_240_300, '2024-03'],
    [1700, 'INT', 3_240_000, '2024'],
    [1700, 'CHAR(7)', '2550000', '1955'],
  ])('with years since %i in %s reads %j as %j', (since, declared, raw, wanted) => {
    expect(ymd8Codec({ zone: zoneOf('UTC'), columnType: columnType(declared), since }).decode(raw)).toBe(wanted);
  });

  it.each(['INT', 'DECIMAL(7,0)'])(
    'searches a day of %s whose years count from 1900 by the column as it stands',
    of => {
      const { columns } = table(of);
      const codec = ymd8Codec({ zone: zoneOf('UTC'), columnType: columnType(of), since: 1900 });
      const [start, end] = [Date.UTC(2024, 2, 14), Date.UTC(2024, 2, 15)];
      const within = [
        { edge: 'start', op: '>=', at: start },
        { edge: 'end', op: '<=', at: end },
      ] as const;
      expect(codec.inverse).toBe('indexed');
      expect(codec.match(columns, { kind: 'date', any: [within] }, CLOCK)).toMatchObject({
        ...{ kind: 'equals', left: columns[0], right: { value: 1_240_314 } },
      });
    },
  );

  it('searches a day by equality alone, without a validity test', () => {
    const { columns } = table('CHAR(8)');
    const codec = ymd8Codec({ zone: zoneOf('UTC'), columnType: columnType('CHAR(8)') });
    const [start, end] = [Date.UTC(2024, 2, 10), Date.UTC(2024, 2, 11)];
    const within = [
      { edge: 'start', op: '>=', at: start },
      { edge: 'end', op: '<=', at: end },
    ] as const;
    expect(codec.match(columns, { kind: 'date', any: [within] }, CLOCK)).toEqual({
      ...{ kind: 'equals', not: false },
      ...{ left: columns[0], right: { kind: 'value', value: '20240310', type: columnType('CHAR(8)') } },
    });
  });

  it('searches one range without the excluded points', () => {
    const { columns } = table('CHAR(8)');
    const codec = ymd8Codec({ zone: zoneOf('UTC'), columnType: columnType('CHAR(8)') });
    const from = codec.match(
      columns,
      { kind: 'date', any: [[{ edge: 'start', op: '>=', at: Date.UTC(2024, 2, 10) }]] },
      CLOCK,
    );
    expect(from).toMatchObject({
      kind: 'and',
      of: [{ kind: 'packed-date' }, { kind: 'compare', op: '>=', right: { value: '20240310' } }],
    });
    const until = codec.match(
      columns,
      { kind: 'date', any: [[{ edge: 'end', op: '<=', at: Date.UTC(2024, 2, 10) }]] },
      CLOCK,
    );
    expect(until).toMatchObject({
      kind: 'and',
      of: [
        { kind: 'packed-date' },
        { kind: 'compare', op: '<', right: { value: '20240310' } },
        { kind: 'in', values: [{ value: '20240000' }, { value: '20240300' }], not: true },
      ],
    });
  });
});

describe('date-and-time', () => {
  const day = fc.oneof(
    local.map(text => text.slice(0, 10).replaceAll('-', '')),
    packed,
    fc.constantFrom('', '2024'),
  );
  const forms: Readonly<Record<Exclude<TimeForm, CountedForm | 'time'>, (text: string) => string>> = {
    hhmm: text => text.slice(11, 16).replace(':', ''),
    hhmmss: text => text.slice(11).replaceAll(':', ''),
    'hh:mm': text => text.slice(11, 16),
    'hh:mm:ss': text => text.slice(11),
  };

  it.each(['hhmm', 'hhmmss', 'hh:mm', 'hh:mm:ss'] as const)('keeps the law for packed dates and %s', time => {
    const clock = fc.oneof(
      { weight: 4, arbitrary: local.map(forms[time]) },
      fc.constantFrom('', '    ', '2400', '0960', '240000', '96:00', 'abcd', '12', '9999'),
    );
    const row = fc.oneof(
      local.map((text): SqlValue[] => [text.slice(0, 10).replaceAll('-', ''), forms[time](text)]),
      fc.tuple(nullable(day), nullable(clock)),
    );
    expectLaw(
      zone =>
        dateAndTimeCodec({
          zone: zoneOf(zone),
          dateType: columnType('CHAR(8)'),
          timeType: columnType('CHAR(8)'),
          time,
        }),
      ['CHAR(8)', 'CHAR(8)'],
      row,
      KEYS,
    );
  });

  it.each(['hhmm', 'hhmmss'] as const)('keeps the law for packed dates and %s as whole numbers', time => {
    const clock = fc.oneof(
      { weight: 4, arbitrary: local.map(text => Number(forms[time](text))) },
      fc.constantFrom(
        0,
        5,
        59,
        60,
        100,
        160,
        959,
        960,
        2359,
        2400,
        5959,
        5960,
        10_000,
        16_000,
        95_959,
        235_959,
        236_000,
      ),
      fc.constantFrom(-1, 240_000, 1_000_000),
    );
    const row = fc.oneof(
      local.map((text): SqlValue[] => [Number(text.slice(0, 10).replaceAll('-', '')), Number(forms[time](text))]),
      fc.tuple(nullable(fc.oneof(day.map(Number), fc.constant(99_991_231))), nullable(clock)),
    );
    expectLaw(
      zone => dateAndTimeCodec({ zone: zoneOf(zone), dateType: columnType('INT'), timeType: columnType('INT'), time }),
      ['INT', 'INT'],
      row,
      KEYS,
    );
  });

  it.each(['instant', 'dateTime'] as const)('keeps the law as %s with a time for rows that have none', fhirType => {
    const clock = fc.oneof(
      { weight: 4, arbitrary: local.map(text => Number(forms.hhmmss(text))) },
      fc.constantFrom(0, 5960, 236_000, 240_000, -1),
    );
    const numbers = fc.tuple(nullable(fc.oneof(day.map(Number), fc.constant(99_991_231))), nullable(clock));
    for (const at of [0, 150 * 60_000, 1439 * 60_000]) {
      const options = (zone: string) => ({ zone: zoneOf(zone), at: { fhirType, local: at } });
      expectLaw(
        zone =>
          dateAndTimeCodec({
            ...options(zone),
            dateType: columnType('INT'),
            timeType: columnType('INT'),
            time: 'hhmmss',
          }),
        ['INT', 'INT'],
        numbers,
        KEYS,
      );
      expectLaw(
        zone =>
          dateAndTimeCodec({
            ...options(zone),
            dateType: columnType('DATE'),
            timeType: columnType('CHAR(5)'),
            time: 'hh:mm',
          }),
        ['DATE', 'CHAR(5)'],
        fc.tuple(
          nullable(local.map(text => text.slice(0, 10))),
          nullable(fc.oneof(local.map(forms['hh:mm']), fc.constantFrom('', '24:00'))),
        ),
        KEYS,
      );
    }
  });

  it.each([
    ['DECIMAL(7,0)', 'DECIMAL(6,0)'],
    ['INT', 'INT'],
  ])('keeps the law for %s whose years count from 1900 and %s', (date, time) => {
    const clock = fc.oneof(
      { weight: 4, arbitrary: local.map(text => Number(forms.hhmmss(text))) },
      fc.constantFrom(0, 5960, 236_000, 240_000, -1, 83_000),
    );
    const dates = fc.oneof(
      day.map(text => Number(text) - 19_000_000),
      fc.constantFrom(0, 9_999_999, 1_240_314),
    );
    const types = { dateType: columnType(date), since: 1900, timeType: columnType(time), time: 'hhmmss' as const };
    for (const at of [undefined, { fhirType: 'instant' as const, local: 0 }]) {
      expectLaw(
        zone => dateAndTimeCodec({ ...types, zone: zoneOf(zone), at }),
        [date, time],
        fc.tuple(nullable(dates), nullable(clock)),
        KEYS,
      );
    }
  });

  it('keeps the law for DATE and TIME', () => {
    const row = fc.tuple(
      nullable(local.map(text => text.slice(0, 10))),
      nullable(local.map(text => `${text.slice(11)}.000`)),
    );
    expectLaw(
      zone =>
        dateAndTimeCodec({
          zone: zoneOf(zone),
          dateType: columnType('DATE'),
          timeType: columnType('TIME(3)'),
          time: 'time',
        }),
      ['DATE', 'TIME(3)'],
      row,
      KEYS,
    );
  });

  it('keeps the law for the day of a DATETIME and hhmm', () => {
    const row = fc.tuple(
      nullable(local.map(text => `${text.slice(0, 10)} 00:00:00.000`)),
      nullable(local.map(forms.hhmm)),
    );
    expectLaw(
      zone =>
        dateAndTimeCodec({
          zone: zoneOf(zone),
          dateType: columnType('DATETIME'),
          timeType: columnType('CHAR(4)'),
          time: 'hhmm',
        }),
      ['DATETIME', 'CHAR(4)'],
      row,
      KEYS,
    );
  });

  it.each([
    ['20240115', '1305', '2024-01-15T13:05:00-05:00'],
    ['20240115', '    ', '2024-01-15'],
    ['20240115', null, '2024-01-15'],
    ['20240115', '2460', '2024-01-15'],
    ['20240100', '1305', '2024-01'],
    ['20240230', '1305', undefined],
  ])('reads %j and %j as %j', (date, time, wanted) => {
    const codec = dateAndTimeCodec({
      zone: zoneOf(NEW_YORK),
      dateType: columnType('CHAR(8)'),
      timeType: columnType('CHAR(4)'),
      time: 'hhmm',
    });
    expect(codec.decode(date, time)).toBe(wanted);
  });
});

it.each([
  [20_240_115, 930, '2024-01-15T09:30:00-05:00'],
  [20_240_115, 5, '2024-01-15T00:05:00-05:00'],
  [20_240_115, 0, '2024-01-15T00:00:00-05:00'],
  [20_240_115, 2400, '2024-01-15'],
  [20_240_115, 960, '2024-01-15'],
  [20_240_115, -5, '2024-01-15'],
  [20_240_115, null, '2024-01-15'],
])('date-and-time reads %j and the number %j as %j', (date, time, wanted) => {
  const codec = dateAndTimeCodec({
    zone: zoneOf(NEW_YORK),
    dateType: columnType('INT'),
    timeType: columnType('SMALLINT'),
    time: 'hhmm',
  });
  expect(codec.decode(date, time)).toBe(wanted);
});

describe('ymd8 with a time of day', () => {
  it.each(['INT', 'CHAR(8)'] as const)('keeps the law for %s', declared => {
    const days = fc.oneof(
      local.map(text => text.slice(0, 10).replaceAll('-', '')),
      packed,
      fc.constantFrom('00010101', '99991231', '20240230', '0'),
    );
    const raw: fc.Arbitrary<SqlValue> = declared === 'INT' ? days.map(Number) : days;
    const row = fc.tuple(nullable(raw));
    for (const at of [0, 150 * 60_000]) {
      for (const fhirType of ['instant', 'dateTime'] as const) {
        expectLaw(
          zone => ymd8AtCodec({ zone: zoneOf(zone), columnType: columnType(declared), fhirType, at }),
          [declared],
          row,
          KEYS,
        );
      }
    }
  });

  it.each([
    [20_240_310, '2024-03-10T00:00:00.000-05:00'],
    [20_240_300, undefined],
    [20_240_230, undefined],
    [0, undefined],
    [null, undefined],
  ])('reads %j as %j', (raw, wanted) => {
    const codec = ymd8AtCodec({ zone: zoneOf(NEW_YORK), columnType: columnType('INT'), fhirType: 'instant', at: 0 });
    expect(codec.decode(raw)).toBe(wanted);
  });
});

describe('ymd-parts', () => {
  it.each([
    [2024, 3, 10, '2024-03-10'],
    [2024, 3, 0, '2024-03'],
    [2024, null, null, '2024'],
    [2024, 0, 10, undefined],
    [2024, 2, 30, undefined],
    [2024, 13, 0, undefined],
    [null, 3, 10, undefined],
  ])('reads %j, %j, %j as %j', (year, month, day, wanted) => {
    expect(ymdPartsCodec({ zone: zoneOf('UTC') }).decode(year, month, day)).toBe(wanted);
  });

  it('keeps the law', () => {
    const row = fc.tuple(
      nullable(fc.constantFrom(2024, 2023, 2025, 2011, 0, -1, 1, 9999, 10000)),
      nullable(fc.constantFrom(3, 1, 12, 2, 4, 0, 13, 100, -1)),
      nullable(fc.constantFrom(10, 9, 11, 1, 31, 30, 29, 0, 32, 100, -1)),
    );
    expectLaw(zone => ymdPartsCodec({ zone: zoneOf(zone) }), ['SMALLINT', 'TINYINT', 'TINYINT'], row, KEYS);
  });
});
