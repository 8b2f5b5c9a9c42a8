/**
 * Converts dates. In: FHIR date, dateTime or instant. Out: HL7 TS, intervals, text for people, and the days that a date
 * covers in the pack's zone. https://hl7.org/fhir/R4/datatypes.html#dateTime
 */
import { daysIn } from '../time/calendar.ts';
import { zoneOf } from '../time/zone.ts';
import type { Period } from './fhir/datatypes.ts';
import { type Markup, NOTHING, xml } from './xml.ts';

const DATE_TIME = /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?)?)?$/;

/** Converts `2016-07-29T14:20:00-04:00` → `20160729142000-0400`; undefined if the text is no date. */
export function hl7Time(text: string | undefined): string | undefined {
  const match = DATE_TIME.exec(text ?? '');
  if (!match) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = '', fraction = '', zone] = match;
  const offset = zone === undefined ? '' : zone === 'Z' ? '+0000' : zone.replace(':', '');
  return `${year}${month}${day}${hour}${minute}${second}${fraction.slice(0, 5)}${offset}`;
}

/** Writes `<name value="…"/>`, or nullFlavor UNK. */
export function timeElement(name: string, text: string | undefined): Markup {
  const time = hl7Time(text);
  return time === undefined ? xml`<${name} nullFlavor="UNK"/>` : xml`<${name} value="${time}"/>`;
}

/** Writes `effectiveTime` with low; with high if there is an end or `ended` requires one. */
export function interval(
  start: string | undefined,
  end: string | undefined,
  ended = false,
  name = 'effectiveTime',
  attributes: Markup = NOTHING,
): Markup {
  const sound = notBefore(end, start);
  const high = sound !== undefined || ended ? timeElement('high', sound) : NOTHING;
  return xml`<${name}${attributes}>${timeElement('low', start)}${high}</${name}>`;
}

/**
 * Returns the end unless it lies before the start. Such an end is a data error: the narrative shows it, an interval
 * must not.
 */
export function notBefore(end: string | undefined, start: string | undefined): string | undefined {
  const [low, high] = [start, end].map(text => (hl7Time(text) ?? '').slice(0, 8));
  if (low?.length !== 8 || high?.length !== 8) return end;
  // NaN if one of them is a day or has no zone; the comparison is then false.
  return high < low || instantOf(end) < instantOf(start) ? undefined : end;
}

function instantOf(text: string | undefined): number {
  return /T.*(?:Z|[+-]\d{2}:\d{2})$/.test(text ?? '') ? Date.parse(text ?? '') : Number.NaN;
}

/** Writes a date or a period as `effectiveTime`: a value, or low and high. */
export function moment(dateTime: string | undefined, period: Period | undefined): Markup {
  if (dateTime !== undefined || period === undefined) return timeElement('effectiveTime', dateTime);
  return interval(period.start, period.end);
}

/** Days [first, last] as `yyyy-mm-dd`; undefined means open. */
export interface Days {
  readonly first: string | undefined;
  readonly last: string | undefined;
}

/** Returns the first and last calendar day that a date covers in a zone; undefined if the text is no date. */
export function daysOf(
  text: string | undefined,
  zone: string,
): { readonly first: string; readonly last: string } | undefined {
  const match = DATE_TIME.exec(text ?? '');
  if (!match) return undefined;
  const [, year = '', month, day, hour, minute, , , offset] = match;
  if (month === undefined) return { first: `${year}-01-01`, last: `${year}-12-31` };
  if (day === undefined)
    return { first: `${year}-${month}-01`, last: `${year}-${month}-${daysIn(Number(year), Number(month))}` };
  const written = `${year}-${month}-${day}`;
  if (hour === undefined || offset === undefined) return { first: written, last: written };
  const minutes =
    offset === 'Z' ? 0 : (offset[0] === '-' ? -1 : 1) * (Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4)));
  const local = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute));
  // Nearly all times have the zone's own offset; the written day is then the local day.
  const there = zoneOf(zone).offsetOf(local) === minutes * 60_000 ? written : localDay(local - minutes * 60_000, zone);
  return { first: there, last: there };
}

/** Returns the calendar day of an instant in a zone. */
export function localDay(instant: number, zone: string): string {
  return localTime(instant, zone).slice(0, 10);
}

/** Returns an instant as FHIR dateTime with the zone's offset, to the second. */
export function localTime(instant: number, zone: string): string {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const offset = name === 'GMT' ? '+00:00' : name.slice(3, 9);
  const minutes = Number(offset.slice(1, 3)) * 60 + Number(offset.slice(4, 6));
  const local = new Date(instant + (offset[0] === '-' ? -minutes : minutes) * 60_000);
  return `${local.toISOString().slice(0, 19)}${offset}`;
}

/** Returns text for people: the day, with the time if it is known: `2016-07-29 14:20`. */
export function readableTime(text: string | undefined): string {
  if (text === undefined) return '';
  return text.length > 10 ? `${text.slice(0, 10)} ${text.slice(11, 16)}` : text;
}

/**
 * Returns text for people: `2016-07-29 to 2017-01-01`, `2016-07-29 14:20 to 15:05`, `from … on` (also for the future),
 * `until …`.
 */
export function readablePeriod(start: string | undefined, end: string | undefined): string {
  if (start === undefined) return end === undefined ? '' : `until ${readableTime(end)}`;
  if (end === undefined) return `from ${readableTime(start)} on`;
  const [from, to] = [readableTime(start), readableTime(end)];
  if (from === to) return from;
  const sameDay = from.length > 10 && to.length > 10 && from.slice(0, 10) === to.slice(0, 10);
  return `${from} to ${sameDay ? to.slice(11) : to}`;
}

interface Visit {
  readonly status?: string | undefined;
  readonly period?: Period | undefined;
}

/** Returns the time of an encounter for people. Without an end, "from … on" would be wrong for one that is over. */
export function readableVisit({ status, period }: Visit): string {
  return status === 'finished' && period?.end === undefined
    ? readableTime(period?.start)
    : readablePeriod(period?.start, period?.end);
}

/** Writes a `value` with `xsi:type="TS"`; as text if it is no time. */
export function timeValue(text: string): Markup {
  const time = hl7Time(text);
  return time === undefined ? xml`<value xsi:type="ST">${text}</value>` : xml`<value xsi:type="TS" value="${time}"/>`;
}
