/** What one person or app can make the authorization server store is bounded, whatever is requested in a loop. */
import { expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../src/smart/store.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const HOUR = 3600;

function storeAt(clock: () => number) {
  const store = openStore(temporaryFolder(), clock);
  onTestFinished(() => store.close());
  return store;
}

test('an account gets so many tokens an hour; then a refresh token stays unused, and others get theirs', async () => {
  let now = Date.parse('2026-03-01T00:00:00Z');
  const store = storeAt(() => now);
  const [access, refresh, code] = ['AccessToken', 'RefreshToken', 'AuthorizationCode'].map(store.adapter);
  const refreshed = async (account: string, i: number): Promise<void> => {
    await refresh?.upsert(`${account} r${i}`, { grantId: `${account} g`, accountId: account }, 100 * 24 * HOUR);
    await refresh?.consume(`${account} r${i}`);
    await access?.upsert(`${account} a${i}`, { grantId: `${account} g`, accountId: account }, HOUR);
  };
  for (let i = 0; i < 1000; i++) await refreshed('anna', i);
  const refusal = { status: 429, error: 'temporarily_unavailable' };
  await expect(refreshed('anna', 1000)).rejects.toMatchObject(refusal);
  await code?.upsert('c', { grantId: 'another', accountId: 'anna' }, 60);
  await expect(code?.consume('c')).rejects.toMatchObject(refusal);
  await refreshed('bert', 0);
  now += HOUR * 1000;
  await refresh?.consume('anna r1000');
  expect(await refresh?.find('anna r1000')).toMatchObject({ consumed: expect.any(Number) });
});

test('of the grants of an account the oldest end beyond 2,000', async () => {
  const store = storeAt(Date.now);
  const grants = store.adapter('Grant');
  await store.adapter('RefreshToken').upsert('r', { grantId: 'g0', accountId: 'anna' }, HOUR);
  await grants.upsert('other', { accountId: 'bert' }, HOUR);
  for (let i = 0; i <= 2000; i++) await grants.upsert(`g${i}`, { accountId: 'anna' }, HOUR);
  expect(['g0', 'g1', 'g2000', 'other'].map(store.hasGrant)).toEqual([false, true, true, true]);
  expect(await store.adapter('RefreshToken').find('r')).toBeUndefined();
});

test('expired entries are removed as fast as they come', async () => {
  let now = Date.parse('2026-03-01T00:00:00Z');
  const store = storeAt(() => now);
  for (let i = 0; i < 21_000; i++) store.keep('Launch', `l${i}`, {}, { expires: now / 1000 + 60 });
  now += 61_000;
  expect([store.sweep(), store.sweep(), store.sweep()]).toEqual([true, true, false]);
});
