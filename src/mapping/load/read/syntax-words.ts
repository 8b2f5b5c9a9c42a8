/**
 * Rewords YAML syntax errors for authors of packs. In: an error of the parser, the text, and the nodes parsed so far.
 * Out: what is wrong, what to do, and the place. For an unclosed bracket or quote this is where it opens, not the line
 * at which the parser noticed.
 */
import { type ErrorCode, isCollection, isPair, isScalar, type Node, type YAMLError } from 'yaml';
import { shortened } from './spelling.ts';

export interface SyntaxWords {
  readonly message: string;
  readonly expected?: string;
  /** Offset in the text. */
  readonly offset: number;
}

/** Messages by the parser's code, if its own use terms that authors do not know. */
const WORDS: Partial<Record<ErrorCode, { readonly message?: string; readonly expected: string }>> = {
  BAD_INDENT: {
    message: 'the line does not begin in the column of its siblings above',
    expected: 'the same number of blanks before each key, or each dash, of a list',
  },
  BAD_SCALAR_START: { expected: 'quotes around the text' },
  BLOCK_AS_IMPLICIT_KEY: {
    message: 'a second colon where one value stands',
    expected:
      'the next line with the same indent as its siblings, and quotes around a text with a colon and a blank in it',
  },
  BLOCK_IN_FLOW: {
    message: 'a second key without a comma before it',
    expected: 'commas between what stands in brackets',
  },
  IMPOSSIBLE: { expected: 'one form: a list, a map or a text' },
  MISSING_CHAR: { expected: 'quotes and brackets to be closed' },
  MULTILINE_IMPLICIT_KEY: {
    message: 'a line that is no `key: value`',
    expected: '`key: value`, with a blank after the colon',
  },
  TAB_AS_INDENT: { expected: 'blanks' },
  UNEXPECTED_TOKEN: { expected: 'quotes around a text with { } [ ] , & * # ? | > @ ` " or % in it' },
};

/** `contents`: what could be read of the document that has the error. */
export function syntaxWords(error: YAMLError, text: string, contents: Node | null): SyntaxWords {
  const [offset] = error.pos;
  const open = /^(?:Flow (?:map|sequence)|Missing closing)/.test(error.message)
    ? openedBefore(offset, text, contents)
    : undefined;
  if (open !== undefined) {
    const mark = text[open] ?? '';
    return {
      message: `\`${mark}\` is not closed`,
      expected: `\`${CLOSING[mark] ?? mark}\` at its end`,
      offset: open,
    };
  }
  const [, end] = /^Unexpected flow-(?:map|seq)-end token.*"(.)"/.exec(error.message) ?? [];
  if (end !== undefined) {
    const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
    const [, before = '', key] = /^(\s*(?:- )*)([\w$-]+):[{[]/.exec(line) ?? [];
    if (key !== undefined)
      return { message: noBlank(key), expected: `\`${key}: …\``, offset: offset - line.length + before.length };
    const begin = end === '}' ? '{' : '[';
    return {
      message: `\`${end}\` closes nothing`,
      expected: `a \`${begin}\` before it, or one \`${end}\` less`,
      offset,
    };
  }
  return { message: shortened(error.message), ...WORDS[error.code], offset };
}

/** Describes the error in `key:value`. */
export function noBlank(key: string): string {
  return `no blank behind the colon of \`${key}\``;
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/** Finds the offset of the last bracket or quote that the parser found no end of. */
function openedBefore(offset: number, text: string, contents: Node | null): number | undefined {
  let found: number | undefined;
  const visit = (node: unknown): void => {
    if (isPair(node)) {
      visit(node.key);
      visit(node.value);
    }
    if (isCollection(node)) for (const item of node.items) visit(item);
    if (!isCollection(node) && !isScalar(node)) return;
    const [from = 0, to = 0] = node.range ?? [];
    const mark = text[from] ?? '';
    const end = CLOSING[mark] ?? (mark === '"' || mark === "'" ? mark : undefined);
    if (end === undefined || from >= offset || from < (found ?? 0)) return;
    const isClosed = to - 1 > from && text[to - 1] === end;
    if (!isClosed) found = from;
  };
  visit(contents);
  return found;
}
