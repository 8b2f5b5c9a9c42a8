/** Statements of export threads count in the server's metrics. */
import { expect, test } from 'vitest';
import { clinic, finished, kickOff, served } from './exporting.ts';

/** Number of answered statements by mapping. */
async function statements(fhir: string): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(new URL('/metrics', fhir))).text();
  const pattern = /^lintel_sql_statements_total\{mapping="(.*?)",bulkhead="export",outcome="answered"\} (\d+)$/gm;
  return Object.fromEntries([...text.matchAll(pattern)].map(([, mapping = '', count]) => [mapping, Number(count)]));
}

test('metrics count each statement of an export, to the end of a part, under its own bulkhead', async () => {
  const { fhir } = await served(clinic(600, 1), { EXPORT_CONCURRENCY: '2' });
  await fetch(`${fhir}/Observation?_count=1`);
  expect(await statements(fhir)).toEqual({});
  await finished(await kickOff(`${fhir}/$export?_type=Observation,Practitioner,Device`));
  // One statement that counts rows, and one for each list of 500 rows.
  const once = { weights: 3, staff: 2, implants: 3 };
  expect(await statements(fhir)).toEqual(once);
  await finished(await kickOff(`${fhir}/$export?_type=Practitioner`));
  expect(await statements(fhir)).toEqual({ ...once, staff: 4 });
});

test('the queries for members of a group are counted, too, with their time', async () => {
  const { fhir } = await served(clinic());
  await finished(await kickOff(`${fhir}/Group/g-1/$export?_type=Patient`));
  const counted = await statements(fhir);
  expect(Object.keys(counted).toSorted()).toEqual(['lists', 'people']);
  const text = await (await fetch(new URL('/metrics', fhir))).text();
  expect(text).toMatch(/^lintel_sql_seconds_total\{mapping="lists",bulkhead="export"\} [\d.e-]+$/m);
});
