/**
 * Serves `Patient/<id>/$ccd`: the document as XML, as a Binary if the client asks for FHIR, or as a page in a browser.
 * https://hl7.org/fhir/R4/binary.html#rest
 */
import { Hono } from 'hono';
import { type Document, documentXml } from '../../ccda/document.ts';
import { documentPage, PAGE_POLICY } from '../../ccda/page.ts';
import { createPause } from '../../ccda/pause.ts';
import { RangeProblem } from '../../ccda/range.ts';
import { XML_POLICY } from '../../ccda/stylesheet.ts';
import type { MakeSummary } from '../../ccda/summary.ts';
import { inBuffers } from '../../ccda/texts.ts';
import type { Parameters, RequestContext } from '../../facade.ts';
import { FhirError } from '../../outcome.ts';
import type { AppParts, HttpContext, HttpEnv, Served } from '../context.ts';
import { type Answer, answerOf, answerWith, representationOf } from '../middleware/answer.ts';
import { respondCached } from '../middleware/answer-cache.ts';
import { wrongMethod } from '../middleware/methods.ts';
import { asksForFhir, isHtml, wantsPage } from '../middleware/negotiate.ts';
import { lastOf, urlParameters } from '../middleware/request.ts';
import { ID } from './record-routes.ts';
import { bodyParameters } from './resource-body.ts';

const CONTENT_TYPE = 'application/xml';
/** Bytes of a piece. */
const PIECE = 64 * 1024;
/** Type of the document's subject. */
const TYPE = 'Patient';

const PATH = `/${TYPE}/:id/$ccd`;

/** Returns the route. If the server makes no documents, 404 says why. */
export function summaryRoutes(parts: AppParts): Hono<HttpEnv> {
  const routes = new Hono<HttpEnv>();
  const { summary: make } = parts;
  if (make === undefined) {
    routes.all(PATH, () => {
      throw new FhirError('unknown-operation', whyNoDocuments(parts.served));
    });
    return routes;
  }
  const run = (c: HttpContext, read: () => Parameters | Promise<Parameters>): Promise<Response> =>
    respondCached(c, parts, async context => {
      const parameters = await read();
      const document = await summary(c.req.param('id') ?? '', parameters, context, parts, make);
      return await answerIn(c, document, parameters);
    });
  routes.get(PATH, c => run(c, () => urlParameters(c)));
  routes.post(PATH, c => run(c, () => bodyParameters(c)));
  routes.all(PATH, wrongMethod('GET, HEAD, POST'));
  return routes;
}

/** Says why a server makes no C-CDA documents. */
export function whyNoDocuments({ unserved = [] }: Pick<Served, 'unserved'>): string {
  return unserved.length === 0
    ? 'C-CDA documents are not offered: the pack has no ccds.yaml, which says what they hold'
    : 'C-CDA documents are not offered while mappings are omitted; /ready gives the reason';
}

async function summary(
  id: string,
  parameters: Parameters,
  context: RequestContext,
  { facade }: AppParts,
  make: MakeSummary,
): Promise<Document> {
  const { handling: _handling, ...rest } = context;
  const there = ID.test(id) && (await facade.read(TYPE, id, [['_elements', 'id']], context)) !== undefined;
  const [start, end] = [dayOf(parameters, 'start'), dayOf(parameters, 'end')];
  try {
    const made = there ? await make({ patientId: id, start, end, context: rest, now: Date.now() }) : undefined;
    if (made === undefined) throw new FhirError('no-such-resource', `No ${TYPE} has this id`);
    return made;
  } catch (error) {
    if (error instanceof RangeProblem)
      throw new FhirError('wrong-value', 'start and end: expected days, in this order');
    throw error;
  }
}

/** Returns the day of a date or dateTime parameter. */
function dayOf(parameters: Parameters, name: string): string | undefined {
  return lastOf(parameters, name)?.slice(0, 10);
}

async function answerIn(c: HttpContext, document: Document, parameters: Parameters): Promise<Answer> {
  const format = lastOf(parameters, '_format') || undefined;
  const accept = c.req.header('accept');
  if (format === undefined ? wantsPage(accept) : isHtml(format)) {
    const headers = { 'Content-Security-Policy': PAGE_POLICY };
    return answerWith(await bytesOf(documentPage(document)), 'text/html; charset=utf-8', { headers });
  }
  const xml = await bytesOf(documentXml(document));
  if (!asksForFhir(format, accept)) {
    const headers = { 'Content-Security-Policy': XML_POLICY };
    return answerWith(xml, `${CONTENT_TYPE}; charset=utf-8`, { headers });
  }
  const data = xml.toString('base64');
  return answerOf(
    JSON.stringify({ resourceType: 'Binary', contentType: CONTENT_TYPE, data }),
    representationOf(c, parameters),
  );
}

async function bytesOf(texts: Iterable<string>): Promise<Buffer<ArrayBuffer>> {
  const pause = createPause();
  const pieces: Buffer[] = [];
  for (const piece of inBuffers(texts, PIECE)) {
    pieces.push(piece);
    const due = pause();
    if (due) await due;
  }
  return Buffer.concat(pieces);
}
