/**
 * One row beside the resource that a mapping makes of it. In: a mapping and the key of a row. Out: for each primitive
 * of the resource the table, column, codec, row of a code map and place in the pack that it comes from; the columns
 * that were read, with the elements that each makes; what the validator says, by place. A mapping reads no column under
 * `deny`, so neither does this.
 */

import { OPEN_ACCESS } from '../auth/access.ts';
import { plural } from '../common/plural.ts';
import type { Facade, RequestContext } from '../facade.ts';
import { columnsAndKeys, columnsRead } from '../law/columns.ts';
import type { StoredRow } from '../law/fetched-rows.ts';
import { asRowValue } from '../law/forms.ts';
import { StoredRows, type View } from '../law/stored-rows.ts';
import { Expected, ifJudged, type Thing } from '../law/thing.ts';
import { childrenOf } from '../mapping/children.ts';
import { upperAscii } from '../mapping/codecs/text.ts';
import { codeMapOf } from '../mapping/load/codes/origin.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { Mapping, Node, Position, Registry } from '../mapping/model.ts';
import { type Catalog, findColumn, findTable } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, Expression, SqlValue } from '../sql/expression.ts';
import { type Identifier, printTable, type TableName } from '../sql/identifier.ts';
import { walk } from '../sql/walk.ts';
import { formatFinding } from '../validation/finding.ts';
import { locate } from '../validation/locate.ts';
import { findingsOf } from '../validation/validator.ts';
import { type Leaf, Tracing } from './traced.ts';

export interface Preview {
  readonly mapping: string;
  readonly type: string;
  /** Undefined: the row is no resource of the mapping, and `reason` says why. */
  readonly id: string | undefined;
  readonly reason: string | undefined;
  /** As the server answers it. */
  readonly resource: Readonly<Record<string, unknown>> | undefined;
  readonly elements: readonly PreviewElement[];
  readonly columns: readonly PreviewColumn[];
  readonly issues: readonly PreviewIssue[];
}

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

/** A column of the row itself, and the elements that it makes. */
export interface PreviewColumn extends Source {
  readonly declared: string;
  readonly elements: readonly string[];
}

export interface PreviewIssue {
  readonly severity: 'error' | 'warning';
  readonly message: string;
  readonly place: Position;
}

export interface Previewing {
  readonly registry: Registry;
  readonly database: Database;
  readonly facade: Facade;
  readonly now: number;
  readonly signal: AbortSignal;
  /** Of the addresses in the resource. */
  readonly base?: string;
}

/** A key that cannot be of the mapping's rows. Its message shows no value. */
export class PreviewError extends Error {}

/** A row may need rows that need rows. */
const ROUNDS = 12;
const BASE = 'http://127.0.0.1/fhir';
const CONTEXT: RequestContext = { access: OPEN_ACCESS, base: BASE, handling: 'strict' };

/** A row that a key names, the rows that its resource is made of, and what became of them. */
export interface RowRead {
  readonly row: StoredRow;
  readonly rows: StoredRows;
  readonly catalog: Catalog;
  readonly preview: Preview;
}

/** Throws PreviewError where no row has the key. Rejects with DatabaseError. */
export async function previewRow(mapping: Mapping, key: readonly string[], asking: Previewing): Promise<Preview> {
  return (await readRow(mapping, key, asking)).preview;
}

/** The same with the rows. */
export async function readRow(mapping: Mapping, key: readonly string[], asking: Previewing): Promise<RowRead> {
  const { registry, database, facade, now, signal, base = BASE } = asking;
  const { source } = mapping;
  const own = source.key.filter(({ alias }) => alias === source.alias);
  if (key.length !== own.length) {
    throw new PreviewError(
      `Mapping ${mapping.name} has the key ${own.map(({ column }) => column).join(', ')}: expected ${plural(own.length, 'value')}, found ${key.length}`,
    );
  }
  const tables = [...columnsRead(registry).values()].map(({ table }) => table.name);
  const catalog = await database.catalog({ tables });
  const rows = new StoredRows(registry, database, columnsAndKeys(registry, catalog));
  const tracing: Tracing<View> = new Tracing(
    { base, now, zone: registry.pack.zone },
    {
      raw: (expression, view) => rows.raw(expression, view),
      within: (view, pieces, parts) => rows.within(view, pieces, parts),
      children: (node, view) => rows.children(node, view, tracing),
      target: (node, view) => rows.target(node, view, tracing),
      exists: (condition, view) => rows.exists(condition, view, tracing),
    },
  );
  rows.interpreter = tracing;
  const [row] = await rows.byKey(
    source,
    source.key.map(column => keyValue(key[own.indexOf(column)], column)),
    signal,
  );
  if (!row) throw new PreviewError(`No row of ${printTable(source.table)} has this key`);
  const view = rows.view(source, row);
  const made = await settled(rows, signal, () => ({
    whyNot: reasonOf(mapping, view, rows, tracing),
    id: tracing.id(mapping.id, column => rows.raw(column, view)),
    thing: tracing.resource(mapping, view),
  }));
  const reason = made.whyNot ?? (made.id === undefined ? 'its key cannot form a valid id' : undefined);
  const read = reason === undefined && made.id !== undefined ? made.id : undefined;
  const served =
    read === undefined ? undefined : await facade.read(mapping.resource, read, [], { ...CONTEXT, base, signal });
  const resource = served && (JSON.parse(served.json) as Record<string, unknown>);
  const from: Made = { mapping, view, rows, tracing, registry, pieces: new Map(piecesIn(mapping.root)) };
  const elements = resource === undefined || made.thing === undefined ? [] : elementsIn(made.thing, '', resource, from);
  const preview: Preview = {
    mapping: mapping.name,
    type: mapping.resource,
    id: read,
    reason: reason ?? (resource === undefined ? 'a rule of the pack hides the resource of this row' : undefined),
    resource,
    elements,
    columns: rows.columnsOf(source.table).map(({ column }) => ({
      table: printTable(source.table),
      column,
      stored: row.get(column) ?? null,
      declared: declaredIn(catalog, source.table, column),
      elements: elements
        .filter(({ sources }) => sources.some(one => one.column === column && one.ownRow))
        .map(({ path }) => path),
    })),
    issues: resource === undefined ? [] : issuesOf(mapping, resource),
  };
  return { row, rows, catalog, preview };
}

interface Made {
  readonly mapping: Mapping;
  readonly view: View;
  readonly rows: StoredRows;
  readonly tracing: Tracing<View>;
  readonly registry: Registry;
  /** The columns that are split into pieces, by the alias of these. */
  readonly pieces: ReadonlyMap<Identifier, ColumnExpression>;
}

function piecesIn(node: Node): readonly (readonly [Identifier, ColumnExpression])[] {
  const own = node.kind === 'each' && node.from.kind === 'pieces' ? [[node.from.alias, node.from.column] as const] : [];
  return [...own, ...childrenOf(node).flatMap(piecesIn)];
}

/** Works something out again until all rows that it needs have been fetched. */
async function settled<T>(rows: StoredRows, signal: AbortSignal, work: () => T): Promise<T> {
  for (let round = 0; round < ROUNDS; round++) {
    rows.lacking = false;
    const made = work();
    if (!rows.lacking) return made;
    await rows.fetch(signal);
  }
  throw new PreviewError('The row depends on a longer chain of tables than supported');
}

/** A key as a person writes it. */
function keyValue(written: string | undefined, { column, type }: ColumnExpression): SqlValue {
  if (written === undefined) return null;
  const stored =
    type.kind === 'text'
      ? written
      : type.kind === 'binary'
        ? bytesOf(written)
        : ifJudged(() => asRowValue(written, type));
  if (stored === undefined) throw new PreviewError(`Key column ${column}: expected a value of its type`);
  return stored;
}

function bytesOf(written: string): Uint8Array | undefined {
  return /^0x(?:[0-9a-f]{2})+$/i.test(written) ? Buffer.from(written.slice(2), 'hex') : undefined;
}

/** Why a row is no resource of a mapping; undefined: it is one. */
function reasonOf(mapping: Mapping, view: View, rows: StoredRows, tracing: Tracing<View>): string | undefined {
  // Where only the database can tell, the read below asks it.
  return ifJudged(() => {
    const { source } = mapping;
    if (!tracing.holds(source.where, view)) {
      const isDeleted = mapping.deleted !== undefined && tracing.holds(mapping.deleted.source.where, view);
      return isDeleted ? 'it is deleted: it matches `deleted`' : 'the row does not match `where`';
    }
    if (!rows.hasRequired(view)) return 'a required lookup finds no row';
    if (!rows.isSelected(mapping, view, tracing)) return 'another row represents the same `one-per` columns';
    const missing = mapping.needs.find(need => !tracing.isPresent(need, view));
    if (missing) return `a needed element is absent: ${placeText(missing.at)}`;
    return undefined;
  });
}

function elementsIn(thing: Thing, path: string, served: unknown, made: Made): readonly PreviewElement[] {
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

function declaredIn(catalog: Catalog, table: TableName, column: string): string {
  const info = findTable(catalog, table);
  return (info && findColumn(info, column)?.declared) ?? '';
}

/** What the validator says, each by the line that made it. */
function issuesOf(mapping: Mapping, resource: unknown): readonly PreviewIssue[] {
  return findingsOf(resource).map(finding => ({
    severity: finding.kind === 'error' ? 'error' : 'warning',
    message: `${formatFinding(finding)}${finding.by === undefined ? '' : ` (${finding.by.url})`}`,
    place: locate(mapping, finding, resource),
  }));
}
