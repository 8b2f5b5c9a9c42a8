/**
 * Applies text steps, as their reference implementation. In: steps as written in the mapping, and a stored text. Out:
 * the text for the codec; undefined if there is none. docs/mapping-language.md, codecs
 */
import type { StepOptions } from '../mapping/codecs/text-step.ts';

/** Returns the text after all steps, in their order. */
export function textAfter(steps: readonly StepOptions[], stored: string): string | undefined {
  return steps.reduce<string | undefined>((text, step) => (text === undefined ? text : after(step, text)), stored);
}

function after(step: StepOptions, text: string): string | undefined {
  switch (step.step) {
    case 'piece':
      return pieceAt(text, step.by, step.at);
    case 'prefix':
      return behind(text, step.prefixes);
    case 'dotted':
      return dotted(text, step.beforePoint);
    case 'words':
      return wordsOf(text, step.words);
    case 'written':
      return written(text, step.form, step.from);
    case 'entities':
      return text.replace(/&(lt|gt|quot|apos|amp);/g, (_, name: string) => ENTITIES[name] ?? '');
    case 'escapes':
      return withoutEscapes(text);
    case 'upper':
      return text.replace(/[a-z]/g, letter => String.fromCharCode(letter.charCodeAt(0) - 32));
  }
}

/** Splits at backslashes: every second piece is an escape. */
function withoutEscapes(text: string): string {
  const pieces = text.split('\\');
  const lines = ['.br', '.sp', 'X0A', 'X0D', 'X0D0A'];
  return pieces
    .map((piece, i) => {
      if (i % 2 === 0) return piece;
      if (i === pieces.length - 1) return `\\${piece}`;
      if (/^[FSTRE]$/.test(piece)) return '|^&~\\'.charAt('FSTRE'.indexOf(piece));
      return lines.includes(piece) ? '\n' : piece === 'H' || piece === 'N' ? '' : `\\${piece}\\`;
    })
    .join('');
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

/** Cuts off as many characters as a prefix has, and compares them with it. */
function behind(text: string, prefixes: readonly string[]): string | undefined {
  const found = prefixes.find(prefix => text.slice(0, prefix.length) === prefix);
  return found === undefined ? undefined : text.slice(found.length);
}

/** Splits the text where the point belongs. */
function dotted(text: string, count: number): string {
  const [, before = '', behind = ''] = new RegExp(`^([^.]{${count}})([^.]+)$`).exec(text) ?? [];
  const isPlain = [...before, behind.slice(0, 1)].every(one => /[a-z0-9]/i.test(one) && one <= 'z');
  return behind !== '' && isPlain ? `${before}.${behind}` : text;
}

/** Searches for one separator after the other. */
function pieceAt(text: string, by: string, at: number): string | undefined {
  let from = 0;
  for (let i = 1; i < at; i++) {
    const next = text.indexOf(by, from);
    if (next < 0) return undefined;
    from = next + by.length;
  }
  const end = text.indexOf(by, from);
  return text.slice(from, end < 0 ? text.length : end).replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
}

function wordsOf(text: string, which: 'first' | 'last' | 'all-but-last' | 'all-but-first'): string | undefined {
  const [, inner = ''] = /^[ \t\r\n]*([\s\S]*?)[ \t\r\n]*$/.exec(text) ?? [];
  const [, first = inner, behind] = /^([^ ]*) +([\s\S]*)$/.exec(inner) ?? [];
  const [, before, last = inner] = /^([\s\S]*?) +([^ ]*)$/.exec(inner) ?? [];
  return { first, last, 'all-but-last': before, 'all-but-first': behind }[which];
}

/** Start of the time in a form, with what separates it from the date. */
const TIME = /(?:, |[ T@])?[Hh]/;

/** Returns the digits of a date, with those of a time if the form has one. A text without a time is the date alone. */
function written(text: string, form: string, from?: number): string | undefined {
  const begins = form.search(TIME);
  if (begins < 0) return packed(text, form, from);
  const [date, time] = [form.slice(0, begins), form.slice(begins)];
  const trimmed = text.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  const tidy = form.includes(' ') ? trimmed.split('  ').join(' ') : trimmed;
  // A date ends and a time begins in only one place, so nothing is guessed.
  for (let end = tidy.length; end > 0; end--) {
    const day = packed(tidy.slice(0, end), date, from);
    const clock =
      day === undefined || /[ \t\r\n]/.test(tidy.charAt(end - 1)) ? undefined : clockIn(tidy.slice(end), time);
    if (day === undefined || clock === undefined) continue;
    if (clock === '') return isDate(day) ? day : undefined;
    const hasNextDay = clock !== '240000' || !day.startsWith('9999');
    return isDate(day) && !day.endsWith('00') && hasNextDay ? day + clock : undefined;
  }
  return undefined;
}

/** Returns '' for an empty text; undefined if the text is no time of the form. */
function clockIn(text: string, form: string): string | undefined {
  if (text === '') return '';
  const hasHalf = form.endsWith('AM');
  const hour = /HH|hh/.test(form) ? '(\\d\\d)' : '(\\d\\d?)';
  const second = `(?:$1(\\d\\d)(?:\\.\\d${hasHalf ? '{1,7}' : '+'})?)?`;
  const pattern = form
    .replace(/AM$/, '([AaPp])[Mm]')
    .replace(/(:?)ss/, second)
    .replace('mm', '(\\d\\d)')
    .replace(/HH?|hh?/, hour);
  const [, h = '', m = '', ...rest] = new RegExp(`^${pattern}$`).exec(text) ?? [];
  if (h === '') return undefined;
  const half = hasHalf ? rest.at(-1)?.toLowerCase() : undefined;
  const s = (form.includes('ss') ? rest[0] : undefined) ?? '00';
  if (half !== undefined && (Number(h) < 1 || Number(h) > 12)) return undefined;
  const hours = half === undefined ? Number(h) : half === 'p' ? (Number(h) % 12) + 12 : Number(h) % 12;
  const clock = String(hours).padStart(2, '0') + m + s;
  return clock === '240000' || (hours < 24 && m < '60' && s < '60') ? clock : undefined;
}

/** True if eight digits are a date in the platform's calendar: a day, or with zeros a month or a year. */
function isDate(digits: string): boolean {
  const [year, month, day] = [digits.slice(0, 4), digits.slice(4, 6), digits.slice(6)].map(Number) as [
    number,
    number,
    number,
  ];
  if (year === 0 || (day === 0 && month > 12)) return false;
  if (day === 0) return true;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}

/**
 * Returns the digits `20240310` of a text in the form; undefined for a text in another form. `from`: the first of the
 * years that two digits stand for. With two digits a date of zeros is no date.
 */
function packed(text: string, form: string, from = 0): string | undefined {
  const parts: string[] = [];
  const pattern = form.replace(/YYYY|YY|MON|MM?|DD?|[./]/g, part => {
    if (part === '.' || part === '/') return `\\${part}`;
    parts.push(part.charAt(0));
    if (part === 'MON') return '([A-Za-z]{3})';
    return part === 'YYYY' ? '(\\d{4})' : part.length === 2 ? '(\\d\\d)' : '(\\d\\d?)';
  });
  const found = new RegExp(`^[ \\t\\r\\n]*${pattern}[ \\t\\r\\n]*$`).exec(text);
  // A form may have no day, or neither month nor day.
  const written = (part: string): string => (parts.includes(part) ? (found?.[parts.indexOf(part) + 1] ?? '') : '00');
  const digits = (part: string, width: number): string => {
    const text = written(part);
    return (form.includes('MON') && part === 'M' ? numberOfMonth(text) : text).padStart(width, '0');
  };
  if (form.includes('MON') && numberOfMonth(written('M')) === '') return undefined;
  if (!found) return undefined;
  const isShort = !form.includes('YYYY');
  if (isShort && !/[^0]/.test(written('Y') + written('M') + written('D'))) return '00000000';
  const year = isShort ? String(yearOf(Number(written('Y')), from)) : digits('Y', 4);
  return year.padStart(4, '0') + digits('M', 2) + digits('D', 2);
}

/** Returns the only year with this ending among the hundred that begin with `from`. */
function yearOf(ending: number, from: number): number {
  let year = from;
  while (year % 100 !== ending) year++;
  return year;
}

/** Returns the number of a month; '' if the name is none. */
function numberOfMonth(name: string): string {
  const at = 'janfebmaraprmayjunjulaugsepoctnovdec'.indexOf(name.toLowerCase());
  return name.length === 3 && at >= 0 && at % 3 === 0 ? String(at / 3 + 1) : '';
}
