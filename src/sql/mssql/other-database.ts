/**
 * Writes names of another database of the server, which synonyms lead to. In: the catalog views of a database, `sys`
 * for the login's own, `[Lab].sys` for another. Out: parts of T-SQL. Names come from the server's own catalog.
 */

/** Returns the catalog views of a database, by its name; undefined or NULL: the login's own. */
export function sysOf(database: unknown): string {
  const isHere = database === null || database === undefined;
  return isHere ? 'sys' : `[${String(database).replaceAll(']', ']]')}].sys`;
}

/** Returns `N'[Lab].'`, the prefix of names there; an empty text for the login's own database. */
export function prefixText(sys: string): string {
  return textOf(sys.slice(0, -'sys'.length));
}

/** Returns the database's name, as an expression. */
export function databaseText(sys: string): string {
  return sys === 'sys' ? 'DB_NAME()' : textOf(sys.slice('['.length, -'].sys'.length).replaceAll(']]', ']'));
}

/**
 * Returns 1 if the login has a permission on the whole database, else 0. Tries the name plain, as in the documentation,
 * and quoted, because a plain name with a dot or a hyphen is invalid.
 */
export function hasOnDatabase(sys: string, permission: string): string {
  const has = (name: string): string => `HAS_PERMS_BY_NAME(${name}, 'DATABASE', ${permission})`;
  const name = databaseText(sys);
  return `CASE WHEN 1 IN (${has(name)}, ${has(`QUOTENAME(${name})`)}) THEN 1 ELSE 0 END`;
}

function textOf(name: string): string {
  return `N'${name.replaceAll("'", "''")}'`;
}
