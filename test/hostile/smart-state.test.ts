/** Damaged files of the authorization server: it starts, names the file, and admits nobody who had no access before. */
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeAccounts } from '../../src/auth/accounts.ts';
import { hashPassword } from '../../src/auth/password.ts';
import { hashSecret, writeClients } from '../../src/smart/clients.ts';
import { keptClinic, type SmallClinic } from '../cli/small-clinic.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { DAMAGES } from './damages.ts';
import { started, type Target, target } from './target.ts';

const SECRET = 'a-secret-of-forty-characters-for-this-test';

let clinic: SmallClinic;
let before: string;
/** Issued before the damage. */
let token: string;

beforeAll(async () => {
  clinic = keptClinic();
  before = join(clinic.folder, 'data');
  mkdirSync(before);
  const password = await hashPassword('correct horse battery');
  writeAccounts(join(before, 'accounts.json'), [{ name: 'anna', password, disabled: false, fhirUser: 'Patient/1' }]);
  writeClients(join(before, 'clients.json'), [
    {
      ...{ id: 'app', name: 'App', kind: 'secret', secret: hashSecret(SECRET), redirects: ['http://127.0.0.1/back'] },
      ...{ scopes: ['openid', 'launch/patient', 'patient/*.rs'], introspects: true, disabled: false },
    },
  ]);
  const server = await started({ ACCESS: 'smart', DATA_DIR: before, AUDIT_SINKS: '' }, clinic);
  token = 'no-token-that-was-issued';
  expect(await introspects(server)).toBe(200);
  await server.stop();
});
afterAll(() => rmSync(clinic.folder, { recursive: true, force: true }));

/** The status of a call that only the client in the file may make. */
async function introspects({ url }: Pick<Target, 'url'>): Promise<number> {
  const authorization = `Basic ${Buffer.from(`app:${SECRET}`).toString('base64')}`;
  const body = new URLSearchParams({ token });
  const answer = await fetch(`${url}/auth/introspect`, { method: 'POST', headers: { authorization }, body });
  await answer.arrayBuffer();
  return answer.status;
}

function used(): string {
  const data = temporaryFolder();
  cpSync(before, data, { recursive: true });
  return data;
}

const FILES = ['keys.json', 'smart.sqlite', 'clients.json'] as const;
const CASES = FILES.flatMap(file => Object.keys(DAMAGES).map(how => [file, how] as const));

test.each(CASES)(
  '%s is %s: the server starts, reports it, and serves no request without a token',
  async (file, how) => {
    const data = used();
    DAMAGES[how]?.(join(data, file));
    const server = await target({ ACCESS: 'smart', DATA_DIR: data }, clinic);
    expect((await fetch(`${server.url}/ready`)).status).toBe(200);
    expect((await fetch(`${server.url}/fhir/metadata`)).status).toBe(200);
    expect((await fetch(`${server.url}/fhir/Patient/1`)).status).toBe(401);
    // SQLite opens an empty file as an empty database.
    const isEmptyStore = file === 'smart.sqlite' && how === 'empty';
    if (!isEmptyStore) expect([...server.lines, ...server.notes].join('\n')).toContain(file);
    const status = await introspects(server);
    if (file === 'clients.json') expect(status).toBeGreaterThanOrEqual(400);
    else expect(status).toBe(200);
  },
);
