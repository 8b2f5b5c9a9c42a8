/**
 * Writes values in the form in which they are fetched. In: an expression's SQL and type. Out: SQL for the select list
 * (the forms of Row in plan.ts), or for use as text inside a statement.
 * https://learn.microsoft.com/sql/t-sql/functions/cast-and-convert-transact-sql
 */
import type { ColumnType } from '../column-type.ts';

/** For the outermost select list only: in a WHERE it would keep an index from serving. */
export function fetchForm(sql: string, type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      // The driver decodes varchar several times slower than nvarchar.
      return type.unicode ? sql : unicodeForm(sql, type.length);
    case 'bit':
      return `CAST(${sql} AS int)`;
    case 'integer':
      return type.bits === 64 ? textForm(sql, type) : sql;
    case 'float':
    case 'binary':
      return sql;
    default:
      return textForm(sql, type);
  }
}

/** The server's own text of a value, by a conversion for each type; bytes as they are. */
export function storedForm(sql: string, type: ColumnType): string {
  if (type.kind === 'text') return unicodeForm(sql, 'max');
  return type.kind === 'binary' ? sql : textForm(sql, type);
}

function unicodeForm(sql: string, length: number | 'max'): string {
  return `CAST(${sql} AS nvarchar(${length === 'max' || length > 4000 ? 'max' : length}))`;
}

/** As text, NULL for NULL; text stays as it is, but for what the collations of comparisons cannot hold. */
export function textForm(sql: string, type: ColumnType): string {
  switch (type.kind) {
    case 'text':
      return type.codePage === undefined ? sql : unicodeForm(sql, type.length);
    case 'bit':
    case 'integer':
      return `CONVERT(nvarchar(20), ${sql})`;
    case 'decimal':
      // money prints two of its four digits unless it becomes a decimal first.
      return type.scale === 4
        ? `CONVERT(nvarchar(42), CAST(${sql} AS decimal(${type.precision},4)))`
        : `CONVERT(nvarchar(42), ${sql})`;
    case 'float':
      return `CONVERT(nvarchar(40), ${sql}, 3)`;
    case 'date':
      return `CONVERT(nvarchar(10), ${sql}, 23)`;
    case 'datetime':
      return `CONVERT(nvarchar(${type.fraction === 0 ? 19 : 20 + type.fraction}), ${sql}, 121)`;
    case 'time':
      return `CONVERT(nvarchar(${type.fraction === 0 ? 8 : 9 + type.fraction}), ${sql}, 121)`;
    case 'uuid':
      return `CONVERT(nvarchar(36), ${sql})`;
    case 'binary':
      return `CONVERT(nvarchar(max), ${sql}, 2)`;
  }
}
