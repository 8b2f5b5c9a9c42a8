import { expect, test } from 'vitest';
import { ASYNC, clinic, contents, finished, kickOff, LENIENT, served } from './exporting.ts';

const provenances = (found: readonly string[]): readonly string[] =>
  found.filter(one => one.startsWith('Provenance/')).toSorted();

test('the associated Provenance of exported resources is included, and no other', async () => {
  const { fhir } = await served(clinic(4, 2));
  const along = async (query: string): Promise<readonly string[]> =>
    provenances(await contents(await finished(await kickOff(`${fhir}/${query}`))));
  const ofWeights = Array.from({ length: 8 }, (_, i) => `Provenance/pw-${i + 1}`);
  for (const value of ['LatestProvenanceResources', 'RelevantProvenanceResources'])
    expect(await along(`$export?_type=Observation&includeAssociatedData=${value}`)).toEqual(ofWeights);
  expect(await along('$export?_type=Device&includeAssociatedData=LatestProvenanceResources')).toEqual(
    [1, 2, 3, 4].map(no => `Provenance/pi-${no}`),
  );
  expect(await along('$export?_type=Coverage&includeAssociatedData=LatestProvenanceResources')).toEqual([]);
  // The author of a change is not a target of its Provenance.
  expect(await along('$export?_type=Practitioner&includeAssociatedData=LatestProvenanceResources')).toEqual([]);
  expect(await along('$export?_type=Observation')).toEqual([]);
  expect(await along('$export?_type=Provenance')).toHaveLength(12);
});

test('the associated Provenance of a group export covers its members only', async () => {
  const { fhir } = await served(clinic(4, 2));
  const query = '_type=Observation&_elements=Observation.status&includeAssociatedData=RelevantProvenanceResources';
  const found = await contents(await finished(await kickOff(`${fhir}/Group/g-1/$export?${query}`)));
  expect(provenances(found)).toEqual([1, 3, 5, 7].map(no => `Provenance/pw-${no}`));
});

test('other associated data is refused, or ignored with an entry in `error` under lenient handling', async () => {
  const { fhir } = await served(clinic(3));
  const url = `${fhir}/$export?_type=Group&includeAssociatedData=_everything`;
  const { error } = await finished(await kickOff(url, { headers: LENIENT }));
  expect(await (await fetch(error[0]?.url ?? '')).text()).toContain('includeAssociatedData');
  expect((await fetch(url, { headers: ASYNC })).status).toBe(400);
});
