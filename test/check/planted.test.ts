import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Checked, finds, makeBed } from './plant.ts';
import { GROUPS } from './planted.ts';

const bed = makeBed();
let sound: Checked;
beforeAll(async () => {
  sound = await bed.checkWith([]);
});
afterAll(() => bed.remove());

test('without a planted fault the third database has no error', () => {
  expect(sound.told.filter(({ severity }) => severity === 'error')).toEqual([]);
});

describe.each(GROUPS)('faults that are %s', (_, planted) => {
  let checked: Checked;
  beforeAll(async () => {
    checked = await bed.checkWith(planted);
  });

  test.each(planted.map(one => [one.name, one] as const))('%s', (_, one) => {
    expect(finds(one, checked, sound), JSON.stringify(checked.told, undefined, 2)).toBe(true);
  });
});

test('an index whose collation cannot serve is told to be of no use', { timeout: 60_000 }, async () => {
  const wrong = await bed.parametersAfter('CREATE INDEX policy ON coverage (policy_no)');
  expect(wrong).toContain('identifier (coverage.policy_no (index policy is BINARY, comparisons are RTRIM))');
  const right = await bed.parametersAfter('CREATE INDEX policy ON coverage (policy_no COLLATE RTRIM)');
  expect(right).not.toContain('identifier (coverage.policy_no');
});
