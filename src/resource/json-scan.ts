/**
 * Finds the end of a value in JSON text without parsing it. In: JSON as this server writes it, and the place where a
 * value begins. Out: the place behind the value, or -1 if the text ends before.
 */

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const LEFT_BRACKET = 91;
const BACKSLASH = 92;
export const RIGHT_BRACKET = 93;
export const LEFT_BRACE = 123;
export const RIGHT_BRACE = 125;

export function endOfValue(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return endOfString(text, at);
    case LEFT_BRACE:
    case LEFT_BRACKET:
      return endOfNested(text, at);
    default:
      return endOfWord(text, at);
  }
}

function endOfString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1 || -1;
}

/** An odd number of backslashes stands before it. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

function endOfNested(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = endOfString(text, i);
        if (end < 0) return -1;
        i = end - 1;
        break;
      }
      case LEFT_BRACE:
      case LEFT_BRACKET:
        depth++;
        break;
      case RIGHT_BRACE:
      case RIGHT_BRACKET:
        depth--;
        if (depth === 0) return i + 1;
        break;
    }
  }
  return -1;
}

/** Numbers, true, false, null. */
function endOfWord(text: string, at: number): number {
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === COMMA || code === RIGHT_BRACE || code === RIGHT_BRACKET) return i;
  }
  return -1;
}
