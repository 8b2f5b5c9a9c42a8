/**
 * Sink that appends AuditEvents as NDJSON to a file or a named pipe, or writes them to standard output. It opens the
 * file again for each list, so that the file can be rotated by renaming. Pipes are written without blocking: a thread
 * that waits for a reader would keep the process from ending.
 * https://github.com/ndjson/ndjson-spec
 */

import { constants, fdatasync, write } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { codeOf } from '../../common/reason.ts';
import { type Sink, SinkError, sinkError } from './sink.ts';

const writeSome = promisify(write);
const sync = promisify(fdatasync);

/** Without a reader, a named pipe fails at once (ENXIO). */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NONBLOCK;
/** Milliseconds that a pipe may take nothing, and those between two attempts to write to a full one. */
const TIME_LIMIT = 5000;
const RETRY = 5;

/** Makes the sink. `target`: the path of a file, or `stdout`. A new file is readable only by its owner. */
export function jsonLines(target: string, timeLimit = TIME_LIMIT): Sink {
  // Node makes a pipe non-blocking when it makes the stream of it.
  const standard = target === 'stdout' ? process.stdout.fd : undefined;
  let torn = false;
  return {
    kind: 'json',
    settles: 0,
    async send(events) {
      if (events.length === 0) return;
      // After an interrupted write, starts a new line; the events are sent again.
      const text = (torn ? '\n' : '') + events.map(({ json }) => `${json}\n`).join('');
      torn = true;
      try {
        const bytes = Buffer.from(text, 'utf8');
        if (standard === undefined) await appendTo(target, bytes, timeLimit);
        else await writeAll(standard, bytes, timeLimit);
      } catch (error) {
        throw sinkError(error);
      }
      torn = false;
    },
    async close() {},
  };
}

async function appendTo(path: string, bytes: Buffer, timeLimit: number): Promise<void> {
  const file = await open(path, APPEND, 0o600);
  try {
    await writeAll(file.fd, bytes, timeLimit);
    // A pipe cannot be flushed.
    if ((await file.stat()).isFile()) await sync(file.fd);
  } finally {
    await file.close();
  }
}

/** Writes all bytes, and waits while a pipe is full. Rejects with SinkError if nobody reads it. */
async function writeAll(descriptor: number, bytes: Buffer, timeLimit: number): Promise<void> {
  let taken = performance.now();
  for (let at = 0; at < bytes.byteLength; ) {
    try {
      at += (await writeSome(descriptor, bytes, at)).bytesWritten;
      taken = performance.now();
    } catch (error) {
      if (codeOf(error) !== 'EAGAIN') throw error;
      if (performance.now() - taken > timeLimit) throw new SinkError('ETIMEDOUT');
      await pause(RETRY);
    }
  }
}
