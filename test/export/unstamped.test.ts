/**
 * An export with `_since` reports what it cannot detect: rows without a time of their last change, and changes of child
 * rows.
 */
import { expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { readExportRequest } from '../../src/export/request.ts';
import { openDemo } from '../law/demo.ts';
import { clinic, contents, finished, kickOff, type Manifest, served } from './exporting.ts';

async function errorsOf({ error }: Manifest): Promise<string> {
  const [file] = error;
  return file === undefined ? '' : (await fetch(file.url)).text();
}

test('requested resources without a time of change are counted', async () => {
  const where = clinic(4, 3);
  const { fhir } = await served(where);
  where.change('UPDATE WEIGHING SET UPD = NULL WHERE NO IN (1, 2, 3)');
  const since = '_type=Observation&_since=2000-01-01T00:00:00Z';
  const all = await finished(await kickOff(`${fhir}/$export?${since}`));
  expect(await contents(all)).toHaveLength(9);
  expect(await errorsOf(all)).toContain('Observation: 3 resources without a time of change omitted');
  const byPatient = await finished(await kickOff(`${fhir}/Patient/$export?${since}&organizeOutputBy=Patient`));
  expect(await errorsOf(byPatient)).toContain('Observation: 3 resources without a time of change omitted');
  // Group 1 has persons 1 and 3.
  const some = await finished(await kickOff(`${fhir}/Group/g-1/$export?${since}`));
  expect(await errorsOf(some)).toContain('Observation: 2 resources without');
  const until = await finished(await kickOff(`${fhir}/$export?_type=Observation&_until=2100-01-01T00:00:00Z`));
  expect(await errorsOf(until)).toContain('Observation: 3 resources without');
  const whole = await finished(await kickOff(`${fhir}/$export?_type=Observation`));
  expect(await contents(whole)).toHaveLength(12);
  expect(await errorsOf(whole)).toBe('');
});

test('types without a time of change are named at the kick-off, in any handling', async () => {
  const { fhir } = await served(clinic(3, 1));
  for (const handling of ['', ', handling=lenient']) {
    const headers = { prefer: `respond-async${handling}` };
    const kick = (query: string) => fetch(`${fhir}/$export?${query}`, { headers });
    const timed = await kick('_type=Patient,Practitioner,Organization&_since=2000-01-01T00:00:00Z');
    expect(timed.status).toBe(202);
    expect(await timed.text()).toContain(
      '_since: these types will not be exported, since their mappings have no `changed`: Practitioner, Organization',
    );
    expect(await (await kick('_type=Practitioner')).text()).not.toContain('will not be exported');
    expect(await (await kick('_type=Patient&_since=2000-01-01T00:00:00Z')).text()).not.toContain('will not');
  }
});

test('if each row has a time of change, nothing is reported', async () => {
  const { fhir } = await served(clinic(3, 1));
  const found = await finished(await kickOff(`${fhir}/$export?_type=Patient&_since=2000-01-01T00:00:00Z`));
  expect(await contents(found)).toHaveLength(3);
  expect(await errorsOf(found)).not.toContain('without a time');
});

test('mappings whose child rows have no time of change are named with the child tables', async () => {
  const demo = await openDemo({ patients: 1, engine: 'sqlite' });
  const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
  const remarksOf = (query: readonly (readonly [string, string])[]): string =>
    readExportRequest({ kind: 'system' }, query, demo.facade, context)
      .remarks.map(({ diagnostics }) => diagnostics)
      .join('\n');
  const since = ['_since', '2024-01-01T00:00:00Z'] as const;
  const told = remarksOf([['_type', 'Patient,AllergyIntolerance,Location'], since]);
  expect(told).toMatch(
    /_since: changes of child rows alone are not seen in these mappings: .*allergies \(ALLRGY_RXN\)/,
  );
  expect(told).toMatch(/patients \([A-Z_, ]+\)/);
  expect(remarksOf([['_type', 'Patient']])).toBe('');
  await demo.close();
});
