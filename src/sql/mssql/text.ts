/**
 * Writes texts for comparison in T-SQL: with the collation that is asked for, without trailing blanks.
 * https://learn.microsoft.com/sql/relational-databases/collations/collation-and-unicode-support
 */
import { UNICODE } from '../column-type.ts';
import type { Writer } from '../dialect.ts';
import { endsTrimmed } from '../dialect.ts';
import type { Expression } from '../expression.ts';
import { looseType } from '../parameter-type.ts';
import { textForm } from './forms.ts';

const BINARY = 'COLLATE Latin1_General_BIN2';
/** Blind to case and accents. */
export const FOLDED = 'COLLATE Latin1_General_100_CI_AI';
/** What TRIM takes away. */
export const BLANKS = 'CONCAT(CHAR(32), CHAR(9), CHAR(13), CHAR(10))';

/** The last COLLATE counts, so it is never written twice. */
export function binary(sql: string): string {
  return sql.endsWith(BINARY) ? sql : `${sql} ${BINARY}`;
}

export function bindText(writer: Writer, text: string): string {
  return writer.bind(text, looseType(text, UNICODE));
}

export function constantText(writer: Writer, text: string): string {
  return writer.constant(text, looseType(text, UNICODE));
}

export function asText(writer: Writer, of: Expression): string {
  return textForm(writer.expression(of), of.type);
}

export function trimmed(writer: Writer, of: Expression): string {
  const sql = asText(writer, of);
  return endsTrimmed(of) ? sql : `RTRIM(${sql})`;
}
