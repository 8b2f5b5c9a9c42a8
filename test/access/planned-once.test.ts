/**
 * Requests for the references of a record send long statements. Each is planned once even if some of its targets
 * expire: only the conditions on the time are built for each request.
 */
import { expect, onTestFinished, test } from 'vitest';
import { accessToPatients, OPEN_ACCESS } from '../../src/auth/access.ts';
import { branchesOf } from '../../src/plan/branches.ts';
import { environment } from '../../src/plan/environment.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { TRUE } from '../../src/sql/construct.ts';
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
  // The first requests learn which rows change with time.
  for (let i = 0; i < 3; i++) await last();
  const before = await last();
  const after = await last();
  expect(before?.from.where.kind).not.toBe('true');
  expect(after?.from.where).toBe(before?.from.where);
});

test.each([
  'Observation?patient.general-practitioner.name=ab&patient.general-practitioner.family=b',
  'Observation?patient._has:Condition:patient:code=a&patient._has:Condition:patient:code=b',
])('%s: the access condition of each mapping is computed once, however many mappings lead there', async search => {
  const demo = await openDemo({ patients: 6 });
  onTestFinished(() => demo.close());
  const [type = '', text = ''] = search.split('?');
  const request = { type, parameters: [...new URLSearchParams(text)] };
  const context = { access: OPEN_ACCESS, base: 'http://x/fhir', handling: 'strict' } as const;
  const { filters } = demo.facade.parse(request, context);
  const made: string[] = [];
  const visibility = {
    ...FULL_VISIBILITY,
    allows({ name }: { readonly name: string }) {
      made.push(name);
      return TRUE;
    },
  };
  const { registry } = demo.facade;
  branchesOf({ type, filters, sort: [] }, environment(registry, Date.now(), visibility));
  expect(made.length).toBeGreaterThan(registry.ofType(type).length);
  expect(made.toSorted()).toEqual([...new Set(made)].toSorted());
});
