/**
 * A search for resources outside the patient compartment, by a caller who may see a patient's record: the statement
 * reads the record once, whatever its size, and not for each row that it tests.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Access, accessToPatients } from '../../src/auth/access.ts';
import type { RequestContext } from '../../src/facade.ts';
import type { Predicate } from '../../src/sql/expression.ts';
import type { SqlPlan } from '../../src/sql/plan.ts';
import { type Demo, openDemo } from '../law/demo.ts';

let demo: Demo;
beforeAll(async () => {
  demo = await openDemo({ patients: 6 });
});
afterAll(() => demo.close());

const ONE = accessToPatients('app', ['1']);
const FOUND: Access = {
  kind: 'limited',
  caller: 'user',
  permissions: [
    { type: '*', read: true, search: true, within: [{ found: [['gender', 'female']] }], where: [], except: [] },
  ],
};

/** Returns the kinds of the conditions in the plan that reads a table. */
async function kindsOf(table: string, ask: (access: Access) => Promise<unknown>, access: Access): Promise<unknown> {
  asked.length = 0;
  await ask(access);
  const [plan] = asked.filter(({ from }) => from.table.name === table);
  return plan && kinds(plan.from.where);
}

const asked: SqlPlan[] = [];
const context = (access: Access): RequestContext => ({
  access,
  base: 'http://x/fhir',
  handling: 'strict',
  onQuery: plan => void asked.push(plan),
});
const search = (access: Access) => demo.facade.search({ type: 'Practitioner', parameters: [] }, context(access));

function kinds(of: Predicate): unknown {
  return of.kind === 'and' || of.kind === 'or' ? [...new Set(of.of.flatMap(kinds))].toSorted() : [of.kind];
}

test('a search reads the record of a patient who is named once', async () => {
  expect(await kindsOf('PRV_MST', search, ONE)).toEqual(['in-selects']);
});

test('a search by few ids tests a reference to each, a search by many ids reads the record', async () => {
  const byIds = (ids: string) => (access: Access) =>
    demo.facade.search({ type: 'Practitioner', parameters: [['_id', ids]] }, context(access));
  expect(await kindsOf('PRV_MST', byIds('1'), ONE)).toContain('exists');
  expect(await kindsOf('PRV_MST', byIds('1,2,3,4'), ONE)).not.toContain('in-selects');
  expect(await kindsOf('PRV_MST', byIds('1,2,3,4,5'), ONE)).toContain('in-selects');
  // This search finds many.
  const others = (access: Access) =>
    demo.facade.search({ type: 'Practitioner', parameters: [['_id:not', '1']] }, context(access));
  expect(await kindsOf('PRV_MST', others, ONE)).toContain('in-selects');
});

test('if a search may find many patients, each row is tested by itself, unless no index leads back to it', async () => {
  // A document refers to its author by a computed login.
  expect(await kindsOf('PRV_MST', search, FOUND)).toEqual(['exists', 'in-selects']);
  const read = async (access: Access) => demo.facade.read('Practitioner', '1', [], context(access));
  expect(await kindsOf('PRV_MST', read, FOUND)).toEqual(['equals', 'exists']);
});

test('a read tests one reference of its one row', async () => {
  const read = async (access: Access) => demo.facade.read('Practitioner', '1', [], context(access));
  expect(await kindsOf('PRV_MST', read, ONE)).toEqual(['equals', 'exists']);
});
