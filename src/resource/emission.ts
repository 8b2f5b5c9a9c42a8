/**
 * Defines what all generators of code share: the source being written, and the frame, which says where the values of a
 * node are: in its row, in the rows around it, or in the pieces of separated columns.
 */
import type { Condition, EachNode, Lookup, Mapping, Node, RefNode, ValueNode } from '../mapping/model.ts';
import type { Expression } from '../sql/expression.ts';
import { fetchKey } from '../sql/expression-key.ts';
import type { Identifier } from '../sql/identifier.ts';
import { isCode, type Places } from './condition.ts';
import type { SlotMemo } from './memo.ts';
import type { LevelShape, RefShape } from './shape.ts';
import { literal, type Source, type Text } from './source-text.ts';

/** The context of generating code for a node. */
export interface Emission {
  readonly source: Source;
  readonly frame: Frame;
  /** `fragment`: inside a cached fragment, whose parts are not cached themselves. */
  readonly within: 'row' | 'fragment';
  /** `expressionKey` of columns with few values. */
  readonly few: ReadonlySet<string>;
  /**
   * By the source of a column of the base row: the cache of texts that depend on it alone, and the number of its
   * fragments.
   */
  readonly slots: Map<string, { readonly memo: SlotMemo; next: number }>;
  /** Generates the JSON text of an inner node, with `before` in front if it exists (src/resource/emit.ts). */
  readonly emit: (node: Node, at: Emission, before?: string) => Text;
}

export function placesOf({ source, frame }: Emission): Places {
  return {
    raw: expression => rawCode(expression, frame),
    flag: condition => flagCode(condition, frame),
    bind: value => source.bind(value),
  };
}

/** Returns the source of the decoded value. */
export function decodeCode(node: ValueNode, places: Places): string {
  return `${places.bind(node.codec)}.decode(${node.from.map(places.raw).join()})`;
}

/**
 * Returns source that gives `none` if the first column holds a value that means "no value", or its only column is NULL.
 */
export function unlessAbsent(node: ValueNode, code: string, places: Places, none = "''"): string {
  const [column, ...more] = node.from;
  if (!column) return code;
  // Many columns are mostly NULL, and this test avoids a call and its memory access.
  const skipsNull = more.length === 0 && node.codec.decode(null) === undefined;
  const absent = [skipsNull ? `${places.raw(column)} === null` : 'false', isCode(column, node.absent, places)];
  const tests = absent.filter(test => test !== 'false');
  return tests.length === 0 ? code : `${tests.join(' || ')} ? ${none} : ${code}`;
}

/** Puts `before` in front of a text; gives '' if the text is absent. */
export function behind(before: string, text: Text, source: Source): Text {
  if (before === '' || text.literal === '') return text;
  if (text.literal !== undefined) return literal(before + text.literal);
  const whole = `${JSON.stringify(before)} + ${text.code}`;
  return {
    code: source.variable(text.neverEmpty ? whole : `${text.code} === '' ? '' : ${whole}`, 'const'),
    neverEmpty: text.neverEmpty,
  };
}

/** Returns the first text that is present. */
export function firstPresent(alternatives: readonly (() => Text)[], { source }: Emission): Text {
  const result = source.variable("''");
  const from = (index: number): boolean => {
    const text = alternatives[index]?.();
    if (!text) return false;
    if (text.literal !== '') source.line(`${result} = ${text.code};`);
    if (text.neverEmpty) return true;
    let neverEmpty = false;
    if (index + 1 < alternatives.length) {
      source.when(text.literal === '' ? 'true' : `${result} === ''`, () => {
        neverEmpty = from(index + 1);
      });
    }
    return neverEmpty;
  };
  return { code: result, neverEmpty: from(0) };
}

export type Frame = RowFrame | PieceFrame;

export interface RowFrame {
  readonly kind: 'row';
  readonly level: LevelShape;
  /** The lookups of the mapping's own scope for such rows. */
  readonly lookups: readonly Lookup[];
  /** Names of the variables with the row and its children. */
  readonly row: string;
  readonly children: string;
  readonly around?: Frame;
}

export interface PieceFrame {
  readonly kind: 'pieces';
  readonly alias: Identifier;
  /** Source of each part of the current piece. */
  readonly parts: ReadonlyMap<Identifier, string>;
  readonly around: Frame;
}

/** Returns the source of an expression's raw value. Throws a TypeError if the shape was not made for it. */
export function rawCode(expression: Expression, frame: Frame): string {
  const key = fetchKey(expression);
  for (let at: Frame | undefined = frame; at; at = at.around) {
    if (at.kind === 'pieces') {
      const part =
        expression.kind === 'column' && expression.alias === at.alias ? at.parts.get(expression.column) : undefined;
      if (part !== undefined) return part;
      continue;
    }
    const position = at.level.positions.get(key);
    if (position !== undefined) return `${at.row}[${position}]`;
  }
  throw new TypeError(`not fetched: ${key}`);
}

/** Returns the lookups of the current row. */
export function lookupsIn(frame: Frame): readonly Lookup[] {
  return frame.kind === 'row' ? frame.lookups : [];
}

/** Returns the source of the flag of an `exists` condition. */
export function flagCode(condition: Condition, frame: Frame): string {
  for (const at of rowFrames(frame)) {
    const found = at.level.flags.get(condition);
    if (found !== undefined) return found === false ? 'false' : `${at.row}[${found}] === 1`;
  }
  throw new TypeError('not fetched: the flag of an exists condition');
}

/** Returns the shape of a reference and its row; undefined for one that is joined on pieces. */
export function refIn(node: RefNode, frame: Frame): { readonly shape: RefShape; readonly row: string } | undefined {
  for (const at of rowFrames(frame)) {
    const shape = at.level.refs.find(ref => ref.node === node);
    if (shape) return { shape, row: at.row };
  }
  return undefined;
}

/** Returns the mapping that a reference leads to. */
export function targetIn(node: RefNode, frame: Frame): Mapping {
  for (const at of rowFrames(frame)) {
    const target = at.level.targets.get(node);
    if (target) return target;
  }
  throw new TypeError(`not walked: a reference to ${node.target}`);
}

/** Returns the frame of the row that has the child rows of an `each`, and their index there. */
export function childrenIn(node: EachNode, frame: Frame): { readonly frame: RowFrame; readonly index: number } {
  for (const at of rowFrames(frame)) {
    const index = at.level.children.findIndex(child => child.nodes.includes(node));
    if (index >= 0) return { frame: at, index };
  }
  throw new TypeError('not fetched: the child rows of an each');
}

function rowFrames(frame: Frame): readonly RowFrame[] {
  const frames: RowFrame[] = [];
  for (let at: Frame | undefined = frame; at; at = at.around) if (at.kind === 'row') frames.push(at);
  return frames;
}
