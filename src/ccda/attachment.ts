/**
 * Reads the text of an Attachment. In: the attachment and the resources that were read with it. Out: its text if it is
 * plain text, HTML or RTF, or a remark if that is too long to be shown; nothing for scans and PDF, whose format alone
 * the document names.
 * https://hl7.org/fhir/R4/datatypes.html#attachment
 */
import { plainText } from '../mapping/codecs/html.ts';
import type { Attachment, Binary, ReadContent, Reference, Resource } from './fhir/datatypes.ts';
import type { Resolve } from './participants.ts';

const TEXTS: ReadonlySet<string> = new Set(['text/plain', 'text/html', 'text/rtf', 'application/rtf']);

/**
 * Returns a reference to the content if it is text that the attachment does not hold itself. PDF and images are not
 * read.
 */
export function contentOf({ contentType, data, bytes, url }: Attachment): Reference | undefined {
  const isHeld = data !== undefined || bytes !== undefined;
  return !isHeld && url !== undefined && isText(contentType) ? { reference: url } : undefined;
}

/** Returns the readable text, or a remark on it; undefined if the content is no text or was not found. */
export function attachedText(attachment: Attachment, resolve: Resolve): string | undefined {
  const held = (resolve(contentOf(attachment)) as Binary | undefined) ?? attachment;
  const contentType = held.contentType ?? attachment.contentType;
  if (!isText(contentType)) return undefined;
  const { bytes, text } = held.data === undefined ? held : contentIn(held.data, contentType);
  return text ?? (bytes === undefined ? undefined : notShown(contentType, bytes));
}

/** Returns the remark in place of a content. `bytes`: if the reason is its size. */
export function notShown(contentType: string | undefined, bytes?: number): string {
  const size = bytes === undefined ? '' : `, ${(bytes / 1_000_000).toFixed(1)} MB`;
  return `not shown here: ${contentType ?? 'of unknown form'}${size}`;
}

/** Characters of a text that a document shows: some five hundred pages. Longer ones take seconds to write. */
const SHOWN = 1_000_000;
/** Bytes of a content that is read at all: HTML may hold images, which leave no text. */
const READ = 8_000_000;

function contentIn(data: string, contentType: string | undefined): ReadContent {
  const bytes = Math.floor((data.length * 3) / 4);
  if (!isText(contentType) || bytes > READ) return { bytes };
  const text = plainText(new TextDecoder(charsetOf(contentType)).decode(Buffer.from(data, 'base64')));
  return text.length > SHOWN ? { bytes } : { bytes, text };
}

/** Shortens a cell that is too long to be shown to a remark. */
export function shownCell(cell: string): string {
  return cell.length > SHOWN ? notShown('text', cell.length) : cell;
}

/** Characters of a resource from which its contents are replaced by their texts. */
const LARGE = 100_000;

/**
 * Replaces the contents of a large resource by their readable texts, so that a document never keeps contents that it
 * does not show. `json`: the resource as text. Returns the resource and its remaining characters.
 */
export function withoutContents<T extends Resource>(resource: T, json: string): readonly [T, length: number] {
  if (json.length < LARGE) return [resource, json.length];
  let { length } = json;
  const replaced = <A extends Attachment | Binary>(held: A): A => {
    const { data, ...rest } = held;
    if (data === undefined) return held;
    const content = contentIn(data, held.contentType);
    length += (content.text?.length ?? 0) - data.length;
    return { ...rest, ...content } as A;
  };
  const { content, presentedForm } = resource as {
    readonly content?: readonly { readonly attachment?: Attachment }[];
    readonly presentedForm?: readonly Attachment[];
  };
  const shortened = {
    ...replaced(resource as Resource & Binary),
    ...(content && {
      content: content.map(one => (one.attachment ? { ...one, attachment: replaced(one.attachment) } : one)),
    }),
    ...(presentedForm && { presentedForm: presentedForm.map(replaced) }),
  };
  return [shortened as unknown as T, length];
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
