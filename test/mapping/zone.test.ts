import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contains } from '../../src/time/range-set.ts';
import { zoneOf } from '../../src/time/zone.ts';
import { runsOf } from '../share.ts';
import { toInstant } from './codecs/oracle.ts';

const HOUR = 3_600_000;
const at = (text: string): number => Date.parse(`${text}Z`);

describe('zones', () => {
  it.each([
    ['America/New_York', '2024-01-15T12:00:00', -5],
    ['America/New_York', '2024-07-15T12:00:00', -4],
    ['America/New_York', '2024-03-10T01:59:59', -5],
    ['America/New_York', '2024-03-10T02:30:00', -5],
    ['America/New_York', '2024-03-10T03:00:00', -4],
    ['America/New_York', '2024-11-03T01:30:00', -4],
    ['America/New_York', '2024-11-03T02:00:00', -5],
    ['Asia/Kolkata', '2024-11-03T02:00:00', 5.5],
    ['Pacific/Apia', '2011-12-30T12:00:00', -10],
    ['Pacific/Apia', '2011-12-31T00:00:00', 14],
    ['UTC', '2024-11-03T02:00:00', 0],
  ])('%s at %s is %d hours from UTC', (name, local, hours) => {
    expect(zoneOf(name).offsetOf(at(local))).toBe(hours * HOUR);
  });

  it('uses the offset of 1900, in whole minutes, for earlier times', () => {
    expect(zoneOf('America/New_York').offsetOf(at('1753-01-01T00:00:00'))).toBe(-5 * HOUR);
    expect(zoneOf('Europe/Amsterdam').offsetOf(at('1753-01-01T00:00:00')) % 60_000).toBe(0);
  });

  it('refuses a name that is no zone', () => {
    expect(() => zoneOf('America/Nowhere')).toThrow(RangeError);
  });

  const names = fc.constantFrom(
    'America/New_York',
    'Europe/London',
    'America/Sao_Paulo',
    'Pacific/Apia',
    'Australia/Lord_Howe',
    'Africa/Casablanca',
    'Asia/Tehran',
  );
  const changes = [
    '2024-03-10T02:30:00',
    '2024-11-03T01:30:00',
    '2024-03-31T01:30:00',
    '2018-11-04T00:00:00',
    '2018-02-17T23:30:00',
    '2011-12-30T00:00:00',
    '2024-04-07T01:45:00',
    '2024-12-31T23:59:59',
    '2025-01-01T00:00:00',
    '1900-01-01T00:00:00',
    '1970-01-01T00:00:00',
    '9999-12-31T00:00:00',
    '0001-01-01T00:00:00',
  ].map(at);
  const locals = fc.oneof(
    fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -3 * HOUR, max: 3 * HOUR })).map(([base, by]) => base + by),
    fc.integer({ min: at('1990-01-01T00:00:00'), max: at('2035-01-01T00:00:00') }),
  );

  it('give the instant of Intl, with the earlier offset for skipped and repeated times', () => {
    fc.assert(
      fc.property(names, locals, (name, local) => {
        expect(zoneOf(name).toInstant(local)).toBe(toInstant(local, name));
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('give as the preimage of "at or after" exactly those local times, in at most three ranges', () => {
    fc.assert(
      fc.property(names, locals, locals, (name, local, bound) => {
        const zone = zoneOf(name);
        for (const instant of [zone.toInstant(bound), zone.toInstant(local), zone.toInstant(local) + 1]) {
          const set = zone.localsFrom(instant);
          expect(set.length).toBeLessThanOrEqual(3);
          expect(contains(set, local)).toBe(zone.toInstant(local) >= instant);
        }
      }),
      { numRuns: runsOf(500) },
    );
  });

  it('give two ranges for an instant that a skipped local time denotes, too', () => {
    const set = zoneOf('America/New_York').localsFrom(at('2024-03-10T07:30:00'));
    expect(set).toEqual([
      { from: at('2024-03-10T02:30:00'), to: at('2024-03-10T03:00:00') },
      { from: at('2024-03-10T03:30:00'), to: Number.POSITIVE_INFINITY },
    ]);
  });
});
