import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Checked, finds, makeBed } from './plant.ts';
import { GROUPS } from './planted.ts';

const bed = makeBed();
let sound: Checked;
beforeAll(async () => {
  sound = await bed.checkWith([]);
});
afterAll(() => bed.remove());

describe.each(GROUPS)('faults that are %s', (_, planted) => {
  let checked: Checked;
  beforeAll(async () => {
    checked = await bed.checkWith(planted);
  });

  test.each(planted.map(one => [one.name, one] as const))('%s', (_, one) => {
    expect(finds(one, checked, sound), JSON.stringify(checked.told, undefined, 2)).toBe(true);
  });
});
