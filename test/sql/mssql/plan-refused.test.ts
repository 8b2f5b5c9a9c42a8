/** `explain` with a login that lacks SHOWPLAN: the plan is refused, and everything else is printed. */
import { expect, onTestFinished, test } from 'vitest';
import { explainSearch } from '../../../src/explain/search.ts';
import { openDemo } from '../../law/demo.ts';
import { NOW } from '../../law/law.ts';
import { failureOf, openScripted, planOf } from './open.ts';

test('statements and lineage are shown with the reason for a missing plan', async () => {
  const { database } = await openScripted(({ kind, text }) =>
    kind === 'batch' && /SHOWPLAN/i.test(text) ? { error: 262 } : undefined,
  );
  const refused = await failureOf(database.explain(planOf()));
  expect(refused).toMatchObject({ reason: 'failed', message: expect.stringContaining('SHOWPLAN') });
  expect(database.load()).toMatchObject({ away: false, unexplained: [] });
  expect(await database.query(planOf())).toEqual([[1]]);

  const demo = await openDemo({ patients: 2 });
  onTestFinished(demo.close);
  const explain = (): Promise<never> => Promise.reject(refused);
  const request = { type: 'Patient', parameters: [['family', 'x']] } as const;
  const { statements, lineage } = await explainSearch(demo.facade, { ...demo.database, explain }, request, {
    ...{ now: NOW, handling: 'strict' },
  });
  expect(JSON.stringify(statements)).toContain(`the database gives no plan: ${refused.message}`);
  expect(JSON.stringify(statements)).toContain('SELECT');
  expect(lineage.length).toBeGreaterThan(5);
});
