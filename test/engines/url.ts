/** The SQL Server that suites run against beside SQLite, if one is named. */
export const MSSQL_URL: string | undefined = process.env['MSSQL_URL'] || undefined;

/** Files that only a server can run. */
export const ON_SERVER_ALONE: readonly string[] = ['test/sql/mssql/{server,differences}.test.ts'];
