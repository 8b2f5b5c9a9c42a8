/** Export threads load their mappings concurrently, and V8 flags that a thread sets apply to the whole process. */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';

const MODULE = JSON.stringify(fileURLToPath(new URL('../../src/export/small-heap.ts', import.meta.url)));
const LOADING = `
const { parentPort } = require('node:worker_threads');
import(${MODULE}).then(async ({ withSmallHeap }) => {
  for (let i = 0; i < 40; i++) await withSmallHeap(async () => i);
  parentPort.postMessage('loaded');
});`;

/** Resolves to the message of a thread, or to the error that ended it. */
function loadInThread(): Promise<unknown> {
  return new Promise(resolve => {
    const thread = new Worker(LOADING, { eval: true });
    thread.once('message', resolve);
    thread.once('error', (error: unknown) => resolve(`${error}`));
  });
}

test('simultaneously started threads do not starve each other’s garbage collection', async () => {
  const told = await Promise.all(Array.from({ length: 4 }, loadInThread));
  expect(told).toEqual(['loaded', 'loaded', 'loaded', 'loaded']);
});
