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
  default:
    console.error(`There is no bench ${JSON.stringify(what)}; there are writer and export.`);
    process.exitCode = 2;
}
