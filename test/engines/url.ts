/** Names the SQL Server that suites run against besides SQLite, if there is one. */
export const MSSQL_URL: string | undefined = process.env['MSSQL_URL'] || undefined;

/** Test files that need a server. */
export const ON_SERVER_ALONE: readonly string[] = ['test/sql/mssql/{server,differences}.test.ts'];
