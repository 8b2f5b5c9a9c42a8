import { defineConfig, type TestProjectConfiguration } from 'vitest/config';
import { MSSQL_URL, ON_SERVER_ALONE } from './test/engines/url.ts';
import { LongestFirst } from './test/longest-first.ts';
import { putTemporaryFoldersInMemory } from './test/memory-folder.ts';
import { ASKS_ALL, TEST_DAY } from './test/share.ts';

/** Node runs the code of the tests as it runs that of the server: Vite's module runner takes a tenth more time. Nothing is mocked. */
const AS_NODE = { viteModuleRunner: false, nodeLoader: false };

/** Files that begin after midnight ask the same share. */
const env = { TEST_DAY: String(TEST_DAY) };

const sqlite: TestProjectConfiguration = {
  test: {
    name: 'sqlite',
    include: ['test/**/*.test.ts'],
    exclude: [...ON_SERVER_ALONE],
    // Files follow each other in the process of a worker, which reads and warms up the code once: whatever a file
    // changes for others, such as a clock or a prototype, it has to put back.
    isolate: false,
    env,
    experimental: AS_NODE,
    // For what hangs: on a busy machine a test may take five times as long as on an idle one, and is no worse for it.
    testTimeout: 150_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
  },
};

/** Suites of the whole pipeline once more, on databases that they create on the server of MSSQL_URL and drop again. */
const sqlServer: TestProjectConfiguration = {
  test: {
    name: 'sql-server',
    include: [
      'test/conformance/*.test.ts',
      'test/law/{fixture,spoiled,sort}.test.ts',
      'test/pipeline/*.test.ts',
      ...ON_SERVER_ALONE,
    ],
    env: { ...env, TEST_ENGINE: 'mssql' },
    experimental: AS_NODE,
    testTimeout: 600_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 60_000 } },
  },
};

if (MSSQL_URL === undefined) {
  console.warn('SKIPPED: MSSQL_URL names no SQL Server; the suites of the whole pipeline run on SQLite alone.');
}

if (!ASKS_ALL) console.warn(`Of like questions a share is asked, that of TEST_DAY=${TEST_DAY}; TEST_ALL=1 asks all.`);

putTemporaryFoldersInMemory();

export default defineConfig({
  test: {
    // Some files wait for timers and other processes most of their time: on two cores three workers leave none idle.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: MSSQL_URL === undefined ? [sqlite] : [sqlite, sqlServer],
  },
});
