/**
 * `npm run bench -- <what>`: measurements for people; a test runs `files` alone. Without a name: a page and a read
 * beside hand-written programs. Benches with numbers of patients take SQLite files of the demo's schema, or build such
 * databases.
 */
import { withDatabases } from './databases.ts';

/** A bench of one database; without a file it is built with this number of patients. */
const on =
  (patients: number, bench: (file: string) => Promise<void>) =>
  (more: readonly string[]): Promise<void> =>
    withDatabases(more.slice(0, 1), [patients], ([file = '']) => bench(file));

const numberIn = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

type Bench = (more: readonly string[]) => Promise<void>;

const BENCHES: Readonly<Record<string, () => Promise<Bench>>> = {
  search: async () => on(300, (await import('./search.ts')).benchSearch),
  http: async () => on(300, (await import('./http.ts')).benchHttp),
  latency: async () => on(300, (await import('./latency.ts')).benchLatency),
  overload: async () => on(300, (await import('./overload.ts')).benchOverload),
  async soak() {
    const { benchSoak } = await import('./soak.ts');
    return () => benchSoak();
  },
  cached: async () => (await import('./cached.ts')).benchCached,
  access: async () => on(300, (await import('./access.ts')).benchAccess),
  startup: async () => on(120, (await import('./startup.ts')).benchStartup),
  async growth() {
    const { benchGrowth } = await import('./growth.ts');
    return more => withDatabases(more, [1000, 10_000], benchGrowth);
  },
  async export() {
    const { benchExport } = await import('./export.ts');
    return ([size]) => benchExport(numberIn(size));
  },
  'export-latency': async () => on(3000, (await import('./export-latency.ts')).benchExportLatency),
  async workbench() {
    const [{ benchWorkbench }, { benchTables }] = [
      await import('./workbench.ts'),
      await import('./workbench-tables.ts'),
    ];
    return async more => {
      await on(120, benchWorkbench)(more);
      await benchTables();
    };
  },
  files: async () => on(120, (await import('./files.ts')).benchFiles),
  async writer() {
    await import('../resource/bench.ts');
    return async () => {};
  },
  async '--target'() {
    const { benchMssql } = await import('./mssql.ts');
    return async ([target, patients]) => {
      if (target !== 'mssql') throw new RangeError('--target takes mssql');
      await benchMssql(numberIn(patients));
    };
  },
};

const [what = 'search', ...more] = process.argv.slice(2);
const load = Object.hasOwn(BENCHES, what) ? BENCHES[what] : undefined;
if (load === undefined) {
  console.error(`There is no bench ${JSON.stringify(what)}; there are ${Object.keys(BENCHES).join(', ')}.`);
  process.exitCode = 2;
} else await (await load())(more);
