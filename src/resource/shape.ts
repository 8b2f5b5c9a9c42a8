/**
 * What must be fetched to emit resources: the one contract between planner and writer. In: mappings that read the same
 * rows, and the elements wanted. Out: the columns of the base row and, recursively, of child rows; the planner selects
 * them in this order, the writer finds them by position.
 */
import type {
  ChildRows,
  Condition,
  EachNode,
  IdRule,
  JoinColumn,
  Lookup,
  Mapping,
  Node,
  RefNode,
} from '../mapping/model.ts';
import type { ColumnType } from '../sql/column-type.ts';
import {
  type ColumnExpression,
  type Expression,
  exists,
  expressionKey,
  flag,
  type Predicate,
  type Relation,
} from '../sql/expression.ts';
import type { Identifier } from '../sql/identifier.ts';
import { aliasesOf, renameExpression } from '../sql/rename.ts';
import { namedNodesOf } from './dynamic.ts';
import { type SelectedRoot, type Selection, selectRoot } from './selection.ts';

/** The columns of one kind of row and what hangs on it. */
export interface LevelShape {
  /** Distinct by `expressionKey`; a row's value has the position of its expression. */
  readonly columns: readonly Expression[];
  /** `expressionKey` → position. */
  readonly positions: ReadonlyMap<string, number>;
  /** Aliases declared by the scope: its table's and its lookups'. */
  readonly aliases: ReadonlySet<Identifier>;
  /** Those lookups that the columns use, directly or through another lookup; required ones are the planner's to add. */
  readonly lookups: ReadonlySet<Identifier>;
  readonly children: readonly ChildShape[];
  /** References whose `ours` columns are all in this row. */
  readonly refs: readonly RefShape[];
  /** Of all references met here, those joined on pieces of a separated column included. */
  readonly targets: ReadonlyMap<RefNode, Mapping>;
  /** `exists` conditions: where the flag is, or what the condition is known to be. */
  readonly flags: ReadonlyMap<Condition, number | boolean>;
}

/** The base row. It carries the key, id and `changed` columns whatever is selected. */
export interface RowShape extends LevelShape {
  /** Positions of `source.key`. */
  readonly key: readonly number[];
  readonly selection: Selection;
  /** What is emitted of each mapping. */
  readonly roots: ReadonlyMap<Mapping, SelectedRoot>;
  /** The columns that decide `needs` are there, so that a writer can tell which variants a row makes. */
  readonly servable: boolean;
}

/** The rows of an `each`; nodes over the same rows share one shape. */
export interface ChildShape extends LevelShape {
  readonly each: EachNode & { readonly from: ChildRows };
  readonly nodes: readonly EachNode[];
  /** Positions of the `ours` columns in the row above. */
  readonly parentPositions: readonly number[];
  /** Positions of the `theirs` columns in this row. */
  readonly ownPositions: readonly number[];
}

export interface RefShape {
  readonly node: RefNode;
  readonly target: Mapping;
  /** Positions of the `ours` columns, in order of `on`. */
  readonly positions: readonly number[];
  /** Where the columns of the target's id rule are, by `expressionKey`. */
  readonly id: ReadonlyMap<string, IdSource>;
  /** Position of the flag that the target is there; absent where the id columns tell it themselves. */
  readonly flag?: number;
  /** The target can never be there. */
  readonly never: boolean;
}

export interface IdSource {
  readonly position: number;
  /** The type of the target's column, where our column of another type stands for it. */
  readonly castTo?: ColumnType;
}

/** What the planner answers while a shape is made. */
export interface ShapeResolver {
  mapping(name: string): Mapping;
  predicateOf(condition: Condition): Predicate;
  /** The served rows of a mapping where theirs = ours, with those of its lookups that `expressions` use; renamed. */
  targetRelation(
    mapping: Mapping,
    on: readonly JoinColumn[],
    expressions: readonly Expression[],
  ): { readonly relation: Relation; readonly aliases: ReadonlyMap<Identifier, Identifier> };
}

/** Columns that the planner wants beside those of the selection. */
export interface Also {
  /** Sort keys, for example. */
  readonly columns?: readonly Expression[];
  /** Nodes of the base row (a top-level element) whose inner columns and refs are wanted though not selected. */
  readonly nodes?: readonly Node[];
}

/** The row shape of one mapping. Throws a TypeError on a mapping that mixes rows in one expression. */
export function shapeOf(mapping: Mapping, selection: Selection, resolver: ShapeResolver, also: Also = {}): RowShape {
  return build([mapping], selection, resolver, also, false);
}

/** One row shape for the variants of a source; with it each writer can tell whether a row `serves` its mapping. */
export function shapeOfGroup(
  mappings: readonly Mapping[],
  selection: Selection,
  resolver: ShapeResolver,
  also: Also = {},
): RowShape {
  return build(mappings, selection, resolver, also, true);
}

/** The columns that an id is made of, those of all alternatives. */
export function idColumnsOf(rule: IdRule): readonly ColumnExpression[] {
  return rule.alternatives.flatMap(parts => parts.flatMap(part => (part.kind === 'column' ? [part.column] : [])));
}

function build(
  mappings: readonly Mapping[],
  selection: Selection,
  resolver: ShapeResolver,
  also: Also,
  servable: boolean,
): RowShape {
  const level = new Level(undefined, resolver);
  const roots = new Map<Mapping, SelectedRoot>();
  for (const { source } of mappings) level.declare(source.alias, source.lookups);
  const key = (mappings[0]?.source.key ?? []).map(column => level.need(column));
  for (const mapping of mappings) {
    const root = selectRoot(mapping, selection);
    roots.set(mapping, root);
    for (const column of [...mapping.source.key, ...idColumnsOf(mapping.id)]) level.need(column);
    if (mapping.changed) level.walk(mapping.changed);
    for (const { node } of root.meta) level.walk(node);
    for (const member of root.members) for (const { node } of namedNodesOf(member)) level.walk(node);
    if (servable) for (const need of mapping.needs) level.walk(need);
  }
  for (const column of also.columns ?? []) level.need(column);
  for (const node of also.nodes ?? []) level.walk(node);
  return { ...level.shape(), key, selection, roots, servable };
}

/** A row under construction. */
class Level {
  readonly columns: Expression[] = [];
  readonly positions = new Map<string, number>();
  readonly aliases = new Set<Identifier>();
  readonly flags = new Map<Condition, number | boolean>();
  readonly #parent: Level | undefined;
  readonly #resolver: ShapeResolver;
  readonly #lookups = new Map<Identifier, Lookup>();
  readonly #used = new Set<Identifier>();
  readonly #children = new Map<string, Child>();
  readonly #refs = new Map<RefNode, RefShape>();
  readonly #targets = new Map<RefNode, Mapping>();
  /** Aliases of the pieces of separated columns that are open around the node being walked. */
  readonly #pieces = new Set<Identifier>();

  constructor(parent: Level | undefined, resolver: ShapeResolver) {
    this.#parent = parent;
    this.#resolver = resolver;
  }

  declare(alias: Identifier, lookups: readonly Lookup[]): void {
    this.aliases.add(alias);
    for (const lookup of lookups) {
      this.aliases.add(lookup.alias);
      this.#lookups.set(lookup.alias, lookup);
    }
  }

  /** The position of an expression over this row, which is fetched from now on. */
  need(expression: Expression): number {
    const key = expressionKey(expression);
    const known = this.positions.get(key);
    if (known !== undefined) return known;
    for (const alias of aliasesOf({ expressions: [expression] })) this.#use(alias);
    this.positions.set(key, this.columns.length);
    return this.columns.push(expression) - 1;
  }

  #use(alias: Identifier): void {
    const lookup = this.#lookups.get(alias);
    if (!lookup || this.#used.has(alias)) return;
    this.#used.add(alias);
    for (const { ours } of lookup.on) this.#use(ours.alias);
    const others = [lookup.where].flatMap(columnsOf);
    for (const { alias: other } of others) this.#use(other);
  }

  /** Fetches whatever a node needs, here or in the row that its columns belong to. */
  walk(node: Node): void {
    if (node.if) this.#condition(node.if);
    switch (node.kind) {
      case 'constant':
        return;
      case 'value':
        for (const expression of node.from) this.#place(expression);
        return;
      case 'object':
        for (const member of node.members) for (const named of namedNodesOf(member)) this.walk(named.node);
        return;
      case 'list':
        for (const item of node.items) this.walk(item);
        return;
      case 'first':
        for (const alternative of node.alternatives) this.walk(alternative);
        return;
      case 'text':
        for (const part of node.parts) if (typeof part !== 'string') this.walk(part);
        return;
      case 'ref':
        for (const named of node.members) this.walk(named.node);
        this.#reference(node);
        return;
      case 'each':
        this.#each(node);
        return;
    }
  }

  #each(node: EachNode): void {
    const { from } = node;
    if (from.kind === 'pieces') {
      this.#place(from.column);
      const nested = this.#pieces.has(from.alias);
      this.#pieces.add(from.alias);
      this.walk(node.item);
      if (!nested) this.#pieces.delete(from.alias);
      return;
    }
    const key = childKey(from);
    let child = this.#children.get(key);
    if (!child) {
      const level = new Level(this, this.#resolver);
      level.declare(from.scope.alias, from.scope.lookups);
      child = {
        each: { ...node, from },
        nodes: [],
        parentPositions: from.on.map(({ ours }) => this.need(this.#ownColumn(ours))),
        ownPositions: from.on.map(({ theirs }) => level.need(theirs)),
        level,
      };
      this.#children.set(key, child);
    }
    child.nodes.push(node);
    child.level.walk(node.item);
  }

  #ownColumn(column: ColumnExpression): ColumnExpression {
    if (this.#levelOf(column) !== this)
      throw new TypeError(`${expressionKey(column)} is no column of the row around it`);
    return column;
  }

  /** Undefined: it is a piece of a separated column, which the writer has at hand. */
  #levelOf(expression: Expression): Level | undefined {
    const aliases = aliasesOf({ expressions: [expression] });
    let found: Level | undefined;
    for (const alias of aliases) {
      if (this.isPiece(alias)) {
        if (expression.kind === 'column') return undefined;
        throw new TypeError(`${alias} is a piece of a column: nothing can be computed on it in SQL`);
      }
      const level = this.declaring(alias);
      if (!level) continue; // declared by a relation inside the expression
      if (found && found !== level) throw new TypeError(`${expressionKey(expression)} mixes columns of different rows`);
      found = level;
    }
    return found ?? this;
  }

  isPiece(alias: Identifier): boolean {
    return this.#pieces.has(alias) || (this.#parent?.isPiece(alias) ?? false);
  }

  declaring(alias: Identifier): Level | undefined {
    return this.aliases.has(alias) ? this : this.#parent?.declaring(alias);
  }

  #place(expression: Expression): void {
    const level = this.#levelOf(expression);
    level?.need(expression);
  }

  #condition(condition: Condition): void {
    switch (condition.kind) {
      case 'always':
        return;
      case 'all':
      case 'any':
        for (const part of condition.of) this.#condition(part);
        return;
      case 'none':
        this.#condition(condition.of);
        return;
      case 'exists': {
        const predicate = this.#resolver.predicateOf(condition);
        const known = constantOf(predicate);
        if (known !== undefined) {
          this.flags.set(condition, known);
          return;
        }
        const expression = flag(predicate);
        const level = this.#levelOf(expression) ?? this;
        level.flags.set(condition, level.need(expression));
        return;
      }
      case 'same':
        this.#place(condition.column);
        this.#place(condition.other);
        return;
      default:
        this.#place(condition.column);
    }
  }

  #reference(node: RefNode): void {
    const target = this.#resolver.mapping(node.target);
    this.#targets.set(node, target);
    const idColumns = idColumnsOf(target.id);
    const levels = new Set(node.on.map(({ ours }) => this.#levelOf(ours)));
    const [level, ...others] = levels;
    if (levels.has(undefined) || others.length > 0) {
      if (node.exists) throw new TypeError(`a reference to ${node.target} is joined on pieces or on several rows`);
      for (const { ours } of node.on) this.#place(ours);
      return;
    }
    if (!level || level.#refs.has(node)) return;
    const positions = node.on.map(({ ours }) => level.need(ours));
    const ours = new Map(node.on.map(on => [expressionKey(on.theirs), on.ours]));
    const joined = idColumns.every(column => standsFor(column, ours.get(expressionKey(column)), node.exists));
    const id = new Map<string, IdSource>();
    const shape = { node, target, positions, id };
    if (joined) {
      for (const column of idColumns) {
        const own = ours.get(expressionKey(column));
        if (!own) continue;
        const castTo = own.type.kind === column.type.kind ? {} : { castTo: column.type };
        id.set(expressionKey(column), { position: level.need(own), ...castTo });
      }
      if (!node.exists) {
        level.#refs.set(node, { ...shape, never: false });
        return;
      }
      const there = exists(this.#resolver.targetRelation(target, node.on, []).relation);
      const known = constantOf(there);
      const flagAt = known === undefined ? { flag: level.need(flag(there)) } : {};
      level.#refs.set(node, { ...shape, ...flagAt, never: known === false });
      return;
    }
    const { relation, aliases } = this.#resolver.targetRelation(target, node.on, idColumns);
    const never = relation.where.kind === 'false';
    if (!never) {
      for (const column of idColumns) {
        const select = renameExpression(column, aliases);
        const scalar: Expression = { kind: 'scalar', select, from: relation, type: column.type };
        id.set(expressionKey(column), { position: level.need(scalar) });
      }
    }
    level.#refs.set(node, { ...shape, never });
  }

  shape(): LevelShape {
    const children = [...this.#children.values()].map(({ level, ...child }) => ({ ...child, ...level.shape() }));
    return {
      columns: this.columns,
      positions: this.positions,
      aliases: this.aliases,
      lookups: this.#used,
      children,
      refs: [...this.#refs.values()],
      targets: this.#targets,
      flags: this.flags,
    };
  }
}

interface Child extends Pick<ChildShape, 'each' | 'parentPositions' | 'ownPositions'> {
  readonly nodes: EachNode[];
  readonly level: Level;
}

/** Our column stands for an id column of the target; where it must be proved in SQL, only if it needs no cast. */
function standsFor(column: ColumnExpression, ours: Expression | undefined, proved: boolean): boolean {
  return ours !== undefined && (!proved || ours.type.kind === column.type.kind);
}

function constantOf(predicate: Predicate): boolean | undefined {
  return predicate.kind === 'true' ? true : predicate.kind === 'false' ? false : undefined;
}

/** Columns that a condition reads, without those inside an `exists`. */
export function columnsOf(condition: Condition): readonly ColumnExpression[] {
  switch (condition.kind) {
    case 'always':
    case 'exists':
      return [];
    case 'all':
    case 'any':
      return condition.of.flatMap(columnsOf);
    case 'none':
      return columnsOf(condition.of);
    case 'same':
      return [condition.column, condition.other];
    default:
      return [condition.column];
  }
}

/** Equal for the same child rows under the same alias; where something is written does not count. */
function childKey(rows: ChildRows): string {
  return JSON.stringify(rows, (name, part) => {
    if (name === 'at') return undefined;
    return name === 'codec' ? part.label : part;
  });
}
