/**
 * Defines names of tables, columns and aliases, and writes them in SQL text. Only an Identifier can be part of SQL
 * text, and only the mapping loader and the catalog readers make them: a string of a request used as a name is a type
 * error.
 */

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

/**
 * Writes an identifier for dialects that take brackets (`Dialect.name`): unlike a double-quoted name, SQLite never
 * reads `[name]` as a string. Names that no engine reserves stay plain.
 * https://learn.microsoft.com/sql/t-sql/language-elements/reserved-keywords-transact-sql,
 * https://sqlite.org/lang_keywords.html
 */
export function bracketed(name: Identifier): string {
  return PLAIN.test(name) && !RESERVED.has(name.toLowerCase()) ? name : `[${name}]`;
}

declare const minted: unique symbol;
export type Identifier = string & { readonly [minted]: true };

/**
 * Letters of any language. Excludes characters that end a bracketed name, separate names, or are braces of a template.
 */
const LEGAL = /^[\p{L}\p{N}_#%][\p{L}\p{M}\p{N}_$#@ %&/-]{0,127}$/u;
/** Describes LEGAL in messages. */
export const LEGAL_NAME = 'a name of letters, digits, blanks and `_ $ # @ % & / -`';

/** Makes an identifier of a name in a mapping or a catalog. Throws a TypeError on a name that no mapping can write. */
export function identifier(text: string): Identifier {
  if (!isIdentifier(text)) throw new TypeError(`not an SQL identifier: ${JSON.stringify(text)}`);
  return text;
}

/** True if a text can be an identifier. */
export function isIdentifier(text: string): text is Identifier {
  return LEGAL.test(text);
}

/** A table, with its schema if the engine has schemas. */
export interface TableName {
  readonly schema?: Identifier;
  readonly name: Identifier;
}

/** Returns `dbo.PERSON`, as messages name a table. */
export function printTable({ schema, name }: TableName): string {
  return schema === undefined ? name : `${schema}.${name}`;
}

/** Returns a key that is equal for names of one table: engines compare names without case. */
export function tableKey({ schema, name }: TableName): string {
  return `${schema ?? ''}.${name}`.toLowerCase();
}
