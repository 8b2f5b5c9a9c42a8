import { expect, test } from 'vitest';
import { makeOffers } from '../../src/plan/offers.ts';
import { wantedIndexes } from '../../src/workbench/indexes.ts';
import { catalog } from '../mapping/load/catalog.ts';
import { load, PEOPLE } from '../mapping/load/problems-of.ts';

test.each([
  ['{ from: DTH_DTM }', 'indexed', [['DTH_DTM']]],
  ['{ sql: "DATEADD(day, 1, {DTH_DTM})", type: datetime }', 'computed', []],
])('a search of %s is %s, with an index or none', (node, inverse, columns) => {
  const { registry } = load({ 'm.yaml': `${PEOPLE}  deceasedDateTime: ${node}\n` });
  if (!registry) throw new Error('the pack has errors');
  const offered = makeOffers(registry)
    .of('Patient')
    .find(({ parameter }) => parameter.code === 'death-date');
  expect(offered?.inverse).toBe(inverse);
  expect(wantedIndexes(registry, catalog).map(wanted => wanted.columns)).toEqual(columns);
});
