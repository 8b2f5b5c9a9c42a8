/**
 * Collects what must be fetched with a row. In: nodes of one or several mappings over the same rows. Out: a LevelShape:
 * columns, including those of logical ids and references, flags, child rows.
 */
import { columnsOf, namedNodesOf, testsIn } from '../mapping/children.ts';
import { columnsIn, type IdRule } from '../mapping/id-rule.ts';
import type { ChildRows, Condition, EachNode, Mapping, Node, RefNode, Scope } from '../mapping/model.ts';
import { rowsOfLookups } from '../mapping/piece-lookups.ts';
import { type ColumnType, isFetchedAlike } from '../sql/column-type.ts';
import { exists, flag } from '../sql/construct.ts';
import type { ColumnExpression, Expression } from '../sql/expression.ts';
import { expressionKey, fetchKey } from '../sql/expression-key.ts';
import type { Identifier } from '../sql/identifier.ts';
import { renameExpression } from '../sql/rename.ts';
import { aliasesOf } from '../sql/walk.ts';
import type { ChildShape, LevelShape, RefShape, ShapeResolver } from './shape.ts';

export class Level {
  readonly columns: Expression[] = [];
  readonly positions = new Map<string, number>();
  readonly aliases = new Set<Identifier>();
  readonly flags = new Map<Condition, number | false>();
  readonly #parent: Level | undefined;
  readonly #resolver: ShapeResolver;
  /** Aliases of later scopes over the same rows → the aliases that the columns are fetched under. */
  readonly #renames = new Map<Identifier, Identifier>();
  readonly #children = new Map<string, Child>();
  readonly #refs = new Map<RefNode, RefShape>();
  readonly #targets = new Map<RefNode, Mapping>();
  /** Aliases of the pieces of separated columns around the current node. */
  readonly #pieces = new Set<Identifier>();

  readonly #served: ReadonlySet<Node>;

  /** `served`: nodes that exist in every row of this level, because other rows are not read. */
  constructor(parent: Level | undefined, resolver: ShapeResolver, served: ReadonlySet<Node> = new Set()) {
    this.#parent = parent;
    this.#resolver = resolver;
    this.#served = served;
  }

  /** Declares the aliases of a scope; if `same` is given, as other names for its aliases. */
  declare(scope: Scope, same?: Scope): void {
    const before = same ? aliasesIn(same) : [];
    for (const [i, alias] of aliasesIn(scope).entries()) {
      const first = before[i];
      if (first !== undefined && first !== alias) this.#renames.set(alias, first);
      this.aliases.add(alias);
    }
  }

  /** Fetches an expression with this row and returns its position. */
  need(expression: Expression): number {
    const key = fetchKey(expression);
    const known = this.positions.get(key);
    if (known !== undefined) return known;
    const fetched = this.#renames.size === 0 ? expression : renameExpression(expression, this.#renames);
    const position = this.positions.get(fetchKey(fetched)) ?? this.columns.push(fetched) - 1;
    this.positions.set(fetchKey(fetched), position);
    this.positions.set(key, position);
    return position;
  }

  /** Fetches everything that a node needs, here or in the row that its columns belong to. */
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
      case 'lines':
        this.#each(node.each);
        return;
    }
  }

  #each(node: EachNode): void {
    const { from } = node;
    if (from.kind === 'pieces') {
      this.#place(from.column);
      const nested = this.#pieces.has(from.alias);
      this.#pieces.add(from.alias);
      const owner = this.#levelOf(from.column) ?? this;
      // Rows that a piece looks up are fetched with the row of the pieces, but the nodes below see the piece.
      const inner = rowsOfLookups(from).reduce((around: Level, { node: rows }) => owner.#childOf(rows, around), this);
      inner.walk(node.item);
      if (!nested) this.#pieces.delete(from.alias);
      return;
    }
    this.#childOf(node as EachNode & { readonly from: ChildRows }, this).walk(node.item);
  }

  /** Returns the level of an `each`'s child rows of this row; `around`: the level that its nodes can see. */
  #childOf(node: EachNode & { readonly from: ChildRows }, around: Level): Level {
    const { from } = node;
    const key = this.#keyOf(from);
    let child = this.#children.get(key);
    if (!child) {
      const level = new Level(around, this.#resolver);
      level.declare(from.scope);
      child = {
        each: node,
        nodes: [],
        parentPositions: (from.of ? [from.of.column] : from.on.map(({ ours }) => ours)).map(column =>
          this.need(this.#ownColumn(column)),
        ),
        ownPositions: from.on.map(({ theirs }) => level.need(theirs)),
        level,
      };
      this.#children.set(key, child);
    } else child.level.declare(from.scope, child.each.from.scope);
    child.nodes.push(node);
    return child.level;
  }

  /** Returns a key that is equal for the same child rows, whatever their aliases and positions in the mapping. */
  #keyOf(rows: ChildRows): string {
    const inner = new Map<string, string>();
    return JSON.stringify(rows, (name, part) => {
      if (name === 'at') return undefined;
      if (name === 'codec') return part.label;
      if (name !== 'alias') return part;
      const outer = this.fetchedAlias(part);
      if (outer !== undefined) return outer;
      if (!inner.has(part)) inner.set(part, `#${inner.size}`);
      return inner.get(part);
    });
  }

  /** Returns the alias under which the columns of a declared alias are fetched. */
  fetchedAlias(alias: Identifier): Identifier | undefined {
    if (this.aliases.has(alias)) return this.#renames.get(alias) ?? alias;
    return this.#parent?.fetchedAlias(alias);
  }

  #ownColumn(column: ColumnExpression): ColumnExpression {
    if (this.#levelOf(column) !== this)
      throw new TypeError(`${expressionKey(column)} is no column of the row around it`);
    return column;
  }

  /** Returns the level of an expression; undefined for a piece of a separated column, which the writer itself has. */
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
    for (const test of testsIn(condition)) {
      if (test.kind === 'exists') this.#flag(test);
      else for (const column of columnsOf(test)) this.#place(column);
    }
  }

  /** Adds a flag column for an `exists` condition, unless it is never true. */
  #flag(condition: Condition): void {
    const predicate = this.#resolver.predicateOf(condition);
    if (predicate.kind === 'false') {
      this.flags.set(condition, false);
      return;
    }
    const expression = flag(predicate);
    const level = this.#levelOf(expression) ?? this;
    level.flags.set(condition, level.need(expression));
  }

  #reference(node: RefNode): void {
    const target = this.#resolver.mapping(node.target);
    this.#targets.set(node, target);
    const levels = new Set(node.on.map(({ ours }) => this.#levelOf(ours)));
    const [level, ...others] = levels;
    if (levels.has(undefined) || others.length > 0) {
      if (node.exists) throw new TypeError(`a reference to ${node.target} is joined on pieces or on several rows`);
      for (const { ours } of node.on) this.#place(ours);
      return;
    }
    if (!level || level.#refs.has(node)) return;
    level.#refs.set(
      node,
      refShapeOf(node, target, expression => level.need(expression), this.#resolver, level.#served.has(node)),
    );
  }

  shape(): LevelShape {
    const children = [...this.#children.values()].map(({ level, ...child }) => ({ ...child, ...level.shape() }));
    return {
      columns: this.columns,
      positions: this.positions,
      aliases: this.aliases,
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

function aliasesIn(scope: Scope): readonly Identifier[] {
  return [scope.alias, ...scope.lookups.map(({ alias }) => alias)];
}

/** The position of an id column's value. */
export interface IdSource {
  readonly position: number;
  /** The type of the target's column, if our column of another type or layout replaces it. */
  readonly cast?: { readonly to: ColumnType; readonly from: ColumnType };
}

/** Returns the columns of an id rule, in all its alternatives. */
export function idColumnsOf(rule: IdRule): readonly ColumnExpression[] {
  return rule.alternatives.flatMap(columnsIn);
}

/**
 * Returns the shape of a reference. `need` fetches an expression with the row and returns its position. `served`: no
 * row is read without its target, so the target's existence need not be checked again.
 */
export function refShapeOf(
  node: RefNode,
  target: Mapping,
  need: (expression: Expression) => number,
  resolver: ShapeResolver,
  served: boolean,
): RefShape {
  const idColumns = idColumnsOf(target.id);
  const id = new Map<string, IdSource>();
  const shape = { node, target, id, positions: node.on.map(({ ours }) => need(ours)) };
  const ours = new Map(node.on.map(on => [expressionKey(on.theirs), on.ours]));
  if (idColumns.every(column => standsFor(column, ours.get(expressionKey(column)), node.exists))) {
    for (const column of idColumns) {
      const own = ours.get(expressionKey(column));
      if (!own) continue;
      const cast = isFetchedAlike(own.type, column.type) ? {} : { cast: { to: column.type, from: own.type } };
      id.set(expressionKey(column), { position: need(own), ...cast });
    }
    if (!node.exists || served) return { ...shape, never: false };
    const there = exists(resolver.targetRelation(target, node.on, []).relation);
    return there.kind === 'false' ? { ...shape, never: true } : { ...shape, flag: need(flag(there)), never: false };
  }
  const { relation, aliases } = resolver.targetRelation(target, node.on, idColumns);
  if (relation.where.kind === 'false') return { ...shape, never: true };
  for (const column of idColumns) {
    const select = renameExpression(column, aliases);
    id.set(expressionKey(column), { position: need({ kind: 'scalar', select, from: relation, type: column.type }) });
  }
  return { ...shape, never: false };
}

/**
 * True if our column can replace an id column of the target. If SQL must prove the target, only a column without a cast
 * can.
 */
function standsFor(column: ColumnExpression, ours: Expression | undefined, proved: boolean): boolean {
  return ours !== undefined && (!proved || isFetchedAlike(ours.type, column.type));
}
