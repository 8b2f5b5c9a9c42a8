/**
 * Converts RTF notes to plain text. In: a text that begins with `{\rtf`. Out: its readable text, paragraphs as lines.
 * Fonts, styles, pictures and other destinations are left out. Bytes are read as Windows-1252.
 * https://www.loc.gov/preservation/digital/formats/fdd/fdd000473.shtml
 */

const TOKEN = /\\u(-?\d+) ?|\\'([0-9a-fA-F]{2})|\\([a-zA-Z]+)(-?\d+)? ?|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/g;
/** Groups without text of the document. */
const SILENT = new Set([
  'fonttbl',
  'colortbl',
  'stylesheet',
  'info',
  'pict',
  'object',
  'header',
  'footer',
  'listtable',
]);
const TEXT_OF: ReadonlyMap<string, string> = new Map([
  ['par', '\n'],
  ['line', '\n'],
  ['row', '\n'],
  ['tab', '\t'],
  ['cell', '\t'],
  ['emdash', '—'],
  ['endash', '–'],
  ['bullet', '•'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
]);
const WINDOWS_1252 = new TextDecoder('windows-1252');

export function isRtf(text: string): boolean {
  return /^\s*\{\\rtf/.test(text);
}

interface Group {
  readonly silent: boolean;
  /** Number of characters after \u that are for readers without Unicode. */
  readonly skip: number;
}

/** Returns the readable text of an RTF document. */
export function rtfText(rtf: string): string {
  const groups: Group[] = [];
  let group: Group = { silent: false, skip: 1 };
  let text = '';
  let skipping = 0;
  const add = (piece: string): void => {
    const kept = piece.slice(Math.min(skipping, piece.length));
    skipping -= piece.length - kept.length;
    if (!group.silent) text += kept;
  };
  for (const [, unicode, byte, word, parameter, symbol, brace, plain] of rtf.matchAll(TOKEN)) {
    if (brace === '{') groups.push(group);
    else if (brace === '}') group = groups.pop() ?? group;
    else if (unicode !== undefined) {
      if (!group.silent) text += String.fromCharCode((Number(unicode) + 65_536) % 65_536);
      skipping = group.skip;
    } else if (byte !== undefined) add(WINDOWS_1252.decode(Buffer.from(byte, 'hex')));
    else if (word !== undefined) {
      if (SILENT.has(word)) group = { ...group, silent: true };
      else if (word === 'uc') group = { ...group, skip: Number(parameter ?? 1) };
      else if (!group.silent) text += TEXT_OF.get(word) ?? '';
    } else if (symbol === '*') group = { ...group, silent: true };
    else if (symbol !== undefined) add(symbol === '~' ? '\u00a0' : '\\{}'.includes(symbol) ? symbol : '');
    else if (plain !== undefined) add(plain);
  }
  return text;
}
