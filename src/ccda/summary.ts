/**
 * Makes a patient's Continuity of Care Document for the FHIR interface. In: a patient and a range of days. Out: the
 * document; undefined if there is no such patient. Throws RangeProblem.
 */
import { type Document, makeDocument, type Source } from './document.ts';
import { readRange } from './range.ts';
import { TOPICS } from './topics.ts';

type Request = Parameters<typeof makeDocument>[0];

export interface SummaryRequest extends Pick<Request, 'patientId' | 'context' | 'now'> {
  /** Calendar days, `yyyy-MM-dd`. */
  readonly start: string | undefined;
  readonly end: string | undefined;
}

export type MakeSummary = (request: SummaryRequest) => Promise<Document | undefined>;

export function summaryMaker(source: Source): MakeSummary {
  return async ({ start, end, ...request }) => {
    const [topic] = TOPICS;
    if (topic === undefined) throw new RangeError('no topics');
    const range = readRange({ rangeStart: start, rangeEnd: end });
    return makeDocument({ ...request, topic, range, encounterId: undefined }, source);
  };
}
