/**
 * Replaces stored values by invented ones. In: a value, and what the pack knows of its column (uses.ts). Out: what
 * a test writes in its place, or why nothing can be. Codes, sentinels, NULL and blanks stay.
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

/** `text`: as a test writes it. `leftOut`: why it is NULL there. */
export type Replaced = { readonly text: string | null } | { readonly leftOut: string };

export interface Replacing {
  readonly invented: Invented;
  readonly shift: Shift;
  readonly usesOf: UsesOf;
}

const RTF = /^\s*\{\\rtf/;
/** Letters in HTML as numbers could spell a name. */
const NUMBERED = /&#/;
/** `0000-00-00` is how some programs write that there is no day. */
const NO_DAY = /^[\s0T:./-]*$/;
/** Shorter texts may come out as they went in: of one letter or digit there are few. */
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

/** A value without letters and digits but 0 says nothing, nor do the zeros before a number: `0000000001` is short. */
function isTheSame(text: string, other: string): boolean {
  const telling = text.replace(/(?<!\d)0+/g, '');
  return text === other && telling.length >= LONG && /[\p{L}1-9]/u.test(telling);
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

/** Undefined: it is no date. */
function movedDate(
  text: string,
  type: ColumnType,
  { dates, dayPart, isJoined }: ColumnUses,
  shift: Shift,
): Exclude<Replaced, { text: unknown }> | string | undefined {
  // Years that are leap years stay some.
  if (dayPart !== undefined) return /^\d{4}$/.test(text) && dayPart === 0 ? String(Number(text) - 4) : text;
  const isNative = type.kind === 'date' || type.kind === 'datetime' || type.kind === 'instant';
  const isRead = isNative || dates.length > 0;
  const readers = dates.flatMap(use => {
    const read = readOf(use, text);
    return read === undefined ? [] : [{ use, read }];
  });
  // What is read says whether it is a day of a life: as a number of days 5432 is one, and no year.
  const isNone = readers.length > 0 ? readers.every(({ read }) => isSentinelDay(read)) : isSentinel(text);
  if (isRead && isNone) return text;
  // SQL of the pack may read it.
  if (readers.length === 0 && !isNative) return isJoined ? undefined : shiftedLook(text, shift);
  const fits = shiftedForms(text, shift).find(one =>
    readers.every(({ use, read }) => isMoved(read, readOf(use, one), shift)),
  );
  return fits ?? { leftOut: 'its date is in a form that is not moved' };
}

/** Of a text that nothing reads as a date: four digits alone, but for 9999, are a number of somebody's. */
function isSentinel(text: string): boolean {
  return NO_DAY.test(text) || (isSentinelDay(text) && !/^\W*(?!9999)\d{4}\W*$/.test(text));
}

function readOf({ codec, type }: DateUse, text: string): string | undefined {
  const read = ifJudged(() => codec.decode(asRowValue(text, type)));
  return typeof read === 'string' ? read : undefined;
}

/** As exact as before, and as many days away, but for one: times of day are turned in the zone of the column. */
function isMoved(before: string, after: string | undefined, { days }: Shift): boolean {
  if (after?.length !== before.length) return false;
  const [from, to] = [before, after].map(one => parseDay(one.slice(0, 10)));
  if (from === undefined || to === undefined) return before !== after;
  return Math.abs(to - from - days) <= 1;
}

/** The parts of each piece replaced; undefined: one of them cannot be. */
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

/** Letters and digits replaced, but for codes that stand among them. */
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

/** Words between known tags replaced, and what else is in these tags left out; undefined: there are others. */
function inHtml(text: string, by: Invented): string | undefined {
  const shown = text.replace(/<(script|style)\b.*?<\/\1\s*>/gis, '');
  const parts = shown.split(TAGS).map((part, i) => {
    if (i % 2 === 1) return part.replace(/^(<\/?\w+).*?(\/?>)$/s, '$1$2');
    return /<[a-z!/?]/i.test(part) ? undefined : by.text(part);
  });
  return parts.includes(undefined) ? undefined : parts.join('');
}

/** What patterns of the pack's conditions want at the beginning and the end stands there again. */
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
