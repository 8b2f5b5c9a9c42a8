/** Entries whose resource lacks what their template demands: they say that it is not known, and are not left out. */
import { expect, test } from 'vitest';
import { addNote } from '../../src/ccda/entries/note.ts';
import { addSocialHistory } from '../../src/ccda/entries/social-history.ts';
import type { SectionWriter } from '../../src/ccda/section.ts';
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

test('a note that nobody is known to have written is an entry with an unknown author', () => {
  const { content, written } = writer();
  const data = Buffer.from('Feels better').toString('base64');
  const attachment = { contentType: 'text/plain', data };
  addNote({ resourceType: 'DocumentReference', id: '1', date: '2024-03-10', content: [{ attachment }] }, content);
  expect(written()).toContain('<text>Feels better<reference');
  expect(written()).toContain(
    '<author><templateId root="2.16.840.1.113883.10.20.22.4.119"/><time value="20240310"/>' +
      '<assignedAuthor><id nullFlavor="UNK"/></assignedAuthor></author>',
  );
});

test('a note without a day has an author without a time', () => {
  const { content, written } = writer();
  addNote({ resourceType: 'DocumentReference', id: '1', author: [{ display: 'Dr. Kim' }] }, content);
  expect(written()).toMatch(/<author>.*<time nullFlavor="UNK"\/>.*Dr\. Kim.*<\/author>/);
});
