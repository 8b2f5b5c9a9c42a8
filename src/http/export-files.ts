/**
 * A file of an export as a response: whole, a range, or compressed. RFC 9110 section 14
 */
import { createReadStream } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { Download } from '../export/manifest.ts';
import { takesGzip } from './compress.ts';
import type { HttpContext } from './context.ts';

const CONTENT_TYPE = 'application/fhir+ndjson';

export function downloadFile(c: HttpContext, { file, path, release }: Download): Response {
  const etag = `"${file.name}-${file.bytes}"`;
  const headers = { 'Content-Type': CONTENT_TYPE, 'Accept-Ranges': 'bytes', ETag: etag, Vary: 'Accept-Encoding' };
  const send = (status: 200 | 206, more: Record<string, string>, part?: { start: number; end: number }): Response => {
    if (!head) return c.body(stream(path, release, part), status, { ...headers, ...more });
    release();
    return c.body(null, status, { ...headers, ...more });
  };
  const head = c.req.method === 'HEAD';
  const ifRange = c.req.header('if-range');
  const range = ifRange === undefined || ifRange === etag ? rangeOf(c.req.header('range'), file.bytes) : 'whole';
  if (range === 'unsatisfiable') {
    release();
    return c.body(null, 416, { ...headers, 'Content-Range': `bytes */${file.bytes}` });
  }
  if (range === 'whole') {
    if (!head && takesGzip(c.req.header('accept-encoding'))) {
      const zip = createGzip({ level: constants.Z_BEST_SPEED });
      pipeline(createReadStream(path), zip, release);
      return c.body(Readable.toWeb(zip) as ReadableStream, 200, { ...headers, 'Content-Encoding': 'gzip' });
    }
    return send(200, { 'Content-Length': String(file.bytes) });
  }
  const { start, end } = range;
  return send(
    206,
    { 'Content-Length': String(end - start + 1), 'Content-Range': `bytes ${start}-${end}/${file.bytes}` },
    range,
  );
}

function stream(path: string, release: () => void, range?: { start: number; end: number }): ReadableStream {
  return Readable.toWeb(createReadStream(path, range).once('close', release)) as ReadableStream;
}

/** The one range that was asked for; several, or another unit, count as none. */
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
