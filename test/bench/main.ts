/**
 * `npm run bench -- <what>`: measurements for people; no test looks at them. Without a name: the writer.
 */
const [what = 'writer', size] = process.argv.slice(2);
switch (what) {
  case 'writer':
    await import('../resource/bench.ts');
    break;
  case 'export': {
    const { benchExport } = await import('./export.ts');
    await benchExport(size === undefined ? undefined : Number(size));
    break;
  }
  case '--target':
    // Facade against raw driver needs a server; none of the numbers of SQLite says anything about it.
    console.error(
      process.env['MSSQL_URL'] === undefined
        ? 'There is no server to measure: MSSQL_URL names none.'
        : 'The comparison with the raw driver is not written yet.',
    );
    process.exitCode = 2;
    break;
  default:
    console.error(`There is no bench ${JSON.stringify(what)}; there are writer and export.`);
    process.exitCode = 2;
}
