import { expect, it, onTestFinished } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import { heapAfterCollection } from '../heap.ts';
import { openDemo } from '../law/demo.ts';

/** Each with other codes; some are no code of any mapping. */
function lists(count: number, values: number): readonly string[] {
  const code = (n: number) => n.toString(36).padStart(6, 'c');
  return Array.from({ length: count }, (_, i) => Array.from({ length: values }, (_, k) => code(i * values + k)).join());
}

it('the cache of long code lists is bounded in size', async () => {
  const demo = await openDemo({ patients: 1 });
  onTestFinished(() => demo.close());
  const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
  const search = (list: string) => demo.facade.search({ type: 'Observation', parameters: [['code', list]] }, context);
  const all = lists(80, 500);
  // As many as are measured: what is compiled and bounded is there before, in a process that ran other files, too.
  for (const list of all.slice(0, 40)) await search(list);
  const heap = heapAfterCollection();
  const before = heap();
  for (const list of all.slice(40)) await search(list);
  expect(heap() - before).toBeLessThan(4_000_000);
}, 120_000);

it('the cache of filters by code is bounded in number', async () => {
  const demo = await openDemo({ patients: 1 });
  onTestFinished(() => demo.close());
  const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
  const heap = heapAfterCollection();
  const before = heap();
  for (let i = 0; i < 1200; i++)
    await demo.facade.search({ type: 'Condition', parameters: [['code', `nowhere-${i}`]] }, context);
  // 200 MB without the bound.
  expect(heap() - before).toBeLessThan(130_000_000);
}, 120_000);
