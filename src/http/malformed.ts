/**
 * Bytes that are no HTTP request, or one whose head is too large: they reach no application. In: the parser's error and
 * the connection. Out: a status and an OperationOutcome, and the connection is closed. RFC 9110 section 15.5
 */
import type { Duplex } from 'node:stream';
import { operationOutcome } from '../outcome.ts';

interface ParseError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

interface Refusal {
  readonly status: string;
  readonly code: 'invalid' | 'too-long';
  readonly text: string;
}

const INVALID: Refusal = { status: '400 Bad Request', code: 'invalid', text: 'This is no HTTP request' };
const LONG_URL: Refusal = {
  status: '414 URI Too Long',
  code: 'too-long',
  text: 'The URL is too long; send the parameters as the body of POST [type]/_search',
};
const REFUSALS: Readonly<Record<string, Refusal>> = {
  ERR_HTTP_REQUEST_TIMEOUT: { status: '408 Request Timeout', code: 'invalid', text: 'The request came too slowly' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: {
    status: '413 Content Too Large',
    code: 'too-long',
    text: 'The extensions of a chunk are too long',
  },
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'too-long',
    text: 'The headers are too long',
  },
};

/** `answering`: an answer to an earlier request is under way, whose end this would be taken for. */
export function refuseMalformed(error: ParseError, socket: Duplex, answering: boolean): void {
  if (!socket.writable || answering) {
    socket.destroy();
    return;
  }
  const { status, code, text } = refusalOf(error);
  const body = JSON.stringify(operationOutcome([{ severity: 'error', code, diagnostics: text }]));
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      'Content-Type: application/fhir+json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Cache-Control: no-store',
      'Connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

/** The parser counts the URL among the headers; it is the URL where the first line does not end. */
function refusalOf({ code = '', rawPacket }: ParseError): Refusal {
  const long = code === 'HPE_HEADER_OVERFLOW' && rawPacket !== undefined;
  if (long && /^[A-Z]+ [^\r\n]{16000}/.test(rawPacket.toString('latin1', 0, 16_384))) return LONG_URL;
  return REFUSALS[code] ?? INVALID;
}
