/** Entries whose resource lacks what their template requires state that it is unknown, and are not omitted. */
import { expect, test } from 'vitest';
import type { Chart } from '../../src/ccda/chart.ts';
import { addNote } from '../../src/ccda/entries/note.ts';
import { addCarePlan, PLAN_COLUMNS } from '../../src/ccda/entries/plan.ts';
import { addSocialHistory } from '../../src/ccda/entries/social-history.ts';
import type { CarePlan } from '../../src/ccda/fhir/planned.ts';
import { buildSection, type SectionWriter, sectionXml } from '../../src/ccda/section.ts';
import { NOTHING } from '../../src/ccda/xml.ts';

function writer(): { readonly content: SectionWriter; readonly written: () => string } {
  const entries: string[] = [];
  return {
    content: {
      resolve: () => undefined,
      patient: { resourceType: 'Patient', id: '1' },
      row: () => 'row',
      markedRow: () => 'row',
      remarks: () => NOTHING,
      id: () => NOTHING,
      entry: ({ text }) => entries.push(text),
    },
    written: () => entries.join('').replace(/\n\s*/g, ''),
  };
}

function socialHistory(code: object): string {
  const { content, written } = writer();
  addSocialHistory({ resourceType: 'Observation', id: '1', code, valueString: '4' }, content);
  return written().match(/<code.*?<\/code>/)?.[0] ?? '';
}

test('a social history without a code that documents can name has an unknown translation, as the template demands', () => {
  const local = { coding: [{ system: 'https://clinic.example.org/dictionary', code: '165' }], text: 'Cigarettes' };
  expect(socialHistory(local)).toBe(
    '<code nullFlavor="UNK"><originalText><reference value="#row-1"/></originalText><translation nullFlavor="UNK"/></code>',
  );
});

test('a social history with a code of another system has that as its translation and no other', () => {
  const smoking = { coding: [{ system: 'http://snomed.info/sct', code: '230056004' }] };
  expect(socialHistory(smoking).match(/<translation[^>]*>/g)).toEqual([
    '<translation code="230056004" codeSystem="2.16.840.1.113883.6.96" codeSystemName="SNOMED CT"/>',
  ]);
});

test('a note without an author is an entry with an unknown author', () => {
  const { content, written } = writer();
  const data = Buffer.from('Feels better').toString('base64');
  const attachment = { contentType: 'text/plain', data };
  addNote({ resourceType: 'DocumentReference', id: '1', date: '2024-03-10', content: [{ attachment }] }, content);
  expect(written()).toContain('<text>Feels better<reference');
  expect(written()).toContain(
    '<author><templateId root="2.16.840.1.113883.10.20.22.4.119"/><time value="20240310"/>' +
      '<assignedAuthor><id nullFlavor="UNK"/><addr><streetAddressLine nullFlavor="UNK"/>',
  );
});

test('a note without a date has an author without a time', () => {
  const { content, written } = writer();
  addNote({ resourceType: 'DocumentReference', id: '1', author: [{ display: 'Dr. Kim' }] }, content);
  expect(written()).toMatch(/<author>.*<time nullFlavor="UNK"\/>.*Dr\. Kim.*<\/author>/);
});

const CHART: Chart = {
  patientId: '1',
  zone: 'UTC',
  range: undefined,
  encounterId: undefined,
  patient: async () => undefined,
  list: async () => [],
  everything: async () => [],
  holds: async () => false,
  search: async () => [],
  follow: async () => undefined,
  spend: () => {},
  pause: () => undefined,
  seen: { confidentiality: new Set(), changed: 0, earliest: undefined },
  resolve: () => ({ resourceType: 'Condition', id: '2', code: { text: 'Gout' } }),
};

async function planSection(plan: Partial<CarePlan>): Promise<string> {
  const section = await buildSection(
    {
      key: 'plan',
      title: 'Plan',
      code: '18776-5',
      codeName: 'Plan of care note',
      templates: ['2.10'],
      columns: PLAN_COLUMNS,
      build: async content => addCarePlan({ resourceType: 'CarePlan', id: '1', status: 'active', ...plan }, content),
    },
    { chart: CHART, patient: { resourceType: 'Patient', id: '1' }, namespace: 'test' },
  );
  return [...sectionXml(section, { nothing: '', elsewhere: '' })].join('');
}

test('a care plan without a text is shown by its category, its activities and the problems it addresses', async () => {
  const written = await planSection({
    category: [
      { coding: [{ system: 'http://hl7.org/fhir/us/core/CodeSystem/careplan-category', code: 'assess-plan' }] },
      { text: 'Diet' },
    ],
    activity: [{ detail: { code: { text: 'Low purine' } } }, { detail: { description: 'Water' } }],
    addresses: [{ reference: 'Condition/2' }],
  });
  expect(written).toContain('<td ID="plan-1-1">Diet<br/>Low purine<br/>Water</td>');
  expect(written).toContain('<td>Gout</td>');
  expect(written).toContain('<reference value="#plan-1-1"/>');
});

test('a code without a text has no link to one: its cell is blank', async () => {
  const written = await planSection({});
  expect(written).toContain('<td ID="plan-1-1"></td>');
  expect(written).not.toContain('#plan-1-1"');
  expect(written).toContain('<text><reference value="#plan-1"/></text>');
});
