/**
 * Sends the audit to other systems (sinks). Each sink follows the store and continues where it was when the server
 * stopped; answers wait only for the store. In: the store, its facade, settings. Out: the progress of each sink.
 * docs/audit.md
 */
import { join } from 'node:path';
import { readPrivate, writePrivate } from '../auth/private-file.ts';
import { readOrSetAside } from '../common/sealed-file.ts';
import type { SinkSettings } from '../config/config.ts';
import type { Facade } from '../facade.ts';
import { describeError, type Log } from '../log.ts';
import { BEGINNING, eventsIn, type Position } from './sinks/events.ts';
import { type Follower, follow, type SinkLoad } from './sinks/follow.ts';
import { jsonLines } from './sinks/json-lines.ts';
import { otlp } from './sinks/otlp.ts';
import type { Sink } from './sinks/sink.ts';
import { syslog } from './sinks/syslog.ts';

export interface Forwarding {
  load(): readonly SinkLoad[];
  close(): Promise<void>;
}

export interface ForwardOptions {
  /** Path of the store. */
  readonly file: string;
  /** Facade of the audit. */
  readonly facade: Pick<Facade, 'read' | 'search'>;
  /** Base of the FHIR interface. */
  readonly base: string;
  readonly sinks: readonly SinkSettings[];
  /** Folder for the positions. */
  readonly dataDir: string;
  readonly log: Pick<Log, 'error' | 'info' | 'warn'>;
  /** Version of this server. */
  readonly version: string;
  /** Milliseconds between two checks for new events. */
  readonly pause?: number;
}

/** File in DATA_DIR. */
const POSITIONS = 'audit-sinks.json';

type Positions = Readonly<Record<string, Position>>;

/** Reads the position of each sink; sets a damaged file aside, so that everything in the store is sent again. */
function positionsOf(file: string, log: Pick<Log, 'error'>): Positions {
  const positions = readOrSetAside(
    file,
    () => readPrivate(file),
    error => error instanceof SyntaxError,
    (damaged, aside) =>
      log.error('how far the audit was forwarded is damaged and set aside; it is sent again', { file: damaged, aside }),
  );
  return typeof positions === 'object' && positions !== null ? (positions as Positions) : {};
}

/** Starts all sinks. Throws errors of SQLite or the file system. */
export function forwardAudit(options: ForwardOptions): Forwarding {
  const { file, facade, base, sinks, dataDir, log, pause } = options;
  const events = eventsIn(file, facade, base);
  const kept = join(dataDir, POSITIONS);
  let positions = positionsOf(kept, log);
  const followers = sinks.map((settings): Follower => {
    const sink = sinkOf(settings, options);
    const name = nameOf(settings);
    return follow({
      events,
      sink,
      from: positionIn(positions, name),
      ...(pause !== undefined && { pause }),
      arrived(position) {
        positions = { ...positions, [name]: position };
        try {
          writePrivate(kept, positions);
        } catch (error) {
          // Forwarding continues; the next start would send again what has arrived since.
          log.warn('the position of audit forwarding cannot be saved', describeError(error));
        }
      },
      reportFailure(failure) {
        if (failure === undefined) log.info('the audit is forwarded again', { sink: sink.kind });
        else
          log.error('the audit cannot be forwarded; the store keeps what waits', {
            sink: sink.kind,
            code: failure.code,
          });
      },
    });
  });
  return {
    load: () => followers.map(follower => follower.load()),
    async close() {
      await Promise.all(followers.map(follower => follower.close()));
      events.close();
    },
  };
}

/** Returns a name that depends on the target, so that a sink with another target starts from the beginning. */
function nameOf(settings: SinkSettings): string {
  switch (settings.kind) {
    case 'json':
      return `json ${settings.target}`;
    case 'syslog':
      return `syslog ${settings.host}:${settings.port}`;
    case 'otlp':
      return `otlp ${settings.url}`;
  }
}

function positionIn(positions: Positions, name: string): Position | undefined {
  const found = positions[name];
  const numbers = [found?.seq, found?.no, found?.at];
  return numbers.every(Number.isSafeInteger) ? found : BEGINNING;
}

function sinkOf(settings: SinkSettings, { version, log }: ForwardOptions): Sink {
  switch (settings.kind) {
    case 'json':
      return jsonLines(settings.target);
    case 'syslog':
      return syslog(settings);
    case 'otlp':
      return otlp({
        ...settings,
        version,
        rejected: records => log.error('the collector of the audit has thrown records away', { records }),
      });
  }
}
