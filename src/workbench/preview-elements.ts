/**
 * Finds where each primitive of a resource comes from. In: the resource in the boxes of the interpreter (traced.ts),
 * and as it is served. Out: for each primitive its path, the columns of rows, the codec, the row of a code map, and the
 * place in the pack.
 */

import type { StoredRows, View } from '../law/stored-rows.ts';
import { Expected, ifJudged, type Thing } from '../law/thing.ts';
import { childrenOf } from '../mapping/children.ts';
import { upperAscii } from '../mapping/codecs/text.ts';
import { columnsIn } from '../mapping/id-rule.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import type { Mapping, Node, Position, Registry } from '../mapping/model.ts';
import type { ColumnExpression, Expression, SqlValue } from '../sql/expression.ts';
import { type Identifier, printTable } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import type { Leaf, Tracing } from './traced.ts';

/** A primitive of the resource. */
export interface PreviewElement {
  /** Such as `name[0].family`. */
  readonly path: string;
  readonly value: unknown;
  readonly kind: 'column' | 'constant' | 'reference' | 'text' | 'id';
  readonly sources: readonly RowSource[];
  readonly codec: string | undefined;
  /** The target mapping of a reference. */
  readonly target: string | undefined;
  /** The row of a code map that gave it. */
  readonly codeRow: { readonly map: string; readonly place: Position | undefined } | undefined;
  readonly place: Position;
}

/** A column of a row, with its stored value. */
export interface Source {
  readonly table: string;
  readonly column: string;
  /** Undefined if the database computes it, so that no row that was read has it. */
  readonly stored: SqlValue | undefined;
}

interface RowSource extends Source {
  /** True for a column of the previewed row itself, not of a lookup or a child row. */
  readonly ownRow: boolean;
}

/** The interpretation of a row. */
export interface Made {
  readonly mapping: Mapping;
  readonly view: View;
  readonly rows: StoredRows;
  readonly tracing: Tracing<View>;
  readonly registry: Registry;
  /** Columns that are split into pieces, by the alias of the pieces. */
  readonly pieces: ReadonlyMap<Identifier, ColumnExpression>;
}

/** Returns the columns that a mapping splits into pieces, by the alias of the pieces. */
export function piecesIn({ root }: Mapping): ReadonlyMap<Identifier, ColumnExpression> {
  return new Map(piecesOf(root));
}

function piecesOf(node: Node): readonly (readonly [Identifier, ColumnExpression])[] {
  const own = node.kind === 'each' && node.from.kind === 'pieces' ? [[node.from.alias, node.from.column] as const] : [];
  return [...own, ...childrenOf(node).flatMap(piecesOf)];
}

/** Returns the primitives of a part of a resource, as interpreted and as served. */
export function elementsIn(thing: Thing, path: string, served: unknown, made: Made): readonly PreviewElement[] {
  const leaf = made.tracing.leafOf(thing);
  // A value that only the database can compute may be a whole element; all of its primitives come from this node.
  if (leaf) return primitivesIn(served, path).map(([inner, one]) => elementOf(leaf, inner, one, made));
  if (Array.isArray(thing)) {
    return itemsThere(thing, served).flatMap((item, i) => elementsIn(item, `${path}[${i}]`, at(served, i), made));
  }
  if (typeof thing === 'object' && thing !== null) {
    return Object.entries(thing).flatMap(([name, part]) =>
      elementsIn(part, path === '' ? name : `${path}.${name}`, at(served, name), made),
    );
  }
  if (path !== 'id') return [];
  const columns = columnsIn(made.mapping.id.alternatives.flat());
  return [
    {
      ...{ path, value: served, kind: 'id', codec: undefined, target: undefined, codeRow: undefined },
      sources: sourcesOf(columns, made.view, made),
      place: made.mapping.at,
    },
  ];
}

/** Returns the primitives of a part of a resource, with their paths. */
function primitivesIn(served: unknown, path: string): readonly (readonly [path: string, value: unknown])[] {
  if (served === undefined) return [];
  if (typeof served !== 'object' || served === null) return [[path, served]];
  const inner = Array.isArray(served) ? served.map((item, i) => [`[${i}]`, item] as const) : dotted(served);
  return inner.flatMap(([name, part]) => primitivesIn(part, `${path}${name}`));
}

function dotted(served: object): readonly (readonly [name: string, value: unknown])[] {
  return Object.entries(served).map(([name, part]) => [`.${name}`, part]);
}

/**
 * Returns the items that are served: an item that only the database can compute may be absent. If it is unclear which
 * are, returns none, because a wrong origin is worse than no origin.
 */
function itemsThere(things: readonly Thing[], served: unknown): readonly Thing[] {
  const count = Array.isArray(served) ? served.length : 0;
  if (count === things.length) return things;
  const sure = things.filter(thing => !(thing instanceof Expected));
  return count === sure.length ? sure : [];
}

function at(served: unknown, name: string | number): unknown {
  return typeof served === 'object' && served !== null ? Reflect.get(served, name) : undefined;
}

function elementOf({ node, row, thing }: Leaf<View>, path: string, served: unknown, made: Made): PreviewElement {
  const expressions = expressionsIn(node);
  const isOpen = thing instanceof Expected;
  return {
    path,
    value: served,
    kind: node.kind === 'value' ? 'column' : node.kind === 'ref' ? 'reference' : kindOf(node),
    sources: sourcesOf(expressions, row, made),
    codec: node.kind === 'value' ? node.codec.label : undefined,
    target: node.kind === 'ref' ? node.target : undefined,
    codeRow: isOpen ? undefined : codeRowOf(node, row, made),
    place: node.at,
  };
}

function kindOf(node: Node): PreviewElement['kind'] {
  return node.kind === 'constant' ? 'constant' : 'text';
}

/** Returns the expressions that a node reads from rows. */
function expressionsIn(node: Node): readonly Expression[] {
  if (node.kind === 'value') return node.from;
  if (node.kind === 'ref') return node.on.map(({ ours }) => ours);
  return childrenOf(node).flatMap(expressionsIn);
}

function sourcesOf(expressions: readonly Expression[], view: View, made: Made): readonly RowSource[] {
  const found = new Map<string, RowSource>();
  const see = (column: ColumnExpression): void => {
    const { rows, view: own, pieces } = made;
    // A piece comes from the column that was split.
    const split = pieces.get(column.alias);
    if (split) {
      see(split);
      return;
    }
    const name = `${column.alias}.${column.column}`;
    const scope = scopeUnder(column.alias, view);
    if (found.has(name)) return;
    found.set(name, {
      table: scope === undefined ? column.alias : scope.table,
      column: column.column,
      stored: storedIn(rows, column, view),
      ownRow: scope?.view === own && scope.isSource,
    });
  };
  walk({ expressions }, { column: see });
  return [...found.values()];
}

/** Returns the table of an alias, as seen from a row; undefined within a sub-select. */
function scopeUnder(
  alias: Identifier,
  view: View,
): { readonly table: string; readonly view: View; readonly isSource: boolean } | undefined {
  for (let around: View | undefined = view; around; around = around.around) {
    const { scope } = around;
    const isSource = scope.alias === alias;
    const found = isSource ? scope : scope.lookups.find(one => one.alias === alias);
    if (found) return { table: printTable(found.table), view: around, isSource };
  }
  return undefined;
}

/** Returns the stored value; undefined if the database computes it, as in a sub-select. */
function storedIn(rows: StoredRows, column: ColumnExpression, view: View): SqlValue | undefined {
  return ifJudged(() => rows.stored(column, view));
}

function codeRowOf(node: Node, view: View, { registry, rows }: Made): PreviewElement['codeRow'] {
  const origin = node.kind === 'value' ? codeMapOf(node.codec) : undefined;
  const [from] = node.kind === 'value' ? node.from : [];
  if (!origin || from?.kind !== 'column') return undefined;
  const map = registry.codeMaps.find(({ name }) => name === origin.name);
  if (!map) return undefined;
  const stored = storedIn(rows, from, view);
  const raw = stored === null || stored === undefined ? '' : String(stored).replace(/ +$/, '');
  const key = map.fold ? [...map.rows.keys()].find(one => upperAscii(one) === upperAscii(raw)) : raw;
  return { map: map.name, place: origin.isWhole && key !== undefined ? map.rowsAt?.get(key) : undefined };
}
