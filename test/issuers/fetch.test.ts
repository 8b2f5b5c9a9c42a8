import type { LookupAddress } from 'node:dns';
import { expect, test, vi } from 'vitest';
import { asker } from '../../src/issuers/fetch.ts';

test.each([
  ['a public host', new Set<string>()],
  ['a host that may be private', new Set(['login.example.org'])],
])('%s with a slow name resolution is resolved once for all callers', async (_title, hosts) => {
  const { promise, reject } = Promise.withResolvers<LookupAddress[]>();
  const resolve = vi.fn(() => promise);
  const ask = asker(hosts, resolve);
  const abort = new AbortController();
  const asked = { method: 'GET', headers: new Headers(), signal: abort.signal } as const;
  const asking = Array.from({ length: 50 }, () => ask('https://login.example.org/keys', asked));
  const ended = Promise.allSettled(asking);
  await vi.waitFor(() => expect(resolve).toHaveBeenCalled(), 60_000);
  abort.abort();
  expect((await ended).map(({ status }) => status)).toEqual(Array(50).fill('rejected'));
  // A look-up goes on after its last caller has left.
  const later = ask('https://login.example.org/keys', { ...asked, signal: new AbortController().signal });
  reject(new Error('there is no such name'));
  await expect(later).rejects.toThrow('there is no such name');
  expect(resolve).toHaveBeenCalledTimes(1);
  resolve.mockResolvedValue([{ address: '10.0.0.1', family: 4 }]);
  if (hosts.size === 0) {
    const anew = ask('https://login.example.org/keys', { ...asked, signal: new AbortController().signal });
    await expect(anew).rejects.toThrow('private address');
    expect(resolve).toHaveBeenCalledTimes(2);
  }
});
