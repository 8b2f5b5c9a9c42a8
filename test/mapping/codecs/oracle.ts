/**
 * Decides from JSON alone whether an emitted value satisfies a criterion, without code of src/mapping. Local days
 * become instants by the time zone offsets of Intl.
 */
import type { Criterion, DateEdge, NumberEdge, StringMode } from '../../../src/mapping/criterion.ts';

/** A number with a comparator, which comparator-number emits in two elements. */
export interface Compared {
  readonly decimal: string;
  readonly comparator?: string;
}

export function satisfies(value: unknown, criterion: Criterion, zone: string): boolean {
  switch (criterion.kind) {
    case 'exact':
      return String(value) === criterion.text;
    case 'string':
      return satisfiesString(String(value), criterion.mode, criterion.text);
    case 'uri-below':
      if (criterion.text === '') return false;
      return (
        value === criterion.text ||
        String(value).startsWith(criterion.text.endsWith('/') ? criterion.text : `${criterion.text}/`)
      );
    case 'digits': {
      const found = [...String(value)].filter(c => c >= '0' && c <= '9').join('');
      const marked = /x|#/i.test(String(value));
      return criterion.any.some(({ digits, where }) => {
        if (digits.length === 0 || /\D/.test(digits)) return false;
        if (where === 'extended') return marked && found.startsWith(digits);
        return where === 'end' ? found.endsWith(digits) : found === digits;
      });
    }
    case 'date': {
      const interval = intervalOf(String(value), zone);
      return criterion.any.some(edges => edges.every(edge => holdsDate(interval, edge)));
    }
    case 'number':
      return criterion.any.some(edges => holdsNumber(compared(value), edges));
  }
}

function satisfiesString(text: string, mode: StringMode, wanted: string): boolean {
  if (mode === 'word') return words(text).some(word => word.startsWith(wanted));
  if (mode === 'exact') return text === wanted;
  return mode === 'starts' ? plain(text).startsWith(plain(wanted)) : plain(text).includes(plain(wanted));
}

function words(text: string): readonly string[] {
  return plain(text)
    .replace(/['’‘‛`´ʻʼ′＇.]/g, '')
    .replace(/[ \t\r\n\u00a0,;/()−\u2010-\u2015-]/g, ' ')
    .split(' ');
}

function plain(text: string): string {
  return [...text.normalize('NFD')]
    .filter(character => !/\p{M}/u.test(character))
    .join('')
    .toLowerCase();
}

interface Interval {
  readonly start: number;
  readonly end: number;
}

/** The interval of a FHIR date, dateTime or instant. */
export function intervalOf(text: string, zone: string): Interval {
  if (text.length > 10) {
    const start = Date.parse(text);
    return { start, end: start + (text.includes('.') ? 1 : 1000) };
  }
  const [year = 0, month, day] = text.split('-').map(Number);
  const midnight = (y: number, m: number, d: number): number =>
    toInstant(new Date(0).setUTCFullYear(y, m - 1, d), zone);
  if (month === undefined) return { start: midnight(year, 1, 1), end: midnight(year + 1, 1, 1) };
  if (day === undefined) return { start: midnight(year, month, 1), end: midnight(year, month + 1, 1) };
  return { start: midnight(year, month, day), end: midnight(year, month, day + 1) };
}

function holdsDate({ start, end }: Interval, edge: DateEdge): boolean {
  if (edge.edge === 'start') return edge.op === '>=' ? start >= edge.at : start < edge.at;
  return edge.op === '<=' ? end <= edge.at : end > edge.at;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Offsets by zone and instant, cached because laws use the same instants repeatedly, and Intl is slow. */
const offsets = new Map<string, Map<number, number>>();

/** Returns the offset in milliseconds at an instant, from the local time that Intl prints. */
export function offsetAt(instant: number, zone: string): number {
  const ofZone = offsets.get(zone) ?? new Map<number, number>();
  offsets.set(zone, ofZone);
  const offset = ofZone.get(instant) ?? readOffset(instant, zone);
  ofZone.set(instant, offset);
  return offset;
}

function readOffset(instant: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const parts = Object.fromEntries(format.formatToParts(instant).map(part => [part.type, part.value]));
  const year = parts['era'] === 'BC' ? 1 - Number(parts['year']) : Number(parts['year']);
  const local = new Date(0);
  local.setUTCFullYear(year, Number(parts['month']) - 1, Number(parts['day']));
  local.setUTCHours(Number(parts['hour']), Number(parts['minute']), Number(parts['second']));
  const exact = local.getTime() - Math.floor(instant / 1000) * 1000;
  return Math.trunc(exact / 60_000) * 60_000;
}

/** A skipped local time, and the first of a repeated pair, have the offset before the change. */
export function toInstant(local: number, zone: string): number {
  const since1900 = (instant: number): number => offsetAt(Math.max(instant, Date.UTC(1900, 0, 1)), zone);
  const before = since1900(local - 90_000_000);
  const after = since1900(local + 90_000_000);
  if (since1900(local - before) === before) return local - before;
  return since1900(local - after) === after ? local - after : local - before;
}

function compared(value: unknown): Compared {
  if (typeof value === 'object' && value !== null && 'decimal' in value) return value as Compared;
  return { decimal: String(value) };
}

/**
 * A point must satisfy every bound. An interval overlaps a bound on one side, or lies entirely beyond it, and lies
 * within two.
 */
function holdsNumber({ decimal, comparator }: Compared, edges: readonly NumberEdge[]): boolean {
  if (comparator === undefined) return edges.every(({ op, at }) => holdsOrder(op, order(decimal, at)));
  const lower = edges.filter(edge => edge.op.startsWith('>'));
  const upper = edges.filter(edge => edge.op.startsWith('<'));
  if (lower.length > 0 && upper.length > 0) return false;
  const below = comparator.startsWith('<');
  return edges.every(({ op, at, whole }) => {
    const endless = below === op.startsWith('<');
    if (endless !== (whole ?? false)) return endless;
    const side = order(decimal, at) * (op.startsWith('<') ? -1 : 1);
    const closed = comparator.endsWith('=');
    return side > 0 || (side === 0 && (whole ? !closed || op.endsWith('=') : closed && op.endsWith('=')));
  });
}

function holdsOrder(op: NumberEdge['op'], sign: number): boolean {
  switch (op) {
    case '<':
      return sign < 0;
    case '<=':
      return sign <= 0;
    case '>':
      return sign > 0;
    case '>=':
      return sign >= 0;
  }
}

function order(a: string, b: string): number {
  // Decimal places of the smallest double, and more.
  const places = 400;
  const units = (text: string): bigint => {
    const [mantissa = '0', exponent = '0'] = text.toLowerCase().split('e');
    const negative = mantissa.startsWith('-');
    const [whole = '0', fraction = ''] = mantissa.replace('-', '').split('.');
    const digits = BigInt(`${whole}${fraction.padEnd(places, '0')}`);
    const scaled = Number(exponent) < 0 ? digits / 10n ** BigInt(-Number(exponent)) : digits * 10n ** BigInt(exponent);
    return negative ? -scaled : scaled;
  };
  const difference = units(a) - units(b);
  return difference === 0n ? 0 : difference < 0n ? -1 : 1;
}
