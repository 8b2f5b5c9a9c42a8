/**
 * Finds the place of a cursor in a YAML text that is being edited. In: the text and an offset. Out: the path of keys
 * and indexes, whether a key or a value is written there, and the whole document. A mark replaces the word at the
 * cursor, so that an incomplete text parses.
 */
import { isMap, isPair, isScalar, isSeq, visit } from 'yaml';
import { parseYaml } from './read.ts';

export interface Cursor {
  readonly path: readonly (string | number)[];
  /** `either`: alone on its line, so it may become a key or be the item of a list. */
  readonly role: 'key' | 'value' | 'either';
  /** Offset of the first character of the word to complete. */
  readonly from: number;
  readonly word: string;
  /** Text before the word in the same scalar, such as earlier names in a guide's `mustSupport`. */
  readonly before: string;
  /** The other keys of the same map. */
  readonly beside: ReadonlySet<string>;
  /** The document: maps, lists and texts. */
  readonly document: unknown;
}

const MARK = 'mark-of-the-cursor';
/** Longer texts are not completed, because a pack is written by hand. */
const MOST = 500_000;

/** Finds the cursor; undefined in a comment, or if the text around it cannot be parsed. */
export function cursorIn(text: string, offset: number): Cursor | undefined {
  if (text.length > MOST) return undefined;
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const before = text.slice(start, offset);
  if (/(?:^|\s)#[^'"]*$/.test(before)) return undefined;
  const [word = ''] = /[\w.$#/-]*$/.exec(before) ?? [];
  const from = offset - word.length;
  const [tail = ''] = /^[\w.$#/-]*/.exec(text.slice(offset)) ?? [];
  const rest = text.slice(offset + tail.length);
  const isAlone = /^\s*(?:- +)*$/.test(text.slice(start, from));
  const isKey = isAlone && !/^["']?\s*:/.test(rest);
  const marked = `${text.slice(0, from)}${MARK}${isKey ? ': ' : ''}${rest}`;
  const parsed = parseYaml(marked);
  if ('tooDeepAt' in parsed) return undefined;
  for (const document of parsed.documents) {
    let found: Pick<Cursor, 'path' | 'role' | 'before' | 'beside'> | undefined;
    visit(document, {
      Scalar(key, node, ancestors) {
        if (typeof node.value !== 'string' || !node.value.includes(MARK)) return undefined;
        const path = ancestors.flatMap((one, i): readonly (string | number)[] => {
          if (isPair(one) && isScalar(one.key)) return [String(one.key.value)];
          const inner = ancestors[i + 1] ?? node;
          return isSeq(one) ? [one.items.indexOf(inner)] : [];
        });
        const around = ancestors.findLast(one => isMap(one));
        const beside = new Set(
          isMap(around) ? around.items.flatMap(({ key: one }) => (isScalar(one) ? [String(one.value)] : [])) : [],
        );
        beside.delete(MARK);
        const isAKey = key === 'key';
        found = {
          path: isAKey ? path.slice(0, -1) : path,
          role: isAKey ? (isKey ? 'either' : 'key') : 'value',
          before: node.value.slice(0, node.value.indexOf(MARK)),
          beside: isAKey ? beside : new Set(),
        };
        return visit.BREAK;
      },
    });
    if (found) return { ...found, from, word, document: document.toJS() };
  }
  return undefined;
}

/** Returns the value at a path of a document. */
export function at(document: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, step) => (typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined),
    document,
  );
}

/** Returns the text at a path. */
export function textAt(document: unknown, path: readonly (string | number)[]): string | undefined {
  const found = at(document, path);
  return typeof found === 'string' ? found : undefined;
}
