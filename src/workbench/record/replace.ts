/**
 * Replaces stored values by invented ones. In: a value, and what the pack knows about its column (uses.ts). Out: the
 * value for the test, or why there is none. Codes, sentinels, NULL and blanks stay.
 */
import { asRowValue } from '../../law/forms.ts';
import { ifJudged } from '../../law/thing.ts';
import type { Pieces } from '../../mapping/model.ts';
import type { ColumnType } from '../../sql/column-type.ts';
import type { SqlValue } from '../../sql/expression.ts';
import { UUID } from '../../sql/shared-functions.ts';
import { parseDay } from '../../time/calendar.ts';
import { isSentinelDay, type Shift, shiftedForms, shiftedLook, shiftedTime } from './dates.ts';
import type { Invented } from './tokens.ts';
import { type ColumnUses, type DateUse, keptForm, type UsesOf } from './uses.ts';

/** `text`: the value in the test. `leftOut`: why it is NULL there. */
export type Replaced = { readonly text: string | null } | { readonly leftOut: string };

export interface Replacing {
  readonly invented: Invented;
  readonly shift: Shift;
  readonly usesOf: UsesOf;
}

const RTF = /^\s*\{\\rtf/;
/** Character references in HTML, which could spell a name. */
const NUMBERED = /&#/;
/** Some programs write `0000-00-00` for "no date". */
const NO_DAY = /^[\s0T:./-]*$/;
/** Shorter texts may stay unchanged, because there are few alternatives of one letter or digit. */
const LONG = 4;

export function replaced(stored: SqlValue, type: ColumnType, uses: ColumnUses, replacing: Replacing): Replaced {
  if (stored === null) return { text: null };
  if (stored instanceof Uint8Array) return replacedBytes(stored, uses, replacing);
  const text = String(stored);
  if (text.trim() === '' || type.kind === 'bit' || uses.kept.has(keptForm(text))) return { text };
  if (uses.isHtml && (RTF.test(text) || NUMBERED.test(text)))
    return { leftOut: 'RTF and numbered characters are not invented' };
  const other = invented(text, type, uses, replacing);
  return typeof other === 'string' ? { text: other } : other;
}

/**
 * True if a value that tells something did not change. Zeros tell nothing, not even before a number: `0000000001`
 * counts as short.
 */
function isTheSame(text: string, other: string): boolean {
  const significant = text.replace(/(?<!\d)0+/g, '');
  return text === other && significant.length >= LONG && /[\p{L}1-9]/u.test(significant);
}

function replacedBytes(stored: Uint8Array, uses: ColumnUses, { invented: by }: Replacing): Replaced {
  if (!uses.isJoined && stored.length !== 16) return { leftOut: 'bytes are not invented' };
  return { text: `0x${by.hex(Buffer.from(stored).toString('hex'))}` };
}

function invented(
  text: string,
  type: ColumnType,
  uses: ColumnUses,
  replacing: Replacing,
): Exclude<Replaced, { text: unknown }> | string {
  const { invented: by, shift, usesOf } = replacing;
  if (UUID.test(text)) return text.split('-').length === 5 ? dashed(by.hex(text.replaceAll('-', ''))) : by.hex(text);
  const isTime = type.kind === 'time';
  if (isTime || uses.isTimeOfDay) {
    const turned = shiftedTime(text, shift);
    if (turned !== undefined) return turned;
    if (isTime) return { leftOut: 'its time of day is in an unknown form' };
  }
  const moved = movedDate(text, type, uses, shift);
  if (moved !== undefined) return moved;
  if (uses.pieces) {
    const split = inPieces(text, uses.pieces, (part, name) =>
      replaced(part, TEXT, usesOf({ name: uses.pieces?.alias ?? name }, name), replacing),
    );
    if (split === undefined) return { leftOut: 'a piece of it cannot be replaced' };
    return split;
  }
  const other = uses.isHtml ? inHtml(text, by) : wordsOf(text, uses, by);
  if (other === undefined || (uses.codes.size === 0 && isTheSame(text, other)))
    return { leftOut: uses.isHtml ? 'it has tags that are not known' : 'no other value of its form was found' };
  return likePatterns(text, other, uses.patterns);
}

const TEXT = { kind: 'text', unicode: true, fixed: false, length: 'max' } as const;

function dashed(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Returns the shifted date; undefined if the text is no date. */
function movedDate(
  text: string,
  type: ColumnType,
  { dates, dayPart, isJoined }: ColumnUses,
  shift: Shift,
): Exclude<Replaced, { text: unknown }> | string | undefined {
  // Shifts by four years, so that leap years stay leap years.
  if (dayPart !== undefined) return /^\d{4}$/.test(text) && dayPart === 0 ? String(Number(text) - 4) : text;
  const isNative = type.kind === 'date' || type.kind === 'datetime' || type.kind === 'instant';
  const isRead = isNative || dates.length > 0;
  const readers = dates.flatMap(use => {
    const read = readOf(use, text);
    return read === undefined ? [] : [{ use, read }];
  });
  // The codec's reading decides whether it is a sentinel: 5432 may be a number of days instead of a year.
  const isNone = readers.length > 0 ? readers.every(({ read }) => isSentinelDay(read)) : isSentinel(text);
  if (isRead && isNone) return text;
  // SQL of the pack may read the date.
  if (readers.length === 0 && !isNative) return isJoined ? undefined : shiftedLook(text, shift);
  const fits = shiftedForms(text, shift).find(one =>
    readers.every(({ use, read }) => isMoved(read, readOf(use, one), shift)),
  );
  return fits ?? { leftOut: 'its date is in a form that is not moved' };
}

/** True for a sentinel. For text that no codec reads, four digits other than 9999 are no sentinel but a number. */
function isSentinel(text: string): boolean {
  return NO_DAY.test(text) || (isSentinelDay(text) && !/^\W*(?!9999)\d{4}\W*$/.test(text));
}

function readOf({ codec, type }: DateUse, text: string): string | undefined {
  const read = ifJudged(() => codec.decode(asRowValue(text, type)));
  return typeof read === 'string' ? read : undefined;
}

/**
 * True if the date has the same precision and is shifted by the days, plus or minus one, because the time of day shifts
 * in the column's zone.
 */
function isMoved(before: string, after: string | undefined, { days }: Shift): boolean {
  if (after?.length !== before.length) return false;
  const [from, to] = [before, after].map(one => parseDay(one.slice(0, 10)));
  if (from === undefined || to === undefined) return before !== after;
  return Math.abs(to - from - days) <= 1;
}

/** Replaces the parts of each piece; undefined if one cannot be replaced. */
function inPieces(
  text: string,
  { by, parts, between }: Pieces,
  replace: (part: string, name: Pieces['alias']) => Replaced,
): string | undefined {
  let isWhole = true;
  const one = (part: string, name: Pieces['alias'] | undefined): string => {
    const other: Replaced = name === undefined ? { leftOut: '' } : replace(part, name);
    if ('leftOut' in other) isWhole = false;
    return 'text' in other ? (other.text ?? '') : '';
  };
  const pieces = text.split(by).map(piece => {
    let rest = piece;
    const done = between.map((mark, i) => {
      const at = rest.indexOf(mark);
      const part = at < 0 ? rest : rest.slice(0, at);
      rest = at < 0 ? '' : rest.slice(at + mark.length);
      return `${one(part, parts[i])}${at < 0 ? '' : mark}`;
    });
    return `${done.join('')}${rest === '' ? '' : one(rest, parts[between.length] ?? parts.at(-1))}`;
  });
  return isWhole ? pieces.join(by) : undefined;
}

const SEGMENTS = /[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]*/gu;

/** Replaces letters and digits, except for codes within the text. */
function wordsOf(text: string, { codes }: ColumnUses, by: Invented): string | undefined {
  if (codes.size === 0) return by.text(text);
  let isWhole = true;
  const other = text.replace(SEGMENTS, segment => {
    if (codes.has(keptForm(segment))) return segment;
    const found = by.text(segment);
    if (found === undefined) isWhole = false;
    return found ?? '';
  });
  return isWhole ? other : undefined;
}

const TAGS =
  /(<\/?(?:p|br|b|i|u|em|strong|div|span|ul|ol|li|table|thead|tbody|tr|td|th|h[1-6]|html|body|head|pre|hr|sub|sup)\b[^<>]*>|&(?:amp|lt|gt|quot|apos|nbsp|deg|plusmn|micro);)/i;

/** Replaces the words between known tags and drops attributes; undefined if there are unknown tags. */
function inHtml(text: string, by: Invented): string | undefined {
  const shown = text.replace(/<(script|style)\b.*?<\/\1\s*>/gis, '');
  const parts = shown.split(TAGS).map((part, i) => {
    if (i % 2 === 1) return part.replace(/^(<\/?\w+).*?(\/?>)$/s, '$1$2');
    return /<[a-z!/?]/i.test(part) ? undefined : by.text(part);
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** Restores the beginning and end that patterns of the pack's conditions require. */
function likePatterns(text: string, other: string, patterns: ReadonlySet<string>): string {
  let out = other;
  for (const pattern of patterns) {
    const [start = ''] = /^[^*?[]*/.exec(pattern) ?? [];
    const [end = ''] = /[^*?\]]*$/.exec(pattern) ?? [];
    if (start !== '' && text.startsWith(start)) out = start + out.slice(start.length);
    if (end !== '' && text.endsWith(end)) out = out.slice(0, out.length - end.length) + end;
  }
  return out;
}
