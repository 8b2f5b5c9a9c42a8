/** Patients ask who saw them; what the pages of the authorization server show is written down as well. */
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { rowsOf } from '../audit/records.ts';
import { launch, serveSmart } from './served.ts';

test('a patient reads the current audit of the own record, and login pages are audited with their address', async () => {
  const served = await serveSmart();
  onTestFinished(() => served.stop());
  const { body } = await launch(served, { scope: 'launch/patient patient/*.rs' });
  const ask = async (path: string) => {
    const response = await fetch(`${served.fhir}/${path}`, {
      headers: { authorization: `Bearer ${String(body['access_token'])}` },
    });
    return { status: response.status, json: (await response.json()) as { readonly total?: number } };
  };
  const first = await ask('Patient/1/AuditEvent');
  expect(first.status).toBe(200);
  const before = first.json.total ?? 0;
  expect(before).toBeGreaterThan(0);
  await ask('Patient/1');
  // The first list named the patient, too.
  expect((await ask('Patient/1/AuditEvent')).json.total).toBe(before + 2);
  const addresses = rowsOf(
    join(served.folder, 'audit.sqlite'),
    "SELECT DISTINCT ADDRESS FROM RECORD WHERE CLIENT = 'login'",
  );
  expect(addresses).toEqual([{ ADDRESS: '127.0.0.1' }]);
});
