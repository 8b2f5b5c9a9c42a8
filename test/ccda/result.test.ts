/** Tests results that are panels: of components, and of other results. */
import { expect, test } from 'vitest';
import { addResults } from '../../src/ccda/entries/result.ts';
import { addVitalSigns } from '../../src/ccda/entries/vital-sign.ts';
import type { DiagnosticReport, Observation } from '../../src/ccda/fhir/measured.ts';
import type { SectionWriter } from '../../src/ccda/section.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

/** Real LOINC codes for the ids: codes of other digits would be invalid. */
const CODES = new Map<string, string>([
  ...([
    ['1', '718-7'],
    ['2', '789-8'],
    ['3', '4544-3'],
    ['7', '58410-2'],
    ['8', '57021-8'],
  ] as const),
  ...([
    ['11', '787-2'],
    ['12', '785-6'],
    ['99', '24331-1'],
  ] as const),
]);
const IDS = new Map<string, string>([...CODES].map(([id, code]) => [code, id]));
const loinc = (id: string) => ({ coding: [{ system: 'http://loinc.org', code: CODES.get(id) ?? '' }] });
const quantity = (value: string) => ({ value, unit: 'g/L', system: 'http://unitsofmeasure.org', code: 'g/L' });
const observation = (id: string, more: Partial<Observation> = {}): Observation => ({
  resourceType: 'Observation',
  ...{ id, status: 'final', code: loinc(id), ...more },
});
const measured = (id: string): Observation => observation(id, { valueQuantity: quantity(id) });
const refer = (...ids: string[]) => ids.map(id => ({ reference: `Observation/${id}` }));
const report = (id: string, ...results: string[]): DiagnosticReport => ({
  ...{ resourceType: 'DiagnosticReport', id, status: 'final', code: loinc('99') },
  result: refer(...results),
});

/** Each entry as its code, with the code and value of each observation in it; ids and rows. */
function written(add: (content: SectionWriter) => void) {
  const entries: string[] = [];
  const [ids, rows, remarks]: string[][] = [[], [], []];
  add({
    resolve: () => undefined,
    patient: { resourceType: 'Patient', id: '1' },
    row: (...cells) => `row-${rows?.push(cells.join('|'))}`,
    markedRow: (...cells) => `row-${rows?.push(`!${cells.join('|')}`)}`,
    remarks: (row, { note = [] }) => {
      for (const { text } of note) remarks?.push(`${row} ${text}`);
      return NOTHING;
    },
    id: ({ id }, part) => {
      ids?.push(`${id} ${part}`);
      return NOTHING;
    },
    entry: ({ text }) => {
      const found = text.matchAll(/<code code="([\w-]+)"|<value [^>]*?(?:value|nullFlavor)="(\w+)"/g);
      entries.push(
        [...found]
          .map(([, code, value]) => (value === undefined ? (IDS.get(code ?? '') ?? code) : `=${value}`))
          .join(' '),
      );
    },
  });
  return { entries, ids, rows, remarks };
}

const results = (reports: readonly DiagnosticReport[], all: readonly Observation[]) =>
  written(content => addResults(reports, all, content));

test('a panel of other results becomes their organizer, not a result without a value', () => {
  const panel = observation('7', { hasMember: refer('1', '2', 'gone') });
  expect(results([], [measured('1'), measured('3'), panel, measured('2')]).entries).toEqual(['3 3 =3', '7 1 =1 2 =2']);
});

test('a panel with a value of its own is listed among its members', () => {
  const panel = observation('7', { valueQuantity: quantity('70'), hasMember: refer('1') });
  expect(results([], [measured('1'), panel]).entries).toEqual(['7 7 =70 1 =1']);
});

test('members of a panel in a report stand in the organizer of the report, each once', () => {
  const all = [observation('7', { hasMember: refer('1', '2') }), measured('1'), measured('2'), measured('3')];
  expect(results([report('r', '7', '1', '3')], all).entries).toEqual(['99 1 =1 2 =2 3 =3']);
  // The report refers to the members only.
  expect(results([report('r', '1', '2', '3')], all).entries).toEqual(['99 1 =1 2 =2 3 =3']);
});

test('a panel whose members are not in the document is a result with an unknown value', () => {
  expect(results([], [observation('7', { hasMember: refer('gone') })]).entries).toEqual(['7 7 =UNK']);
});

test('panels of panels are resolved, and a cycle of panels ends', () => {
  const all = [
    observation('8', { hasMember: refer('7') }),
    observation('7', { hasMember: refer('8', '1') }),
    measured('1'),
  ];
  expect(results([], all).entries).toEqual(['8 1 =1']);
});

test('remarks on a panel are shown beside its members', () => {
  const panel = observation('7', { hasMember: refer('1'), note: [{ text: 'Fasting' }] });
  const { entries, rows } = results([], [measured('1'), panel]);
  expect(entries).toEqual(['7 48767-8 1 =1']);
  expect(rows?.[0]).toContain('|Fasting|');
});

test('each component is a result with its own value, flag and range, and an id of its own', () => {
  const flagged = {
    ...{ code: loinc('11'), valueQuantity: quantity('11'), referenceRange: [{ text: '1 to 9' }] },
    interpretation: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation', code: 'H' }] },
    ],
  };
  const absent = [{ system: 'http://terminology.hl7.org/CodeSystem/data-absent-reason', code: 'masked' }];
  const component = [flagged, { code: loinc('12'), dataAbsentReason: { coding: absent } }];
  const { entries, ids, rows, remarks } = results([], [observation('7', { component, note: [{ text: 'Clotted' }] })]);
  expect(entries).toEqual(['7 11 =11 12 =MSK']);
  const single = observation('7', { component: component.slice(0, 1) });
  expect(results([], [single]).entries).toEqual(['7 11 =11']);
  expect(ids?.toSorted()).toEqual(['7 organizer', '7 resultcomponent-0', '7 resultcomponent-1']);
  expect(rows?.[0]).toMatch(/^!.*\|11 g\/L\|H\|1 to 9\|/);
  expect(rows?.[1]).toMatch(/^[^!].*\|masked\|\|\|/);
  expect(remarks).toEqual(['row-1 Clotted']);
  const valued = observation('7', { component, valueQuantity: quantity('70') });
  expect(results([], [valued]).entries).toEqual(['7 7 =70 11 =11 12 =MSK']);
});

test('a panel of vital signs is the organizer of its members, too', () => {
  const all = [observation('7', { hasMember: refer('1') }), measured('1')];
  expect(written(content => addVitalSigns(all, content)).entries).toEqual(['46680005 1 =1']);
  const alone = all.slice(0, 1);
  expect(written(content => addVitalSigns(alone, content)).entries).toEqual(['46680005 7 =OTH']);
});
