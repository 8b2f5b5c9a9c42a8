/** Long commands report their progress on standard error, and keep it out of their JSON. */
import { performance } from 'node:perf_hooks';
import { expect, onTestFinished, test, vi } from 'vitest';
import { lintel } from './lintel.ts';
import { smallClinic } from './small-clinic.ts';

/** Makes each step appear to take three seconds. */
function slowClock(): void {
  let at = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => {
    at += 3000;
    return at;
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
}

const TEST = `mapping: people
rows: { PERSON: { ID: 1, SEX: M } }
resource: { resourceType: Patient, id: "1", gender: male }
`;

test.each(['test', 'check'])('lintel %s shows which test of the pack is running', async command => {
  const { environment } = smallClinic({ 'person.test.yaml': [TEST, TEST, TEST].join('---\n') });
  slowClock();
  const { code, out, notes } = await lintel(environment, command, '--json');
  expect(code).toBe(0);
  expect(notes).toContain('Running test 1 of 3\nRunning test 2 of 3\nRunning test 3 of 3');
  expect(() => JSON.parse(out)).not.toThrow();
});
