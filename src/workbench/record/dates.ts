/**
 * Shifts a date that a text or a number spells, in any form. In: the value, the days to shift by, the hours and minutes
 * to shift the time of day by. Out: candidates; the caller takes the first that its codec reads as the shifted date.
 */
import { formOf, isAmbiguousDay } from '../../profile/form.ts';
import { civil, dayOf, isDay, pad } from '../../time/calendar.ts';

export interface Shift {
  /** Large enough to change every month and year. */
  readonly days: number;
  readonly hours: number;
  readonly minutes: number;
}

interface Day {
  readonly year: number;
  /** 0 if only the year is known. */
  readonly month: number;
  /** 0 if only the month is known. */
  readonly day: number;
}

/** From this year on, a date is a sentinel such as 9999-12-31. */
const SENTINELS = 2200;
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

export function isSentinelDay(text: string): boolean {
  const [, year] = /^\s*(\d{4})(?:\D|\d{4}\b|$)/.exec(text) ?? /^[^:]*\b(\d{4})(?:[\sT]|$)/.exec(text) ?? [];
  return Number(year) >= SENTINELS;
}

/** Shifts a date with the year first and two-digit month and day. */
export function shiftedYearFirst(text: string, shift: Shift): string | undefined {
  const [, before = '', year, mark = '', month, day, rest = ''] =
    /^(\s*)(\d{4})([-/. ]?)(\d\d)\3(\d\d)(?!\d{3}(?!\d{3}))(.*)$/s.exec(text) ?? [];
  const moved = year === undefined ? undefined : movedBy(Number(year), Number(month), Number(day), shift);
  const time = shiftedRest(rest, shift);
  if (!moved || time === undefined) return undefined;
  return `${before}${pad(moved.year, 4)}${mark}${pad(moved.month, 2)}${mark}${pad(moved.day, 2)}${time}`;
}

export function shiftedForms(text: string, shift: Shift): readonly string[] {
  return [
    shiftedYearFirst(text, shift),
    ...yearLast(text, shift),
    shortYearFirst(text, shift),
    named(text, shift),
    ofMessage(text, shift),
    ...short(text, shift),
  ].filter(one => one !== undefined);
}

/** Shifts a time without a date: `0830`, `08:30:15`. */
export function shiftedTime(text: string, shift: Shift): string | undefined {
  return /^\s*(?:\d\d:?\d\d|\d:\d\d)/.test(text) ? shiftedRest(text, shift) : undefined;
}

/** Going back so many days always reaches a day of the month of 12 or less. */
const MOST_BACK = 31;

/**
 * Shifts a text that looks like a date or a time although no codec reads it. `03/04/2020`, in which each part may be
 * the day, becomes a date that is ambiguous too.
 */
export function shiftedLook(text: string, shift: Shift): string | undefined {
  if (/^(?:19|20)\d\d([-/.]?)\d\d\1\d\d(?!\d)/.test(text)) return shiftedYearFirst(text, shift);
  const form = formOf(text);
  if (form.startsWith('hh:')) return shiftedTime(text, shift);
  if (!/^yyyymmddhh|^(?:dd|mm|yy)[-/.]/.test(form)) return undefined;
  if (isSentinelDay(text)) return text;
  const [moved] = shiftedForms(text, shift);
  if (!isAmbiguousDay(form)) return moved;
  for (let back = 0; back < MOST_BACK; back++) {
    const [one] = shiftedForms(text, { ...shift, days: shift.days - back });
    if (one !== undefined && formOf(one) === form) return one;
  }
  return undefined;
}

function movedBy(year: number, month: number, day: number, { days }: Shift): Day | undefined {
  if (year < 1000 || month > 12) return undefined;
  if (month === 0) return day === 0 ? { year: year + Math.floor(days / 365), month, day } : undefined;
  if (day === 0) {
    const months = year * 12 + month - 1 + Math.floor(days / 30);
    return { year: Math.floor(months / 12), month: (months % 12) + 1, day };
  }
  return isDay(year, month, day) ? civil(dayOf(year, month, day) + days) : undefined;
}

/** Shifts `10.3.2024`, `03/10/24`, `10032024`; with the day or the month first. */
function yearLast(text: string, shift: Shift): readonly (string | undefined)[] {
  const [, before = '', a, mark = '', b, year, rest = ''] =
    /^(\s*)(\d{1,2})([-/. ])(\d{1,2})\3(\d{4}|\d\d)(?!\d)(.*)$/s.exec(text) ??
    /^(\s*)(\d\d)()(\d\d)(\d{4})(?!\d)(.*)$/s.exec(text) ??
    [];
  if (a === undefined || b === undefined || year === undefined) return [];
  const time = shiftedRest(rest, shift);
  const spelled = (isDayFirst: boolean): string | undefined => {
    const [day, month] = isDayFirst ? [a, b] : [b, a];
    const moved = movedBy(Number(year.padStart(4, '20')), Number(month), Number(day), shift);
    if (!moved || time === undefined) return undefined;
    const parts = isDayFirst ? [moved.day, moved.month] : [moved.month, moved.day];
    const written = [a, b].map((part, i) => pad(parts[i] ?? 0, part.length)).join(mark);
    return `${before}${written}${mark}${pad(moved.year, 4).slice(-year.length)}${time}`;
  };
  return [spelled(true), spelled(false)];
}

/**
 * Shifts `94-03-10`. Only a codec knows the century, but the calendars of both are the same except for one day in 1900.
 */
function shortYearFirst(text: string, shift: Shift): string | undefined {
  const [, before = '', year, mark = '', month = '', day = '', rest = ''] =
    /^(\s*)(\d\d)([-/. ])(\d{1,2})\3(\d{1,2})(?!\d)(.*)$/s.exec(text) ?? [];
  const moved = year === undefined ? undefined : movedBy(2000 + Number(year), Number(month), Number(day), shift);
  const time = shiftedRest(rest, shift);
  if (!moved || time === undefined) return undefined;
  const written = [pad(moved.year % 100, 2), pad(moved.month, month.length), pad(moved.day, day.length)];
  return `${before}${written.join(mark)}${time}`;
}

/**
 * Shifts timestamps of HL7 v2: `2024031008`, `202403100830`, `20240310083005.123-0500`, `20240310-0500`, `2024-0500`.
 */
function ofMessage(text: string, shift: Shift): string | undefined {
  const [, year, month = '', day = '', hour = '', rest = '', zone = ''] =
    /^(\d{4})(\d\d)?(\d\d)?(\d\d)?((?:\d\d){0,2}(?:\.\d+)?)([+-]\d{4})?\s*$/.exec(text) ?? [];
  const moved = year === undefined ? undefined : movedBy(Number(year), Number(month), Number(day), shift);
  const time =
    rest === '' ? shiftedRest(hour && `${hour}00`, shift)?.slice(0, hour.length) : shiftedRest(hour + rest, shift);
  if (!moved || time === undefined) return undefined;
  const parts = [pad(moved.year, 4), month && pad(moved.month, 2), day && pad(moved.day, 2)];
  return `${parts.join('')}${time}${zone}`;
}

/** Shifts `10-MAR-2024`, `10 Mar 2024`, `10-MAR-24`. */
function named(text: string, shift: Shift): string | undefined {
  const [, day, mark = '', month = '', year, rest = ''] =
    /^(\d{1,2})([-/. ])([A-Za-z]{3})\2(\d{4}|\d\d)(?!\d)(.*)$/s.exec(text) ?? [];
  const at = MONTHS.indexOf(month.toLowerCase()) + 1;
  if (day === undefined || year === undefined || at === 0) return undefined;
  const moved = movedBy(Number(year.padStart(4, '20')), at, Number(day), shift);
  const time = shiftedRest(rest, shift);
  if (!moved || time === undefined) return undefined;
  const small = MONTHS[moved.month - 1] ?? '';
  const upper = month === month.toUpperCase() ? small.toUpperCase() : small;
  const spelled =
    month.charAt(0) === month.charAt(0).toUpperCase() ? upper.charAt(0).toUpperCase() + upper.slice(1) : small;
  return `${pad(moved.day, day.length)}${mark}${spelled}${mark}${String(moved.year).slice(-year.length)}${time}`;
}

/**
 * Shifts years, months, seven-digit dates with a digit for the century, and counts of days, seconds or milliseconds.
 */
function short(text: string, shift: Shift): readonly (string | undefined)[] {
  const { days } = shift;
  const [, year, mark = '', month] = /^(\d{4})(?:(-?)(\d\d))?\s*$/.exec(text) ?? [];
  const moved = year === undefined ? undefined : movedBy(Number(year), Number(month ?? 0), 0, shift);
  const packed = /^1(\d\d)(\d\d)(\d\d)$/.exec(text)?.slice(1).map(Number);
  const later = packed && movedBy(2000 + (packed[0] ?? 0), packed[1] ?? 0, packed[2] ?? 0, shift);
  const turned = (days * 24 + shift.hours) * 60 + shift.minutes;
  const counted = /^-?\d+(?:\.\d+)?$/.test(text)
    ? [turned * 60, turned * 60_000, days].map(by => moveNumber(text, by))
    : [];
  return [
    moved && `${moved.year}${month === undefined ? '' : `${mark}${pad(moved.month, 2)}`}`,
    later && later.year >= 2000 ? `1${pad(later.year % 100, 2)}${pad(later.month, 2)}${pad(later.day, 2)}` : undefined,
    ...counted,
  ];
}

/** Adds to a number and keeps its fraction, which is less than a second or a time of day. */
function moveNumber(text: string, by: number): string {
  const [whole = '', fraction] = text.split('.');
  return `${BigInt(whole) + BigInt(by)}${fraction === undefined ? '' : `.${fraction}`}`;
}

/** Shifts the time after a date, or nothing; midnight stays. Undefined if the rest is no time. */
function shiftedRest(rest: string, { hours, minutes }: Shift): string | undefined {
  if (rest.trim() === '') return rest;
  const match = /^([T ]*)(\d{1,2})(:?)(\d\d)(?:(:?)(\d\d))?(\.\d+)?(\s*(?:Z|[+-]\d\d:?\d\d|[AP]M)?\s*)$/i.exec(rest);
  if (!match) return undefined;
  const [, before = '', hour = '', mark = '', minute = '', mark2 = '', second, fraction = '', after = ''] = match;
  const isHalf = /[AP]M/i.test(after);
  if (/^[0:.]*$/.test(`${hour}${minute}${second ?? ''}${fraction}`)) return rest;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
  const newHour = isHalf ? ((Number(hour) + 11 + hours) % 12) + 1 : (Number(hour) + hours) % 24;
  const newMinute = (Number(minute) + minutes) % 60;
  // Avoids 00:00, which may mean that the time is unknown.
  const clock = [pad(newHour, hour.length), mark, pad(newHour === 0 && newMinute === 0 ? 1 : newMinute, 2)];
  const seconds = second === undefined ? '' : `${mark2}${pad((Number(second) + minutes) % 60, 2)}`;
  const digits = fraction.replace(/[1-9]/g, digit => String((Number(digit) + (minutes % 8) + 1) % 9 || 9));
  return `${before}${clock.join('')}${seconds}${digits}${after}`;
}
