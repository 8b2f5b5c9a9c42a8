/**
 * Names what belongs to another database of the server, which synonyms lead to. In: the catalog views of a database,
 * `sys` of that of the login, `[Lab].sys` of another. Out: parts of T-SQL. Names come from the server's own catalog.
 */

/** The catalog views of a database, by its name; undefined or NULL: that of the login. */
export function sysOf(database: unknown): string {
  const isHere = database === null || database === undefined;
  return isHere ? 'sys' : `[${String(database).replaceAll(']', ']]')}].sys`;
}

/** `N'[Lab].'`, which stands before names there; an empty text for the login's own. */
export function prefixText(sys: string): string {
  return textOf(sys.slice(0, -'sys'.length));
}

/** Its name, as an expression. */
export function databaseText(sys: string): string {
  return sys === 'sys' ? 'DB_NAME()' : textOf(sys.slice('['.length, -'].sys'.length).replaceAll(']]', ']'));
}

/**
 * 1 where the login has a permission on the whole of it, else 0. The documentation writes the name plain, which is no
 * name where it has a dot or a hyphen.
 */
export function hasOnDatabase(sys: string, permission: string): string {
  const has = (name: string): string => `HAS_PERMS_BY_NAME(${name}, 'DATABASE', ${permission})`;
  const name = databaseText(sys);
  return `CASE WHEN 1 IN (${has(name)}, ${has(`QUOTENAME(${name})`)}) THEN 1 ELSE 0 END`;
}

function textOf(name: string): string {
  return `N'${name.replaceAll("'", "''")}'`;
}
