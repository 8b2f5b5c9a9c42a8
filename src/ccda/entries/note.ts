/**
 * Writes notes. In: DocumentReference with its text. Out: Note Activity with the text, and a row. For a scan or a PDF
 * the row has title and format. A Note Activity must give its author and time, or state that they are unknown. C-CDA
 * Companion Guide R4.1, Note Activity
 */

import { attachedText, notShown } from '../attachment.ts';
import { coded, isCoded, labelOf, reference } from '../code.ts';
import { LOINC } from '../code-systems.ts';
import type { CodeableConcept, DocumentReference } from '../fhir/datatypes.ts';
import { headOf, secondOf } from '../narrative.ts';
import { actorOf, authorOrUnknown, nameOf, namesOf } from '../participants.ts';
import { remarksIn } from '../remark.ts';
import type { SectionWriter } from '../section.ts';
import { readableTime, timeElement } from '../time.ts';
import { type Markup, NOTHING, templateIds, xml } from '../xml.ts';

export const NOTE_COLUMNS = ['Note', 'Text', 'Written', 'By'];

export function addNote(note: DocumentReference, content: SectionWriter): void {
  const { type, description, date, custodian } = note;
  const attachments = (note.content ?? []).flatMap(({ attachment }) => attachment ?? []);
  const text = remarksIn(attachments.map(one => attachedText(one, content.resolve))).join('\n\n');
  const forms = attachments.map(({ contentType }) => notShown(contentType));
  const row = content.row(
    remarksIn([labelOf(type), description]).join('\n'),
    text || remarksIn(forms).join('\n'),
    readableTime(date),
    namesOf(note.author ?? [], content.resolve) || nameOf(custodian, content.resolve),
  );
  const by = [note.author?.[0], custodian].find(one => actorOf(one, content.resolve) !== undefined);
  content.entry(
    xml`
    <act classCode="ACT" moodCode="EVN">
      ${templateIds('4.202:2016-11-01')}
      ${content.id(note)}
      <code code="34109-9" displayName="Note" codeSystem="2.16.840.1.113883.6.1" codeSystemName="LOINC">
        <originalText>${reference(headOf(row))}</originalText>
        ${kindOf(type)}
      </code>
      <text>${text}${reference(secondOf(row))}</text>
      <statusCode code="completed"/>
      ${timeElement('effectiveTime', note.context?.period?.start ?? date)}
      ${authorOrUnknown(by, date, content.resolve)}
    </act>`,
  );
}

/** Writes the type of the note, if LOINC has a code for it. */
function kindOf(type: CodeableConcept | undefined): Markup {
  if (!isCoded(type, [LOINC])) return NOTHING;
  return coded('translation', { coding: (type?.coding ?? []).filter(({ system }) => system === LOINC) });
}
