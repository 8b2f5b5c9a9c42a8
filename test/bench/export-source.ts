/**
 * Finds the statements that the facade sends for an export of the clinic of test/export, and makes the export's task.
 * In: the database and its pack. Out: texts.
 */
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import { openSource } from '../../src/export/export-source.ts';
import type { JobRecord, Part } from '../../src/export/job.ts';
import { stopFlag } from '../../src/export/live-job.ts';
import { SETTINGS } from '../../src/export/open.ts';
import type { PartSource, PartTask } from '../../src/export/part-task.ts';
import { runPart } from '../../src/export/run-part.ts';
import type { Database } from '../../src/sql/database.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { exportRequest } from '../export/export-request.ts';

export interface ExportStatements {
  /** Statement of the first batch. Its parameters: the constants and the number of rows. */
  readonly first: string;
  /** Statement of later batches, from a key on. Its parameters: the constants, the key and the number of rows. */
  readonly next: string;
  readonly constants: readonly (string | number)[];
}

/** A task for all Observations in one file, until `stop` is set. */
export function exportTask(folder: string, stop = stopFlag()): PartTask {
  const part: Part = { number: 0, type: 'Observation', scope: 'all', content: 'resources', write: true, collect: [] };
  const job: JobRecord = {
    id: '',
    caller: 'open',
    access: OPEN_ACCESS,
    base: 'http://127.0.0.1/fhir',
    url: '',
    request: exportRequest({ types: ['Observation'] }),
    stages: { first: [part], second: [] },
    remarks: [],
    version: '',
    transactionTime: 0,
    status: 'running',
  };
  const settings = { ...SETTINGS, fileLines: 1e9 };
  const quota = { used: new BigInt64Array(new SharedArrayBuffer(8)), limit: 1e15 };
  return { folder, job, part, parts: 1, settings, quota, stop };
}

/** Records the statements of the first batches of an export into an empty folder. */
export async function exportStatements(file: string, pack: string, folder: string): Promise<ExportStatements> {
  const source = await openSource(readConfig({ DATABASE_URL: `sqlite:${file}`, MAPPINGS: pack }));
  const sent: Statement[] = [];
  const stop = stopFlag();
  const database = source.database();
  const listening: Database = {
    ...database,
    stream(plan, size, options) {
      sent.push(database.render(plan, options?.placeholders));
      if (sent.length === 2) Atomics.store(stop, 0, 1);
      return database.stream(plan, size, options);
    },
  };
  const heard: PartSource = { ...source, database: () => listening };
  await runPart(exportTask(folder, stop), heard, () => {});
  await database.close();
  const [first, next] = sent;
  if (first === undefined || next === undefined) throw new Error('two batches were expected');
  const constants = first.parameters.slice(0, -1).map(({ value }) => value);
  if (!constants.every(value => typeof value === 'string' || typeof value === 'number'))
    throw new Error('other constants were expected');
  return { first: first.text, next: next.text, constants };
}
