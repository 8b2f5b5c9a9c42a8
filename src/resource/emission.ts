/**
 * What all emitters of generated code share: the text being written, the frame, and the ways to a value.
 */
import type { Node, ValueNode } from '../mapping/model.ts';
import { isCode, type Places } from './condition.ts';
import { type Frame, flagCode, rawCode } from './frame.ts';
import type { SlotMemo } from './memo.ts';
import type { Source, Text } from './source.ts';

/** What emitting needs beside the node; `remembering`: inside a fragment that is remembered as a whole. */
export interface Emission {
  readonly source: Source;
  readonly frame: Frame;
  readonly remembering: boolean;
  /** By the source of a column of the base row: the texts that depend on it alone, and how many fragments those are. */
  readonly slots: Map<string, { readonly memo: SlotMemo; next: number }>;
  /** JSON text of an inner node (src/resource/emit.ts). */
  readonly emit: (node: Node, at: Emission) => Text;
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

/** Source that is '' where the first column holds a value that means "no value". */
export function unlessAbsent(node: ValueNode, code: string, places: Places): string {
  const [column] = node.from;
  const absent = column ? isCode(column, node.absent, places) : 'false';
  return absent === 'false' ? code : `${absent} ? '' : ${code}`;
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
