/**
 * `html` and `xhtml`: notes stored as HTML, RTF or plain text. In: the text, or up to three that belong together. Out:
 * plain text, or a narrative `div` with the elements that FHIR allows and no attributes but the spans of table cells.
 * So no script, style, form or external reference survives. A note without readable text becomes a remark that says so,
 * because its column is not blank, and a value that SQL finds present must be emitted. Output only.
 * https://hl7.org/fhir/R4/narrative.html#xhtml
 */

import { Parser } from 'htmlparser2';
import { escapeMarkup } from '../../common/markup.ts';
import { UNICODE } from '../../sql/column-type.ts';
import { call, filled, or } from '../../sql/construct.ts';
import type { Codec } from './codec.ts';
import { NarrativeWriter, type Opened } from './narrative-writer.ts';
import { isRtf, rtfText } from './rtf.ts';
import { trim, trimEnd, withoutControls } from './text.ts';

const NO_TEXT = '(no text)';

/** Elements whose content is not readable text. */
const DROPPED_ELEMENTS = new Set(
  'script style head title noscript template iframe frame frameset object embed applet audio video canvas svg math map select datalist textarea'.split(
    ' ',
  ),
);
const KEPT_ELEMENTS = new Set(
  'p div h1 h2 h3 h4 h5 h6 blockquote pre ul ol li dl dt dd table caption thead tbody tfoot tr th td b strong i em small big sub sup tt code kbd samp var cite dfn abbr acronym q span address br hr'.split(
    ' ',
  ),
);
/** Elements that begin a line of plain text. */
const LINES = new Set(
  'p div h1 h2 h3 h4 h5 h6 blockquote pre ul ol li dl dt dd table caption tr address hr section article'.split(' '),
);
const CELLS = new Set(['td', 'th']);
const MARKUP = /<[a-zA-Z/!?]|&(?:#\d+|#x[0-9a-fA-F]+|[a-zA-Z]+);/;

/**
 * Makes the codec of sanitized plain text or of a narrative's `div`, of one note or of several, one below the other.
 */
export function htmlCodec(form: 'plain' | 'xhtml', columns: Codec['columns'] = 1): Codec {
  return {
    label: form === 'plain' ? 'html' : 'xhtml',
    yields: form === 'plain' ? ['string', 'markdown'] : ['xhtml'],
    columns,
    inverse: 'none',
    decode: (...raws) => {
      const notes = raws.filter(raw => typeof raw === 'string').filter(raw => trim(raw) !== '');
      if (notes.length === 0) return undefined;
      return form === 'plain' ? notes.map(plainText).join('\n\n') : narrative(...notes);
    },
    present: of => or(...of.map(column => filled(call('trim', [column], UNICODE)))),
    match: () => undefined,
  };
}

/** Returns the readable text of a note. */
export function plainText(note: string): string {
  const text = isRtf(note) ? rtfText(note) : MARKUP.test(note) ? textOfHtml(note) : note;
  const tidy = clean(text)
    .replace(/\r\n?/g, '\n')
    .split('\n')
    .map(withoutSpaces)
    .join('\n')
    .replace(/\n{3,}/g, '\n\n');
  return tidy.trim() || NO_TEXT;
}

/**
 * Removes blanks at the end of a line. A regular expression would take quadratic time in the number of blanks
 * elsewhere, and notes have many.
 */
function withoutSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && SPACES.includes(line.charAt(end - 1))) end--;
  return line.slice(0, end);
}

const SPACES = ' \t\u00a0';

/** Writes a narrative's `div`: well-formed XML with readable text. Each of several notes is a `div` within. */
export function narrative(...notes: readonly string[]): string {
  const bodies = notes.map(bodyOf);
  const body = bodies.length === 1 ? bodies.join('') : bodies.map(of => `<div>${of}</div>`).join('');
  return `<div xmlns="http://www.w3.org/1999/xhtml">${body}</div>`;
}

function bodyOf(note: string): string {
  const html = !isRtf(note) && MARKUP.test(note) ? xhtmlOfHtml(note) : undefined;
  if (html !== undefined) return html;
  const lines = plainText(note).split('\n');
  return lines.map(line => escapeMarkup(line)).join('<br/>');
}

interface Events {
  open(name: string, attributes: Readonly<Record<string, string>>): void;
  text(text: string): void;
  close(name: string): void;
}

/** Most nested elements per parser, because it searches all of them for each end tag. */
const DEEPEST = 500;

/**
 * Parses HTML and reports what is outside of the dropped elements. Each opened element is closed, innermost first. If
 * too many are open, a new parser continues, and the elements that are open then end with the text.
 */
function readHtml(html: string, events: Events): void {
  const open: string[] = [];
  let dropped = 0;
  const closeTo = (depth: number): void => {
    for (let name = open.pop(); name !== undefined; name = open.length > depth ? open.pop() : undefined) {
      if (DROPPED_ELEMENTS.has(name)) dropped--;
      else if (dropped === 0) events.close(name);
    }
  };
  /** Searches only the elements of one parser, from `before` on, because all of them may be hundreds of thousands. */
  const lastOpen = (before: number, test: (name: string) => boolean): number => {
    let at = open.length - 1;
    while (at >= before && !test(open[at] ?? '')) at--;
    return at >= before ? at : -1;
  };
  /** Parses until too many elements are open. Returns the rest. */
  const readUntilDeep = (text: string): string => {
    const before = open.length;
    const parser = new Parser(
      {
        onopentag: (name, attributes) => {
          open.push(name);
          if (DROPPED_ELEMENTS.has(name)) dropped++;
          else if (dropped === 0) events.open(name, attributes);
          if (open.length === before + DEEPEST) parser.pause();
        },
        ontext: piece => {
          if (dropped === 0) events.text(piece);
        },
        // The parser also closes a tag within which the text ends, although it never opened it.
        onclosetag: name => {
          const depth = lastOpen(before, one => one === name);
          if (depth >= 0) closeTo(depth);
        },
      },
      { decodeEntities: true, lowerCaseTags: true, recognizeSelfClosing: false },
    );
    parser.write(text);
    if (open.length < before + DEEPEST) {
      parser.end();
      return '';
    }
    // The next parser would not report the end of a dropped element.
    while (dropped > 0) closeTo(lastOpen(before, name => DROPPED_ELEMENTS.has(name)));
    return text.slice(parser.endIndex + 1);
  };
  for (let rest = html; rest !== ''; ) rest = readUntilDeep(rest);
  if (open.length > 0) closeTo(0);
}

function textOfHtml(html: string): string {
  const written = new PlainWriter();
  let preformatted = 0;
  readHtml(html, {
    open: name => {
      if (name === 'pre') preformatted++;
      if (name === 'br') written.add('\n');
      else if (LINES.has(name)) written.endLine();
      else if (CELLS.has(name) && !written.isAtStart) written.add('\t');
    },
    text: piece => {
      if (preformatted > 0) written.add(piece);
      else {
        const flat = piece.replace(/[ \t\r\n\f]+/g, ' ');
        written.add(written.isAtSpace ? flat.replace(/^ /, '') : flat);
      }
    },
    close: name => {
      if (name === 'pre') preformatted--;
      if (LINES.has(name)) written.endLine();
    },
  });
  return written.end();
}

/** Collects a text in pieces, so that a look at its end does not cost as much as the whole text. */
class PlainWriter {
  readonly #pieces: string[] = [];
  #last = '';

  /** True if nothing is written, or a line has just ended. */
  get isAtStart(): boolean {
    return this.#last === '' || this.#last === '\n';
  }

  get isAtSpace(): boolean {
    return this.#last === '' || /\s/.test(this.#last);
  }

  add(piece: string): void {
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#last = piece.slice(-1);
  }

  /** Ends a line that has content, without its trailing blanks. */
  endLine(): void {
    if (this.isAtStart) return;
    for (let piece = this.#pieces.pop(); piece !== undefined; piece = this.#pieces.pop()) {
      const kept = trimEnd(piece);
      if (kept === '') continue;
      this.#pieces.push(kept);
      break;
    }
    this.#pieces.push('\n');
    this.#last = '\n';
  }

  end(): string {
    return this.#pieces.join('');
  }
}

/** Converts HTML to XHTML; undefined if it has no readable text. */
function xhtmlOfHtml(html: string): string | undefined {
  const writer = new NarrativeWriter();
  const opened: Opened[] = [];
  let readable = false;
  readHtml(html, {
    open: (name, attributes) => {
      opened.push(KEPT_ELEMENTS.has(name) ? writer.open(name, spans(name, attributes)) : undefined);
    },
    text: piece => {
      const text = clean(piece);
      readable ||= /[^\s\u00a0]/.test(text);
      writer.text(escapeMarkup(text));
    },
    close: () => writer.close(opened.pop()),
  });
  return readable ? trim(writer.end()) : undefined;
}

function spans(name: string, attributes: Readonly<Record<string, string>>): string {
  if (!CELLS.has(name)) return '';
  return ['colspan', 'rowspan']
    .filter(span => /^[1-9]\d{0,2}$/.test(attributes[span] ?? ''))
    .map(span => ` ${span}="${attributes[span]}"`)
    .join('');
}

/** Removes what XML cannot hold: control characters, lone surrogates, U+FFFE and U+FFFF. */
function clean(text: string): string {
  return withoutControls(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, '');
}
