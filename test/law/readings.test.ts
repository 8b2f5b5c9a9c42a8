/**
 * The readings against which `lintel check` tests codecs: they never contradict a sound codec, whatever the column
 * holds, and they reveal a codec that rounds, shifts, truncates, invents or loses, for each kind of value.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contradicts } from '../../src/law/readings.ts';
import type { Codec, Primitive } from '../../src/mapping/codecs/codec.ts';
import { afterSteps, CODECS, noteAsFile, TEXT_STEPS } from '../../src/mapping/codecs/table.ts';
import { type ColumnType, UNICODE } from '../../src/sql/column-type.ts';
import type { SqlValue } from '../../src/sql/expression.ts';
import { readMoment } from '../../src/time/written.ts';
import { zoneOf } from '../../src/time/zone.ts';
import { runsOf } from '../share.ts';

const ZONE = 'America/New_York';
const INTEGER: ColumnType = { kind: 'integer', bits: 32 };
const DATE: ColumnType = { kind: 'date' };
const TIME: ColumnType = { kind: 'time', fraction: 0 };
const UUID: ColumnType = { kind: 'uuid' };
const BYTES: ColumnType = { kind: 'binary', length: 16 };

function made(name: string, fhirType: string, columnTypes: readonly ColumnType[], options?: unknown): Codec {
  const [, base = name, facet] = /^([a-z0-9-]+)(?:\.(\w+))?$/.exec(name) ?? [];
  const context = { zone: ZONE, fhirType, columnTypes };
  const found = name.endsWith(', base64')
    ? noteAsFile(name.slice(0, -', base64'.length), context)
    : (CODECS[base]?.make(options, facet, context) ?? { problem: 'unknown' });
  if ('problem' in found) throw new Error(`${name}: ${found.problem}`);
  return found.codec;
}

/** Text steps, followed by a codec. */
function through(
  steps: readonly (readonly [name: string, options?: unknown])[],
  name: string,
  fhirType: string,
): Codec {
  const list = steps.map(([step, options]) => {
    const found = TEXT_STEPS[step]?.make(options);
    if (!found || !('step' in found)) throw new Error(step);
    return found.step;
  });
  const context = { zone: ZONE, fhirType, columnTypes: [UNICODE] };
  const found = afterSteps(list, context, inner => ({ codec: made(name, fhirType, inner.columnTypes) }));
  if ('problem' in found) throw new Error(found.problem);
  return found.codec;
}

const PARTS = [
  'a',
  'B',
  'é',
  '&',
  '&amp;',
  '&lt;',
  '&#65;',
  '&eacute;',
  ' ',
  '\t',
  '\n',
  '^',
  '-',
  '.',
  '/',
  '<',
  '>',
  '=',
  ';',
];
const DIGITS = ['0', '1', '2', '03', '10', '2024', '99', '00', '5.1'];
const TAGS = [
  '<p>',
  '</p>',
  '<b>',
  '</b>',
  '<br>',
  '<td colspan="2">',
  '</td>',
  '<script>',
  '</script>',
  '<img src="x">',
  '<!--',
  '-->',
];
const joined = (...pieces: readonly string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...pieces), { maxLength: 9 }).map(of => of.join(''));
const TEXTS = fc.oneof(
  joined(...PARTS, ...DIGITS),
  joined(...DIGITS, '-', '.', '<', '>', '=', ' '),
  joined(...DIGITS, '/'),
);
const NOTES = fc.oneof(
  joined(...TAGS, ...PARTS),
  joined(
    '{\\rtf1 ',
    '\\par ',
    'seen',
    '\\b ',
    "\\'e9",
    '{\\fonttbl{\\f0 Arial;}}',
    '{\\*\\x y}',
    '\\u233?',
    '}',
    'ok',
  ).map(rest => `{\\rtf1${rest}`),
);
const DATES = fc.oneof(
  joined(...DIGITS),
  fc.constantFrom('20240310', '20240300', '20230230', '19991231 ', '', '99991231'),
);
const CLOCKS = fc.constantFrom('0830', '083015', '08:30', '08:30:15', '2400', '8:30', '', ' ', '0230', '02:30:00.5');
const DAYS = fc.constantFrom('2024-03-10', '2023-11-05', '1999-12-31', '9999-12-31');
const orNull = (raw: fc.Arbitrary<SqlValue>): fc.Arbitrary<SqlValue> => fc.option(raw, { freq: 8 });

interface Case {
  readonly name: string;
  readonly codec: Codec;
  readonly raws: fc.Arbitrary<readonly SqlValue[]>;
  /** Stored values, each with the result of a broken codec. */
  readonly faults: readonly (readonly [stored: readonly SqlValue[], wrong: Primitive | undefined])[];
}

const one = (raw: fc.Arbitrary<SqlValue>): fc.Arbitrary<readonly SqlValue[]> => orNull(raw).map(value => [value]);
const two = (a: fc.Arbitrary<SqlValue>, b: fc.Arbitrary<SqlValue>): fc.Arbitrary<readonly SqlValue[]> =>
  fc.tuple(orNull(a), orNull(b));
const DIV = '<div xmlns="http://www.w3.org/1999/xhtml">';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

const CASES: readonly Case[] = [
  {
    name: 'html',
    codec: made('html', 'string', [UNICODE]),
    raws: one(NOTES),
    faults: [
      [['<p>seen <b>today</b></p>'], 'seen'],
      [['<p>seen &lt;5</p>'], 'seen &lt;5'],
      [['seen today'], 'seen today, better'],
      [['<p>seen</p>'], undefined],
      [['<p>seen</p>'], '(no text)'],
      [['<p>seen</p>'], '<p>seen</p>'],
      [['a<script>x()</script>b'], 'a xyz b'],
      [['{\\rtf1 {\\fonttbl{\\f0 Arial;}}seen\\par today}'], 'Arial;seen today'],
      [['{\\rtf1 seen\\par today}'], 'seen'],
    ],
  },
  {
    name: 'html of two columns',
    codec: made('html', 'string', [UNICODE, UNICODE]),
    raws: two(NOTES, NOTES),
    faults: [
      [['<p>seen</p>', 'better'], 'seen'],
      [['<p>seen</p>', ' '], undefined],
    ],
  },
  {
    name: 'xhtml',
    codec: made('xhtml', 'xhtml', [UNICODE]),
    raws: one(NOTES),
    faults: [
      [['<p>seen</p>'], `${DIV}<p>see</p></div>`],
      [['<p onclick="x()">seen</p>'], `${DIV}<p onclick="x()">seen</p></div>`],
      [['a<script>x()</script>'], `${DIV}a<script>x()</script></div>`],
      [['<a href="x">seen</a>'], `${DIV}<a>seen</a></div>`],
      [['<p>seen</p>'], '<p>seen</p>'],
      [['<p>seen</p>'], `${DIV}<p>seen</div>`],
      [['a & b'], `${DIV}a & b</div>`],
    ],
  },
  {
    name: 'html, base64',
    codec: made('html, base64', 'base64Binary', [UNICODE]),
    raws: one(NOTES),
    faults: [[['<p>seen today</p>'], base64('seen')]],
  },
  {
    name: 'xhtml, base64',
    codec: made('xhtml, base64', 'base64Binary', [UNICODE]),
    raws: one(NOTES),
    faults: [
      [['<p>seen</p>'], base64(`<html><body>${DIV}<p>se</p></div></body></html>`)],
      [['<p>seen</p>'], base64('seen')],
    ],
  },
  {
    name: 'uuid',
    codec: made('uuid', 'string', [UUID]),
    raws: one(fc.uuid().map(text => text.toUpperCase())),
    faults: [
      [['6FA459EA-EE8A-3CA4-894E-DB77E160355E'], '6fa459ea-ee8a-3ca4-894e-db77e160355f'],
      [['6FA459EA-EE8A-3CA4-894E-DB77E160355E'], '6FA459EA-EE8A-3CA4-894E-DB77E160355E'],
      [['6FA459EA-EE8A-3CA4-894E-DB77E160355E'], undefined],
    ],
  },
  {
    name: 'uuid of bytes',
    codec: made('uuid', 'string', [BYTES]),
    raws: one(fc.uint8Array({ minLength: 15, maxLength: 16 })),
    faults: [
      // In SQL Server's byte order.
      [[Buffer.from('6FA459EAEE8A3CA4894EDB77E160355E', 'hex')], 'ea59a46f-8aee-a43c-894e-db77e160355e'],
      [[Buffer.from('6FA459EAEE8A3CA4894EDB77E160355E', 'hex')], undefined],
      [[Buffer.from('6FA4', 'hex')], '6fa40000-0000-0000-0000-000000000000'],
    ],
  },
  {
    name: 'boolean',
    codec: made('boolean', 'boolean', [UNICODE], { true: ['Y', 'J'], false: ['N'] }),
    raws: one(fc.constantFrom('Y', 'N', 'J ', 'y', '', ' Y', 'X')),
    faults: [
      [['Y'], false],
      [['N'], undefined],
      [['X'], true],
    ],
  },
  {
    name: 'boolean of a bit',
    codec: made('boolean', 'boolean', [{ kind: 'bit' }]),
    raws: one(fc.constantFrom<SqlValue>(0, 1)),
    faults: [
      [[1], false],
      [[0], undefined],
    ],
  },
  {
    name: 'range-text.low',
    codec: made('range-text.low', 'decimal', [UNICODE]),
    raws: one(TEXTS),
    faults: [
      [['3.5-5.1'], { decimal: '3' }],
      [['3.5-5.1'], { decimal: '5.1' }],
      [['3.5-5.1'], undefined],
      [['<200'], { decimal: '200' }],
    ],
  },
  {
    name: 'range-text.high',
    codec: made('range-text.high', 'decimal', [UNICODE]),
    raws: one(TEXTS),
    faults: [
      [['3.5 - 5.1'], { decimal: '3.5' }],
      [['<=200'], undefined],
      [['>60'], { decimal: '60' }],
    ],
  },
  {
    name: 'date-and-time of packed dates',
    codec: made('date-and-time', 'dateTime', [UNICODE, UNICODE], { date: 'ymd8', time: 'hhmm' }),
    raws: two(DATES, CLOCKS),
    faults: [
      [['20240311', '0830'], '2024-03-11'],
      [['20240311', '0830'], '2024-03-11T08:31:00-04:00'],
      [['20240311', '0830'], '2024-03-11T08:30:00-05:00'],
      [['20240311', '0830'], '2024-03-12T08:30:00-04:00'],
      [['20240311', ' '], '2024-03-11T00:00:00-04:00'],
      [['20240311', '2460'], '2024-03-11T00:00:00-04:00'],
      [['20240311', null], undefined],
    ],
  },
  {
    name: 'date-and-time of whole numbers',
    codec: made('date-and-time', 'dateTime', [INTEGER, INTEGER], { date: 'ymd8', time: 'hhmm' }),
    raws: two(fc.constantFrom(20_240_311, 20_240_300, 20_230_230, 0), fc.constantFrom(0, 5, 930, 2359, 2400, 960, -1)),
    faults: [
      [[20_240_311, 930], '2024-03-11'],
      [[20_240_311, 930], '2024-03-11T09:31:00-04:00'],
      [[20_240_311, 960], '2024-03-11T10:00:00-04:00'],
      [[20_240_311, null], undefined],
    ],
  },
  {
    name: 'date-and-time with a time for rows that have none',
    codec: made('date-and-time', 'instant', [INTEGER, INTEGER], { date: 'ymd8', time: 'hhmmss', at: '08:30' }),
    raws: two(fc.constantFrom(20_240_311, 20_240_300, 20_230_230, 0), fc.constantFrom(0, 5, 93_000, 240_000, -1)),
    faults: [
      [[20_240_311, 93_000], '2024-03-11T08:30:00.000-04:00'],
      [[20_240_311, null], '2024-03-11T00:00:00.000-04:00'],
      [[20_240_311, null], undefined],
      [[20_240_300, null], '2024-03-01T08:30:00.000-05:00'],
    ],
  },
  {
    name: 'ymd8 with a time of day',
    codec: made('ymd8', 'instant', [INTEGER], { at: '00:00' }),
    raws: one(fc.constantFrom(20_240_311, 20_240_300, 20_230_230, 0)),
    faults: [
      [[20_240_311], '2024-03-12T00:00:00.000-04:00'],
      [[20_240_311], undefined],
      [[20_240_300], '2024-03-01T00:00:00.000-05:00'],
    ],
  },
  {
    name: 'days',
    codec: made('days', 'date', [INTEGER], { since: '1840-12-31' }),
    raws: one(fc.constantFrom(66_913, 1, 0, -1, 2_980_013, 2_980_014)),
    faults: [
      [[66_913], '2024-03-15'],
      [[66_913], undefined],
    ],
  },
  {
    name: 'days with a time that the mapping says',
    codec: made('days', 'instant', [INTEGER], { since: '1970-01-01', at: '02:30' }),
    raws: one(fc.constantFrom(19_796, 0, -1, 2_932_896, 2_932_897)),
    faults: [
      [[19_796], '2024-03-14T00:00:00.000-04:00'],
      [[19_796], '2024-03-15T02:30:00.000-04:00'],
      [[19_796], undefined],
    ],
  },
  ...(['date', 'dateTime', 'instant'] as const).map(
    (fhirType): Case => ({
      name: `days with a fraction as ${fhirType}`,
      codec: made('days', fhirType, [{ kind: 'float' }], { since: '1899-12-30' }),
      raws: one(fc.constantFrom(45_365, 45_365.354_166_67, 45_365.999_999, 45_365.5, 0.5, -1.25, 1e9)),
      faults: [
        [[45_365.5], fhirType === 'date' ? '2024-03-15' : '2024-03-14T12:00:02.000-04:00'],
        [[45_365.5], fhirType === 'date' ? '2024-03-13' : '2024-03-14T11:59:58.000-04:00'],
        [[45_365.999_999], '2024-03-16'],
      ],
    }),
  ),
  ...(['dateTime', 'instant'] as const).map(
    (fhirType): Case => ({
      name: `horolog as ${fhirType}`,
      codec: made('horolog', fhirType, [UNICODE], fhirType === 'instant' ? { at: '02:30' } : undefined),
      raws: one(fc.constantFrom('66913,30600', '66913', '66913,86400', '0,0', '2980014,1', '66913,x', '')),
      faults: [
        [['66913,30600'], '2024-03-14T08:31:00.000-04:00'],
        [['66913,30600'], '2024-03-14'],
        [['66913,30600'], undefined],
      ],
    }),
  ),
  ...(['date', 'dateTime', 'instant'] as const).map(
    (fhirType): Case => ({
      name: `dtm as ${fhirType}`,
      codec: made('dtm', fhirType, [UNICODE]),
      raws: one(
        fc.constantFrom('2024', '202403', '20240314', '202403140830', '20240314083000.9', '20240314083000-0600', '""'),
      ),
      faults: [
        [['20240314083000-0600'], fhirType === 'date' ? '2024-03-13' : '2024-03-14T08:30:00.000-04:00'],
        [['20240314083000'], fhirType === 'date' ? '2024-03' : '2024-03-14T08:31:00.000-04:00'],
        [['20240314083000'], undefined],
      ],
    }),
  ),
  ...(['date', 'dateTime', 'instant'] as const).map(
    (fhirType): Case => ({
      name: `iso as ${fhirType}`,
      codec: made('iso', fhirType, [UNICODE]),
      raws: one(
        fc.constantFrom(
          ...['2024', '2024-03', '2024-03-14', '2024-03-14T08:30', '2024-03-14 08:30:00.9', '2024-03-14T08:30Z'],
          ...['2024-03-14T08:30:00-06:00', '2024-03-14T08:30:00.123456789+0530', '2024-03-14 08:30:00 -06', 'N/A'],
        ),
      ),
      faults: [
        [['2024-03-14T08:30:00-06:00'], fhirType === 'date' ? '2024-03-13' : '2024-03-14T08:30:00.000-04:00'],
        [['2024-03-14T12:30:00Z'], fhirType === 'date' ? '2024-03' : '2024-03-14T08:31:00.000-04:00'],
        [['2024-03-14T12:30:00Z'], undefined],
      ],
    }),
  ),
  {
    name: 'horolog as a day',
    codec: made('horolog', 'date', [UNICODE]),
    raws: one(fc.constantFrom('66913,30600', '66913', '66913,86400', '0,0', '2980014,1', '')),
    faults: [
      [['66913,30600'], '2024-03-15'],
      [['66913'], undefined],
    ],
  },
  ...(['seconds', 'milliseconds', 'clarion'] as const).map(
    (time): Case => ({
      name: `date-and-time of days and ${time}`,
      codec: made('date-and-time', 'dateTime', [INTEGER, INTEGER], { date: 'days', since: '1840-12-31', time }),
      raws: two(fc.constantFrom(66_913, 0, -1, 2_980_014), fc.constantFrom(0, 1, 30_600, 3_060_001, 86_400_000, -1)),
      faults: [
        [[66_913, 30_600], '2024-03-14T09:30:00-04:00'],
        [[66_913, 30_600], '2024-03-15'],
        [[66_913, 30_600], undefined],
      ],
    }),
  ),
  {
    name: 'yddd',
    codec: made('yddd', 'date', [INTEGER]),
    raws: one(fc.constantFrom(2_024_074, 2_024_366, 2_023_366, 2_024_000, 24_074, 0, -1)),
    faults: [
      [[2_024_074], '2024-03-15'],
      [[2_024_074], undefined],
    ],
  },
  {
    name: 'yddd whose years count from 1900, with a time of day',
    codec: made('yddd', 'instant', [UNICODE], { since: '1900', at: '02:30' }),
    raws: one(fc.constantFrom('124074', '99365', '099365', '123366', '000000', '', 'x')),
    faults: [
      [['124074'], '2024-03-14T00:00:00.000-04:00'],
      [['124074'], undefined],
    ],
  },
  {
    name: 'date-and-time of ordinal dates',
    codec: made('date-and-time', 'dateTime', [INTEGER, INTEGER], { date: 'yddd', since: '1900', time: 'hhmmss' }),
    raws: two(fc.constantFrom(124_074, 99_365, 123_366, 0), fc.constantFrom(0, 93_000, 240_000)),
    faults: [
      [[124_074, 93_000], '2024-03-15T09:30:00-04:00'],
      [[124_074, 93_000], undefined],
    ],
  },
  ...(['dateTime', 'instant'] as const).map(
    (fhirType): Case => ({
      name: `ymd14 with the time behind a point as ${fhirType}`,
      codec: made('ymd14', fhirType, [{ kind: 'float' }], {
        since: '1700',
        ...(fhirType === 'instant' && { at: '00:00' }),
      }),
      raws: one(fc.constantFrom(3_240_314.083, 3_240_314, 3_240_300, 3_240_314.24, 3_240_314.083_000_1, 0, -1)),
      faults: [
        [[3_240_314.083], '2024-03-14T08:03:00.000-04:00'],
        [[3_240_314.083], '2024-03-15'],
        [[3_240_314.083_005], undefined],
      ],
    }),
  ),
  ...[undefined, 'UTC'].map(
    (zone): Case => ({
      name: `epoch as a date ${zone ?? ''}`,
      codec: made('epoch', 'date', [INTEGER], zone && { zone }),
      raws: one(fc.constantFrom(0, 1_710_374_400, 1_710_388_800, -1, 2_147_483_647, -2_147_483_648)),
      faults: [
        [[1_710_374_400], zone === undefined ? '2024-03-14' : '2024-03-13'],
        [[1_710_388_800], '2024-03-15'],
      ],
    }),
  ),
  {
    name: 'ymd8 whose years count from 1900',
    codec: made('ymd8', 'date', [INTEGER], { since: '1900' }),
    raws: one(fc.constantFrom(1_240_311, 1_240_300, 1_230_230, 991_231, 9_999_999, 0)),
    faults: [
      [[1_240_311], '2024-03-12'],
      [[1_240_311], '1924-03-11'],
      [[991_228], undefined],
      [[0], '1900'],
    ],
  },
  {
    name: 'date-and-time whose years count from 1900',
    codec: made('date-and-time', 'dateTime', [INTEGER, INTEGER], { date: 'ymd8', since: '1900', time: 'hhmmss' }),
    raws: two(fc.constantFrom(1_240_311, 1_240_300, 1_230_230, 991_231, 0), fc.constantFrom(0, 5, 93_000, 240_000)),
    faults: [
      [[1_240_311, 93_000], '1924-03-11T09:30:00-05:00'],
      [[1_240_311, 93_000], '2024-03-11T09:31:00-04:00'],
      [[1_240_311, 93_000], undefined],
    ],
  },
  {
    name: 'date-and-time of a DATE and a TIME',
    codec: made('date-and-time', 'dateTime', [DATE, TIME], { date: 'date', time: 'time' }),
    raws: two(DAYS, fc.constantFrom('08:30:00', '23:59:59', '02:30:00')),
    faults: [
      [['2024-03-11', '08:30:15'], '2024-03-11T08:30:00-04:00'],
      [['2024-03-11', '08:30:15'], '2024-03-11'],
    ],
  },
  {
    name: 'ymd-parts',
    codec: made('ymd-parts', 'date', [INTEGER, INTEGER, INTEGER]),
    raws: fc.tuple(
      ...[fc.constantFrom(1999, 2024, 0, 12), fc.nat(13), fc.nat(32)].map(part =>
        orNull(part as fc.Arbitrary<SqlValue>),
      ),
    ),
    faults: [
      [[2024, 3, 11], '2024-11-03'],
      [[2024, 3, 0], '2024-03-01'],
      [[2024, 0, 11], '2024'],
      [[2024, 3, 11], undefined],
    ],
  },
  {
    name: 'piece before number',
    codec: through([['piece', { by: '/', at: '2' }]], 'number', 'decimal'),
    raws: one(TEXTS),
    faults: [
      [['120/80'], { decimal: '120' }],
      [['120'], { decimal: '120' }],
    ],
  },
  {
    name: 'pieces of text',
    codec: through([['piece', { by: '^', at: '1' }]], 'text', 'string'),
    raws: one(TEXTS),
    faults: [
      [['DOE^JANE'], 'JANE'],
      [['DOE^JANE'], undefined],
    ],
  },
  ...(['first', 'last', 'all-but-last', 'all-but-first'] as const).map(
    (words): Case => ({
      name: `words ${words}`,
      codec: through([['words', words]], 'text', 'string'),
      raws: one(TEXTS),
      faults: [
        [['one two three'], 'two'],
        [['one two three'], undefined],
      ],
    }),
  ),
  {
    name: 'entities and upper',
    codec: through([['entities'], ['upper']], 'text', 'string'),
    raws: one(TEXTS),
    faults: [
      [['a &amp;lt; b'], 'A < B'],
      [['é a'], 'É A'],
      [['a'], 'a'],
    ],
  },
  {
    name: 'escapes',
    codec: through([['escapes']], 'text', 'string'),
    raws: one(fc.constantFrom('A \\T\\ B', '\\E\\T\\E\\', 'x\\.br\\y', '\\Z99\\', 'a\\b', '\\H\\\\N\\')),
    faults: [
      [['A \\T\\ B'], 'A \\T\\ B'],
      [['\\E\\T\\E\\'], '\\&'],
      [['A \\T\\ B'], undefined],
    ],
  },
  ...['MM/DD/YYYY', 'D.M.YYYY', 'YYYYDDMM', 'DD-MON-YYYY'].map(
    (form): Case => ({
      name: `written ${form}`,
      codec: through([['written', form]], 'ymd8', 'date'),
      raws: one(
        fc.oneof(
          TEXTS,
          fc.constantFrom('03/10/2024', '10.3.2024', '20241003', ' 3.10.2024 ', '10-mar-2024', '10-XXX-2024'),
        ),
      ),
      faults: [
        [
          [
            form
              .replace('YYYY', '2024')
              .replace(/MON|MM?/, part => (part === 'MON' ? 'MAR' : '03'))
              .replace(/DD?/, '10'),
          ],
          '2024-10-03',
        ],
        [
          [
            form
              .replace('YYYY', '2024')
              .replace(/MON|MM?/, part => (part === 'MON' ? 'MAR' : '03'))
              .replace(/DD?/, '10'),
          ],
          undefined,
        ],
        [['2024-03'], '2024-03'],
      ],
    }),
  ),
  {
    name: 'text',
    codec: made('text', 'string', [UNICODE]),
    raws: one(TEXTS),
    faults: [
      [['Smith'], 'Smit'],
      [['Smith'], undefined],
    ],
  },
  {
    name: 'code',
    codec: made('code', 'code', [UNICODE]),
    raws: one(TEXTS),
    faults: [
      [['007'], '7'],
      [['A-1 '], undefined],
    ],
  },
];

const read = (codec: Codec, stored: readonly SqlValue[], value: Primitive | undefined): boolean | undefined =>
  contradicts({ codec, type: UNICODE, stored, value, zone: ZONE, codeMaps: [] });

describe.each(CASES)('$name', ({ codec, raws, faults }) => {
  test('accepts what a correct codec makes', () => {
    fc.assert(
      fc.property(raws, stored => {
        const [a = null, b, c] = stored;
        expect(read(codec, stored, codec.decode(a, b, c))).not.toBe(true);
      }),
      { numRuns: runsOf(400) },
    );
  });

  test('rejects what a broken codec would make', () => {
    for (const [stored, wrong] of faults)
      expect([stored, wrong, read(codec, stored, wrong)]).toEqual([stored, wrong, true]);
  });
});

describe('a moment as SQLite keeps it', () => {
  const form = { kind: 'any', zone: ZONE } as const;
  const DATETIME: ColumnType = { kind: 'datetime', name: 'datetime2', fraction: 7, form };
  const codec = made('datetime', 'dateTime', [DATETIME]);
  const isContradicted = (stored: string, value: Primitive | undefined) =>
    contradicts({ codec, type: DATETIME, stored: [stored], value, zone: ZONE, codeMaps: [] });

  test.each([
    '0001-01-01 00:00:00',
    '1582-10-10 12:30:00',
    '1899-12-31 23:59:59',
    '1900-01-01 00:00:00',
    '2020-05-06 07:08:09.25',
    '2020-05-06 12:00:00-08',
    '2020-05-06 12:00:00+1400',
    '2020-05-06T12:00:00Z',
    ' 2020-05-06 07:08:09 ',
    '2023-03-12 02:30:00',
    '2023-01-01 24:00:00',
    '2023-01-01 23:59:60',
    '2023-01-01 12:30 noon 1',
    '2023-02-30 10:00:00',
  ])('%s is accepted as it is read, and contradicted if read a day later', stored => {
    const read = readMoment(stored, zoneOf(ZONE));
    const value = read === undefined ? undefined : codec.decode(read);
    expect(isContradicted(stored, value)).not.toBe(true);
    if (typeof value === 'string') expect(isContradicted(stored, value.replace(/-(\d\d)T/, '-28T'))).toBe(true);
  });

  test('a moment that is lost is contradicted', () => {
    expect(isContradicted('2020-05-06 12:00:00-08', undefined)).toBe(true);
    expect(isContradicted('2020-05-06 12:00', undefined)).toBe(true);
  });
});
