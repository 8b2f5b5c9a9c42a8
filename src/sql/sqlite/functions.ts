/**
 * Defines the functions that the SQLite dialect adds to SQLite's own. All are pure except for the check of the clock,
 * so SQLite may call them once per value.
 */
import type { DatabaseSync } from 'node:sqlite';
import { comparedDtm, keyOfDtm, needOf, stampOfIso } from '../../time/dtm.ts';
import { instantOfCount } from '../../time/epoch-units.ts';
import { keyOfClock } from '../../time/instant-key.ts';
import { readDay, readMoment, readTime } from '../../time/written.ts';
import { writtenReader } from '../../time/written-form.ts';
import { zoneOf } from '../../time/zone.ts';
import { fold, lengthInId, printNumber, spacedWords, unescaped, uuidOf } from '../shared-functions.ts';
import { type Limit, NO_LIMIT } from './time-limits.ts';

const NUMBER = /^[ \t\r\n]*(-?\d+(?:\.\d+)?)[ \t\r\n]*$/;

/** Registers the functions. Each calls `limit`, which may throw to end the statement. */
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
  database.function('lintel_unescaped', { deterministic: true }, text => {
    check();
    return typeof text === 'string' ? unescaped(text) : text;
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
  // As numbers, large integers would cause errors.
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
  database.function('lintel_written', pure, (text, form, from) => {
    check();
    if (typeof text !== 'string') return null;
    return writtenReader(String(form), from === 0n ? undefined : Number(from))(text) ?? null;
  });
  database.function('lintel_iso', pure, text => {
    check();
    return typeof text === 'string' ? (stampOfIso(text) ?? null) : null;
  });
  database.function('lintel_dtm', pure, (text, need) => {
    check();
    return typeof text === 'string' ? (comparedDtm(text, needOf(need)) ?? null) : null;
  });
  database.function('lintel_dtm_key', pure, (text, need, zone) => {
    check();
    return typeof text === 'string' ? (keyOfDtm(text, needOf(need), zoneOf(String(zone))) ?? null) : null;
  });
  database.function('lintel_clock_key', pure, (text, from, to) => {
    check();
    if (typeof text !== 'string') return null;
    return keyOfClock(text, zoneOf(String(from)), zoneOf(String(to))) ?? null;
  });
  database.function('lintel_uuid', pure, written => {
    check();
    return typeof written === 'string' ? (uuidOf(written) ?? null) : null;
  });
  database.function('lintel_instant', pure, (number, unit) => {
    check();
    if (typeof number !== 'number' && typeof number !== 'bigint') return null;
    const instant = instantOfCount(Number(number), String(unit));
    return instant === undefined ? null : BigInt(instant);
  });
  database.function('lintel_scaled', pure, (number, digits) => {
    check();
    if (typeof number !== 'number' && typeof number !== 'bigint') return null;
    const power = 10 ** Number(digits);
    const units = Math.round(Number(number) * power);
    return Number.isSafeInteger(units) && units / power === Number(number) ? BigInt(units) : null;
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
  // Always returns 1. Not pure, because SQLite must call it for each row.
  database.function('lintel_look', () => {
    look();
    return 1;
  });
}

type Test = (text: string) => boolean;

/** Limit of parsed lists: a statement compares a few lists, each with several columns. */
const KEPT = 16;

/**
 * Compares a text with many others. In: a text, where in it another text must be (start, end, anywhere), and the others
 * as a JSON array. Out: whether one matches. Caches parsed lists, because statements use them row by row.
 */
export function createContains(): (text: string, where: string, texts: string) => boolean {
  const kept: { readonly where: string; readonly texts: string; readonly test: Test }[] = [];
  return (text, where, texts) => {
    const known = kept.find(one => one.texts === texts && one.where === where);
    if (known) return known.test(text);
    const test = testFor(where, JSON.parse(texts) as readonly string[]);
    if (kept.length === KEPT) kept.shift();
    kept.push({ where, texts, test });
    return test(text);
  };
}

function testFor(where: string, texts: readonly string[]): Test {
  if (where === 'words') return beginWords(texts.map(wordsOf));
  if (where === 'anywhere') return text => texts.some(one => text.includes(one));
  // Looks up one substring per length, because there are far fewer lengths than texts.
  const known = new Set(texts);
  const lengths = [...new Set(texts.map(({ length }) => length))];
  switch (where) {
    case 'start':
      return text => lengths.some(length => known.has(text.slice(0, length)));
    case 'end':
      return text => lengths.some(length => length <= text.length && known.has(text.slice(text.length - length)));
    case 'whole':
      return text => known.has(text);
    default:
      throw new TypeError(`a text cannot be looked for ${where}`);
  }
}

/** Splits words at the blanks between them. */
function wordsOf(text: string): readonly string[] {
  return text.split(' ').filter(word => word !== '');
}

/**
 * True if all words of some list begin words of the text. Finds lists by their longest word, which few others share.
 */
function beginWords(lists: readonly (readonly string[])[]): Test {
  const byLongest = Map.groupBy(lists, list =>
    list.reduce((longest, word) => (word.length > longest.length ? word : longest), ''),
  );
  const lengths = [...new Set([...byLongest.keys()].map(({ length }) => length))];
  return text => {
    const own = wordsOf(text);
    return own.some(word =>
      lengths.some(length =>
        byLongest.get(word.slice(0, length))?.some(list => list.every(one => own.some(begun => begun.startsWith(one)))),
      ),
    );
  };
}
