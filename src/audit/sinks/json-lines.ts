/**
 * Sink that appends AuditEvents as NDJSON to a file, or writes them to standard output. It opens the file again for
 * each list, so that the file can be rotated by renaming.
 * https://github.com/ndjson/ndjson-spec
 */
import { appendFile, writeFile } from 'node:fs';
import { promisify } from 'node:util';
import { type Sink, sinkError } from './sink.ts';

const STDOUT = 1;
const append = promisify(appendFile);
const write = promisify(writeFile);

/** Makes the sink. `target`: the path of a file, or `stdout`. A new file is readable only by its owner. */
export function jsonLines(target: string): Sink {
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
        if (target === 'stdout') await write(STDOUT, text);
        else await append(target, text, { mode: 0o600, flush: true });
      } catch (error) {
        throw sinkError(error);
      }
      torn = false;
    },
    async close() {},
  };
}
