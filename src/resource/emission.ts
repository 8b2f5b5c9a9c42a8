/**
 * What all emitters of generated code share: the text that is being written, the frame, and access to values.
 */
import type { Node, ValueNode } from '../mapping/model.ts';
import { isCode, type Places } from './condition.ts';
import { type Frame, flagCode, rawCode } from './frame.ts';
import type { SlotMemo } from './memo.ts';
import { literal, type Source, type Text } from './source-text.ts';

/** What emitting needs beside the node. */
export interface Emission {
  readonly source: Source;
  readonly frame: Frame;
  /**
   * What is remembered as a whole around the node: nothing, a text of two columns, or one whose parts are not
   * remembered.
   */
  readonly within: 'row' | 'pair' | 'fragment';
  /** `expressionKey` of columns with few values. */
  readonly few: ReadonlySet<string>;
  /** By the source of a column of the base row: the texts that depend on it alone, and how many fragments those are. */
  readonly slots: Map<string, { readonly memo: SlotMemo; next: number }>;
  /** JSON text of an inner node, behind `before` where it is there (src/resource/emit.ts). */
  readonly emit: (node: Node, at: Emission, before?: string) => Text;
}

export function placesOf({ source, frame }: Emission): Places {
  return {
    raw: expression => rawCode(expression, frame),
    flag: condition => flagCode(condition, frame),
    bind: value => source.bind(value),
  };
}

/** Source of the decoded value. */
export function decodeCode(node: ValueNode, places: Places): string {
  return `${places.bind(node.codec)}.decode(${node.from.map(places.raw).join()})`;
}

/** Source that is `none` where the first column holds a value that means "no value", or its only column none. */
export function unlessAbsent(node: ValueNode, code: string, places: Places, none = "''"): string {
  const [column, ...more] = node.from;
  if (!column) return code;
  // Many columns are mostly NULL, and what need not be called need not be fetched from memory.
  const skipsNull = more.length === 0 && node.codec.decode(null) === undefined;
  const absent = [skipsNull ? `${places.raw(column)} === null` : 'false', isCode(column, node.absent, places)];
  const tests = absent.filter(test => test !== 'false');
  return tests.length === 0 ? code : `${tests.join(' || ')} ? ${none} : ${code}`;
}

/** A text behind `before`; '' where it is not there. */
export function behind(before: string, text: Text, source: Source): Text {
  if (before === '' || text.literal === '') return text;
  if (text.literal !== undefined) return literal(before + text.literal);
  const whole = `${JSON.stringify(before)} + ${text.code}`;
  return {
    code: source.variable(text.certain ? whole : `${text.code} === '' ? '' : ${whole}`, 'const'),
    certain: text.certain,
  };
}

/** The first text that is there. */
export function firstPresent(alternatives: readonly (() => Text)[], { source }: Emission): Text {
  const result = source.variable("''");
  const from = (index: number): boolean => {
    const text = alternatives[index]?.();
    if (!text) return false;
    if (text.literal !== '') source.line(`${result} = ${text.code};`);
    if (text.certain) return true;
    let certain = false;
    if (index + 1 < alternatives.length) {
      source.when(text.literal === '' ? 'true' : `${result} === ''`, () => {
        certain = from(index + 1);
      });
    }
    return certain;
  };
  return { code: result, certain: from(0) };
}
