/**
 * Receives the complete body of a request before any work begins, so that a slow client holds nothing that others wait
 * for. In: requests. Out: their bodies, or 413 for one that is too long.
 * All bodies together hold a bounded number of bytes: the ones that have been arriving longest are cut off for a new
 * one. A body that is not read to its end is answered with `Connection: close`, and the client has a moment to read the
 * answer. RFC 9112 section 9.6
 */
import { createMiddleware } from 'hono/factory';
import { FhirError } from '../../outcome.ts';
import type { HttpContext, HttpEnv } from '../context.ts';
import { refuse } from '../middleware/refuse.ts';
import { lingerOn } from './malformed.ts';

/** Maximum bytes of a body; the longest is a search form. */
export const BODY_BYTES = 256 * 1024;

/** Maximum bytes of all bodies that are arriving or in use. */
const ALL_BODIES = 64 * 1024 * 1024;

interface Held {
  bytes: number;
  readonly cut: () => void;
}

export interface Intake {
  /** Reserves bytes. Undefined if there is no room and none can be made. `cut` ends a body that is still arriving. */
  take(bytes: number, cut: () => void): Held | undefined;
  /** Notes that the body has arrived, with its actual number of bytes. */
  came(held: Held, bytes: number): void;
  leave(held: Held): void;
  /** Bytes that are reserved now. */
  load(): number;
}

/** `most`: maximum bytes of all bodies. */
export function createIntake(most: number = ALL_BODIES): Intake {
  /** Bodies that are still arriving, oldest first. */
  const coming = new Set<Held>();
  let taken = 0;
  const resize = (held: Held, bytes: number): void => {
    taken += bytes - held.bytes;
    held.bytes = bytes;
  };
  return {
    take(bytes, cut) {
      for (const oldest of coming) {
        if (taken + bytes <= most) break;
        coming.delete(oldest);
        resize(oldest, 0);
        oldest.cut();
      }
      if (taken + bytes > most) return undefined;
      const held = { bytes: 0, cut };
      resize(held, bytes);
      coming.add(held);
      return held;
    },
    came(held, bytes) {
      if (coming.delete(held)) resize(held, bytes);
    },
    leave(held) {
      coming.delete(held);
      resize(held, 0);
    },
    load: () => taken,
  };
}

const hasBody = (c: HttpContext): boolean => c.req.method !== 'GET' && c.req.method !== 'HEAD';

/**
 * Has to wrap everything that may refuse a request before its body has arrived. GET and HEAD have no body: Node drops
 * what is sent.
 */
export const closeHalfRead = createMiddleware<HttpEnv>(async (c, next) => {
  await next();
  const { incoming, outgoing } = c.env ?? {};
  if (!hasBody(c) || incoming === undefined || outgoing === undefined || incoming.complete) return;
  outgoing.shouldKeepAlive = false;
  incoming.resume();
  const { socket } = incoming;
  // Node calls this once the answer is sent.
  socket.destroySoon = () => lingerOn(socket.end());
});

/**
 * Reads the body, and keeps its bytes reserved until the request is over. Answers 413 for more than BODY_BYTES. Throws
 * FhirError `overload`.
 */
export function receiveBody(intake: Intake) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    if (!hasBody(c)) return next();
    const announced = c.req.header('transfer-encoding') === undefined ? c.req.header('content-length') : undefined;
    const length = announced === undefined ? BODY_BYTES : Number.parseInt(announced, 10);
    if (length > BODY_BYTES) return tooLong(c);
    const held = intake.take(length, () => void c.env?.incoming?.socket.destroy());
    if (held === undefined)
      throw new FhirError('overload', 'Too much is sent at a time; try again later', { retryAfter: 1 });
    try {
      const body = announced === undefined ? await pieces(c) : await c.req.arrayBuffer();
      if (body === undefined) return await tooLong(c);
      intake.came(held, body.byteLength);
      return await next();
    } finally {
      intake.leave(held);
    }
  });
}

function tooLong(c: HttpContext): Promise<Response> {
  return refuse(c, 413, 'too-long', `The body has more than ${BODY_BYTES} bytes`);
}

/** Reads a body of unknown length into `c.req.raw`; undefined if it is too long. */
async function pieces(c: HttpContext): Promise<ArrayBuffer | undefined> {
  const stream: ReadableStream<Uint8Array<ArrayBuffer>> | null = c.req.raw.body;
  const taken: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  if (stream !== null) {
    for await (const piece of stream) {
      bytes += piece.byteLength;
      if (bytes > BODY_BYTES) return undefined;
      taken.push(piece);
    }
  }
  const body = await new Blob(taken).arrayBuffer();
  c.req.raw = new Request(c.req.raw, { body });
  return body;
}
