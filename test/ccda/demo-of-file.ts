/**
 * Opens the demo's documents for the tests of one file, and closes them afterwards. In: the number of charts. Out:
 * functions that make documents and query the legacy database.
 */
import { afterAll, beforeAll } from 'vitest';
import { type DemoDocuments, openDemoDocuments } from './demo-documents.ts';

/** Called at the top of a file. */
export function demoOfFile(patients: number): Omit<DemoDocuments, 'close'> {
  let open: DemoDocuments | undefined;
  beforeAll(async () => {
    open = await openDemoDocuments(patients);
  });
  afterAll(async () => {
    await open?.close();
    open = undefined;
  });
  const demo = (): DemoDocuments => {
    if (open === undefined) throw new Error('the demo is opened when the tests of the file begin');
    return open;
  };
  return {
    get facade() {
      return demo().facade;
    },
    make: (...asked) => demo().make(...asked),
    rows: (...asked) => demo().rows(...asked),
  };
}
