import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  daysOf,
  hl7Time,
  interval,
  localDay,
  localTime,
  moment,
  notBefore,
  readablePeriod,
  readableTime,
  readableVisit,
} from '../../src/ccda/time.ts';

test.each([
  ['2016', '2016'],
  ['2016-07', '201607'],
  ['2016-07-29', '20160729'],
  ['2016-07-29T14:20:00-04:00', '20160729142000-0400'],
  ['2016-07-29T14:20:00Z', '20160729142000+0000'],
  ['2016-07-29T14:20:00.500-04:00', '20160729142000.500-0400'],
  ['2016-07-29T14:20-04:00', '201607291420-0400'],
])('%s is %s for HL7', (fhir, hl7) => {
  expect(hl7Time(fhir)).toBe(hl7);
});

test.each([undefined, '', 'soon', '07/29/2016', '2016-7-29'])('%s is no time', text => {
  expect(hl7Time(text)).toBeUndefined();
});

test.each([
  ['2016', ['2016-01-01', '2016-12-31']],
  ['2016-02', ['2016-02-01', '2016-02-29']],
  ['2015-02', ['2015-02-01', '2015-02-28']],
  ['2016-07-29', ['2016-07-29', '2016-07-29']],
  ['2016-07-29T23:30:00-04:00', ['2016-07-29', '2016-07-29']],
  ['2016-07-30T03:30:00Z', ['2016-07-29', '2016-07-29']],
  ['2016-07-29T23:30:00-07:00', ['2016-07-30', '2016-07-30']],
])('%s covers these days in New York', (text, [first, last]) => {
  expect(daysOf(text, 'America/New_York')).toEqual({ first, last });
});

test('the time of a zone has its offset, in summer and in winter', () => {
  expect(localTime(Date.UTC(2026, 6, 1, 16), 'America/New_York')).toBe('2026-07-01T12:00:00-04:00');
  expect(localTime(Date.UTC(2026, 0, 1, 3), 'America/New_York')).toBe('2025-12-31T22:00:00-05:00');
  expect(localTime(Date.UTC(2026, 0, 1, 3), 'UTC')).toBe('2026-01-01T03:00:00+00:00');
  expect(localTime(Date.UTC(2026, 0, 1, 3), 'Asia/Kolkata')).toBe('2026-01-01T08:30:00+05:30');
  expect(localDay(Date.UTC(2026, 0, 1, 3), 'America/New_York')).toBe('2025-12-31');
});

test('a local time is the instant that it came from', () => {
  const instants = fc.integer({ min: Date.UTC(1970, 0, 1), max: Date.UTC(2099, 0, 1) });
  fc.assert(
    fc.property(
      instants,
      fc.constantFrom('America/New_York', 'Asia/Kolkata', 'UTC', 'Australia/Lord_Howe'),
      (instant, zone) => {
        expect(Date.parse(localTime(instant, zone))).toBe(Math.floor(instant / 1000) * 1000);
      },
    ),
  );
});

test('an interval has a low always, a high where there is one or must be', () => {
  expect(interval('2020-01-01', undefined).text).toBe('<effectiveTime><low value="20200101"/></effectiveTime>');
  expect(interval(undefined, undefined, true).text).toBe(
    '<effectiveTime><low nullFlavor="UNK"/><high nullFlavor="UNK"/></effectiveTime>',
  );
  expect(interval('2020-01-01', '2019-01-01').text).toBe('<effectiveTime><low value="20200101"/></effectiveTime>');
  expect(moment('2020-01-01', undefined).text).toBe('<effectiveTime value="20200101"/>');
  expect(moment(undefined, { start: '2020-01-01', end: '2020-01-02' }).text).toBe(
    '<effectiveTime><low value="20200101"/><high value="20200102"/></effectiveTime>',
  );
  expect(moment(undefined, undefined).text).toBe('<effectiveTime nullFlavor="UNK"/>');
  expect(notBefore('2020', '2020-05-05')).toBe('2020');
});

test.each([
  ['2020-05-05T09:00:00-04:00', '2020-05-05T10:00:00-04:00', false],
  ['2020-05-05T10:00:00-04:00', '2020-05-05T10:00:00-04:00', true],
  // The clock was set back in between.
  ['2025-11-02T01:10:00-05:00', '2025-11-02T01:50:00-04:00', true],
  ['2020-05-05', '2020-05-05T10:00:00-04:00', true],
  ['2020-05-04', '2020-05-05T10:00:00-04:00', false],
])('an end %s after a start %s is written: %s', (end, start, kept) => {
  expect(notBefore(end, start)).toBe(kept ? end : undefined);
});

test('the narrative shows times without a zone', () => {
  expect(readableTime('2016-07-29T14:20:00-04:00')).toBe('2016-07-29 14:20');
  expect(readableTime('2016-07')).toBe('2016-07');
  expect(readablePeriod('2016', undefined)).toBe('from 2016 on');
  expect(readablePeriod(undefined, '2016')).toBe('until 2016');
  expect(readablePeriod('2016', '2017')).toBe('2016 to 2017');
  expect(readablePeriod('2016-07-29T14:20:00-04:00', '2016-07-29T15:05:00-04:00')).toBe('2016-07-29 14:20 to 15:05');
  expect(readablePeriod('2016-07-29T14:20:00-04:00', '2016-07-30T15:05:00-04:00')).toBe(
    '2016-07-29 14:20 to 2016-07-30 15:05',
  );
  expect(readablePeriod('2016-07-29', '2016-07-29')).toBe('2016-07-29');
  expect(readablePeriod(undefined, undefined)).toBe('');
});

test.each([
  ['finished', { start: '2025-11-07T14:00:00-05:00' }, '2025-11-07 14:00'],
  ['in-progress', { start: '2025-11-07T14:00:00-05:00' }, 'from 2025-11-07 14:00 on'],
  ['finished', { start: '2025-11-07T14:00:00-05:00', end: '2025-11-07T15:00:00-05:00' }, '2025-11-07 14:00 to 15:00'],
] as const)('an encounter with status %s and period %j is written as %s', (status, period, told) => {
  expect(readableVisit({ status, period })).toBe(told);
});
