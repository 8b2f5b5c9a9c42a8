import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { civil, DAY, dayOf, parseClock, parseDay, printDay, printTime } from '../../../src/time/calendar.ts';
import { runsOf } from '../../share.ts';

/** Number of the day by Date, which takes years below 100 as years of the last century. */
function dateOf(year: number, month: number, day: number): number {
  return new Date(0).setUTCFullYear(year, month - 1, day) / DAY;
}

describe('days', () => {
  const first = dateOf(0, 1, 1);
  const end = dateOf(10_000, 1, 1);

  it('are numbered as Date numbers them, and back, from the year before the first on', () => {
    const near = fc.constantFrom(first, first + 59, first + 60, dateOf(1, 1, 1), dateOf(1600, 2, 29), end - 1);
    fc.assert(
      fc.property(fc.oneof(near, fc.integer({ min: first, max: end - 1 })), number => {
        const { year, month, day } = civil(number);
        expect(dateOf(year, month, day)).toBe(number);
        expect(dayOf(year, month, day)).toBe(number);
        expect(parseDay(printDay(number))).toBe(year === 0 ? undefined : number);
      }),
      { numRuns: runsOf(2000) },
    );
  });

  it.each([
    '2023-02-29',
    '2024-13-01',
    '2024-00-10',
    '2024-1-100',
    '202a-01-01',
    '2024/01/01',
    '2024-01-0',
    '0000-01-01',
  ])('%s is refused as a day', text => {
    expect(parseDay(text)).toBeUndefined();
  });
});

describe('times of day', () => {
  it('are printed as they were read, whatever the day', () => {
    const parts = fc.tuple(fc.nat(23), fc.nat(59), fc.nat(59), fc.integer({ min: -719_000, max: 2_900_000 }));
    fc.assert(
      fc.property(parts, ([hour, minute, second, day]) => {
        const time = parseClock(hour, minute, second) ?? Number.NaN;
        const two = (part: number): string => String(part).padStart(2, '0');
        expect(printTime(day * DAY + time + 999)).toBe(`${two(hour)}:${two(minute)}:${two(second)}`);
      }),
    );
  });

  it.each([
    [24, 0, 0],
    [23, 60, 0],
    [23, 0, 60],
    [-1, 0, 0],
    [0, -1, 0],
    [0, 0, -1],
  ])('%i:%i:%i is refused as a time of day', (hour, minute, second) => {
    expect(parseClock(hour, minute, second)).toBeUndefined();
  });
});
