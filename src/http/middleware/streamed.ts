/**
 * Sends a body while it is being made. In: a Node stream. Out: a stream for a Response. If it fails, the connection is
 * cut, so that the client sees an incomplete answer: the head has been sent, and the framework would write the error's
 * message into the body.
 */
import { Readable } from 'node:stream';
import type { Log } from '../../log.ts';
import type { HttpContext } from '../context.ts';
import { describeFailure } from './errors.ts';

/** Logs a failure, but not a client that disconnected. */
export function streamed(c: HttpContext, source: Readable, log: Log): ReadableStream<Uint8Array> {
  const request = c.get('requestId');
  const connection = c.env?.outgoing;
  const reader: ReadableStreamDefaultReader<Uint8Array> = Readable.toWeb(source).getReader();
  const breakOff = (error: unknown, body: ReadableStreamDefaultController<Uint8Array>): void => {
    if (!isGone(error)) log.error('an answer broke off', { request, ...describeFailure(error) });
    if (connection === undefined) body.error(new Error('the answer broke off'));
    else {
      connection.destroy();
      body.close();
    }
  };
  return new ReadableStream<Uint8Array>(
    {
      async pull(body) {
        const taken = await reader.read().catch((error: unknown) => breakOff(error, body));
        if (taken?.value !== undefined) body.enqueue(taken.value);
        else if (taken?.done === true) body.close();
      },
      cancel: reason => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

function isGone(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'AbortError' || ('code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE');
}
