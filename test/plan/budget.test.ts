/** Planning holds the main thread, so what takes too long is refused: of requests, which somebody waits for. */
import { expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { RequestContext } from '../../src/facade.ts';
import { facadeOver } from '../facade-over.ts';
import { openDemo } from '../law/demo.ts';

test('a search that takes too long to plan is refused, unless nobody could be told', async () => {
  const demo = await openDemo({ patients: 2 });
  const context: RequestContext = { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' };
  const request = { type: 'Observation', parameters: [['status', 'final']] } as const;
  const { signal } = new AbortController();
  // Less than none: the first round may use less CPU than the clock can show.
  const hurried = facadeOver({ ...demo, planning: -1 });
  await expect(hurried.search(request, { ...context, signal })).rejects.toThrow('takes too long to plan');
  expect((await hurried.search(request, context)).entries).toBeGreaterThan(0);
  expect((await facadeOver(demo).search(request, { ...context, signal })).entries).toBeGreaterThan(0);
  await demo.close();
});
