/**
 * Where each primitive of a resource comes from. In: the resource in the boxes of the interpreter (traced.ts), and as
 * it is served. Out: for each primitive its path, the columns of rows, the codec, the row of a code map, and the place
 * in the pack.
 */
import type { StoredRows, View } from '../law/stored-rows.ts';
import { Expected, ifJudged, type Thing } from '../law/thing.ts';
import { childrenOf } from '../mapping/children.ts';
import { upperAscii } from '../mapping/codecs/text.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import type { Mapping, Node, Position, Registry } from '../mapping/model.ts';
import type { ColumnExpression, Expression, SqlValue } from '../sql/expression.ts';
import { type Identifier, printTable } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import type { Leaf, Tracing } from './traced.ts';

/** A primitive of the resource. */
export interface PreviewElement {
  /** `name[0].family` */
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

/** A column of a row, and what the row holds there. */
export interface Source {
  readonly table: string;
  readonly column: string;
  /** Undefined: the database works it out, and no row that was read has it. */
  readonly stored: SqlValue | undefined;
}

interface RowSource extends Source {
  /** It is a column of the previewed row itself, and not of one that was looked up or stands below it. */
  readonly ownRow: boolean;
}

/** What the interpreter made of a row. */
export interface Made {
  readonly mapping: Mapping;
  readonly view: View;
  readonly rows: StoredRows;
  readonly tracing: Tracing<View>;
  readonly registry: Registry;
  /** The columns that are split into pieces, by the alias of these. */
  readonly pieces: ReadonlyMap<Identifier, ColumnExpression>;
}

/** The columns that a mapping splits into pieces, by the alias of these. */
export function piecesIn({ root }: Mapping): ReadonlyMap<Identifier, ColumnExpression> {
  return new Map(piecesOf(root));
}

function piecesOf(node: Node): readonly (readonly [Identifier, ColumnExpression])[] {
  const own = node.kind === 'each' && node.from.kind === 'pieces' ? [[node.from.alias, node.from.column] as const] : [];
  return [...own, ...childrenOf(node).flatMap(piecesOf)];
}

/** The primitives of a part of a resource: as it was interpreted, and as it is served. */
export function elementsIn(thing: Thing, path: string, served: unknown, made: Made): readonly PreviewElement[] {
  const leaf = made.tracing.leafOf(thing);
  // What only the database can work out may be a whole element: all that it emits comes of the one node.
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
  const columns = made.mapping.id.alternatives.flat().flatMap(part => (part.kind === 'column' ? [part.column] : []));
  return [
    {
      ...{ path, value: served, kind: 'id', codec: undefined, target: undefined, codeRow: undefined },
      sources: sourcesOf(columns, made.view, made),
      place: made.mapping.at,
    },
  ];
}

/** The primitives of a part of a resource, by their paths. */
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
 * The items that are served: some that only the database can work out may be none. No way is told rather than a wrong
 * one.
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

/** What a node reads of rows. */
function expressionsIn(node: Node): readonly Expression[] {
  if (node.kind === 'value') return node.from;
  if (node.kind === 'ref') return node.on.map(({ ours }) => ours);
  return childrenOf(node).flatMap(expressionsIn);
}

function sourcesOf(expressions: readonly Expression[], view: View, made: Made): readonly RowSource[] {
  const found = new Map<string, RowSource>();
  const see = (column: ColumnExpression): void => {
    const { rows, view: own, pieces } = made;
    // A piece comes from the column that is split into pieces.
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

/** The table that an alias stands for, seen from a row; undefined within a sub-select. */
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

/** Undefined where the database works it out, as in a sub-select. */
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
