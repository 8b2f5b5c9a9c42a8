import { expect, test } from 'vitest';
import { endingAlso } from '../../src/auth/token.ts';

test('tokens are verified again after a change of their verifier or its inputs', async () => {
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
