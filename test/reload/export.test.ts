/** Exports whose mappings are edited while they run. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { NAMELESS, smallClinic } from '../cli/small-clinic.ts';
import { ended, finished, kickOff, type Manifest } from '../export/exporting.ts';

async function patients(manifest: Manifest): Promise<string> {
  const { url } = manifest.output.find(({ type }) => type === 'Patient') ?? { url: '' };
  return (await fetch(url)).text();
}

test('an export keeps the mappings of its start; the next one has the new ones', async () => {
  const clinic = smallClinic();
  const running = await startServer(
    readConfig({ ...clinic.environment, RELOAD_INTERVAL: '0' }),
    { out: () => {}, note: () => {} },
    createLog({ level: 'silent', format: 'json' }),
  );
  onTestFinished(async () => running?.stop());
  const fhir = `${running?.url}/fhir`;
  const before = await kickOff(`${fhir}/$export`);
  const job = new URL(before).searchParams.get('_jobId');
  const paused = (await fetch(`${fhir}/$pause-job?_jobId=${job}`)).status === 200;
  writeFileSync(join(clinic.pack, 'person.yaml'), NAMELESS);
  expect(await running?.reload()).toBe('swapped');
  // From here on the folder contains no valid pack.
  writeFileSync(join(clinic.pack, 'person.yaml'), 'mapping: [');
  expect(await running?.reload()).toBe('refused');
  const after = await kickOff(`${fhir}/$export`);
  if (paused) await fetch(`${fhir}/$resume-job?_jobId=${job}`);
  expect(await patients(await finished(before))).toContain('Kowalski');
  const later = await patients(await finished(after));
  expect(later).toContain('1970-02-03');
  expect(later).not.toContain('Kowalski');
});

test('an export fails on a dropped table, and the log names the table', async () => {
  const clinic = smallClinic();
  const lines: string[] = [];
  const running = await startServer(
    readConfig({ ...clinic.environment, RELOAD_INTERVAL: '0' }),
    { out: () => {}, note: () => {} },
    createLog({ level: 'error', format: 'json', write: line => lines.push(line) }),
  );
  onTestFinished(async () => running?.stop());
  const database = new DatabaseSync(clinic.environment['DATABASE_URL']?.slice('sqlite:'.length) ?? '');
  database.exec('ALTER TABLE WEIGHING RENAME TO WEIGHED');
  database.close();
  expect((await ended(await kickOff(`${running?.url}/fhir/$export`))).status).toBe(500);
  const [failed] = lines.map(line => JSON.parse(line)).filter(({ message }) => message === 'export failed');
  expect(failed).toMatchObject({ kind: expect.stringContaining('the database lacks what they need') });
});
