/**
 * Reads time stamps of HL7 v2 (DTM, TS): `YYYY[MM[DD[HH[MM[SS[.S…]]]]]][+/-ZZZZ]`, of any precision, and rewrites
 * those of ISO 8601 as such. In: a text. Out: its meaning, the text that SQL compares, and its sort key. SQLite calls
 * these functions; T-SQL has SQL made from the same form (src/sql/mssql/dtm.ts).
 */
import { memoized } from '../common/caches.ts';
import { DAY, dayOf, isDay, pad, parseClock } from './calendar.ts';
import { instantKey, type RepeatedHour, repeatedHourAt } from './instant-key.ts';
import { firstWith, printLocal, timeKey, type Zone } from './zone.ts';

/**
 * What a stamp must contain. `day`: its day, month or year as written. `moment`: a moment, or the date alone without an
 * hour. `midnight`: a moment; a day alone means its midnight. `second`: a moment to the second.
 */
export type DtmNeed = (typeof NEEDS)[number];

const NEEDS = ['day', 'moment', 'midnight', 'second'] as const;

/** Returns the need of this name. Throws a TypeError for any other text. */
export function needOf(name: unknown): DtmNeed {
  const found = NEEDS.find(need => need === name);
  if (found === undefined)
    throw new TypeError('a stamp of HL7 v2 is asked for a day, a moment, a midnight or a second');
  return found;
}

export type Dtm =
  /** 20240310 for a day, 20240300 for a month, 20240000 for a year. */
  | { readonly kind: 'date'; readonly packed: number }
  /** Milliseconds of the wall clock, or since 1970. `rest`: units of 100 ns beyond them. */
  | { readonly kind: 'local' | 'instant'; readonly at: number; readonly rest: number };

const DATE = '([0-9]{4})(?:([0-9]{2})(?:([0-9]{2})';
const TIME = '(?:([0-9]{2})(?:([0-9]{2})(?:([0-9]{2})(?:[.]([0-9]{1,7}))?)?)?)?';
const FORM = new RegExp(`^${DATE}${TIME})?)?([+-](?:0[0-9]|1[0-3])[0-5][0-9]|[+-]1400)? *$`);
/** Years of stamps with a zone: FHIR can write their local year in any zone, and their clock changes are known. */
export const ZONED_YEARS = { first: 2, end: 2100 } as const;

/** Reads a text; undefined if it is no stamp, or contains less than is needed. */
export function readDtm(text: string, need: DtmNeed): Dtm | undefined {
  const [, y, mo, d, h, mi, s, fraction = '', offset] = FORM.exec(text) ?? [];
  if (y === undefined) return undefined;
  const [year, month, day] = [Number(y), Number(mo ?? 1), Number(d ?? 1)];
  const time = parseClock(Number(h ?? 0), Number(mi ?? 0), Number(s ?? 0));
  if (time === undefined || !isDay(year, month, day)) return undefined;
  if (need === 'day' || (need === 'moment' && h === undefined))
    return { kind: 'date', packed: Number(packedOf(y, mo, d)) };
  if ((need === 'midnight' && d === undefined) || (need === 'second' && s === undefined)) return undefined;
  const digits = fraction.padEnd(7, '0');
  const local = dayOf(year, month, day) * DAY + time + Number(digits.slice(0, 3));
  const rest = Number(digits.slice(3));
  if (offset === undefined) return { kind: 'local', at: local, rest };
  if (year < ZONED_YEARS.first || year >= ZONED_YEARS.end) return undefined;
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(3));
  return { kind: 'instant', at: local + (offset.startsWith('-') ? minutes : -minutes) * 60_000, rest };
}

function packedOf(year: string, month = '00', day = '00'): string {
  return year + month + day;
}

const ISO_TIME = '[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.]([0-9]{1,9}))?)?(?: *(Z|[+-][0-9]{2}(?::?[0-9]{2})?))?';
const ISO = new RegExp(`^([0-9]{4})(?:-([0-9]{2})(?:-([0-9]{2})(?:${ISO_TIME})?)?)? *$`);

/**
 * Returns the stamp of HL7 v2 for `2016`, `2016-09`, `2016-09-27` and `2016-09-27T07:48:18.123+02:00`: T or a blank
 * before the time, with or without seconds, fractions and a zone (`Z`, `+02:00`, `+0200`, `+02`). Digits of a second
 * beyond seven are left out. Undefined for another text.
 */
export function stampOfIso(text: string): string | undefined {
  const [, y, mo = '', d = '', h = '', mi = '', s = '', fraction, zone = ''] = ISO.exec(text) ?? [];
  if (y === undefined) return undefined;
  const offset = zone === 'Z' ? '+0000' : zone.replace(':', '').replace(/^(...)$/, '$100');
  return `${y}${mo}${d}${h}${mi}${s}${fraction === undefined ? '' : `.${fraction.slice(0, 7)}`}${offset}`;
}

/** Letters before the texts to compare: dates sort before local times, and these before instants. */
export const DTM_LETTERS = { date: 'D', local: 'L', instant: 'Z' } as const;

/** Returns `D2024-03-00`, `L2024-03-10 08:30:05.1230000`, `Z2024-03-10 13:30:05.1230000`. */
export function comparedDtm(text: string, need: DtmNeed): string | undefined {
  const found = readDtm(text, need);
  if (!found) return undefined;
  const letter = DTM_LETTERS[found.kind];
  return letter + (found.kind === 'date' ? printedDate(found.packed) : printLocal(found.at, 3) + pad(found.rest, 4));
}

/** Prints 20240300 as `2024-03-00`. */
export function printedDate(packed: number): string {
  const digits = pad(packed, 8);
  return `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`;
}

/** Returns the sort key that all date codecs share (zone.ts), in the zone. That of a date alone has no time. */
export function keyOfDtm(text: string, need: DtmNeed, zone: Zone): string | undefined {
  const found = readDtm(text, need);
  if (!found) return undefined;
  if (found.kind === 'date') return printedDate(found.packed);
  if (found.kind === 'instant') return instantKey(found.at, zone, found.rest);
  return timeKey(printLocal(found.at, 3) + pad(found.rest, 4));
}

/** From an instant up to the next piece: an offset, or the prefix of the keys of a repeated hour's second pass. */
export interface KeyPiece {
  readonly from: number;
  readonly offset: number;
  readonly second?: RepeatedHour;
}

/** Returns how instants of stamps become keys in a zone, in the order of time. */
export const keyPiecesOf = memoized((zone: Zone): readonly KeyPiece[] => {
  const [from, end] = [Date.UTC(1900, 0, 1), Date.UTC(ZONED_YEARS.end, 0, 2)];
  const found: KeyPiece[] = [{ from: Number.NEGATIVE_INFINITY, offset: zone.offsetAt(from) }];
  for (let at = from; at < end; at += 7 * DAY) {
    const [before, after] = [zone.offsetAt(at), zone.offsetAt(at + 7 * DAY)];
    if (before === after) continue;
    const change = firstWith(at, at + 7 * DAY, instant => zone.offsetAt(instant) !== before);
    const second = repeatedHourAt(change, zone);
    if (second) found.push({ from: second.from, offset: after, second }, { from: second.to, offset: after });
    else found.push({ from: change, offset: after });
  }
  return found;
});

/** Returns the same pieces by local time: a skipped time has the offset before the change, a repeated one too. */
export function localPiecesOf(zone: Zone): readonly KeyPiece[] {
  const changes = keyPiecesOf(zone).filter(({ offset }, i, all) => offset !== all[i - 1]?.offset);
  let before = 0;
  return changes.map(({ from, offset }) => {
    const local = Number.isFinite(from) ? from + Math.max(before, offset) : from;
    before = offset;
    return { from: local, offset };
  });
}
