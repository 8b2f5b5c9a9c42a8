/**
 * Reads a stored value without the codec that emits it, as the reference implementation of codecs. In: the codec's
 * label and options, the values as the database stores them, and the codec's result. Out: whether they contradict each
 * other.
 * It finds codecs that round, truncate, shift or lose. Codecs that are not listed here are checked against their own
 * inverse only.
 */
import type { CodeMap } from '../mapping/codecs/code-map.ts';
import type { Codec, CodecOptions, Primitive } from '../mapping/codecs/codec.ts';
import type { ColumnType } from '../sql/column-type.ts';
import type { SqlValue } from '../sql/expression.ts';
import { agreesInTime, plainDigits } from './forms.ts';
import { narrativeIn, noteDiffers } from './read-notes.ts';
import { textAfter } from './read-steps.ts';

export interface Reading {
  readonly codec: Pick<Codec, 'label' | 'options'>;
  /** Type of the first column. */
  readonly type: ColumnType | undefined;
  readonly stored: readonly SqlValue[];
  /** The codec's result; undefined if there is none. */
  readonly value: Primitive | undefined;
  readonly zone: string;
  readonly codeMaps: readonly CodeMap[];
}

interface Context {
  readonly options: CodecOptions;
  readonly zone: string;
  /** True for a column of numbers, where anything else is absent. */
  readonly isNumber: boolean;
}

/** The reading of one column, as its text. */
interface Single {
  readonly differs: (stored: string, emitted: string, context: Context) => boolean;
  /** True if the text certainly means a value, so that none would be a loss. Without it that is unknown. */
  readonly means?: (stored: string, context: Context) => boolean;
}

const DAY = /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])$/;

/** A day with a time of day other than midnight. */
const meansMoment = (stored: string): boolean =>
  DAY.test(stored.slice(0, 10)) && CLOCK.test(stored.slice(10)) && /[1-9]/.test(stored.slice(11));

/** A time without an offset is in UTC. */
const IN_UTC: Single = {
  differs: (stored, emitted, { zone, options }) => {
    const [, day, time = '', offset = 'Z'] = /^(\S{10})[ T]([\d:.]+) *(Z|[+-]\d\d:\d\d)?$/i.exec(stored.trim()) ?? [];
    const at = Date.parse(`${day}T${time}${offset}`);
    const timeZone = options.clock ?? zone;
    if (options.precision !== undefined)
      return !isPartOf(emitted, new Date(at).toLocaleDateString('sv', { timeZone }), options);
    // Before zones had whole minutes, offsets were inexact.
    return (day ?? '') >= '1900' && !isMoment(emitted, at, timeZone);
  },
  means: meansMoment,
};

const READINGS: Readonly<Record<string, Single>> = {
  'date (in UTC)': IN_UTC,
  'datetime (in UTC)': IN_UTC,
  line: {
    differs: (stored, emitted) => stored.trimEnd() !== emitted.trimEnd(),
    means: stored => /[^\s\p{C}]/u.test(stored),
  },
  number: { differs: (stored, emitted) => !sameNumber(stored, emitted) },
  text: {
    differs: (stored, emitted, { isNumber }) => !(isNumber ? sameNumber : sameText)(stored, emitted),
    means: (stored, { isNumber }) => !isNumber && /[^\s\p{C}]/u.test(stored),
  },
  code: {
    differs: (stored, emitted, { isNumber }) =>
      isNumber ? !sameNumber(stored, emitted) : stored.replace(/ +$/, '') !== emitted,
    means: (stored, { isNumber }) => !isNumber && /^[\w.-]+ *$/.test(stored),
  },
  date: { differs: differsInTime, means: stored => DAY.test(stored) },
  datetime: { differs: differsInTime, means: meansMoment },
  'comparator-number.value': {
    differs: (stored, emitted) => !sameNumber(stored.replace(/^\s*[<>]?=?\s*/, ''), emitted),
    means: stored => /^\s*(?:[<>]=?)?\s*\d{1,6}(?:\.\d{1,6})?\s*$/.test(stored),
  },
  'comparator-number.comparator': {
    differs: (stored, emitted) => /^\s*([<>]=?)/.exec(stored)?.[1] !== emitted,
    means: stored => /^\s*[<>]=?\s*\d{1,6}(?:\.\d{1,6})?\s*$/.test(stored),
  },
  ymd8: {
    differs: (stored, emitted, { options }) => {
      const digits = countedDigits(stored.trim(), options.since).padStart(8, '0');
      return !/^\d{8}$/.test(digits) || digits.replace(/(00){1,2}$/, '') !== emitted.slice(0, 10).replaceAll('-', '');
    },
    means: (stored, { options }) =>
      DAY.test(countedDigits(stored, options.since).replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3')),
  },
  ymd14: {
    differs: (stored, emitted, { zone, options }) => {
      const digits = options.point ? pointDigits(stored.trim(), options.since) : stored.trim();
      const [, y, mo, d, h, mi, s] = /^(\d{4})(\d\d)(\d\d)(?:(\d\d)(\d\d)(\d\d))?$/.exec(digits) ?? [];
      if (y === undefined) return true;
      const date = `${y}-${mo}-${d}`.replace(/(-00){1,2}$/, '');
      if (emitted.length <= 10) return emitted !== date;
      // 24:00 is emitted as the next day.
      if (h === '24') return !/T00:00:00/.test(emitted) || emitted.slice(0, 10) <= date;
      return !agreesInTime(emitted, `${date} ${h ?? '00'}:${mi ?? '00'}:${s ?? '00'}`, zone);
    },
    means: (stored, { options }) =>
      /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|1\d|2[0-8])[01]\d[0-5]\d[0-5]\d$/.test(
        options.point ? pointDigits(stored, options.since) : stored,
      ),
  },
  dtm: {
    differs: (stored, emitted, { zone }) => {
      const [, y, mo, d, h, mi, s, f = '', offset] = DTM.exec(stored) ?? [];
      if (y === undefined) return true;
      const date = [y, mo, d].filter(part => part !== undefined).join('-');
      if (emitted.length <= 10) return emitted !== date;
      const clock = `${h ?? '00'}:${mi ?? '00'}:${s ?? '00'}`;
      if (offset === undefined) return !agreesInTime(emitted, `${date} ${clock}`, zone);
      return !isMoment(emitted, Date.parse(`${date}T${clock}${f.slice(0, 4)}${offset.replace(/..$/, ':$&')}`), zone);
    },
    means: stored =>
      /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|1\d|2[0-8])[01]\d[0-5]\d[0-5]\d(?:\.\d{1,4})?(?:[+-]0[0-9]00)?$/.test(
        stored,
      ),
  },
  iso: {
    differs: (stored, emitted, { zone }) => {
      const [, date = '', clock, seconds = '', f = '', mark] = ISO.exec(stored) ?? [];
      if (date === '') return true;
      if (emitted.length <= 10) return emitted !== date;
      const time = `${date} ${clock ?? '00:00'}${seconds || ':00'}`;
      if (mark === undefined) return !agreesInTime(emitted, time, zone);
      const offset = mark === 'Z' ? mark : `${mark.slice(0, 3)}:${mark.replace(':', '').slice(3) || '00'}`;
      return !isMoment(emitted, Date.parse(`${time.replace(' ', 'T')}${f.slice(0, 4)}${offset}`), zone);
    },
    means: stored =>
      /^(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])[T ][01]\d:[0-5]\d:[0-5]\d(?:\.\d{1,4})?(?:Z|[+-]0[0-9]:00)?$/.test(
        stored,
      ),
  },
  days: {
    differs: (stored, emitted, { options: { from = 0, at } }) => {
      const local = (from + Number(stored)) * 86_400_000;
      if (!(Math.abs(local) < 1e15)) return true;
      const day = (of: number): string => new Date(of).toISOString().slice(0, 10);
      if (at !== undefined) return !emitted.startsWith(`${day(local)}T${at}`);
      // The day of the second that a fraction is rounded to.
      if (emitted.length === 10) return emitted !== day(local + 499) && emitted !== day(local + 501);
      const clock = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?/.exec(emitted)?.[0] ?? '';
      return !(Math.abs(Date.parse(`${clock}Z`) - local) <= (clock.includes('.') ? 1 : 501));
    },
    means: (stored, { options: { from = 0 } }) =>
      /^\d{1,6}$/.test(stored) && COUNTED.from < Number(stored) + from && Number(stored) + from < COUNTED.to,
  },
  yddd: {
    differs: (stored, emitted, { options: { since, at } }) => {
      const day = ordinalDay(stored.trim(), since);
      return day === undefined || (at === undefined ? emitted !== day : !emitted.startsWith(`${day}T${at}`));
    },
    means: (stored, { options: { since } }) => DAY.test(ordinalDay(stored, since) ?? ''),
  },
  'horolog (day)': {
    differs: (stored, emitted) => countedDay(stored.split(',')[0], HOROLOG) !== emitted,
    means: stored => /^[5-8]\d{4}$/.test(stored),
  },
  epoch: { differs: (stored, emitted, { zone }) => !isMoment(emitted, Number(stored) * 1000, zone) },
  'epoch (milliseconds)': { differs: (stored, emitted, { zone }) => !isMoment(emitted, Number(stored), zone) },
  julian: {
    differs: (stored, emitted, { zone }) => !isMoment(emitted, (Number(stored) - 2_440_587.5) * 86_400_000, zone),
  },
  boolean: {
    differs: (stored, emitted, { options }) => String(truthOf(stored, options)) !== emitted,
    means: (stored, { options }) => truthOf(stored, options) !== undefined,
  },
  uuid: {
    differs: (stored, emitted) =>
      !UUID.test(emitted) || stored.toLowerCase().replace(/[{}-]/g, '') !== emitted.replaceAll('-', ''),
    means: stored => UUID.test(stored.toLowerCase().replace(/^\{(.*)\}$/, '$1')),
  },
  'range-text.low': rangeEnd('low'),
  'range-text.high': rangeEnd('high'),
};

/** A stamp of HL7 v2: its parts, the digits of a second with their point, and the offset. */
const DTM = /^(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\.\d+)?([+-]\d{4})? *$/;
const ISO = /^(\d{4}(?:-\d\d){0,2})(?:[T ](\d\d:\d\d)(:\d\d)?(\.\d+)?)? *(Z|[+-]\d\d(?::?\d\d)?)? *$/;
/** Days from 1901 to 2099, since 1970. */
const COUNTED = { from: -25_202, to: 47_481 };
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** True if the reading contradicts the codec; undefined if there is no reading for this codec or these values. */
export function contradicts(reading: Reading): boolean | undefined {
  const { codec, type, stored, value, zone, codeMaps } = reading;
  const { label, options = {} } = codec;
  const emitted = value === undefined ? undefined : typeof value === 'object' ? value.decimal : String(value);
  const notes = /^(html|xhtml)(, base64)?$/.exec(label);
  if (notes) return contradictsNotes(notes[1] === 'html' ? 'html' : 'xhtml', notes[2] !== undefined, stored, emitted);
  if (label === 'date-and-time') return contradictsMoment(stored, emitted, options, zone);
  if (label === 'horolog') {
    const [, days, seconds = null] = /^(\d{1,7})(?:,(\d{0,7}))?$/.exec(String(stored[0] ?? '').trim()) ?? [];
    if (days === undefined) return emitted !== undefined;
    return contradictsMoment([days, seconds], emitted, options, zone);
  }
  if (label === 'ymd-parts') return contradictsParts(stored, emitted);
  if (label === 'zoned') {
    const [time = null, place] = stored;
    const clocks = options.zones?.[String(place ?? '').trimEnd()] ?? zone;
    return contradicts({ ...reading, codec: { label: 'datetime' }, stored: [time], zone: clocks });
  }
  const [raw = null] = stored;
  if (raw === null) return undefined;
  if (label === 'base64')
    return emitted === undefined ? undefined : !bytesOf(raw).equals(Buffer.from(emitted, 'base64'));
  if (raw instanceof Uint8Array) return label === 'uuid' ? contradictsBytes(raw, emitted) : undefined;
  const text = typeof raw === 'number' ? plainDigits(raw) : raw;
  const { steps, codecLabel, ...rest } = options;
  const context = { options: rest, zone, isNumber: typeof raw === 'number' || (type !== undefined && isNumeric(type)) };
  if (steps === undefined || codecLabel === undefined) return contradictsText(label, text, emitted, context, codeMaps);
  const left = textAfter(steps, text);
  return left === undefined
    ? emitted !== undefined && !MAY_MEAN_NOTHING.test(codecLabel)
    : contradictsText(codecLabel, left, emitted, context, codeMaps);
}

/** A code map may give a code for nothing. */
const MAY_MEAN_NOTHING = /^code map /;

function contradictsText(
  label: string,
  text: string,
  emitted: string | undefined,
  context: Context,
  codeMaps: readonly CodeMap[],
): boolean | undefined {
  const [, name, facet] = /^code map (.+)\.(code|system|display)$/.exec(label) ?? [];
  if (name !== undefined) return contradictsMap(codeMaps, name, facet, text.trimEnd(), emitted);
  // A datetime column that holds a number encodes its moment in another way.
  if (/^date/.test(label) && /^-?\d+(\.\d+)?$/.test(text)) return undefined;
  const [, bare = label, midnight] = /^(\w+) \(midnight: (\w+)\)$/.exec(label) ?? [];
  const moment = bare.replace(/ \(day(?: in UTC)?\)$/, '');
  const single =
    READINGS[bare] ?? READINGS[moment] ?? READINGS[/^(ymd8|ymd14|yddd|days|dtm|iso) /.exec(label)?.[1] ?? ''];
  if (!single) return undefined;
  const seen = label.endsWith('(day in UTC)') ? { ...context, zone: 'UTC' } : context;
  if (emitted !== undefined) return single.differs(text, emitted, seen);
  return midnight === undefined && single.means?.(text, context) === true ? true : undefined;
}

function contradictsMap(
  codeMaps: readonly CodeMap[],
  name: string,
  facet: string | undefined,
  raw: string,
  emitted: string | undefined,
): boolean | undefined {
  const coded = codeMaps.find(map => map.name === name)?.rows.get(raw);
  const said = coded && (facet === 'code' ? coded.code : facet === 'system' ? coded.system : coded.display);
  return said === undefined ? undefined : said !== emitted;
}

/** A note that is not blank is always emitted. */
function contradictsNotes(
  form: 'html' | 'xhtml',
  isFile: boolean,
  stored: readonly SqlValue[],
  emitted: string | undefined,
): boolean {
  const notes = stored.filter(raw => typeof raw === 'string').filter(raw => /[^ \t\r\n]/.test(raw));
  if (notes.length === 0 || emitted === undefined) return notes.length > 0 !== (emitted !== undefined);
  const text = isFile ? Buffer.from(emitted, 'base64').toString('utf8') : emitted;
  return noteDiffers(form, notes, isFile && form === 'xhtml' ? narrativeIn(text) : text);
}

function contradictsBytes(raw: Uint8Array, emitted: string | undefined): boolean {
  const hex = [...raw].map(byte => byte.toString(16).padStart(2, '0')).join('');
  if (raw.length !== 16) return emitted !== undefined;
  return emitted === undefined || !UUID.test(emitted) || emitted.replaceAll('-', '') !== hex;
}

const CLOCKS: Readonly<Record<string, RegExp>> = {
  hhmm: /^(\d\d)(\d\d) *$/,
  hhmmss: /^(\d\d)(\d\d)(\d\d) *$/,
  'hh:mm': /^(\d\d):(\d\d) *$/,
  'hh:mm:ss': /^(\d\d):(\d\d):(\d\d) *$/,
  time: /^(\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?$/,
};

/** Compares a day of one column and the clock of another; the day alone if that shows no time. */
function contradictsMoment(
  [date = null, time = null]: readonly SqlValue[],
  emitted: string | undefined,
  { time: counted = '', at, since, from, ordinal }: CodecOptions,
  zone: string,
): boolean | undefined {
  const stored = String(date ?? '').trim();
  const written = ordinal
    ? (ordinalDay(stored, since) ?? '')
    : from === undefined
      ? countedDigits(stored, since)
      : (countedDay(stored, from) ?? '');
  const day = /^(\d{4})-?(\d\d)-?(\d\d)(?:[ T][\d:.]*)?$/.exec(written);
  if (!day) return undefined;
  const [, year = '', month = '', dayOfMonth = ''] = day;
  const digits = `${year}-${month}-${dayOfMonth}`.replace(/(-00){1,2}$/, '');
  // With a time for days without one, a month or a year is no value.
  if (at !== undefined && digits.length < 10) return emitted !== undefined;
  if (emitted === undefined) return DAY.test(digits) ? true : undefined;
  if (emitted.slice(0, 10) !== digits) return true;
  const [form, clockOf] = clockIn(time, counted);
  const [, hour = '', minute = '', second = '00'] = CLOCKS[form]?.exec(clockOf) ?? [];
  const isTime = hour !== '' && hour < '24' && minute < '60' && second < '60' && digits.length === 10;
  // A TIME column may have other spellings, which its dialect reads.
  if (!isTime && at === undefined) return emitted.length > 10 ? form !== 'time' : false;
  if (!isTime && form === 'time') return undefined;
  const clock = isTime ? `${hour}:${minute}:${second}` : (at ?? '');
  if (emitted.slice(11, 19) !== clock) return true;
  // Before zones had whole minutes, offsets were inexact.
  return year >= '1900' && !agreesInTime(emitted, `${digits} ${clock}`, zone);
}

/** Returns a time as written, with the name of that form. Numbers that count from midnight give the clock time. */
function clockIn(time: SqlValue, form: string): readonly [form: string, text: string] {
  const [per, midnight] = COUNTED_TIMES[form] ?? [];
  if (per === undefined || midnight === undefined)
    return [form, typeof time === 'number' ? String(time).padStart(form.length, '0') : String(time ?? '')];
  const second = /^\d{1,9}$/.test(String(time)) ? (Number(time) - midnight) / per : -1;
  const isTime = second >= 0 && second < 86_400;
  return ['hh:mm:ss', isTime ? new Date(second * 1000).toISOString().slice(11, 19) : ''];
}

/** Units per second, and the number of midnight. */
const COUNTED_TIMES: Readonly<Record<string, readonly [per: number, midnight: number]>> = {
  seconds: [1, 0],
  milliseconds: [1000, 0],
  clarion: [100, 1],
};
const HOROLOG = -47_117;

/** Converts 66913 days since 1840-12-31 to `2024-03-14`. */
function countedDay(stored: string | undefined, from: number): string | undefined {
  const at = (Number(stored) + from) * 86_400_000;
  return /^\d{1,7}$/.test(stored ?? '') && at < 253_402_300_800_000
    ? new Date(at).toISOString().slice(0, 10)
    : undefined;
}

/** Converts 2024074, or 124074 with years since 1900, to `2024-03-14`. */
function ordinalDay(stored: string, since: number | undefined): string | undefined {
  const number = /^\d{1,7}$/.test(stored) && Number(stored) > 0 ? Number(stored) + (since ?? 0) * 1000 : 0;
  const year = Math.floor(number / 1000);
  const day = new Date(Date.UTC(year, 0, number % 1000));
  if (year < 1000 || number % 1000 === 0 || day.getUTCFullYear() !== year) return undefined;
  return day.toISOString().slice(0, 10);
}

/** Converts 3240314.083 with years since 1700 to `20240314083000`. A time of zeros is none. */
function pointDigits(stored: string, since: number | undefined): string {
  const [, days = '', zeros = ''] = /^(\d{6,8})(?:\.(\d+))?$/.exec(stored) ?? [];
  const time = zeros.replace(/0+$/, '');
  if (days === '' || time.length > 6) return '';
  return countedDigits(days, since) + (time === '' ? '' : time.padEnd(6, '0'));
}

/** Converts 1240314 with years since 1900 to `20240314`, others to `no digits`. Without `since` nothing changes. */
function countedDigits(stored: string, since: number | undefined): string {
  if (since === undefined) return stored;
  const [, years = '', rest = ''] = /^(\d{2,3})(\d{4})$/.exec(stored) ?? [];
  return years === '' || !/[1-9]/.test(stored) ? 'no digits' : `${since + Number(years)}${rest}`;
}

function contradictsParts(stored: readonly SqlValue[], emitted: string | undefined): boolean | undefined {
  const [year = 0, month = 0, day = 0] = stored.map(part =>
    !(part instanceof Uint8Array) && /^\d{1,4}$/.test(String(part)) ? Number(part) : 0,
  );
  const said = [
    String(year).padStart(4, '0'),
    ...[month, day].slice(0, month === 0 ? 0 : day === 0 ? 1 : 2).map(part => String(part).padStart(2, '0')),
  ].join('-');
  if (emitted !== undefined) return emitted !== said || (month === 0 && day !== 0);
  return DAY.test(said) ? true : undefined;
}

function isNumeric({ kind }: ColumnType): boolean {
  return kind === 'integer' || kind === 'decimal' || kind === 'float' || kind === 'bit';
}

/** A month or a year alone. */
function isPartOf(emitted: string, day: string, { precision }: CodecOptions): boolean {
  return emitted === day.slice(0, precision === 'month' ? 7 : 4);
}

function differsInTime(stored: string, emitted: string, { zone, options }: Context): boolean {
  if (options.precision !== undefined) return !isPartOf(emitted, stored.trim(), options);
  return !agreesInTime(emitted, stored, zone);
}

/** The time after a day, and the offset. */
const CLOCK = /^[ T](?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d+)?)? *(?:Z|[+-]\d\d(?::?\d\d)?)? *$/i;

/**
 * True if an emitted moment is that many milliseconds since 1970, to its own second; or if an emitted day is its day
 * there.
 */
function isMoment(emitted: string, at: number, timeZone: string): boolean {
  // Years with fewer digits are not padded.
  if (emitted.length === 10)
    return emitted.startsWith('0') || new Date(at).toLocaleDateString('sv', { timeZone }) === emitted;
  const said = Date.parse(emitted);
  return /\.\d/.test(emitted) ? Math.abs(said - at) <= 1 : said - at <= 1 && at - said < 1001;
}

function truthOf(stored: string, options: CodecOptions): boolean | undefined {
  const raw = stored.replace(/ +$/, '');
  if (options.true?.includes(raw)) return true;
  return options.false?.includes(raw) ? false : undefined;
}

function rangeEnd(end: 'low' | 'high'): Single {
  const read = (stored: string): string | undefined => {
    const text = stored.replace(/[ \t\r\n]+/g, ' ').trim();
    const [, sign, bound] = /^([<>])=? ?(-?\d+(?:\.\d+)?)$/.exec(text) ?? [];
    if (bound !== undefined) return (sign === '>') === (end === 'low') ? bound : undefined;
    const [, low, high] = /^(\d+(?:\.\d+)?) ?- ?(\d+(?:\.\d+)?)$/.exec(text) ?? [];
    return end === 'low' ? low : high;
  };
  return {
    differs: (stored, emitted) => !sameNumber(read(stored) ?? '', emitted),
    means: stored => (read(stored)?.length ?? 99) <= 7 && stored.length <= 15,
  };
}

function bytesOf(raw: Exclude<SqlValue, null>): Buffer {
  return raw instanceof Uint8Array ? Buffer.from(raw) : Buffer.from(String(raw));
}

/** True if both texts are equal, apart from outer blanks and characters that no text of FHIR has. */
function sameText(stored: string, emitted: string): boolean {
  const visible = (text: string): string => text.replace(/\p{Cc}(?<![\t\r\n])/gu, '').trim();
  return visible(stored) === visible(emitted);
}

/** Compares by value: leading and trailing zeros do not count. */
export function sameNumber(a: string, b: string): boolean {
  const [left, right] = [significant(a), significant(b)];
  return left !== undefined && left === right;
}

function significant(text: string): string | undefined {
  const plain = /^\s*[+-]?[\d.]+e[+-]?\d+\s*$/i.test(text) ? plainDigits(Number(text)) : text;
  const [, sign = '', whole = '', fraction = ''] = /^\s*([+-]?)(\d+)(?:\.(\d*))?\s*$/.exec(plain) ?? [];
  if (whole === '') return undefined;
  const digits = `${whole.replace(/^0+(?=\d)/, '')}.${fraction}`.replace(/\.?0*$/, '');
  return digits === '0' || digits === '' ? '0' : `${sign === '-' ? '-' : ''}${digits}`;
}
