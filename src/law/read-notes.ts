/**
 * Checks the emitted text of a note (HTML, RTF or plain text) without the sanitizer. In: the stored notes and the
 * emitted text. Out: whether they contradict each other: letters that no note has, lost letters of a plain note, or
 * markup that a narrative must not have. If the markup is simple, all letters must be there in order.
 * https://hl7.org/fhir/R4/narrative.html#xhtml
 */

/** Replaces a note without readable text. */
const NO_TEXT = '(no text)';
const DIV = /^<div xmlns="http:\/\/www\.w3\.org\/1999\/xhtml">([\s\S]*)<\/div>$/;
const TAG = /<(\/?)([a-z][a-z0-9]*)((?: (?:colspan|rowspan)="\d{1,3}")*)(\/?)>/g;
/** Elements that run, load, style or submit something. */
const UNSAFE =
  /^(?:script|style|link|meta|base|title|iframe|frame|frameset|object|embed|applet|form|input|button|select|textarea|img|audio|video|svg|math|a)$/;

/** True if an emitted text is not that of the notes, none of which is blank. `form`: a text, or a narrative. */
export function noteDiffers(form: 'html' | 'xhtml', notes: readonly string[], emitted: string): boolean {
  const text = form === 'html' ? emitted : textOfNarrative(emitted);
  if (text === undefined) return true;
  const read = notes.map(lettersOf);
  const shown = squeezed(text);
  const stored = read.map(({ letters }) => letters || squeezed(NO_TEXT)).join('');
  if (read.every(({ exact }) => exact === 'all')) return shown !== stored;
  if (read.every(({ exact }) => exact !== 'none')) return plainLetters(shown) !== plainLetters(stored);
  return !isWithin(plainLetters(shown.replaceAll(squeezed(NO_TEXT), '')), plainLetters(stored));
}

/** Returns the narrative in an HTML page. */
export function narrativeIn(page: string): string {
  return /<div xmlns[\s\S]*<\/div>/.exec(page)?.[0] ?? page;
}

/** Returns the text of a narrative; undefined if FHIR does not allow the narrative. */
function textOfNarrative(xhtml: string): string | undefined {
  const [, body] = DIV.exec(xhtml) ?? [];
  if (body === undefined) return undefined;
  const open: string[] = [];
  let isSound = true;
  const text = body.replace(TAG, (_, closing: string, name: string, spans: string, empty: string) => {
    if (UNSAFE.test(name) || (spans !== '' && name !== 'td' && name !== 'th')) isSound = false;
    if (closing !== '') isSound &&= open.pop() === name;
    else if (empty === '') open.push(name);
    return '';
  });
  const isEscaped = !/[<>]|&(?!(?:amp|lt|gt|quot|apos);)/.test(text);
  return isSound && open.length === 0 && isEscaped ? withEntities(text) : undefined;
}

interface Letters {
  /** Without blanks and controls. */
  readonly letters: string;
  /**
   * What must be there and nothing else: all characters, only letters and digits, or nothing (some may be left out).
   */
  readonly exact: 'all' | 'letters' | 'none';
}

/** HTML that every reader interprets alike: closed tags and well-known entities. */
const SIMPLE =
  /^(?:[^<&]|<\/?[a-zA-Z][a-zA-Z0-9]*(?: +[a-zA-Z-]+="[^"<>]*")* *\/?>|&(?:#\d+|#[xX][0-9a-fA-F]+|amp|lt|gt|quot|apos|nbsp);)*$/;
/** Elements whose content is no text of the note, or is read by other rules. */
const APART =
  /<(?:script|style|head|title|noscript|template|iframe|frame|frameset|object|embed|applet|audio|video|canvas|svg|math|map|select|datalist|textarea|xmp|plaintext|noembed|noframes|listing)\b/i;
const MARKUP = /<[a-z/!?]|&(?:#\d+|#x[0-9a-f]+|[a-z]+);/i;

function lettersOf(note: string): Letters {
  if (/^\s*\{\\rtf/.test(note)) return lettersOfRtf(note);
  if (!MARKUP.test(note)) return { letters: squeezed(note), exact: 'all' };
  const isSimple = SIMPLE.test(note) && !APART.test(note);
  const text = isSimple ? note.replace(/<[^<>]*>/g, '') : note;
  return { letters: squeezed(withEntities(text)), exact: isSimple ? 'all' : 'none' };
}

function withEntities(text: string): string {
  return text.replace(
    /&(?:#[xX]([0-9a-fA-F]+);?|#(\d+);?|(amp|lt|gt|quot|apos|nbsp);)/g,
    (_, hex: string | undefined, decimal: string | undefined, name: string | undefined) =>
      name === undefined
        ? character(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
        : (NAMED[name] ?? ''),
  );
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** Groups of RTF without text of the document. */
const SILENT = /\{\\(?:\*|(?:fonttbl|colortbl|stylesheet|info|pict|object|header|footer|listtable)(?![a-z]))/;

function lettersOfRtf(rtf: string): Letters {
  // Some characters after \u are for readers without Unicode, and bytes follow \bin.
  if (/\\(?:u-?\d|uc\d|bin\d)/.test(rtf)) {
    const letters = rtf.replace(/\\u(-?\d+) ?/g, (_, code: string) => character((Number(code) + 65_536) % 65_536));
    return { letters: squeezed(letters), exact: 'none' };
  }
  let text = rtf;
  for (let at = text.search(SILENT); at >= 0; at = text.search(SILENT))
    text = text.slice(0, at) + text.slice(endOfGroup(text, at));
  const read = text
    .replace(/\\'([0-9a-fA-F]{2})/g, (_, hex: string) => character(Number.parseInt(hex, 16)))
    .replace(/\\[a-zA-Z]+-?\d* ?|\\[^a-zA-Z]/g, '');
  const letters = plainLetters(squeezed(read));
  return { letters, exact: letters === '' ? 'none' : 'letters' };
}

/** Returns the end of a group that begins at a place. */
function endOfGroup(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const one = text.charAt(at);
    if (one === '\\') at++;
    else if (one === '{') depth++;
    else if (one === '}' && --depth === 0) return at + 1;
  }
  return text.length;
}

/** Removes blanks, controls and unassigned characters. */
function squeezed(text: string): string {
  return text.replace(/[\s\u00a0\ufffd]|\p{C}/gu, '');
}

/** Returns the letters and digits that no reader changes. */
function plainLetters(text: string): string {
  return text.replace(/[^A-Za-z0-9]/g, '');
}

/** True if all characters occur in a text in their order. */
function isWithin(characters: string, text: string): boolean {
  let at = -1;
  for (const one of characters) {
    at = text.indexOf(one, at + 1);
    if (at < 0) return false;
  }
  return true;
}
