/**
 * `npm run bench -- <what>`: measurements for people; no test looks at them. Without a name: the writer.
 */
const [what = 'writer', size, patients] = process.argv.slice(2);
switch (what) {
  case 'writer':
    await import('../resource/bench.ts');
    break;
  case 'export': {
    const { benchExport } = await import('./export.ts');
    await benchExport(size === undefined ? undefined : Number(size));
    break;
  }
  case 'cached': {
    const { benchCached } = await import('./cached.ts');
    await benchCached();
    break;
  }
  case '--target': {
    if (size !== 'mssql') throw new RangeError('--target takes mssql');
    const { benchMssql } = await import('./mssql.ts');
    await benchMssql(patients === undefined ? undefined : Number(patients));
    break;
  }
  default:
    console.error(`There is no bench ${JSON.stringify(what)}; there are writer, cached and export.`);
    process.exitCode = 2;
}
