/**
 * Reads JSON. In: the text of a file. Out: a Tree with lines and columns, in which every scalar is text, as from
 * readYaml; or undefined, with the first syntax error reported at its place.
 * https://www.rfc-editor.org/rfc/rfc8259
 */
import { LineCounter } from 'yaml';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import { isTooLong } from './read.ts';
import { type Entry, scalar, type Tree } from './tree.ts';

const MAX_DEPTH = 40;
/** Most characters of the `found` text in a message. */
const MAX_FOUND = 40;
const BLANKS = /[ \t\r\n]*/y;
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** A quoted text, a number or word, or one sign. */
const TOKEN = /"[^"\\\n]*(?:\\.[^"\\\n]*)*"|[\w.+-]+|./suy;
const SIGNS = new Set('{}[],:');
const WORDS = new Set(['true', 'false', 'null']);

const TEXT = 'a text that ends in quotes on its line, with `\\` before `"` and `\\` in it';

interface Token {
  readonly start: number;
  /** A sign is its own kind. `word`: a number, true, false or null. `end`: end of the file. `strange`: not JSON. */
  readonly kind: string;
  readonly text: string;
}

/** The text has a token that JSON does not allow there. */
class Unexpected extends Error {
  readonly token: Token;
  readonly expected: string;

  constructor(token: Token, expected: string) {
    super(`expected ${expected}`);
    this.token = token;
    this.expected = expected;
  }
}

export function readJson(file: string, text: string, report: Report): Tree | undefined {
  if (isTooLong(file, text, report)) return undefined;
  const lines = new LineCounter();
  lines.addNewLine(0);
  for (const { index } of text.matchAll(/\n/g)) lines.addNewLine(index + 1);
  const position = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { file, line, column: col };
  };
  const reader = new Reader(text, position, report);
  try {
    return reader.whole();
  } catch (error) {
    if (!(error instanceof Unexpected)) throw error;
    const { token, expected } = error;
    report.error('unreadable-file', position(token.start), 'not JSON', {
      expected,
      found: token.kind === 'end' ? 'the end of the file' : token.text.slice(0, MAX_FOUND),
    });
    return undefined;
  }
}

class Reader {
  readonly #text: string;
  readonly #position: (offset: number) => Position;
  readonly #report: Report;
  /** Offset of the next token. It skips the byte order mark that Windows may put before the first. */
  #at: number;

  constructor(text: string, position: (offset: number) => Position, report: Report) {
    this.#text = text;
    this.#position = position;
    this.#report = report;
    this.#at = text.startsWith('\ufeff') ? 1 : 0;
  }

  whole(): Tree {
    const tree = this.#value(this.#next(), 0);
    const after = this.#next();
    if (after.kind !== 'end') throw new Unexpected(after, 'the end of the file');
    return tree;
  }

  #next(): Token {
    BLANKS.lastIndex = this.#at;
    const start = this.#at + (BLANKS.exec(this.#text)?.[0].length ?? 0);
    TOKEN.lastIndex = start;
    const [text = ''] = TOKEN.exec(this.#text) ?? [];
    this.#at = start + text.length;
    return { start, text, kind: kindOf(text) };
  }

  #value(token: Token, depth: number): Tree {
    const at = this.#position(token.start);
    if (depth > MAX_DEPTH) throw new Unexpected(token, `brackets within at most ${MAX_DEPTH} others`);
    if (token.kind === 'text') return scalar(JSON.parse(token.text), at);
    if (token.kind === 'word') return scalar(token.text, at, token.text === 'null');
    if (token.kind === '[') return { kind: 'list', items: this.#items(depth), at };
    if (token.kind === '{') return { kind: 'map', entries: this.#entries(depth), at };
    throw new Unexpected(token, token.text.startsWith('"') ? TEXT : 'a text in quotes, a number, `{` or `[`');
  }

  #items(depth: number): readonly Tree[] {
    const items: Tree[] = [];
    for (let token = this.#next(); token.kind !== ']'; token = this.#next()) {
      items.push(this.#value(token, depth + 1));
      if (this.#isLast(']')) break;
    }
    return items;
  }

  #entries(depth: number): readonly Entry[] {
    const entries = new Map<string, Entry>();
    for (let token = this.#next(); token.kind !== '}'; token = this.#next()) {
      if (token.kind !== 'text') throw new Unexpected(token, token.text.startsWith('"') ? TEXT : 'a key in quotes');
      const [key, at] = [JSON.parse(token.text) as string, this.#position(token.start)];
      const colon = this.#next();
      if (colon.kind !== ':') throw new Unexpected(colon, '`:` after the key');
      const value = this.#value(this.#next(), depth + 1);
      if (entries.has(key)) this.#report.error('written-twice', at, 'key written twice');
      else entries.set(key, { key, value, at });
      if (this.#isLast('}')) break;
    }
    return [...entries.values()];
  }

  /** Reads the sign after a value. True if it closes the brackets, false if it is a comma before another value. */
  #isLast(close: string): boolean {
    const token = this.#next();
    if (token.kind === close) return true;
    if (token.kind !== ',') throw new Unexpected(token, `\`,\` or \`${close}\``);
    const [at, after] = [this.#at, this.#next()];
    if (after.kind === close) throw new Unexpected(token, `\`${close}\`, since nothing follows`);
    this.#at = at;
    return false;
  }
}

function kindOf(text: string): string {
  if (text === '') return 'end';
  if (text.startsWith('"')) return isText(text) ? 'text' : 'strange';
  if (NUMBER.test(text) || WORDS.has(text)) return 'word';
  return SIGNS.has(text) ? text : 'strange';
}

/** True if the quoted text is valid JSON: quotes may contain characters that JSON does not allow. */
function isText(quoted: string): boolean {
  try {
    JSON.parse(quoted);
    return true;
  } catch {
    return false;
  }
}
