import { describe, expect, test } from 'vitest';
import { dateInterval } from '../../src/search/dates.ts';
import { zoneOf } from '../../src/time/zone.ts';

const NEW_YORK = zoneOf('America/New_York');

describe('a written date stands for an interval of instants', () => {
  test.each([
    ['2024', '2024-01-01T05:00:00Z', '2025-01-01T05:00:00Z'],
    ['2024-03', '2024-03-01T05:00:00Z', '2024-04-01T04:00:00Z'],
    ['2024-03-10', '2024-03-10T05:00:00Z', '2024-03-11T04:00:00Z'],
    ['2024-03-10T08:30', '2024-03-10T12:30:00Z', '2024-03-10T12:31:00Z'],
    ['2024-03-10T08:30:15', '2024-03-10T12:30:15Z', '2024-03-10T12:30:16Z'],
    ['2024-03-10T08:30:15Z', '2024-03-10T08:30:15Z', '2024-03-10T08:30:16Z'],
    ['2024-03-10T08:30:15.250+01:00', '2024-03-10T07:30:15.250Z', '2024-03-10T07:30:15.251Z'],
    ['2024-03-10T08:30:15 05:00', '2024-03-10T03:30:15Z', '2024-03-10T03:30:16Z'],
    ['2024-03-10T08:30:15.2509-03:30', '2024-03-10T12:00:15.250Z', '2024-03-10T12:00:15.251Z'],
    ['0099-01-01T00:00:00Z', '0099-01-01T00:00:00Z', '0099-01-01T00:00:01Z'],
  ])('%s', (text, low, high) => {
    expect(dateInterval(text, NEW_YORK)).toEqual({ low: Date.parse(low), high: Date.parse(high) });
  });

  test.each([
    '',
    '24',
    '2024-13',
    '2024-00',
    '2023-02-29',
    '2024-02-30',
    '2024-01-01T24:00',
    '2024-1-1',
    '2024-01-01T10',
    'today',
  ])('%j is no date', text => {
    expect(dateInterval(text, NEW_YORK)).toBeUndefined();
  });
});
