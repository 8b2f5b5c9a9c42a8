/** Limits of a server for its clients: polls, jobs, bytes; and callers who may not export. */

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { readConfig } from '../../src/config/config.ts';
import { openSource } from '../../src/export/export-source.ts';
import { readExportRequest } from '../../src/export/request.ts';
import { ASYNC, clinic, contents, ended, finished, kickOff, served } from './exporting.ts';

test('too frequent polls get 429 and Retry-After, and the export continues', async () => {
  const { fhir } = await served(clinic(5));
  const poll = await kickOff(`${fhir}/$export?_type=Patient`);
  const answers = await Promise.all(Array.from({ length: 15 }, () => fetch(poll)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(await refused[0]?.json()).toMatchObject({ resourceType: 'OperationOutcome', issue: [{ code: 'throttled' }] });
  expect(await contents(await finished(poll))).toHaveLength(5);
});

/** Kicks off exports until one is paused before its end. */
async function paused(url: string): Promise<string> {
  for (;;) {
    const poll = await kickOff(url);
    if ((await fetch(poll.replace('$export-poll-status', '$pause-job'))).status === 200) return poll;
  }
}

test('one export beyond the limit of a client gets 429 until one is deleted', async () => {
  const { fhir } = await served(clinic(5), { EXPORT_JOBS_PER_CLIENT: '1' });
  const poll = await paused(`${fhir}/$export`);
  const refused = await fetch(`${fhir}/$export`, { headers: ASYNC });
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true]);
  // A deleted export counts while a thread is busy with its last batch.
  const metrics = async (): Promise<string> => (await fetch(new URL('/metrics', fhir))).text();
  await expect.poll(metrics).toContain('lintel_export_parts{state="running"} 0');
  expect((await fetch(poll, { method: 'DELETE' })).status).toBe(202);
  expect((await fetch(`${fhir}/$export`, { headers: ASYNC })).status).toBe(202);
});

test('an export beyond the total space fails, its files are removed, and the server keeps running', async () => {
  const where = clinic(100, 40);
  const { fhir } = await served(where, { EXPORT_DISK: '1' });
  const poll = await kickOff(`${fhir}/$export?_type=Observation`);
  const response = await ended(poll);
  expect(response.status).toBe(500);
  expect(await response.text()).toContain('there is no space left for its files; its files were removed');
  const [job = ''] = readdirSync(join(where.folder, 'data', 'export'));
  expect(readdirSync(join(where.folder, 'data', 'export', job))).toEqual(['job.json']);
  expect((await fetch(`${fhir}/Patient/1`)).status).toBe(200);
  const patients = await kickOff(`${fhir}/$export?_type=Patient`);
  expect(await contents(await finished(patients))).toHaveLength(100);
});

test('a user limited to some patients cannot export', async () => {
  const source = await openSource(readConfig(clinic(3).environment));
  const access = accessToPatients('ann', ['1']);
  const context = { access, base: 'http://127.0.0.1/fhir', handling: 'lenient' } as const;
  expect(() => readExportRequest({ kind: 'patient' }, [], source, context)).toThrow('system scopes');
  await source.database().close();
});
