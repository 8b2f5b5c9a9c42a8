import { expect, onTestFinished, test } from 'vitest';
import { accessToPatients, OPEN_ACCESS } from '../../../src/auth/access.ts';
import { instantOf } from '../../../src/mapping/criterion.ts';
import { createRegistry } from '../../../src/mapping/model.ts';
import { ALL_RULES, type Environment, environment } from '../../../src/plan/environment.ts';
import { idName } from '../../../src/plan/reuse/id-parameters.ts';
import { planKey, planRound } from '../../../src/plan/reuse/plan-cache.ts';
import { FULL_VISIBILITY } from '../../../src/plan/visibility.ts';
import { searchParameterOf } from '../../../src/r4/search-parameters.ts';
import { UNICODE } from '../../../src/sql/column-type.ts';
import { smallClinic } from '../../cache/small-clinic.ts';
import { idPart } from '../id-part.ts';

const registry = () => createRegistry({ name: 'n', title: 't', zone: 'UTC', systems: {} }, [], 'v');

test('equal requests are planned once; another purpose, other keys or another registry again', () => {
  const [one, two] = [registry(), registry()];
  let planned = 0;
  const plan = () => ++planned;
  const round = (key: string | undefined, of = one, resolved: string[] = []) => {
    const env = environment(of, 0, FULL_VISIBILITY);
    for (const name of resolved) env.resolved.set(name, []);
    return planRound(key === undefined ? undefined : { key, ids: [] }, env, plan).planned;
  };
  expect([round('a'), round('a'), round('b'), round('a', one, ['k']), round('a', two), round('a')]).toEqual([
    1, 1, 2, 3, 4, 1,
  ]);
  expect([round(undefined), round(undefined)]).toEqual([5, 6]);
});

test('a plan with the instant as a number, or with a rule switched off, is not cached', () => {
  const here = registry();
  const timed = (now: number) =>
    planRound({ key: 'a', ids: [] }, environment(here, now, FULL_VISIBILITY), instantOf).planned;
  expect([timed(1), timed(2)]).toEqual([1, 2]);
  let planned = 0;
  const without = () =>
    planRound(
      { key: 'b', ids: [] },
      environment(here, 0, FULL_VISIBILITY, { ...ALL_RULES, absence: false }),
      () => ++planned,
    ).planned;
  expect([without(), without()]).toEqual([1, 2]);
});

test('for one request the plans of the eight latest id forms are cached', () => {
  const here = registry();
  const hyphen = { kind: 'literal', text: '-' } as const;
  const text = idPart(UNICODE);
  const parts = [text, hyphen, text, hyphen, text, hyphen, text];
  let planned = 0;
  const plan = ({ ids }: Environment) => {
    ids?.read(parts, idName(0));
    return ++planned;
  };
  /** A text of digits has another shape than a text of letters. */
  const ask = (shape: number) => {
    const id = [8, 4, 2, 1].map(bit => ((shape & bit) === 0 ? 'x' : '7')).join('-');
    return planRound({ key: 'a', ids: [id] }, environment(here, 0, FULL_VISIBILITY), plan);
  };
  expect(ask(0).placeholders).toEqual(['x', 'x', 'x', 'x']);
  for (let shape = 1; shape <= 8; shape++) {
    ask(shape);
    expect(ask(0).planned).toBe(1);
  }
  expect(planned).toBe(9);
  expect(ask(8).planned).toBe(9);
  expect(ask(8).placeholders).toEqual(['7', 'x', 'x', 'x']);
  expect(ask(1).planned).toBe(10);
});

test('key lookups of a cached plan run each time', () => {
  const here = registry();
  const plan = (env: ReturnType<typeof environment>) => {
    env.pending.set('k', { mapping: 'm', plan: {} as never });
    return 'waiting';
  };
  for (let i = 0; i < 2; i++) {
    const env = environment(here, 0, FULL_VISIBILITY);
    expect(planRound({ key: 'a', ids: [] }, env, plan).asked.map(([name]) => name)).toEqual(['k']);
    expect(env.pending.size).toBe(0);
  }
});

test('cache keys distinguish values, access and parameters', () => {
  const parameter = searchParameterOf('Patient', 'family');
  const question = (text: string | undefined, more = {}) => ({ parameter, values: [{ text }], ...more });
  const keys = [
    planKey('a', question('x')),
    planKey('b', question('x')),
    planKey('a', question('y')),
    planKey('a', question(undefined)),
    planKey('a', question('')),
    planKey('a', { ...question('x'), parameter: searchParameterOf('Patient', 'given') }),
    planKey('a', question('x', { low: Number.NEGATIVE_INFINITY })),
    planKey('a', question('x', { low: Number.POSITIVE_INFINITY })),
    planKey('a', question('x', { access: OPEN_ACCESS })),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(planKey('a', question('x'))).toBe(keys[0]);
});

test('a cached plan reads current rows, and another caller has another plan', async () => {
  const clinic = await smallClinic();
  onTestFinished(() => clinic.close());
  clinic.write("INSERT INTO PERSON VALUES (1, 'Kowalski', 'N', '2024-03-01 09:15:00.000'), (2, 'Brown', 'N', NULL)");
  const ids = async (query: string, patients?: readonly string[]) => {
    const text = await clinic.look(query, patients && accessToPatients('anna', patients));
    return [...text.matchAll(/"resource":\{"resourceType":"\w+","id":"(\d+)"/g)].map(match => match[1]);
  };
  const query = 'Patient?_count=1';
  expect(await ids('Patient')).toEqual(['1', '2']);
  expect(await ids('Patient', ['2'])).toEqual(['2']);
  expect(await ids('Patient', ['1'])).toEqual(['1']);
  expect(await ids(query)).toEqual(['1']);
  clinic.write('DELETE FROM PERSON WHERE ID = 1');
  expect(await ids(query)).toEqual(['2']);
  expect(await ids('Patient')).toEqual(['2']);
});
