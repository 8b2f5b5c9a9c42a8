/**
 * Quotes names with brackets, for dialects that take them (`Dialect.name`). In: an identifier. Out: the plain name if
 * no engine reserves it, else `[name]`, which SQL Server defines and SQLite accepts; SQLite never reads it as a
 * string, unlike a double-quoted name.
 * https://learn.microsoft.com/sql/t-sql/language-elements/reserved-keywords-transact-sql,
 * https://sqlite.org/lang_keywords.html
 */
import type { Identifier } from './identifier.ts';

const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;

const RESERVED = new Set(
  `abort action add after all alter always analyze and any as asc attach authorization autoincrement backup before begin
between break browse bulk by cascade case cast check checkpoint close clustered coalesce collate column commit compute
conflict constraint contains containstable continue convert create cross current current_date current_time
current_timestamp current_user cursor database dbcc deallocate declare default deferrable deferred delete deny desc
detach disk distinct distributed do double drop dump each else end errlvl escape except exclude exclusive exec execute
exists exit explain external fail fetch file fillfactor filter first following for foreign freetext freetexttable from
full function generated glob goto grant group groups having holdlock identity identity_insert identitycol if ignore
immediate in index indexed initially inner insert instead intersect into is isnull join key kill last left like limit
lineno load match materialized merge national natural no nocheck nonclustered not nothing notnull null nullif nulls of
off offset offsets on open opendatasource openquery openrowset openxml option or order others outer over partition
percent pivot plan pragma preceding precision primary print proc procedure public query raise raiserror range read
readtext reconfigure recursive references regexp reindex release rename replace replication restore restrict return
returning revert revoke right rollback row rowcount rowguidcol rows rule save savepoint schema securityaudit select
semantickeyphrasetable semanticsimilaritydetailstable semanticsimilaritytable session_user set setuser shutdown some
statistics system_user table tablesample temp temporary textsize then ties to top tran transaction trigger truncate
try_convert tsequal unbounded union unique unpivot update updatetext use user using vacuum values varying view virtual
waitfor when where while window with within without writetext`.split(/\s+/),
);

/** An identifier as it stands in SQL text. */
export function bracketed(name: Identifier): string {
  return PLAIN.test(name) && !RESERVED.has(name.toLowerCase()) ? name : `[${name}]`;
}
