/**
 * Reads the text of an Attachment. In: the attachment and the resources that were read with it. Out: its text if it is
 * plain text, HTML or RTF; nothing for scans and PDF, whose format alone the document names.
 * https://hl7.org/fhir/R4/datatypes.html#attachment
 */
import { plainText } from '../mapping/codecs/html.ts';
import type { Attachment, Binary, Reference } from './fhir/datatypes.ts';
import type { Resolve } from './participants.ts';

const TEXTS: ReadonlySet<string> = new Set(['text/plain', 'text/html', 'text/rtf', 'application/rtf']);

/**
 * Returns a reference to the content if it is text that the attachment does not hold itself. PDF and images are not
 * read.
 */
export function contentOf({ contentType, data, url }: Attachment): Reference | undefined {
  return data === undefined && url !== undefined && isText(contentType) ? { reference: url } : undefined;
}

/** Returns the readable text; undefined if the content is no text or was not found. */
export function attachedText(attachment: Attachment, resolve: Resolve): string | undefined {
  const held = resolve(contentOf(attachment)) as Binary | undefined;
  const contentType = held?.contentType ?? attachment.contentType;
  const data = held?.data ?? attachment.data;
  if (data === undefined || !isText(contentType)) return undefined;
  return plainText(new TextDecoder(charsetOf(contentType)).decode(Buffer.from(data, 'base64')));
}

function isText(contentType: string | undefined): boolean {
  return TEXTS.has((contentType ?? '').split(';')[0]?.trim().toLowerCase() ?? '');
}

/** Returns the charset that the content type names; UTF-8 if it names none or an unknown one. */
function charsetOf(contentType: string | undefined): string {
  const named = /;\s*charset="?([\w.:-]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(named).encoding;
  } catch (error) {
    if (error instanceof RangeError) return 'utf-8';
    throw error;
  }
}
