/**
 * Interprets a row and records which node, on which row, made each primitive of the resource. In: a mapping and a row.
 * Out: the resource in boxes, one per primitive; `leafOf` opens a box.
 */

import { Interpreter } from '../law/interpret.ts';
import { Expected, type Thing } from '../law/thing.ts';
import type { Node } from '../mapping/model.ts';

/** A primitive of a resource, with the node and the row that made it. */
export interface Leaf<R> {
  readonly node: Node;
  readonly row: R;
  /** An `Expected` if only the database can compute it. */
  readonly thing: Thing;
}

type Rows<R> = Parameters<Interpreter<R>['node']>[1];

export class Tracing<R> extends Interpreter<R> {
  readonly #leaves = new WeakMap<object, Leaf<R>>();

  /** Returns the content of a box; undefined if `thing` is no box of this interpreter. */
  leafOf(thing: Thing): Leaf<R> | undefined {
    return typeof thing === 'object' && thing !== null ? this.#leaves.get(thing) : undefined;
  }

  override node(node: Node, rows: Rows<R>): Thing | undefined {
    const thing = super.node(node, rows);
    if (thing === undefined) return undefined;
    switch (node.kind) {
      case 'value':
      case 'text':
      case 'lines':
      case 'constant':
        return this.#boxed(thing, node, rows.row);
      case 'ref':
        return this.#referenced(thing, node, rows.row);
      default:
        return thing instanceof Expected && this.leafOf(thing) === undefined
          ? this.#boxed(thing, node, rows.row)
          : thing;
    }
  }

  /** Boxes the reference only; its further elements are boxed already. */
  #referenced(thing: Thing, node: Node, row: R): Thing {
    if (typeof thing !== 'object' || thing === null || !('reference' in thing)) return this.#boxed(thing, node, row);
    const { reference, ...members } = thing;
    return { reference: this.#boxed(reference, node, row), ...members };
  }

  #boxed(thing: Thing, node: Node, row: R): Thing {
    if (Array.isArray(thing)) return thing.map(item => this.#boxed(item, node, row));
    const isObject = typeof thing === 'object' && thing !== null;
    if (isObject && !(thing instanceof Expected) && !('digits' in thing)) {
      return Object.fromEntries(Object.entries(thing).map(([name, part]) => [name, this.#boxed(part, node, row)]));
    }
    // Each box is a new object, so that equal texts have different boxes.
    const box: Thing = thing instanceof Expected ? new Expected(thing.accepts) : { digits: '' };
    this.#leaves.set(box, { node, row, thing });
    return box;
  }
}
