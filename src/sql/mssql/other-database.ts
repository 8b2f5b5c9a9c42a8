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

function textOf(name: string): string {
  return `N'${name.replaceAll("'", "''")}'`;
}
