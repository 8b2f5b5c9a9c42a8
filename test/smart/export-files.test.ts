/** Files of an export are available to tokens that could export their contents. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { assertionOf, post, type Served, serveSmart } from './served.ts';

let served: Served;
beforeAll(async () => {
  served = await serveSmart();
});
afterAll(() => served.stop());

async function tokenFor(scope: string): Promise<string> {
  const fields = { grant_type: 'client_credentials', scope, ...(await assertionOf(served, 'backend')) };
  const { body } = await post(`${served.auth}/token`, fields);
  return String(body['access_token']);
}

const by = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test('a program without a scope, or with no permitted one, gets that error', async () => {
  const fields = { grant_type: 'client_credentials', ...(await assertionOf(served, 'backend')) };
  const { status, body } = await post(`${served.auth}/token`, fields);
  const missing = { error: 'invalid_scope', error_description: 'missing required parameter(s): scope', scope: '' };
  expect([status, body]).toEqual([400, missing]);
  const other = { grant_type: 'client_credentials', scope: 'user/*.rs', ...(await assertionOf(served, 'backend')) };
  expect((await post(`${served.auth}/token`, other)).body).toEqual({
    ...{ error: 'invalid_scope', error_description: 'none of the scopes is allowed', scope: 'user/*.rs' },
  });
});

test('a token of the same client without scopes for a file cannot download it', async () => {
  const all = await tokenFor('system/*.rs');
  const begun = await fetch(`${served.fhir}/$export?_type=Patient`, by(all));
  const status = begun.headers.get('content-location') ?? '';
  await begun.text();
  let url = '';
  await expect
    .poll(
      async () => {
        const answer = await fetch(status, by(all));
        const text = await answer.text();
        if (answer.status === 200) [, url = ''] = /"url":"([^"]+)"/.exec(text) ?? [];
        return answer.status;
      },
      { timeout: 60_000, interval: 1000 },
    )
    .toBe(200);
  const got = async (scope: string): Promise<number> => {
    const answer = await fetch(url, by(await tokenFor(scope)));
    await answer.text();
    return answer.status;
  };
  expect(await got('system/*.rs')).toBe(200);
  expect(await got('system/Observation.rs')).toBe(403);
  expect(await got('system/Patient.rs?gender=female')).toBe(403);
});
