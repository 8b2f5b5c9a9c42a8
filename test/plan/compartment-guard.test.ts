/** Rows that do not provably belong to a patient are in no patient compartment. */
import { expect, test } from 'vitest';
import { accessToPatients } from '../../src/auth/access.ts';
import { accessPredicate } from '../../src/plan/access.ts';
import { inCompartments } from '../../src/plan/compartment.ts';
import { environment } from '../../src/plan/environment.ts';
import { FULL_VISIBILITY } from '../../src/plan/visibility.ts';
import { visibilityOf } from '../../src/plan/visibility-of.ts';
import { resourceTypes } from '../../src/r4/definitions.ts';
import { openSmallFacade } from './small-pack.ts';

const SCHEMA = 'CREATE TABLE PAT (NO INTEGER NOT NULL PRIMARY KEY, NM VARCHAR(20), PAT_NO INTEGER)';
const mapping = (name: string, resource: string, elements: string) =>
  `mapping: ${name}\nresource: ${resource}\nsource: { table: PAT, as: ${name}, key: [NO] }\nid: "${name}-{NO}"\nelements:\n${elements}`;
const OBSERVATION = '  status: final\n  code: { text: weight }\n';

const PACK = {
  'pack.yaml': 'name: small\ntitle: Small\nzone: UTC\n',
  'a.yaml': mapping('people', 'Patient', '  name: [{ family: { from: NM } }]\n'),
  'b.yaml': mapping('known', 'Observation', `${OBSERVATION}  subject: { ref: people, on: { NO: PAT_NO } }\n`),
  'c.yaml': mapping(
    'written',
    'Observation',
    `${OBSERVATION}  subject: { reference: { template: "Patient/people-{PAT_NO}" } }\n`,
  ),
  'd.yaml': mapping('places', 'Location', '  name: { from: NM }\n'),
};

test('rows without a provable patient are hidden, those with a patient are filtered', async () => {
  const { facade } = await openSmallFacade(SCHEMA, PACK);
  const env = environment(facade.registry, 0, FULL_VISIBILITY);
  const kindOf = (name: string): string => inCompartments(facade.registry.mapping(name), ['people-1'], env).kind;
  expect(kindOf('places')).toBe('false');
  expect(kindOf('written')).toBe('false');
  expect(kindOf('known')).toBe('and');
  expect(kindOf('people')).toBe('equals');
});

/** Simulates types that a pack may add: a mapping of each R4 type, without a rule and without references to it. */
test('a caller limited to one patient sees no type without a reference or a permission', async () => {
  const { registry } = (await openSmallFacade(SCHEMA, PACK)).facade;
  const types = resourceTypes().filter(type => type !== 'Patient');
  expect(types.length).toBeGreaterThan(140);
  const noCondition = (): never => {
    throw new Error('no condition is asked for');
  };
  const asks = (name: string, type: string, permitted: readonly string[]): readonly string[] => {
    const env = environment(registry, 0, visibilityOf(accessToPatients('one', ['people-1']), permitted, noCondition));
    const mapping = { ...registry.mapping(name), resource: type };
    return (['read', 'search'] as const).map(action => accessPredicate(mapping, action, env).kind);
  };
  // No reference leads to a patient, one is unprovable, and no permission names the type.
  for (const type of types) {
    expect([type, asks('places', type, types)]).toEqual([type, ['false', 'false']]);
    expect([type, asks('written', type, types)]).toEqual([type, ['false', 'false']]);
    expect([type, asks('known', type, [])]).toEqual([type, ['false', 'false']]);
  }
  expect(asks('people', 'Patient', [])).toEqual(['false', 'false']);
  // The same for the patient's own rows of a permitted type.
  expect(asks('known', 'Observation', types)).not.toContain('false');
  expect(asks('people', 'Patient', ['Patient'])).not.toContain('false');
});

/** docs/decisions/0439-linked-patients.md */
test('a patient linked from another is not in the compartment of the other', async () => {
  const rows = `${SCHEMA}; INSERT INTO PAT VALUES (1, 'new chart', 2), (2, 'old chart', NULL), (3, 'else', 1)`;
  const linked = mapping(
    'people',
    'Patient',
    '  name: [{ family: { from: NM } }]\n  link: [{ needs: [other], other: { ref: people, on: { NO: PAT_NO } }, type: replaces }]\n',
  );
  const { facade } = await openSmallFacade(rows, { 'pack.yaml': PACK['pack.yaml'], 'a.yaml': linked });
  const found = async (...parameters: (readonly [string, string])[]): Promise<readonly string[]> => {
    const context = {
      access: accessToPatients('one', ['people-1']),
      base: 'http://127.0.0.1',
      handling: 'strict',
    } as const;
    const { json } = await facade.search({ type: 'Patient', parameters }, context);
    return [...json.matchAll(/"id":"(people-\d)"/g)].map(([, id = '']) => id);
  };
  expect(await found()).toEqual(['people-1']);
  expect(await found(['_include', 'Patient:link'], ['_revinclude', 'Patient:link'])).toEqual(['people-1']);
  expect(await found(['link', 'Patient/people-1'])).toEqual([]);
});
