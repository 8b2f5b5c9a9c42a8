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

test('a value that one element cannot read is not reported as absent if an `sql` emits it', async () => {
  const [fault] = GROUPS.flatMap(([, planted]) => planted.filter(({ name }) => name.startsWith('a sign that means')));
  if (!fault) throw new Error('the fault is not planted any more');
  const active = 'active: { from: in_use, via: { boolean: { true: [Y], false: [N] } } }';
  const shown = `${active}\n  alias: [{ sql: "{y.in_use}", type: varchar(4) }]`;
  const { told } = await bed.checkWith([{ ...fault, edit: ['organization.yaml', active, shown] }]);
  expect(told.filter(({ text }) => fault.says.test(text))).toEqual([]);
  // The profile requires the element, so `check` still reports those rows.
  expect(told.map(({ text }) => text)).toContainEqual(
    expect.stringMatching(/^Organization\.active is missing in 2 of 3/),
  );
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

test('an index with an unsuitable collation is reported as unusable', async () => {
  const wrong = await bed.parametersAfter('CREATE INDEX policy ON coverage (policy_no COLLATE NOCASE)');
  expect(wrong).toContain('identifier (coverage.policy_no (index policy is NOCASE, comparisons are RTRIM))');
  for (const serving of ['policy_no COLLATE RTRIM', 'policy_no COLLATE BINARY']) {
    const right = await bed.parametersAfter(`CREATE INDEX policy ON coverage (${serving})`);
    expect(right).not.toContain('identifier (coverage.policy_no');
  }
});
