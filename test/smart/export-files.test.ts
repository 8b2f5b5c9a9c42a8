/** Files of an export are for tokens that could export what is in them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Access, ANY, type Permission, reaches } from '../../src/auth/access.ts';
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

test('a token of the same client that could not export a file does not get it', async () => {
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

const caller = 'app';
const PATIENTS: Permission = { type: 'Patient', read: true, search: true, within: [], where: [], except: [] };
const limited = (...permissions: readonly Permission[]): Access => ({ kind: 'limited', caller, permissions });

test.each<[title: string, wide: Access, narrow: Access, reached: boolean]>([
  ['everything', { kind: 'all', caller }, limited(PATIENTS), true],
  ['not everything', limited({ ...PATIENTS, type: ANY }), { kind: 'all', caller }, false],
  ['the same', limited(PATIENTS), limited(PATIENTS), true],
  ['any type', limited({ ...PATIENTS, type: ANY }), limited(PATIENTS), true],
  ['another type', limited({ ...PATIENTS, type: 'Group' }), limited(PATIENTS), false],
  ['some of several', limited(PATIENTS), limited(PATIENTS, { ...PATIENTS, type: 'Group' }), false],
  ['only reading', limited({ ...PATIENTS, search: false }), limited(PATIENTS), false],
  ['only searching', limited({ ...PATIENTS, read: false }), limited(PATIENTS), false],
  ['a condition more', limited({ ...PATIENTS, where: [['gender', 'female']] }), limited(PATIENTS), false],
  ['a condition less', limited(PATIENTS), limited({ ...PATIENTS, where: [['gender', 'female']] }), true],
  ['a label hidden since', limited({ ...PATIENTS, except: [['_security', 'x|R']] }), limited(PATIENTS), false],
  ['other patients', limited({ ...PATIENTS, within: [{ ids: ['1'] }] }), limited(PATIENTS), false],
  ['nothing', limited(), limited(PATIENTS), false],
])('what is reached: %s', (_title, wide, narrow, reached) => {
  expect(reaches(wide, narrow)).toBe(reached);
});
