/**
 * Defines the contract between planner and writer: what must be fetched to write resources. In: mappings that read the
 * same rows, and the requested elements. Out: the columns of the row and, recursively, of child rows. The planner
 * selects them in this order, and the writer finds them by position.
 */

import { namedNodesOf } from '../mapping/children.ts';
import type { ChildRows, Condition, EachNode, JoinColumn, Mapping, Node, RefNode } from '../mapping/model.ts';
import type { Expression, Predicate, Relation } from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { type IdSource, idColumnsOf, Level } from './level.ts';
import { type SelectedRoot, type Selection, selectRoot } from './selection.ts';

/** The columns of one kind of row, with its child rows and references. */
export interface LevelShape {
  /** Distinct by `expressionKey`; a row has the value of each expression at its position. */
  readonly columns: readonly Expression[];
  /** `expressionKey` → position; also of expressions under the aliases of another `each` over the same rows. */
  readonly positions: ReadonlyMap<string, number>;
  /** Aliases declared by the scope: its table's and its lookups'. */
  readonly aliases: ReadonlySet<Identifier>;
  readonly children: readonly ChildShape[];
  /** References whose `ours` columns are all in this row. */
  readonly refs: readonly RefShape[];
  /** Targets of all references at this level, including those joined on pieces of a separated column. */
  readonly targets: ReadonlyMap<RefNode, Mapping>;
  /** `exists` conditions: the position of the flag; false if no row can exist. */
  readonly flags: ReadonlyMap<Condition, number | false>;
}

/** The base row. It has the key, id and `changed` columns whatever is selected. */
export interface RowShape extends LevelShape {
  /** Positions of `source.key`. */
  readonly key: readonly number[];
  readonly selection: Selection;
  /** What is emitted for each mapping. */
  readonly roots: ReadonlyMap<Mapping, SelectedRoot>;
}

/** The rows of an `each`; nodes over the same rows share one shape. */
export interface ChildShape extends LevelShape {
  readonly each: EachNode & { readonly from: ChildRows };
  readonly nodes: readonly EachNode[];
  /** Positions of the `ours` columns in the row above, or of the column whose pieces are joined. */
  readonly parentPositions: readonly number[];
  /** Positions of the `theirs` columns in this row. */
  readonly ownPositions: readonly number[];
}

export interface RefShape {
  readonly node: RefNode;
  readonly target: Mapping;
  /** Positions of the `ours` columns, in order of `on`. */
  readonly positions: readonly number[];
  /** The columns of the target's id rule, by `expressionKey`. */
  readonly id: ReadonlyMap<string, IdSource>;
  /** Position of the flag for the target's existence; absent if the id columns show it. */
  readonly flag?: number;
  /** True if the target can never exist. */
  readonly never: boolean;
}

/** Functions of the planner that making a shape needs. */
export interface ShapeResolver {
  mapping(name: string): Mapping;
  predicateOf(condition: Condition): Predicate;
  /** Returns the served rows of a mapping where theirs = ours, with the lookups that `expressions` use, renamed. */
  targetRelation(
    mapping: Mapping,
    on: readonly JoinColumn[],
    expressions: readonly Expression[],
  ): { readonly relation: Relation; readonly aliases: ReadonlyMap<Identifier, Identifier> };
}

/** Columns that the planner needs besides those of the selection. */
export interface Also {
  /** Sort keys, for example. */
  readonly columns?: readonly Expression[];
  /** Nodes of the base row (a top-level element) whose inner columns and references are needed though not selected. */
  readonly nodes?: readonly Node[];
}

/** Returns the row shape of one mapping. Throws a TypeError on a mapping that mixes rows in one expression. */
export function shapeOf(mapping: Mapping, selection: Selection, resolver: ShapeResolver, also: Also = {}): RowShape {
  return shapeOfGroup([mapping], selection, resolver, also);
}

/** Returns one row shape for all variants of a source. */
export function shapeOfGroup(
  mappings: readonly Mapping[],
  selection: Selection,
  resolver: ShapeResolver,
  also: Also = {},
): RowShape {
  const level = new Level(undefined, resolver, new Set(mappings.flatMap(({ needs }) => needs)));
  const roots = new Map<Mapping, SelectedRoot>();
  for (const { source } of mappings) level.declare(source);
  const key = (mappings[0]?.source.key ?? []).map(column => level.need(column));
  for (const mapping of mappings) {
    const root = selectRoot(mapping, selection);
    roots.set(mapping, root);
    for (const column of [...mapping.source.key, ...idColumnsOf(mapping.id)]) level.need(column);
    if (mapping.changed) level.walk(mapping.changed);
    for (const { node } of root.meta) level.walk(node);
    for (const member of root.members) for (const { node } of namedNodesOf(member)) level.walk(node);
  }
  for (const column of also.columns ?? []) level.need(column);
  for (const node of also.nodes ?? []) level.walk(node);
  return { ...level.shape(), key, selection, roots };
}
