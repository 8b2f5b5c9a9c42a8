/**
 * Documents of the demo for the tests of one file: opened before them, closed after. In: how many charts. Out: the way
 * to make documents and to ask the legacy database itself.
 */
import { afterAll, beforeAll } from 'vitest';
import { type DemoDocuments, openDemoDocuments } from './demo-documents.ts';

/** To be called at the top of a file. */
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
