/** The number of statements for a page depends on the mappings only, never on the number of rows. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Mapping, Node } from '../../src/mapping/model.ts';
import { LIST } from '../../src/pipeline/answer.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { render } from '../../src/sql/render.ts';
import { SQLITE } from '../../src/sql/sqlite/dialect.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
const plans: SqlPlan[] = [];
beforeAll(async () => {
  demo = await openDemo({ patients: 28, onQuery: plan => plans.push(plan) });
});
afterAll(() => demo.close());

/** The statements of the first page, as SQL, and the number of its resources. */
async function page(
  type: string,
  count: number,
  more: readonly (readonly [string, string])[] = [],
): Promise<{ readonly statements: readonly string[]; readonly entries: number }> {
  plans.length = 0;
  const { entries } = await demo.facade.search(
    { type, parameters: [['_count', String(count)], ...more] },
    { access: OPEN_ACCESS, base: 'http://127.0.0.1/fhir', handling: 'strict' },
  );
  return { statements: plans.map(plan => render(plan, SQLITE).text), entries };
}

/**
 * A larger page is read in lists of this many rows. Types of one table, or whose first table fills the pages: with 1:N
 * collections, nested ones, and without.
 */
test.each([
  ['CarePlan', 1, 50, 2],
  ['CareTeam', 1, 20, 2],
  ['Patient', 1, 20, 3],
  ['Encounter', 1, 200, 3],
  ['DocumentReference', 1, 200, 1],
  ['Observation', 1, LIST, 1],
  ['DiagnosticReport', 50, 200, 6],
  ['QuestionnaireResponse', 10, 25, 9],
])('%s: a page of %i and one of %i take %i statements', async (type, few, many, expected) => {
  const small = await page(type, few);
  const large = await page(type, many);
  expect([small.entries, large.entries]).toEqual([few, many]);
  expect([small.statements.length, large.statements.length]).toEqual([expected, expected]);
});

test('includes take as many statements for many matches as for few', async () => {
  const include = [
    ['_include', 'Encounter:participant'],
    ['_include', 'Encounter:subject'],
    ['_revinclude', 'Condition:encounter'],
  ] as const;
  const small = await page('Encounter', 10, include);
  const large = await page('Encounter', 100, include);
  expect(large.entries).toBeGreaterThan(small.entries * 4);
  expect(large.statements.length).toBe(small.statements.length);
});

test('every type: no statement is sent twice for a page, and no more than one for each table and collection', async () => {
  for (const type of demo.facade.offers.types) {
    const { statements } = await page(type, 200);
    expect(new Set(statements).size, type).toBe(statements.length);
    const mappings = demo.registry.ofType(type);
    const most = mappings.reduce((sum, mapping) => sum + 1 + collectionsOf(mapping), 0);
    expect(statements.length, type).toBeLessThanOrEqual(most);
  }
});

/** Number of collections of child rows in a mapping, nested ones included. */
function collectionsOf(mapping: Mapping): number {
  const count = (node: Node): number => {
    switch (node.kind) {
      case 'object':
        return node.members
          .flatMap(member => (member.kind === 'element' ? [member] : member.alternatives.flat()))
          .reduce((sum, { node: child }) => sum + count(child), 0);
      case 'list':
        return node.items.reduce((sum, item) => sum + count(item), 0);
      case 'first':
        return node.alternatives.reduce((sum, alternative) => sum + count(alternative), 0);
      case 'each':
        return (node.from.kind === 'rows' ? 1 : 0) + count(node.item);
      default:
        return 0;
    }
  };
  return count(mapping.root);
}
