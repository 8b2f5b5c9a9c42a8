/**
 * Writes remarks, such as notes of a resource. In: a text and the row that shows it. Out: Comment Activity with the
 * text and a reference to the row.
 * C-CDA R2.1 Volume 2, section 3.21
 */
import { reference } from './code.ts';
import { type Markup, templateIds, xml } from './xml.ts';

/** Returns the distinct texts that are not empty. */
export function remarksIn(texts: readonly (string | undefined)[]): readonly string[] {
  return [...new Set(texts.map(text => text?.trim() ?? ''))].filter(text => text !== '');
}

/** Writes the act. Within an entry it needs an entryRelationship around it, within an organizer a component. */
export function comment(text: string, row: string): Markup {
  return xml`
    <act classCode="ACT" moodCode="EVN">
      ${templateIds('4.64')}
      <code code="48767-8" displayName="Annotation comment" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC"/>
      <text>${text}${reference(row)}</text>
    </act>`;
}
