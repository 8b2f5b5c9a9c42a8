/**
 * Reads tables under aliases: `source`, lookups, the rows of `each` and `exists`. In: their maps. Out: resolved Scopes,
 * and the names that are visible within them.
 */
import { type Catalog, findTable, type TableInfo, tablesNamed, tableText } from '../../../sql/catalog.ts';
import { identifier, isIdentifier, LEGAL_NAME, type TableName } from '../../../sql/identifier.ts';
import type { JoinColumn, Lookup, Scope } from '../../model.ts';
import { parseVia } from '../nodes/via.ts';
import type { Context, OpenScope, PackContext } from '../pack/context.ts';
import { nearest } from '../read/spelling.ts';
import { child, type Entry, entriesOf, type MapTree, type ScalarTree, type Tree, textOf } from '../read/tree.ts';
import type { NamedRows, Visible } from './columns.ts';
import { readOn, readPick } from './join.ts';

/** Reads the table, alias, lookups and filter of a map; `name` overrides `as`. Undefined if the table is unknown. */
export function readScope(
  tree: Tree,
  name: Entry | undefined,
  outer: Visible | undefined,
  context: Context,
): OpenScope | undefined {
  const own = readTable(tree, name, true, context);
  if (!own) return undefined;
  const lookups: Lookup[] = [];
  const visible: Visible = { own, named: new Map([[own.name.toLowerCase(), own]]), outer, lookups };
  for (const entry of entriesOf(child(tree, 'lookup'))) {
    const lookup = readLookup(entry, visible, context);
    if (lookup) lookups.push(lookup);
  }
  const where = context.readCondition(child(tree, 'where'), visible, context);
  const scope: Scope = { table: own.table, ...viewed(own.info), alias: own.alias, where, lookups };
  return { scope, visible };
}

/** Returns the mark of a view. */
function viewed({ isView }: TableInfo): { readonly isView?: true } {
  return isView ? { isView } : {};
}

export function readTable(
  tree: Tree,
  name: Pick<Entry, 'key' | 'at'> | undefined,
  certain: boolean,
  context: Context,
): NamedRows | undefined {
  const written = child(tree, 'table');
  const found = written?.kind === 'scalar' ? findTableNamed(written, context) : undefined;
  const as = child(tree, 'as');
  const alias = name?.key ?? textOf(as) ?? (found?.info.name ?? textOf(written)?.split('.').at(-1) ?? '').toLowerCase();
  if (!found) {
    context.lost.add(alias.toLowerCase());
    return undefined;
  }
  if (!isIdentifier(alias)) {
    context.report.error('wrong-form', name?.at ?? as?.at ?? tree.at, 'not an alias', { found: alias });
    return undefined;
  }
  return { kind: 'rows', name: alias, alias: context.aliases.mint(alias), certain, ...found };
}

/** Finds a table of the catalog by `TABLE` or `schema.TABLE`. */
export function findTableNamed(
  tree: ScalarTree,
  context: PackContext,
): { readonly table: TableName; readonly info: TableInfo } | undefined {
  const parts = tree.text.split('.');
  const name = parts.at(-1) ?? '';
  const schema = parts.length > 1 ? parts[0] : undefined;
  if (parts.length > 2 || !parts.every(isIdentifier)) {
    context.report.error('wrong-form', tree.at, 'not a table', {
      expected: 'TABLE or schema.TABLE',
      found: tree.text || 'nothing',
    });
    return undefined;
  }
  const info = findTable(context.catalog, tree.text);
  if (info) context.tablesThere.add(tableText(info).toLowerCase());
  else {
    reportUnknown(tree, schema, name, context);
    return undefined;
  }
  for (const { why, expected } of info.alteredReads ?? [])
    context.report.warning('disguised-table', tree.at, `table ${tableText(info)} ${why}`, { expected });
  const needed = info.schema?.needed ? info.schema.name : undefined;
  if (schema === undefined && needed !== undefined && !isOnlyOne(tree, name, context)) return undefined;
  if (needed !== undefined && !isIdentifier(needed)) {
    context.report.error(
      'unknown-column',
      tree.at,
      'the schema of the table has a name that cannot be used in a statement',
      {
        expected: LEGAL_NAME,
        found: needed,
      },
    );
    return undefined;
  }
  const of = schema ?? needed;
  return { table: { ...(of === undefined ? {} : { schema: identifier(of) }), name: identifier(info.name) }, info };
}

/** Reports an unknown table and suggests the likely one; without a suggestion the table counts as missing. */
function reportUnknown(
  { at, text }: ScalarTree,
  schema: string | undefined,
  name: string,
  { catalog, report, tablesMissing }: PackContext,
): void {
  const why = catalog.unreachable?.get(name.toLowerCase());
  if (why !== undefined) {
    report.error('unknown-column', at, why, { found: text });
    return;
  }
  const suggestion = candidateFor(schema, name, catalog);
  if (suggestion === undefined) tablesMissing.set(text, [...(tablesMissing.get(text) ?? []), at]);
  report.error('unknown-column', at, 'unknown table', {
    found: text,
    ...(suggestion === undefined ? {} : { suggestion }),
  });
}

/** Suggests the table of this name in another schema, or else one of similar spelling, as a mapping would name it. */
function candidateFor(schema: string | undefined, name: string, catalog: Catalog): string | undefined {
  const [elsewhere] = tablesNamed(catalog, name);
  if (elsewhere) return tableInFull(elsewhere);
  const tables = [...catalog.tables.values()];
  const alike = nearest(
    name,
    tables.map(table => table.name),
  );
  const meant = alike === undefined ? undefined : tables.find(table => table.name === alike);
  if (meant === undefined) return undefined;
  if (meant.schema) return schema === undefined ? tableText(meant) : tableInFull(meant);
  return schema === undefined ? meant.name : `${schema}.${meant.name}`;
}

function tableInFull({ name, schema }: TableInfo): string {
  return schema ? `${schema.name}.${name}` : name;
}

/**
 * True if exactly one schema has a table of this bare name, which the server would not find by itself. Reports several.
 */
function isOnlyOne({ at, text }: ScalarTree, name: string, { catalog, report }: PackContext): boolean {
  const all = tablesNamed(catalog, name);
  if (all.length === 1) return true;
  const expected = all.map(table => `\`${tableInFull(table)}\``).join(' or ');
  report.error('unknown-column', at, 'several schemas have a table of this name', { expected, found: text });
  return false;
}

/** Reads a to-one join and makes its alias visible. */
export function readLookup(entry: Entry, visible: Visible, context: Context): Lookup | undefined {
  const { key, value, at } = entry;
  if (visible.named.has(key.toLowerCase())) {
    context.report.error('written-twice', at, 'alias used twice', { found: key });
    return undefined;
  }
  const required = textOf(child(value, 'required')) === 'true';
  const own = readTable(value, entry, required, context);
  if (!own) return undefined;
  visible.named.set(key.toLowerCase(), own);
  const inner: Visible = { own, named: visible.named, outer: visible.outer, lookups: visible.lookups };
  const lookup: Lookup = {
    table: own.table,
    ...viewed(own.info),
    alias: own.alias,
    on: readLookupOn(value, inner, visible, context),
    where: context.readCondition(child(value, 'where'), inner, context),
    required,
    pick: readPick(child(value, 'pick'), inner, context),
    at,
  };
  // The lookup's own conditions do not count as uses of it.
  context.usedRows.delete(own);
  if (!required) context.lookups.push({ rows: own, at });
  return lookup;
}

/** Marks a join of texts as case-insensitive. Numbers have no case. */
export function folded(pair: JoinColumn): JoinColumn {
  return isTextual(pair) ? { ...pair, fold: true } : pair;
}

function isTextual({ theirs, ours }: JoinColumn): boolean {
  return theirs.type.kind === 'text' && ours.type.kind === 'text';
}

/** Reads `on` of a lookup. It may be missing if `where` selects the row, and our side may be a text after steps. */
function readLookupOn(tree: Tree, theirs: Visible, ours: Visible, context: Context): readonly JoinColumn[] {
  const on = child(tree, 'on');
  if (!on && entriesOf(child(tree, 'where')).length === 0) {
    context.report.error('missing-key', tree.at, 'a lookup must define its row', {
      expected: '`on: {THEIRS: ours}`, or a `where` that leaves one row',
    });
  }
  if (on?.kind === 'map' && on.entries.length === 0) return readOn(on, theirs, ours, context);
  const takesPieces = ours.own.kind === 'pieces';
  const fold = child(tree, 'fold');
  const isFolded = textOf(fold) === 'true';
  const joined = entriesOf(on).flatMap((entry): readonly JoinColumn[] => {
    const via = child(entry.value, 'via');
    const plain: MapTree = {
      kind: 'map',
      entries: [{ ...entry, value: child(entry.value, 'from') ?? entry.value }],
      at: entry.at,
    };
    const joined = readOn(plain, theirs, ours, context, takesPieces);
    if (!via) return joined;
    const parsed = parseVia(via, context);
    if (parsed?.last || joined.some(({ ours: column }) => column.type.kind !== 'text')) {
      context.report.error('wrong-codec', via.at, '`on` takes text steps on a text column, and no codec');
    }
    return parsed ? joined.map(pair => ({ ...pair, steps: parsed.steps })) : [];
  });
  if (!isFolded) return joined;
  if (!joined.some(isTextual)) {
    context.report.error('wrong-codec', fold?.at ?? tree.at, '`fold` is for texts, and `on` joins none', {
      expected: 'no `fold`',
    });
  }
  return joined.map(folded);
}
