/**
 * Documents of charts that grow: statements and text. Figures of time and memory are in docs/ccds-documents.md.
 */
import type { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { type DemoDocuments, openDemoDocuments } from './demo-documents.ts';

/** Twenty years of data. */
const OLD = 6;
const TIMES = 5;

/** Repeats every vital sign of a patient this number of times, each with a number of its own. */
function repeatVitalSigns(legacy: DatabaseSync): void {
  const columns = legacy.prepare('PRAGMA table_info(VIT_SGN)').all() as { readonly name: string }[];
  const names = columns.map(({ name }) => name);
  const values = names.map(name => (name === 'VIT_ID' ? 'VIT_ID + ? * 1000000' : name));
  const insert = legacy.prepare(
    `INSERT INTO VIT_SGN (${names.join()}) SELECT ${values.join()} FROM VIT_SGN WHERE PT_NO = ? AND VIT_ID < 1000000`,
  );
  for (let i = 1; i < TIMES; i++) insert.run(i, OLD);
}

async function withDemo<T>(
  change: ((legacy: DatabaseSync) => void) | undefined,
  use: (demo: DemoDocuments) => Promise<T>,
): Promise<T> {
  const demo = await openDemoDocuments(30, change);
  try {
    return await use(demo);
  } finally {
    await demo.close();
  }
}

test('the number of statements does not depend on the size of the chart', { timeout: 120_000 }, () =>
  withDemo(undefined, async demo => {
    for (const { name } of TOPICS) {
      let most = 0;
      for (const patient of [1, 2, OLD, 26]) most = Math.max(most, (await demo.make(name, patient)).statements);
      // One search per list, one statement per collection of children, and one per referenced type.
      expect({ name, few: most <= (name === 'all-patient-data' ? 130 : 30) }).toEqual({ name, few: true });
    }
    const twentyYears = (await demo.make('all-patient-data', OLD)).statements;
    const oneChart = (await demo.make('all-patient-data', 29)).statements;
    expect(twentyYears - oneChart).toBeLessThan(30);
  }),
);

test('five times the measurements take at most four more statements per thousand rows', {
  timeout: 120_000,
}, async () => {
  const measure = async (demo: DemoDocuments) => {
    const { document, xml, statements } = await demo.make('vital-signs', OLD);
    return { measured: document.sections[0]?.table.rows.length ?? 0, length: xml.length, statements };
  };
  const once = await withDemo(undefined, measure);
  const often = await withDemo(repeatVitalSigns, measure);
  expect(often.measured).toBe(once.measured * TIMES);
  expect(often.length / once.length).toBeLessThan(TIMES * 1.1);
  // A page takes one statement, and one for each collection of its children.
  const pages = Math.ceil(often.measured / 1000);
  expect(often.statements - once.statements).toBeLessThanOrEqual(4 * pages);
});
