/**
 * What a record refers to is asked for by long statements. Though some of what refers to it ends with time, such a
 * statement is planned once: what looks at the time is made anew for each request.
 */
import { expect, onTestFinished, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { openDemo } from '../law/demo.ts';

test('a search of one patient is planned once, however many types the caller may see', async () => {
  const demo = await openDemo({ patients: 6 });
  onTestFinished(() => demo.close());
  const question = { code: 'http://loinc.org|2345-7,http://loinc.org|718-7', date: 'ge2020-01-01', status: 'final' };
  const last = async (): Promise<SqlPlan | undefined> => {
    const plans: SqlPlan[] = [];
    const context = { access: accessToPatients('app', ['1']), base: 'http://x/fhir', handling: 'strict' } as const;
    const request = { type: 'Observation', parameters: Object.entries(question) };
    await demo.facade.search(request, { ...context, onQuery: plan => void plans.push(plan) });
    return plans.find(({ searches }) => searches);
  };
  for (let i = 0; i < 3; i++) await last();
  const before = await last();
  const after = await last();
  expect(before?.from.where.kind).toBe('and');
  expect(after?.from.where).toBe(before?.from.where);
});

test('for a patient, a type outside the compartment is planned once', async () => {
  const demo = await openDemo({ patients: 6 });
  onTestFinished(() => demo.close());
  const last = async (): Promise<SqlPlan | undefined> => {
    const plans: SqlPlan[] = [];
    const context = { access: accessToPatients('app', ['1']), base: 'http://x/fhir', handling: 'strict' } as const;
    await demo.facade.read('Practitioner', '1', [], { ...context, onQuery: plan => void plans.push(plan) });
    return plans.at(-1);
  };
  // The first ones learn which rows change with time.
  for (let i = 0; i < 3; i++) await last();
  const before = await last();
  const after = await last();
  expect(before?.from.where.kind).not.toBe('true');
  expect(after?.from.where).toBe(before?.from.where);
});
