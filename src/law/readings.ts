/**
 * What a value of a column means, read here in plain words and not by the codec that emits it. In: the codec's label, the
 * values as the database holds them, and what the codec made of them. Out: whether the two contradict each other. A codec
 * that rounds, cuts or shifts is found by this; codecs that are not here are held against their own reading alone.
 */
import type { CodeMap } from '../mapping/codecs/code-map.ts';
import type { Primitive } from '../mapping/codecs/codec.ts';
import type { SqlValue } from '../sql/expression.ts';
import { agreesInTime, plainDigits } from './forms.ts';

export interface Reading {
  readonly label: string;
  readonly stored: readonly SqlValue[];
  readonly value: Primitive;
  readonly zone: string;
  readonly codeMaps: readonly CodeMap[];
}

type Contradicts = (stored: string, emitted: string, reading: Reading) => boolean;

const READINGS: Readonly<Record<string, Contradicts>> = {
  number: (stored, emitted) => !sameNumber(stored, emitted),
  text: (stored, emitted) => stored.trim() !== emitted.trim() && !sameNumber(stored, emitted),
  code: (stored, emitted) => stored.trimEnd() !== emitted && !sameNumber(stored, emitted),
  date: (stored, emitted, { zone }) => !agreesInTime(emitted, stored, zone),
  datetime: (stored, emitted, { zone }) => !agreesInTime(emitted, stored, zone),
  'comparator-number.value': (stored, emitted) => !sameNumber(stored.replace(/^\s*[<>]?=?\s*/, ''), emitted),
  'comparator-number.comparator': (stored, emitted) => !stored.trimStart().startsWith(emitted),
  ymd8: (stored, emitted) => {
    const digits = stored.trim().padStart(8, '0');
    return !/^\d{8}$/.test(digits) || digits.replace(/(00){1,2}$/, '') !== emitted.slice(0, 10).replaceAll('-', '');
  },
  epoch: (stored, emitted) => Date.parse(emitted) !== Number(stored) * 1000,
  'epoch (milliseconds)': (stored, emitted) => Date.parse(emitted) !== Number(stored),
};

/** Undefined: there is no reading for this codec or these values. */
export function contradicts(reading: Reading): boolean | undefined {
  const { label, stored, value, codeMaps } = reading;
  const [raw = null] = stored;
  const emitted = typeof value === 'object' ? value.decimal : String(value);
  if (raw === null) return undefined;
  if (label === 'base64') return !bytesOf(raw).equals(Buffer.from(emitted, 'base64'));
  if (raw instanceof Uint8Array) return undefined;
  const text = typeof raw === 'number' ? plainDigits(raw) : raw;
  const [, name, facet] = /^code map (.+)\.(code|system|display)$/.exec(label) ?? [];
  if (name !== undefined) return contradictsMap(codeMaps, name, facet, text.trimEnd(), emitted);
  // A datetime column that holds a number says its moment in a way of its own.
  if (/^date/.test(label) && typeof raw === 'number') return undefined;
  return READINGS[label.replace(/ \(midnight: \w+\)$/, '')]?.(text, emitted, reading);
}

function contradictsMap(
  codeMaps: readonly CodeMap[],
  name: string,
  facet: string | undefined,
  raw: string,
  emitted: string,
): boolean | undefined {
  const coded = codeMaps.find(map => map.name === name)?.rows.get(raw);
  const said = coded && (facet === 'code' ? coded.code : facet === 'system' ? coded.system : coded.display);
  return said === undefined ? undefined : said !== emitted;
}

function bytesOf(raw: Exclude<SqlValue, null>): Buffer {
  return raw instanceof Uint8Array ? Buffer.from(raw) : Buffer.from(String(raw));
}

/** By value: zeros at the ends of the digits do not count. */
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
