/**
 * A patient's Continuity of Care Document for the FHIR interface. In: a patient and a range of days. Out: the document's
 * XML, whole as answers of FHIR are kept and tagged; undefined where there is no such patient. Throws RangeProblem.
 */
import { documentXml, makeDocument, type Source } from './document.ts';
import { readRange } from './range.ts';
import { inBuffers } from './texts.ts';
import { TOPICS } from './topics.ts';

/** Bytes. */
const PIECE = 64 * 1024;

type Request = Parameters<typeof makeDocument>[0];

export interface SummaryRequest extends Pick<Request, 'patientId' | 'caller' | 'context' | 'now'> {
  /** Calendar days, `yyyy-MM-dd`. */
  readonly start: string | undefined;
  readonly end: string | undefined;
}

export type MakeSummary = (request: SummaryRequest) => Promise<Buffer<ArrayBuffer> | undefined>;

export function summaryMaker(source: Source): MakeSummary {
  return async ({ start, end, ...request }) => {
    const [topic] = TOPICS;
    if (topic === undefined) throw new RangeError('no topics');
    const range = readRange({ rangeStart: start, rangeEnd: end });
    const document = await makeDocument({ ...request, topic, range, encounterId: undefined }, source);
    return document && Buffer.concat([...inBuffers(documentXml(document), PIECE)]);
  };
}
