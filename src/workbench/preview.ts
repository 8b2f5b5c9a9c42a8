/**
 * Shows one row beside its resource. In: a mapping and the key of a row. Out: for each primitive of the resource the
 * table, column, codec, row of a code map and place in the pack that it comes from; the columns that were read, each
 * with its elements; the findings of the validator, by place. Mappings read no column under `deny`, so the preview
 * reads none either.
 */

import { OPEN_CONTEXT } from '../auth/access.ts';
import { plural } from '../common/plural.ts';
import type { Facade } from '../facade.ts';
import { readColumns } from '../law/columns.ts';
import type { StoredRow } from '../law/fetched-rows.ts';
import { asRowValue } from '../law/forms.ts';
import { StoredRows, type View } from '../law/stored-rows.ts';
import { ifJudged } from '../law/thing.ts';
import { placeText } from '../mapping/load/problem.ts';
import type { Mapping, Position, Registry } from '../mapping/model.ts';
import { type Catalog, findColumn, findTable } from '../sql/catalog.ts';
import type { Database } from '../sql/database.ts';
import type { ColumnExpression, SqlValue } from '../sql/expression.ts';
import { printTable, type TableName } from '../sql/identifier.ts';
import { formatFinding } from '../validation/finding.ts';
import { locate } from '../validation/locate.ts';
import { findingsOf } from '../validation/validator.ts';
import { elementsIn, type Made, type PreviewElement, piecesIn, type Source } from './preview-elements.ts';
import { Tracing } from './traced.ts';

export interface Preview {
  readonly mapping: string;
  readonly type: string;
  /** Undefined if the row is no resource of the mapping; `reason` then says why. */
  readonly id: string | undefined;
  readonly reason: string | undefined;
  /** As served. */
  readonly resource: Readonly<Record<string, unknown>> | undefined;
  readonly elements: readonly PreviewElement[];
  readonly columns: readonly PreviewColumn[];
  readonly issues: readonly PreviewIssue[];
}

/** A column of the row itself, with its elements. */
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
  /** Base URL of references in the resource. */
  readonly base?: string;
}

/** A key that is impossible or has no row. The message contains no value. */
export class PreviewError extends Error {}

/** Rounds of fetching: a row may need other rows, which need further ones. */
const ROUNDS = 12;
/** A row, the rows that its resource uses, and the preview. */
export interface RowRead {
  readonly row: StoredRow;
  readonly rows: StoredRows;
  readonly catalog: Catalog;
  readonly preview: Preview;
}

/** Makes the preview of a row. Throws PreviewError if no row has the key. Rejects with DatabaseError. */
export async function previewRow(mapping: Mapping, key: readonly string[], asking: Previewing): Promise<Preview> {
  return (await readRow(mapping, key, asking)).preview;
}

/** Does the same and returns the rows too. */
export async function readRow(mapping: Mapping, key: readonly string[], asking: Previewing): Promise<RowRead> {
  const { registry, database, facade, now, signal, base = OPEN_CONTEXT.base } = asking;
  const { source } = mapping;
  const own = source.key.filter(({ alias }) => alias === source.alias);
  if (key.length !== own.length) {
    throw new PreviewError(
      `Mapping ${mapping.name} has the key ${own.map(({ column }) => column).join(', ')}: expected ${plural(own.length, 'value')}, found ${key.length}`,
    );
  }
  const { catalog, columns } = await readColumns(registry, database);
  const rows = new StoredRows(registry, database, columns);
  const tracing = new Tracing({ base, now, zone: registry.pack.zone }, rows);
  rows.interpreter = tracing;
  const found = await rows.byKey(
    source,
    source.key.map(column => keyValue(key[own.indexOf(column)], column)),
    signal,
  );
  // If the key is unique only under `where`, several rows may have it; choose the one that `where` selects.
  const fits = await settled(rows, signal, () =>
    found.find(one => ifJudged(() => tracing.holds(source.where, rows.view(source, one))) === true),
  );
  const row = fits ?? found[0];
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
    read === undefined ? undefined : await facade.read(mapping.resource, read, [], { ...OPEN_CONTEXT, base, signal });
  const resource = served && (JSON.parse(served.json) as Record<string, unknown>);
  const from: Made = { mapping, view, rows, tracing, registry, pieces: piecesIn(mapping) };
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

/** Repeats a computation until all rows that it needs have been fetched. */
async function settled<T>(rows: StoredRows, signal: AbortSignal, work: () => T): Promise<T> {
  for (let round = 0; round < ROUNDS; round++) {
    rows.lacking = false;
    const made = work();
    if (!rows.lacking) return made;
    await rows.fetch(signal);
  }
  throw new PreviewError('The row depends on a longer chain of tables than supported');
}

/** Converts a typed key to a stored value. */
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

/** Returns why a row is no resource of a mapping; undefined if it is one. */
function reasonOf(mapping: Mapping, view: View, rows: StoredRows, tracing: Tracing<View>): string | undefined {
  // If only the database can decide, the read below asks it.
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

function declaredIn(catalog: Catalog, table: TableName, column: string): string {
  const info = findTable(catalog, table);
  return (info && findColumn(info, column)?.declared) ?? '';
}

/** Returns the findings of the validator, each with the line that made it. */
function issuesOf(mapping: Mapping, resource: unknown): readonly PreviewIssue[] {
  return findingsOf(resource).map(finding => ({
    severity: finding.kind === 'error' ? 'error' : 'warning',
    message: `${formatFinding(finding)}${finding.by === undefined ? '' : ` (${finding.by.url})`}`,
    place: locate(mapping, finding, resource),
  }));
}
