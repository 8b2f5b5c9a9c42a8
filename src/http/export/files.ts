/**
 * Sends a file of an export: whole, a range, or compressed.
 * RFC 9110 section 14
 */
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Download } from '../../export/manifest.ts';
import { issueOf } from '../../outcome.ts';
import type { AppParts, HttpContext } from '../context.ts';
import { namesTag, respondWithOutcome } from '../middleware/answer.ts';
import { takesGzip } from '../middleware/compress.ts';
import { streamed } from '../middleware/streamed.ts';

const CONTENT_TYPE = 'application/fhir+ndjson';

export function downloadFile(
  c: HttpContext,
  { file, path, release }: Download,
  { log }: Pick<AppParts, 'log'>,
): Response | Promise<Response> {
  const head = c.req.method === 'HEAD';
  const etag = `"${file.name}-${file.bytes}"`;
  const headers = { 'Content-Type': CONTENT_TYPE, 'Accept-Ranges': 'bytes', ETag: etag, Vary: 'Accept-Encoding' };
  const unsent = (answer: Response | Promise<Response>): Response | Promise<Response> => {
    release();
    return answer;
  };
  const ifRange = c.req.header('if-range');
  const isRanged = !head && (ifRange === undefined || ifRange === etag);
  const range = isRanged ? rangeOf(c.req.header('range'), file.bytes) : 'whole';
  const zipped = range === 'whole' && takesGzip(c.req.header('accept-encoding'));
  // Bytes of the compressed form must never be combined with bytes of the plain one.
  const own = zipped ? { ...headers, ETag: `"${file.name}-${file.bytes}-gzip"`, 'Accept-Ranges': 'none' } : headers;
  const known = c.req.header('if-none-match');
  if (known !== undefined && namesTag(known, own.ETag)) return unsent(c.body(null, 304, own));
  if (range === 'unsatisfiable') {
    const issue = issueOf('wrong-range', `Range: the file has ${file.bytes} bytes`);
    return unsent(respondWithOutcome(c, 416, [issue], { 'Content-Range': `bytes */${file.bytes}` }));
  }
  if (zipped) {
    const coded = { ...own, 'Content-Encoding': 'gzip' };
    if (head) return unsent(c.body(null, 200, coded));
    const zip = createGzip({ level: constants.Z_BEST_SPEED });
    // The file may be longer than recorded: a run that was cut off may have written more.
    pipeline(createReadStream(path, { start: 0, end: file.bytes - 1 }), zip, release);
    return c.body(streamed(c, zip, log), 200, coded);
  }
  const { start, end } = range === 'whole' ? { start: 0, end: file.bytes - 1 } : range;
  const sent = {
    ...own,
    'Content-Length': String(end - start + 1),
    ...(range === 'whole' ? {} : { 'Content-Range': `bytes ${start}-${end}/${file.bytes}` }),
  };
  const status = range === 'whole' ? 200 : 206;
  if (head) return unsent(c.body(null, status, sent));
  const read = createReadStream(path, { start, end }).once('close', release);
  return c.body(streamed(c, read, log), status, sent);
}

/** Returns the one range that was asked for; several ranges, or another unit, count as none. */
function rangeOf(
  header: string | undefined,
  bytes: number,
): 'whole' | 'unsatisfiable' | { readonly start: number; readonly end: number } {
  const [, from = '', to = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.trim() ?? '') ?? [];
  if (from === '' && to === '') return 'whole';
  if (from === '')
    return Number(to) === 0 ? 'unsatisfiable' : { start: Math.max(0, bytes - Number(to)), end: bytes - 1 };
  const end = to === '' ? bytes - 1 : Math.min(Number(to), bytes - 1);
  if (to !== '' && Number(to) < Number(from)) return 'whole';
  return Number(from) >= bytes ? 'unsatisfiable' : { start: Number(from), end };
}
