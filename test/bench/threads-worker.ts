/**
 * A thread that asks SQLite, for `npm run bench -- sqlite-threads`. In: a file, as the thread's data; statements in
 * batches, as messages. Out: their rows, in a message for each batch.
 */
import type { SQLInputValue } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { openFile } from '../../src/sql/sqlite/file.ts';
import type { BoundStatement } from '../../src/sql/statement.ts';

const file = openFile(workerData, { cache: 65_536, look: 1000 });
parentPort?.on('message', (asked: readonly BoundStatement<SQLInputValue>[]) => {
  parentPort?.postMessage(asked.map(statement => file.rows(statement)));
});
