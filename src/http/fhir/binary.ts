/**
 * Answers a read of Binary with the content itself if the client asks for no media type of FHIR. The content may come
 * from anywhere: headers keep browsers from guessing its type and from running it.
 * https://hl7.org/fhir/R4/binary.html#rest
 */
import type { ResourceText, SearchRequest } from '../../facade.ts';
import type { HttpContext } from '../context.ts';
import { type Answer, answerWith } from '../middleware/answer.ts';
import { accepts, asksForFhir } from '../middleware/negotiate.ts';
import { headerOf, lastOf } from '../middleware/request.ts';

/** The one type whose content R4 gives without the resource around it. */
const CONTENT_TYPE = 'Binary';

/** The content, or undefined where the resource itself has to be sent. */
export function nativeContent(
  c: HttpContext,
  resource: ResourceText,
  parameters: SearchRequest['parameters'],
): Answer | undefined {
  const accept = headerOf(c, 'accept');
  if (resource.type !== CONTENT_TYPE || asksForFhir(lastOf(parameters, '_format'), accept)) return undefined;
  const { contentType, data }: { contentType?: string; data?: string } = JSON.parse(resource.json);
  if (contentType === undefined || data === undefined) return undefined;
  const [mediaType = ''] = contentType.split(';');
  if (!/^[\w.+-]+\/[\w.+-]+(\s*;.*)?$/.test(contentType) || !accepts(mediaType.trim(), accept)) return undefined;
  return answerWith(Buffer.from(data, 'base64'), contentType, {
    headers: { 'Content-Security-Policy': "default-src 'none'; sandbox" },
  });
}
