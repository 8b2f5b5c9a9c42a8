/**
 * Writes insurance. In: Coverage with its payor. Out: rows of the narrative. There are no entries: section 2.18 demands
 * none, and the schematrons of the validator do not know their templates (4.87, 4.89).
 */
import { labelOf, readableCode } from '../code.ts';
import type { Coverage } from '../fhir/people.ts';
import { nameOf } from '../participants.ts';
import type { SectionWriter } from '../section.ts';
import { readablePeriod } from '../time.ts';

export const COVERAGE_COLUMNS = ['Payer', 'Type', 'Plan and group', 'Member', 'Relationship', 'Status', 'Period'];

export function addCoverage(coverage: Coverage, content: SectionWriter): void {
  const { type, status, period, payor, identifier, subscriberId, relationship } = coverage;
  const member = identifier?.find(one => one.type?.coding?.some(({ code }) => code === 'MB'));
  content.row(
    nameOf(payor?.[0], content.resolve),
    labelOf(type),
    (coverage.class ?? []).map(({ name, value }) => name ?? value ?? '').join(', '),
    member?.value ?? subscriberId ?? '',
    labelOf(relationship),
    readableCode(status),
    readablePeriod(period?.start, period?.end),
  );
}
