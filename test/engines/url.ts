/** The SQL Server that suites run against beside SQLite, if one is named. */
export const MSSQL_URL: string | undefined = process.env['MSSQL_URL'] || undefined;
