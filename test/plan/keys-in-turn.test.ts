/** Keys that are fetched before their rows, when one list of keys depends on another. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Access } from '../../src/auth/access.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 3 });
});
afterAll(() => demo.close());

const TYPES = ['DiagnosticReport', 'Organization'];

async function total(type: string, parameters: readonly (readonly [string, string])[]): Promise<number> {
  const permissions = TYPES.map(one => ({
    ...{ type: one, read: true, search: true, where: [], except: [] },
    within: [{ ids: ['1'] }],
  }));
  const access: Access = { kind: 'limited', caller: 'x', permissions };
  const context = { access, base: 'http://x', handling: 'strict' } as const;
  const { json } = await demo.facade.search({ type, parameters: [...parameters, ['_summary', 'count']] }, context);
  return (JSON.parse(json) as { readonly total: number }).total;
}

test('a chain follows every reference of a record', async () => {
  const all = await total('DiagnosticReport', []);
  expect(all).toBeGreaterThan(10);
  // A report refers to its patient by another number than the id's.
  expect(await total('DiagnosticReport', [['performer:Organization.name:missing', 'false']])).toBe(all);
});

test('two conditions with the same keys read them once', async () => {
  const one = ['performer:Organization.name:missing', 'false'] as const;
  expect(await total('DiagnosticReport', [one, one])).toBe(await total('DiagnosticReport', [one]));
});
