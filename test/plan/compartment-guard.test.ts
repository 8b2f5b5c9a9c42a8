/** Rows that cannot be proved to be of a patient are in no compartment of a patient. */
import { expect, test } from 'vitest';
import { inCompartments } from '../../src/plan/compartment.ts';
import { environment } from '../../src/plan/environment.ts';
import { OPEN_SIGHT } from '../../src/plan/sight.ts';
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

test('rows of a mapping without a provable reference are nobody’s, those of a patient are asked for', async () => {
  const { facade } = await openSmallFacade(SCHEMA, PACK);
  const env = environment(facade.registry, 0, OPEN_SIGHT);
  const kindOf = (name: string): string => inCompartments(facade.registry.mapping(name), ['people-1'], env).kind;
  expect(kindOf('places')).toBe('false');
  expect(kindOf('written')).toBe('false');
  expect(kindOf('known')).toBe('and');
  expect(kindOf('people')).toBe('equals');
});
