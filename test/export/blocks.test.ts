import { expect, test } from 'vitest';
import { clinic, finished, kickOff, type Manifest, served } from './exporting.ts';

interface Line {
  readonly resourceType: string;
  readonly id: string;
  readonly parameter?: readonly { readonly name: string; readonly valueReference: { readonly reference: string } }[];
}

/** The blocks of all files: the header's reference, with `Type/id` of the resources after it. */
async function blocksIn({ output }: Manifest): Promise<ReadonlyMap<string, readonly string[]>> {
  const blocks = new Map<string, string[]>();
  for (const { url, count } of output) {
    const lines = (await (await fetch(url)).text()).trimEnd().split('\n');
    // The header of a block is not a resource of the export.
    expect(lines.filter(line => !line.startsWith('{"resourceType":"Parameters"'))).toHaveLength(count);
    let block: string[] | undefined;
    for (const line of lines) {
      const { resourceType, id, parameter } = JSON.parse(line) as Line;
      if (resourceType !== 'Parameters') {
        block?.push(`${resourceType}/${id}`);
        continue;
      }
      const header = parameter?.find(({ name }) => name === 'header')?.valueReference.reference ?? '';
      expect(blocks.has(header)).toBe(false);
      block = [];
      blocks.set(header, block);
    }
  }
  return blocks;
}

test('organizeOutputBy=Patient gives each member a block: header, patient, the patient’s data, referenced resources', async () => {
  const { fhir } = await served(clinic(20, 3), { EXPORT_FILE_LINES: '10' });
  const manifest = await finished(await kickOff(`${fhir}/Group/g-1/$export?organizeOutputBy=Patient`));
  expect(manifest).toMatchObject({ outputOrganizedBy: 'Patient' });
  expect(manifest.output.length).toBeGreaterThan(1);
  for (const file of manifest.output) expect(Object.keys(file)).toEqual(['url', 'count']);
  const blocks = await blocksIn(manifest);
  expect([...blocks.keys()]).toEqual([1, 3, 5, 7, 9].map(id => `Patient/${id}`));
  expect(blocks.get('Patient/3')?.[0]).toBe('Patient/3');
  expect(blocks.get('Patient/3')?.toSorted()).toEqual(
    [
      ...['Binary/b-3', 'Coverage/v-1', 'Coverage/v-3', 'Device/i-3', 'DocumentReference/d-3'],
      ...['Observation/w-3', 'Observation/w-23', 'Observation/w-43', 'Organization/c-1', 'Organization/c-3'],
      ...['Patient/3', 'Practitioner/s-1', 'PractitionerRole/r-1'],
      ...['Provenance/pw-3', 'Provenance/pw-23', 'Provenance/pw-43'],
    ].toSorted(),
  );
});

test('it works with all and with some patients, and with _type and _since', async () => {
  const { fhir } = await served(clinic(20, 3));
  const all = await blocksIn(await finished(await kickOff(`${fhir}/Patient/$export?organizeOutputBy=Patient`)));
  expect(all.size).toBe(20);
  const some = await finished(
    await kickOff(`${fhir}/Patient/$export?organizeOutputBy=Patient&patient=Patient/4&_type=Observation`),
  );
  expect([...(await blocksIn(some))]).toEqual([
    ['Patient/4', ['Observation/w-4', 'Observation/w-24', 'Observation/w-44']],
  ]);
  const none = `${fhir}/Patient/$export?organizeOutputBy=Patient&_type=Observation&_since=2024-06-01T00:00:00Z`;
  expect((await finished(await kickOff(none))).output).toEqual([]);
});

test.each(['$export?organizeOutputBy=Patient', 'Patient/$export?organizeOutputBy=Encounter'])(
  'another value is refused, not ignored: %s',
  async path => {
    const { fhir } = await served(clinic(1, 1));
    const response = await fetch(`${fhir}/${path}`, { headers: { prefer: 'respond-async, handling=lenient' } });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('organizeOutputBy');
  },
);
