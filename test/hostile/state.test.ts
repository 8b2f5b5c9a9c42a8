import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hashPassword } from '../../src/auth/password.ts';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DAMAGES } from './damages.ts';
import { started, target } from './target.ts';

/** A clinic whose server has written every kind of state, made once; each test damages a copy. */
let clinic: SmallClinic;
let before: string;
let status: string;
beforeAll(async () => {
  clinic = keptClinic();
  before = join(clinic.folder, 'data');
  mkdirSync(before);
  const password = await hashPassword('correct horse battery');
  const accounts = [{ name: 'anna', password, disabled: false }];
  writeFileSync(join(before, 'accounts.json'), JSON.stringify({ accounts }));
  const { url, stop } = await started({}, clinic);
  const begun = await fetch(`${url}/fhir/$export`, { headers: { prefer: 'respond-async' } });
  const address = new URL(begun.headers.get('content-location') ?? '');
  // A client that polls too often would be refused.
  while ((await fetch(address)).status === 202) await wait(1200);
  status = `${address.pathname}${address.search}`;
  await stop();
});
afterAll(() => rmSync(clinic.folder, { recursive: true, force: true }));

function used(): string {
  const data = temporaryFolder();
  cpSync(before, data, { recursive: true });
  return data;
}

const kept = (data: string): readonly string[] =>
  readdirSync(data, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.json'));

test.each(Object.keys(DAMAGES))(
  'a stored file is %s: the server starts, names the file, and serves everything else',
  async how => {
    const data = used();
    const files = kept(data);
    expect(files.map(name => name.replace(/[0-9a-f]{32}/, 'x')).toSorted()).toEqual(
      expect.arrayContaining(['accounts.json', 'export/x/job.json', 'export/x/part-0.json']),
    );
    for (const file of files.filter(name => !name.includes('/part-'))) DAMAGES[how]?.(join(data, file));
    const { url, lines, notes } = await target({ DATA_DIR: data }, clinic);
    expect((await fetch(`${url}/fhir/Patient/1`)).status).toBe(200);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
    const polled = await fetch(`${url}${status}`);
    expect([polled.status, await polled.text()]).toEqual([
      500,
      expect.stringContaining('state of this export was damaged'),
    ]);
    const told = [...lines, ...notes].join('\n');
    for (const file of files.filter(name => !name.includes('/part-'))) expect(told).toContain(file);
  },
);

test.each(Object.keys(DAMAGES))('if the state of an export part is %s, the export fails with a message', async how => {
  const data = used();
  const part = kept(data).find(name => name.endsWith('part-0.json')) ?? '';
  DAMAGES[how]?.(join(data, part));
  const { url, lines } = await target({ DATA_DIR: data }, clinic);
  const polled = await fetch(`${url}${status}`);
  expect([polled.status, await polled.text()]).toEqual([500, expect.stringContaining('its saved state is damaged')]);
  expect(lines.join('\n')).toContain(part);
  expect((await fetch(`${url}/fhir/Patient/1`)).status).toBe(200);
});
