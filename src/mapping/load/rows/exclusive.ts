/**
 * Checks whether the conditions of two mappings of one table exclude each other, so that no row belongs to both. In:
 * two scopes. Out: true only if that is certain for every row that the table may have. Values that some collation may
 * treat as equal count as equal.
 */
import { type Catalog, findTable } from '../../../sql/catalog.ts';
import type { ColumnExpression } from '../../../sql/expression.ts';
import { tableKey } from '../../../sql/identifier.ts';
import type { IdPart } from '../../id-rule.ts';
import type { Condition, Lookup, Scope } from '../../model.ts';

/** True if no row of the common table fulfills the conditions of both. */
export function areExclusive(a: Scope, b: Scope): boolean {
  if (tableKey(a.table) !== tableKey(b.table)) return false;
  return exclusive(named(a.where, a), named(b.where, b));
}

/** How ids of a mapping's rows are made. */
export interface IdsOf {
  readonly source: Scope;
  readonly parts: readonly IdPart[];
}

/** True if the two share no id: ids are keys of one table, and no row fulfils the conditions of both. */
export function areOfOtherKeys(one: IdsOf, other: IdsOf, catalog: Catalog): boolean {
  return areAlike(one, other) && areExclusive(one.source, other.source) && isKey(other, catalog);
}

/** True if the table has one row for each id. */
export function isKey({ parts, source }: IdsOf, catalog: Catalog): boolean {
  const own = parts.filter(one => one.kind === 'column').filter(({ column }) => column.alias === source.alias);
  const columns = new Set(own.map(({ column }) => column.column.toLowerCase()));
  const indexes = findTable(catalog, source.table)?.indexes ?? [];
  return indexes.some(
    ({ unique, unfit, columns: of }) => unique && !unfit && of.every(column => columns.has(column.toLowerCase())),
  );
}

/** True if equal ids imply equal values of the same columns of the table. */
export function areAlike(a: IdsOf, b: IdsOf): boolean {
  const written = ({ parts, source }: IdsOf): string =>
    JSON.stringify(
      parts.map(one =>
        one.kind === 'literal'
          ? one.text
          : [one.column.alias === source.alias || one.column.alias, one.column.column, one.codec.name],
      ),
    );
  return written(a) === written(b);
}

/** A condition whose columns are named alike in both mappings. `test`: any other test, written as a text. */
type Named =
  | { readonly kind: 'all' | 'any'; readonly of: readonly Named[] }
  | { readonly kind: 'none'; readonly of: Named }
  | { readonly kind: 'is'; readonly column: string; readonly values: readonly (string | number)[] }
  | { readonly kind: 'present'; readonly column: string }
  | { readonly kind: 'test'; readonly text: string };

function named(condition: Condition, scope: Scope): Named {
  switch (condition.kind) {
    case 'all':
    case 'any':
      return { kind: condition.kind, of: condition.of.map(one => named(one, scope)) };
    case 'none':
      return { kind: 'none', of: named(condition.of, scope) };
    case 'is':
      return { kind: 'is', column: nameOf(condition.column, scope), values: condition.values };
    case 'present':
      return { kind: 'present', column: nameOf(condition.column, scope) };
    default:
      return { kind: 'test', text: written(condition, scope) };
  }
}

/** Names a column of a lookup by everything that determines its row, without the aliases of the mapping. */
function nameOf({ alias, column }: ColumnExpression, scope: Scope): string {
  if (alias === scope.alias) return column.toLowerCase();
  const lookup = scope.lookups.find(one => one.alias === alias);
  return `${lookup ? rowOf(lookup, scope) : alias}.${column}`.toLowerCase();
}

function rowOf(lookup: Lookup, scope: Scope): string {
  const { table, on, where, pick } = lookup;
  return written({ table, on, where, pick }, scope, [lookup.alias]);
}

/** Writes a test or a join as one text in every mapping, whatever its aliases. `inner`: those that it defines. */
function written(what: unknown, scope: Scope, inner: readonly string[] = aliasesIn(what)): string {
  return JSON.stringify(what, (key, value: unknown) => {
    if (key === 'at' || key === 'alias') return undefined;
    // A codec does not say all that it does, so that a test with one equals no other.
    if (key === 'codec' && value !== undefined) return unequal++;
    if (!isColumn(value)) return value;
    const place = inner.indexOf(value.alias);
    return place < 0 ? nameOf(value, scope) : `${place}.${value.column}`.toLowerCase();
  });
}

let unequal = 0;

/** Lists the aliases of tables inside of a test. */
function aliasesIn(what: unknown): readonly string[] {
  if (typeof what !== 'object' || what === null || isColumn(what)) return [];
  const own = 'table' in what && 'alias' in what && typeof what.alias === 'string' ? [what.alias] : [];
  return [...own, ...Object.values(what).flatMap(aliasesIn)];
}

function isColumn(value: unknown): value is ColumnExpression {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'column';
}

function exclusive(a: Named, b: Named): boolean {
  if (a.kind === 'all') return a.of.some(one => exclusive(one, b));
  if (b.kind === 'all') return b.of.some(one => exclusive(a, one));
  if (a.kind === 'any') return a.of.every(one => exclusive(one, b));
  if (b.kind === 'any') return b.of.every(one => exclusive(a, one));
  if (a.kind === 'none' && implies(b, a.of)) return true;
  if (b.kind === 'none' && implies(a, b.of)) return true;
  if (a.kind !== 'is' || b.kind !== 'is' || a.column !== b.column) return false;
  const values = new Set(a.values.map(spelling));
  return !b.values.some(value => values.has(spelling(value)));
}

/** True if every row of the first condition fulfills the second. */
function implies(a: Named, b: Named): boolean {
  if (b.kind === 'all') return b.of.every(one => implies(a, one));
  if (a.kind === 'any') return a.of.every(one => implies(one, b));
  if (b.kind === 'any' && b.of.some(one => implies(a, one))) return true;
  if (a.kind === 'all') return a.of.some(one => implies(one, b));
  if (a.kind === 'is' && a.values.length > 1) return a.values.every(value => implies({ ...a, values: [value] }, b));
  if (a.kind === 'is' && b.kind === 'is') return a.column === b.column && a.values.every(one => b.values.includes(one));
  if (a.kind === 'test') return b.kind === 'test' && a.text === b.text;
  return a.kind === 'present' && b.kind === 'present' && a.column === b.column;
}

/** Returns one spelling for values that a collation or a number type may treat as equal. */
function spelling(value: string | number): string {
  const text = String(value).trim();
  if (text !== '' && Number.isFinite(Number(text))) return String(Number(text));
  return text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
}
