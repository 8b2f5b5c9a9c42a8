/**
 * The functions that the SQLite dialect adds to SQLite's own. All are pure except for the look at the clock, so SQLite
 * may call them once per value.
 */
import type { DatabaseSync } from 'node:sqlite';
import { instantOfCount } from '../../time/counted.ts';
import { readDay, readMoment, readTime } from '../../time/written.ts';
import { zoneOf } from '../../time/zone.ts';
import { fold, lengthInId, printNumber, spacedWords, UUID } from '../shared-functions.ts';
import { createContains } from './contains.ts';
import { type Limit, NO_LIMIT } from './time-limits.ts';

const NUMBER = /^[ \t\r\n]*(-?\d+(?:\.\d+)?)[ \t\r\n]*$/;

/** `limit` is asked with each, and may throw to end the statement. */
export function registerFunctions(database: DatabaseSync, limit: Pick<Limit, 'look' | 'check'> = NO_LIMIT): void {
  const { look, check } = limit;
  const contains = createContains();
  database.function('lintel_fold', { deterministic: true }, text => {
    check();
    return typeof text === 'string' ? fold(text) : text;
  });
  database.function('lintel_words', { deterministic: true }, text => {
    check();
    return typeof text === 'string' ? spacedWords(text) : text;
  });
  database.function('lintel_digits', { deterministic: true }, text => {
    check();
    return typeof text === 'string' ? text.replace(/[^0-9]+/g, '') : text;
  });
  database.function('lintel_id_length', { deterministic: true }, (text, how) => {
    check();
    return text === null ? null : lengthInId(String(text), Number(how));
  });
  database.function('lintel_number', { deterministic: true }, text => {
    check();
    if (typeof text === 'number') return text;
    const match = typeof text === 'string' ? NUMBER.exec(text) : null;
    return match ? Number(match[1]) : null;
  });
  // Large integers would be errors as numbers.
  const pure = { deterministic: true, useBigIntArguments: true };
  database.function('lintel_moment', pure, (written, zone) => {
    check();
    return typeof written === 'string' ? (readMoment(written, zoneOf(String(zone))) ?? null) : null;
  });
  database.function('lintel_day', pure, written => {
    check();
    return typeof written === 'string' ? (readDay(written) ?? null) : null;
  });
  database.function('lintel_time', pure, written => {
    check();
    return typeof written === 'string' ? (readTime(written) ?? null) : null;
  });
  database.function('lintel_uuid', pure, written => {
    check();
    return typeof written === 'string' && UUID.test(written) ? written.toUpperCase() : null;
  });
  database.function('lintel_instant', pure, (number, unit) => {
    check();
    if (typeof number !== 'number' && typeof number !== 'bigint') return null;
    const instant = instantOfCount(Number(number), String(unit));
    return instant === undefined ? null : BigInt(instant);
  });
  database.function('lintel_printed', pure, (number, scale) => {
    check();
    if (typeof number !== 'number' && typeof number !== 'bigint') return null;
    return printNumber(number, scale === null ? undefined : Number(scale)) ?? null;
  });
  database.function('lintel_contains', { deterministic: true }, (text, where, texts) => {
    check();
    return text === null ? null : Number(contains(String(text), String(where), String(texts)));
  });
  // Always 1, and not pure: it is for the row that is read now.
  database.function('lintel_look', () => {
    look();
    return 1;
  });
}
