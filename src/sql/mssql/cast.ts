/**
 * Casts values to another type, NULL if impossible. In: SQL and its type. Out: SQL.
 * https://learn.microsoft.com/sql/t-sql/functions/try-cast-transact-sql
 */
import type { ColumnType } from '../column-type.ts';
import { familyOf } from '../parameter-type.ts';
import { textForm } from './forms.ts';
import { BLANKS, binary } from './text.ts';

export function cast(sql: string, from: ColumnType, to: ColumnType): string {
  const text = familyOf(from) === 'text';
  switch (familyOf(to)) {
    case 'text':
      return textForm(sql, from);
    case 'number':
      if (!text) return 'NULL';
      return to.kind === 'integer' ? castInteger(sql) : castNumber(sql);
    case 'moment':
      // A DATETIME beside a DATETIME2 would have thirds of a hundredth of a second that its text does not show.
      if (from.kind === 'datetime' && to.kind === 'datetime') return `CAST(${sql} AS datetime2(${from.fraction}))`;
      if (familyOf(from) === 'moment') return sql;
      return text ? `TRY_CONVERT(${to.kind === 'date' ? 'date' : 'datetime2(7)'}, NULLIF(${sql}, ''))` : 'NULL';
    case 'time':
      return text ? `TRY_CONVERT(time(7), NULLIF(${sql}, ''))` : 'NULL';
    case 'uuid':
      return text ? `CASE WHEN LEN(${sql}) = 36 THEN TRY_CAST(${sql} AS uniqueidentifier) END` : 'NULL';
    case 'binary':
      return 'NULL';
  }
}

/** TRY_CAST alone takes an empty text and a lone sign as 0. */
export function castInteger(sql: string): string {
  const text = binary(`RTRIM(${sql})`);
  return `CASE WHEN ${text} LIKE '%[0-9]' AND ${text} NOT LIKE '%[^-0-9]%' THEN TRY_CAST(${sql} AS bigint) END`;
}

/** The guards are for what TRY_CAST takes beyond the grammar `-?\d+(\.\d+)?`: signs, blanks, a point at either end. */
export function castNumber(sql: string): string {
  const grammar = `n.t LIKE '%[0-9]' AND n.t NOT LIKE '%[^-0-9.]%' AND n.t NOT LIKE '.%' AND n.t NOT LIKE '-.%'`;
  const number = `CASE WHEN ${grammar} THEN TRY_CAST(n.t AS decimal(38,10)) END`;
  return `(SELECT ${number} FROM (SELECT ${binary(`TRIM(${BLANKS} FROM ${sql})`)} AS t) AS n)`;
}
