/**
 * An interpreter that remembers which node, on which row, made each primitive of a resource. In: a mapping and a row.
 * Out: the resource in boxes, one for each primitive; `leafOf` opens a box.
 */

import { Interpreter } from '../law/interpret.ts';
import { Expected, type Thing } from '../law/thing.ts';
import type { Node } from '../mapping/model.ts';

/** A primitive of a resource and what made it. */
export interface Leaf<R> {
  readonly node: Node;
  readonly row: R;
  /** Expected: only the database can work it out. */
  readonly thing: Thing;
}

type Rows<R> = Parameters<Interpreter<R>['node']>[1];

export class Tracing<R> extends Interpreter<R> {
  readonly #leaves = new WeakMap<object, Leaf<R>>();

  /** What a box of this interpreter holds; undefined for what is no primitive. */
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

  /** The further elements of a reference are boxed already. */
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
    // Each box is an object of its own: two equal texts have two.
    const box: Thing = thing instanceof Expected ? new Expected(thing.accepts) : { digits: '' };
    this.#leaves.set(box, { node, row, thing });
    return box;
  }
}
