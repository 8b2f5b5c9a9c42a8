/**
 * Answers bytes that are not HTTP, and requests with too large a head or without exactly one host; they do not reach
 * the application. In: the parser's error and the connection, or the request with its Host headers and target as they
 * were sent. Out: a status and an OperationOutcome, then the connection is closed. RFC 9110 sections 7.2 and 15.5, RFC
 * 9112 section 3.2, RFC 3986 section 3.2
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIPv4, isIPv6 } from 'node:net';
import type { Duplex } from 'node:stream';
import { RequestError } from '@hono/node-server';
import type { RequestErrorKind } from '../../errors/request-errors.ts';
import { issueOf, operationOutcome } from '../../outcome.ts';
import { retryIn } from '../../sql/retry-after.ts';

interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

interface Refusal {
  readonly status: string;
  readonly kind: RequestErrorKind;
  readonly text: string;
}

const INVALID: Refusal = { status: '400 Bad Request', kind: 'malformed-request', text: 'This is no HTTP request' };
const BAD_TARGET: Refusal = {
  status: '400 Bad Request',
  kind: 'malformed-request',
  text: 'The request names no address: expected a path without dot segments, and one header Host with a name or an IP address',
};
const TRACE: Refusal = {
  status: '501 Not Implemented',
  kind: 'wrong-method',
  text: 'This server does not send requests back: TRACE is not implemented',
};
const CODED: Refusal = {
  status: '501 Not Implemented',
  kind: 'malformed-request',
  text: 'Transfer-Encoding: expected chunked alone; to compress a body is not supported',
};
const LONG_URL: Refusal = {
  status: '414 URI Too Long',
  kind: 'too-long',
  text: 'The URL is too long; send the parameters as the body of POST [type]/_search',
};
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    kind: 'malformed-request',
    text: 'The request came too slowly',
  },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Content Too Large',
    kind: 'too-long',
    text: 'The extensions of a chunk are too long',
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    kind: 'too-long',
    text: 'The headers are too long',
  },
};

/**
 * Returns the status; undefined if the client has disconnected. `answering`: an answer to an earlier request is being
 * sent. Nothing is written then, because the client would take it for the end of that answer.
 */
export function refuseMalformed(error: ParseError, socket: Duplex, answering: boolean): number | undefined {
  if (!socket.writable) {
    socket.destroy();
    return undefined;
  }
  const refusal = refusalOf(error);
  const status = Number.parseInt(refusal.status, 10);
  if (answering) {
    socket.destroy();
    return status;
  }
  const body = bodyOf(refusal);
  const headers = Object.entries(headersOf(body)).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${refusal.status}`, ...headers, '', body].join('\r\n'));
  lingerOn(socket);
  return status;
}

/**
 * Adds the missing Host to a probe. HTTP/1.0 does not require one, and HAProxy's `option httpchk GET /ready` sends
 * none. Safe, because probes reveal nothing that DNS rebinding could steal.
 */
export function nameHost(request: IncomingMessage): void {
  const { httpVersion, rawHeaders, url = '' } = request;
  if (httpVersion !== '1.0' || !/^\/(health|ready)(\?|$)/.test(url) || request.headers.host !== undefined) return;
  rawHeaders.push('Host', 'localhost');
  request.headers.host = 'localhost';
}

/**
 * Checks a request that the parser accepted. Returns the status of its refusal; undefined if the application takes it.
 */
export function refuseRequest(request: IncomingMessage, response: ServerResponse): number | undefined {
  const refusal = refusalOfRequest(request);
  if (refusal === undefined) return undefined;
  const status = Number.parseInt(refusal.status, 10);
  const body = bodyOf(refusal);
  response.writeHead(status, headersOf(body)).end(body);
  return status;
}

function refusalOfRequest(request: IncomingMessage): Refusal | undefined {
  if (!isAddressed(request)) return BAD_TARGET;
  // The framework cannot make a Request with the method TRACE.
  if (request.method === 'TRACE') return TRACE;
  // Node decodes `chunked` only, and takes what it finds within for the body. RFC 9112 section 6.1
  const coding = request.headers['transfer-encoding'];
  return coding === undefined || coding.toLowerCase() === 'chunked' ? undefined : CODED;
}

/** True if the request names one host, and its target has a valid host, if any, and no dot segments. */
function isAddressed({ rawHeaders, url = '' }: IncomingMessage): boolean {
  const own = hostOfTarget(url);
  return namesOneHost(rawHeaders) && !hasDotSegments(url) && (own === undefined || isHost(own));
}

/** Returns the same refusal for a request that the framework rejects, such as one without a host. */
export function answerOfMalformed(error: unknown): Response {
  if (!(error instanceof RequestError)) return new Response(null, { status: 500 });
  const body = bodyOf(BAD_TARGET);
  return new Response(body, { status: 400, headers: headersOf(body) });
}

const BUSY = bodyOf({ status: '503', kind: 'overload', text: 'Too many requests; try again later' });
const { Connection: _, ...BUSY_HEADERS } = headersOf(BUSY);

/**
 * Answers 503 before any work is done. The connection stays open, because a new one would cost more. `after`: seconds.
 */
export function refuseBusy(response: ServerResponse, after: number): void {
  response.writeHead(503, { ...BUSY_HEADERS, 'Retry-After': String(after) }).end(BUSY);
}

const STARTING = bodyOf({ status: '503', kind: 'overload', text: 'This server is still starting; try again later' });

/** Answers 503 to requests that arrive before the application is ready. */
export function refuseStarting(response: ServerResponse): void {
  response.writeHead(503, { ...headersOf(STARTING), 'Retry-After': '1' }).end(STARTING);
}

const FAILED = bodyOf({ status: '500', kind: 'unexpected-error', text: 'An unexpected error; the log has it' });

/** Answers 500 if something threw outside the application; cuts off an answer that is being sent. */
export function answerFailure(response: ServerResponse): void {
  if (response.headersSent) response.destroy();
  else response.writeHead(500, headersOf(FAILED)).end(FAILED);
}

function bodyOf({ kind, text }: Refusal): string {
  return JSON.stringify(operationOutcome([issueOf(kind, text)]));
}

function headersOf(body: string): Readonly<Record<string, string>> {
  return {
    'Content-Type': 'application/fhir+json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    Connection: 'close',
  };
}

/**
 * Returns the refusal of a parser error. The parser counts the URL among the headers: if the first line does not end,
 * the URL is too long.
 */
function refusalOf({ code = '', rawPacket }: ParseError): Refusal {
  const long = code === 'HPE_HEADER_OVERFLOW' && rawPacket !== undefined;
  if (long && /^[A-Z]+ [^\r\n]{16000}/.test(rawPacket.toString('latin1', 0, 16_384))) return LONG_URL;
  return REFUSALS[code] ?? INVALID;
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*\.?$/i;

/**
 * True if a text is a host with or without a port. False for numbers that URLs read as an IPv4 address in another
 * notation (`0x7f.1`).
 */
export function isHost(text: string): boolean {
  const [, host = '', port = '0'] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5})?)?$/.exec(text) ?? [];
  if (Number(port) > 65_535) return false;
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1)) && !host.includes('%');
  if (/(^|\.)(\d+|0x[0-9a-f]*)\.?$/i.test(host)) return isIPv4(host);
  return NAME.test(host);
}

/** True for exactly one Host header, with a valid host. `raw`: alternating names and values. */
export function namesOneHost(raw: readonly string[]): boolean {
  let host: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 4 || raw[i]?.toLowerCase() !== 'host') continue;
    if (host !== undefined) return false;
    host = raw[i + 1];
  }
  return host !== undefined && isHost(host);
}

/**
 * True if the path of a target has dot segments (`..`, `.`) in any encoding: software that resolves them would reach
 * another path than software that does not.
 */
export function hasDotSegments(target: string): boolean {
  if (!DOTS.test(target)) return false;
  const [path = ''] = target.split(/[?#]/, 1);
  return path.split(/[/\\]|%2f|%5c/i).some(segment => /^(\.|%2e){1,2}(;.*)?$/i.test(segment));
}

/** Cheap test first: most targets have neither. */
const DOTS = /\.|%2e/i;

/** Returns the host of a target in absolute form. */
export function hostOfTarget(target: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
}

/** Milliseconds that a connection stays open for the client to read its last bytes. */
const LINGER = 500;

/**
 * Closes connections whose clients are still sending. In: a connection whose last bytes are being sent. Out: it is
 * closed when the client has read them, or after a moment. Closing at once would reset it, and the client would not see
 * the answer. Bytes that still arrive are read and dropped. RFC 9112 section 9.6
 */
export function lingerOn(socket: Duplex): void {
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}

/** Milliseconds that a refusal is delayed. */
const PAUSE = 250;
/** Maximum number of delayed refusals. */
const MOST = 2000;
/** Minimum seconds. */
const RETRY_AFTER = 1;

/**
 * Delays refusals under overload: most clients that are refused repeat the request at once, whatever Retry-After says.
 * In: responses. Out: they are sent a moment later, so that a connection costs a few refusals per second and not
 * thousands. The number of delayed responses is bounded; the others are refused at once, with 503 and
 * Retry-After like all.
 */
export function createRefusals(): (response: ServerResponse) => void {
  let waiting = 0;
  return response => {
    if (waiting >= MOST) {
      refuseBusy(response, retryIn(RETRY_AFTER));
      return;
    }
    waiting++;
    setTimeout(() => {
      waiting--;
      refuseBusy(response, retryIn(RETRY_AFTER));
    }, PAUSE);
  };
}
