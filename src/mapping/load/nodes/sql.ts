/**
 * Reads `sql`, the escape to an SQL expression of the engine. In: `{sql: "expression with {a.COL}", type, via}`. Out: a
 * ValueNode over the expression, which can be searched as far as its codec can.
 * Columns stand in braces. The text must not name denied columns and cannot query another table.
 */
import { isPrimitive } from '../../../r4/definitions.ts';
import type { AlteredRead } from '../../../sql/catalog.ts';
import { BYTES } from '../../../sql/column-type.ts';
import { declaredType, engineNamed } from '../../../sql/engines.ts';
import type { Expression } from '../../../sql/expression.ts';
import type { Node } from '../../model.ts';
import type { Context } from '../pack/context.ts';
import { child, type MapTree } from '../read/tree.ts';
import { resolveColumn, storedType, type Visible } from '../rows/columns.ts';
import { guard } from '../rows/guard.ts';
import type { Slot } from './slot.ts';
import { readCodec, typesOf } from './via.ts';

/** Quoted names could hide the beginning of a text in quotes, and with it a query. Columns stand in braces. */
const FORBIDDEN =
  /["`[]|;|'|--|\/\*|\b(?:select|insert|update|delete|merge|drop|alter|create|exec|execute|truncate|into|grant)\b/i;

/** Reads an SQL expression as a value. */
export function readSql(tree: MapTree, slot: Slot, visible: Visible, context: Context): Node | undefined {
  const { report, settings } = context;
  const sql = child(tree, 'sql');
  const declared = child(tree, 'type');
  if (sql?.kind !== 'scalar' || declared?.kind !== 'scalar') return undefined;
  const named = declaredType(context.catalog.engine, declared.text);
  // An engine whose columns hold any type passes values on as stored.
  const { holdsAnything: isLoose, textType } = engineNamed(context.catalog.engine);
  const form = isLoose && named?.kind !== 'text' ? 'any' : undefined;
  const type = named && storedType(named, form, settings.zone);
  if (!type) {
    const expected = `such as ${textType}`;
    report.error('wrong-form', declared.at, 'not an SQL type', { expected, found: declared.text });
  }
  if (!isPrimitive(slot.type))
    report.error('wrong-element', tree.at, `${slot.path} is a ${slot.type} and cannot be an SQL expression`);
  const outside = sql.text.replace(/\{[^{}]*\}/g, '').replace(/'(?:[^']|'')*'/g, '');
  const forbidden = FORBIDDEN.exec(outside);
  if (forbidden) report.error('wrong-form', sql.at, 'not a single SQL expression', { found: forbidden[0] });
  const denied =
    settings.deniedNames.find(name => isNamed(name, sql.text)) ??
    deniedColumns(context).find(name => isNamed(name, outside));
  if (denied !== undefined) report.error('denied-column', sql.at, `column ${denied} is denied and is never read`);
  const altered = alteredIn(outside, visible);
  for (const { name, how } of altered)
    report.error('disguised-column', sql.at, `column ${name} ${how.why}`, { expected: how.expected });
  const fields = sql.text.split(/\{([^{}]*)\}/);
  const parts = fields.flatMap((field, i): readonly (string | Expression)[] => {
    if (i % 2 === 0) return field === '' ? [] : [field];
    const resolved = resolveColumn(field.trim(), sql.at, visible, context, { anyType: true });
    if (!resolved) return [];
    return [isLoose ? { ...resolved.column, type: BYTES } : resolved.column];
  });
  if (!type || !isPrimitive(slot.type) || forbidden || denied !== undefined || altered.length > 0) return undefined;
  const codec = readCodec(child(tree, 'via'), [type], typesOf(slot), tree.at, context);
  if (!codec) return undefined;
  const from: Expression = { kind: 'raw', parts, type };
  return guard(
    { kind: 'value', from: [from], codec, absent: [], type: slot.type, at: tree.at },
    tree,
    visible,
    context,
  );
}

/** Returns the columns of the schema that any rule denies, including rules for a whole table. */
function deniedColumns({ catalog, settings }: Context): readonly string[] {
  return [...catalog.tables.values()].flatMap(table =>
    [...table.columns.values()]
      .map(({ name }) => name)
      .filter(name => settings.deny(undefined, table.name, name) !== undefined),
  );
}

/** Finds columns that a text names without braces and whose values the login cannot read. */
function alteredIn(sql: string, visible: Visible): readonly { readonly name: string; readonly how: AlteredRead }[] {
  const around = visible.outer ? alteredIn(sql, visible.outer) : [];
  const tables = [...visible.named.values()].flatMap(named => (named.kind === 'rows' ? [named.info] : []));
  const here = tables.flatMap(table =>
    [...table.columns.values()].flatMap(({ name, denied: how }) =>
      typeof how === 'object' && isNamed(name, sql) ? [{ name: `${table.name}.${name}`, how }] : [],
    ),
  );
  return [...here, ...around];
}

function isNamed(name: string, sql: string): boolean {
  return new RegExp(`\\b${literally(name)}\\b`, 'i').test(sql);
}

function literally(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
