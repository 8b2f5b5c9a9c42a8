import { expect, test } from 'vitest';
import { endingAlso } from '../../src/auth/token.ts';

test('tokens are decided anew when their verifier or what they depend on has changed', async () => {
  let [revoked, changed] = [0, 0];
  const grantOf = async () => undefined;
  const both = endingAlso({ grantOf, epoch: () => revoked }, () => changed);
  const seen = new Set([both.epoch?.()]);
  for (const change of [() => revoked++, () => changed++, () => changed++, () => revoked++]) {
    change();
    seen.add(both.epoch?.());
  }
  expect(seen.size).toBe(5);
  expect(endingAlso({ grantOf }, () => 7).epoch?.()).toBe(7);
});
