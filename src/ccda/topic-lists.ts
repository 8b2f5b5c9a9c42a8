/**
 * Finds which lists of the record each section reads. In: the definition of a section. Out: names of lists. Builds the
 * section once from an empty record that notes which lists are read, so there is no second table to maintain.
 */
import type { Chart } from './chart.ts';
import type { ListName } from './lists.ts';
import { never } from './pause.ts';
import type { SectionDefinition, SectionWriter } from './section.ts';
import { NOTHING } from './xml.ts';

export async function listsOf(section: SectionDefinition): Promise<ReadonlySet<ListName>> {
  const asked = new Set<ListName>();
  const none = async (name: ListName): Promise<[]> => {
    asked.add(name);
    return [];
  };
  const chart: Chart = {
    ...{ patientId: '', zone: 'UTC', range: undefined, encounterId: undefined },
    patient: async () => undefined,
    list: none,
    everything: none,
    holds: async name => (await none(name)).length > 0,
    search: async () => [],
    resolve: () => undefined,
    follow: async () => {},
    spend: () => {},
    pause: never,
    seen: { confidentiality: new Set(), changed: 0, earliest: undefined },
  };
  const writer: SectionWriter = {
    resolve: () => undefined,
    patient: { resourceType: 'Patient', id: '' },
    row: () => '',
    markedRow: () => '',
    remarks: () => NOTHING,
    entry: () => {},
    id: () => NOTHING,
  };
  await section.build(writer, chart);
  return asked;
}
