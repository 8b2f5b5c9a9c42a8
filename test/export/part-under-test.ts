/** Runs one part of a job in this thread, for any client, over a database that a test can disturb. */

import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type Access, OPEN_ACCESS } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import { openSource } from '../../src/export/export-source.ts';
import type { ExportRequest, JobRecord, Part, PartState } from '../../src/export/job.ts';
import { findMembers } from '../../src/export/members.ts';
import type { PartReport, PartSettings, PartSource, PartTask } from '../../src/export/part-task.ts';
import { runPart } from '../../src/export/run-part.ts';
import { outputFile } from '../../src/export/store.ts';
import type { Database } from '../../src/sql/database.ts';
import type { Clinic } from './clinic.ts';
import { exportRequest } from './export-request.ts';

export interface PartOptions {
  readonly type?: string;
  /** Default: resources of the whole system. */
  readonly part?: Partial<Pick<Part, 'content' | 'scope'>>;
  readonly request?: Partial<ExportRequest>;
  /** What the client may see; default: everything. */
  readonly access?: Access;
  /** Types whose references the part collects. */
  readonly collect?: readonly string[];
  readonly settings?: Partial<PartSettings>;
  readonly limit?: number;
  /** One statement returns many batches of rows, as on SQL Server. */
  readonly streams?: boolean;
  /** Milliseconds per batch of rows. */
  readonly delay?: number;
  /** Called before each query, and before each further batch of rows; may throw. */
  readonly disturb?: (query: number) => void;
  readonly onReopen?: () => void;
  readonly report?: (report: PartReport) => void;
  readonly stop?: Int32Array;
  /** Folder of the job, below the clinic's. */
  readonly folder?: string;
}

export interface PartResult {
  readonly state: PartState;
  /** The text of all files in order. */
  readonly text: string;
  readonly used: number;
}

export async function exportPart(where: Clinic, options: PartOptions = {}): Promise<PartResult> {
  const folder = join(where.folder, options.folder ?? 'job');
  mkdirSync(folder, { recursive: true });
  const source = await openSource(readConfig(where.environment));
  const type = options.type ?? 'Observation';
  const part: Part = {
    number: 0,
    type,
    scope: 'all',
    content: 'resources',
    write: true,
    collect: options.collect ?? [],
    ...options.part,
  };
  const used = new BigInt64Array(new SharedArrayBuffer(8));
  const task: PartTask = {
    folder,
    job: jobOf(source, part, options),
    part,
    parts: 1,
    settings: { batch: 10, fileLines: 1000, checkpoint: 0, ...options.settings },
    quota: { used, limit: options.limit ?? 1e9 },
    stop: options.stop ?? new Int32Array(1),
  };
  try {
    if (part.scope === 'compartments') await findMembers(folder, task.job, source);
    const state = await runPart(task, disturbed(source, options), options.report ?? (() => {}));
    const text = state.files.map((_, file) => readFileSync(outputFile(folder, 0, file), 'utf8')).join('');
    return { state, text, used: Number(used[0]) };
  } finally {
    await source.database().close();
  }
}

function jobOf({ registry }: PartSource, part: Part, { access = OPEN_ACCESS, request = {} }: PartOptions): JobRecord {
  return {
    id: '0'.repeat(32),
    caller: 'open',
    access,
    base: 'http://127.0.0.1/fhir',
    url: 'http://127.0.0.1/fhir/$export',
    request: exportRequest({ types: [part.type], ...request }),
    stages: { first: [part], second: [] },
    remarks: [],
    version: registry.version,
    transactionTime: 1_700_000_000_000,
    status: 'running',
  };
}

function disturbed(source: PartSource, { disturb, delay = 0, onReopen, streams = false }: PartOptions): PartSource {
  let queries = 0;
  return {
    ...source,
    database: (): Database => {
      const database = source.database();
      return {
        ...database,
        async query(plan, options) {
          disturb?.(queries++);
          return database.query(plan, options);
        },
        async *stream(plan, size, options) {
          disturb?.(queries++);
          if (streams) {
            const all = await database.query(plan, options);
            for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
            return;
          }
          for await (const rows of database.stream(plan, size, options)) {
            if (delay > 0) await setTimeout(delay);
            yield rows;
            disturb?.(queries++);
          }
        },
      };
    },
    async reopen() {
      onReopen?.();
      await source.reopen();
    },
  };
}
