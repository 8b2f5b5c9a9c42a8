/**
 * `npm run bench -- <what>`: measurements for people; a test looks at `files` alone. Without a name: a page and a read
 * beside programs written by hand. `search` and `growth` take SQLite files of the demo's schema, and build small ones
 * without.
 */
import { withDatabases } from './databases.ts';

const [what = 'search', ...more] = process.argv.slice(2);
const [size, patients] = more;
switch (what) {
  case 'search': {
    const { benchSearch } = await import('./search.ts');
    await withDatabases(more.slice(0, 1), [300], ([file = '']) => benchSearch(file));
    break;
  }
  case 'growth': {
    const { benchGrowth } = await import('./growth.ts');
    await withDatabases(more, [1000, 10_000], benchGrowth);
    break;
  }
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
  case 'access': {
    const { benchAccess } = await import('./access.ts');
    await withDatabases(more.slice(0, 1), [300], ([file = '']) => benchAccess(file));
    break;
  }
  case 'http': {
    const { benchHttp } = await import('./http.ts');
    await withDatabases(more.slice(0, 1), [300], ([file = '']) => benchHttp(file));
    break;
  }
  case 'latency': {
    const { benchLatency } = await import('./latency.ts');
    await withDatabases(more.slice(0, 1), [300], ([file = '']) => benchLatency(file));
    break;
  }
  case 'overload': {
    const { benchOverload } = await import('./overload.ts');
    await withDatabases(more.slice(0, 1), [300], ([file = '']) => benchOverload(file));
    break;
  }
  case 'soak': {
    const { benchSoak } = await import('./soak.ts');
    await benchSoak();
    break;
  }
  case 'sqlite-threads': {
    const { benchThreads } = await import('./sqlite-threads.ts');
    await withDatabases(more.slice(0, 1), [800], ([file = '']) => benchThreads(file));
    break;
  }
  case 'export-latency': {
    const { benchExportLatency } = await import('./export-latency.ts');
    await withDatabases(more.slice(0, 1), [3000], ([file = '']) => benchExportLatency(file));
    break;
  }
  case 'startup': {
    const { benchStartup } = await import('./startup.ts');
    await withDatabases(more.slice(0, 1), [120], ([file = '']) => benchStartup(file));
    break;
  }
  case 'workbench': {
    const { benchWorkbench } = await import('./workbench.ts');
    await withDatabases(more.slice(0, 1), [120], ([file = '']) => benchWorkbench(file));
    const { benchTables } = await import('./workbench-tables.ts');
    await benchTables();
    break;
  }
  case 'files': {
    const { benchFiles } = await import('./files.ts');
    await withDatabases(more.slice(0, 1), [120], ([file = '']) => benchFiles(file));
    break;
  }
  case '--target': {
    if (size !== 'mssql') throw new RangeError('--target takes mssql');
    const { benchMssql } = await import('./mssql.ts');
    await benchMssql(patients === undefined ? undefined : Number(patients));
    break;
  }
  default:
    console.error(
      `There is no bench ${JSON.stringify(what)}; there are search, http, latency, overload, soak, sqlite-threads, cached, access, startup, ` +
        'growth, export, export-latency, workbench, files and writer.',
    );
    process.exitCode = 2;
}
