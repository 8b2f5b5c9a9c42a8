/**
 * Tells generated code where the values of a node are: in its row, in the rows around it, or in the pieces of
 * separated columns.
 */
import type { Condition, EachNode, Lookup, Mapping, RefNode } from '../mapping/model.ts';
import type { Expression } from '../sql/expression.ts';
import { expressionKey } from '../sql/expression-key.ts';
import type { Identifier } from '../sql/identifier.ts';
import type { LevelShape, RefShape } from './shape.ts';

export type Frame = RowFrame | PieceFrame;

export interface RowFrame {
  readonly kind: 'row';
  readonly level: LevelShape;
  /** Lookups of the mapping's own scope of such rows. */
  readonly lookups: readonly Lookup[];
  /** Names of the variables that hold the row and its children. */
  readonly row: string;
  readonly children: string;
  readonly around?: Frame;
}

export interface PieceFrame {
  readonly kind: 'pieces';
  readonly alias: Identifier;
  /** Sources of the parts of the current piece. */
  readonly parts: ReadonlyMap<Identifier, string>;
  readonly around: Frame;
}

/** Source of an expression's raw value. Throws a TypeError if the shape was not made for it. */
export function rawCode(expression: Expression, frame: Frame): string {
  const key = expressionKey(expression);
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

/** Lookups of the row at hand. */
export function lookupsIn(frame: Frame): readonly Lookup[] {
  return frame.kind === 'row' ? frame.lookups : [];
}

/** Source of the flag of an `exists` condition, or what it is known to be. */
export function flagCode(condition: Condition, frame: Frame): string | boolean {
  for (const at of rowFrames(frame)) {
    const found = at.level.flags.get(condition);
    if (found !== undefined) return typeof found === 'boolean' ? found : `${at.row}[${found}]`;
  }
  throw new TypeError('not fetched: the flag of an exists condition');
}

/** The shape of a reference and the row it is in; undefined for one that is joined on pieces. */
export function refIn(node: RefNode, frame: Frame): { readonly shape: RefShape; readonly row: string } | undefined {
  for (const at of rowFrames(frame)) {
    const shape = at.level.refs.find(ref => ref.node === node);
    if (shape) return { shape, row: at.row };
  }
  return undefined;
}

/** The mapping that a reference leads to. */
export function targetIn(node: RefNode, frame: Frame): Mapping {
  for (const at of rowFrames(frame)) {
    const target = at.level.targets.get(node);
    if (target) return target;
  }
  throw new TypeError(`not walked: a reference to ${node.target}`);
}

/** The row frame under which the child rows of an `each` hang, and their index there. */
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
