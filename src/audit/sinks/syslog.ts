/**
 * Sink that sends AuditEvents by syslog over TLS, as in ATNA's ITI-20: RFC 5424 messages with DICOM's XML, framed by
 * RFC 5425. Syslog has no acknowledgement, so events sent shortly before a connection broke are sent again.
 * https://profiles.ihe.net/ITI/TF/Volume2/ITI-20.html
 */
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { connect, type TLSSocket } from 'node:tls';
import { dicomMessage } from './dicom-message.ts';
import { type EventText, type Sink, SinkError, sinkError } from './sink.ts';

export interface SyslogOptions {
  readonly host: string;
  readonly port: number;
  /** Files: certificate authorities of the server (default: Node's), and this client's certificate with its key. */
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

/** Time limit in milliseconds for opening a connection, and for one that accepts no bytes. */
const TIME_LIMIT = 15_000;
/** Milliseconds within which a silently broken connection is usually noticed. */
const SETTLES = 10_000;
/** Facility 10, security; severity 5 (notice), or 4 (warning) for failures. ITI-20 */
const NOTICE = 85;
const WARNING = 84;

/** Reads the files for each connection, so that certificates may be replaced. */
export function syslog({ host, port, ca, cert, key }: SyslogOptions): Sink {
  let socket: TLSSocket | undefined;
  /** Why the last connection ended; cleared when it is reported. */
  let broken: SinkError | undefined;

  const opened = async (): Promise<TLSSocket> => {
    if (socket !== undefined) return socket;
    const made = connect({
      ...{ host, port, minVersion: 'TLSv1.2' },
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca: readFileSync(ca) }),
      ...(cert !== undefined && { cert: readFileSync(cert) }),
      ...(key !== undefined && { key: readFileSync(key) }),
    });
    made.setTimeout(TIME_LIMIT, () => made.destroy(new SinkError('ETIMEDOUT')));
    await new Promise<void>((resolve, reject) => {
      made.once('secureConnect', resolve);
      made.once('error', reject);
      made.once('close', () => reject(new SinkError('ECONNRESET')));
    });
    made.setTimeout(0);
    made.setKeepAlive(true, TIME_LIMIT);
    const ended = (error: unknown): void => {
      if (socket !== made) return;
      socket = undefined;
      broken ??= sinkError(error);
      made.destroy();
    };
    made.on('error', ended);
    made.on('close', () => ended(new SinkError('ECONNRESET')));
    // A syslog server sends nothing; incoming bytes are dropped. If it ends the connection, so does this client.
    made.on('end', () => ended(new SinkError('ECONNRESET')));
    made.resume();
    socket = made;
    return made;
  };

  return {
    kind: 'syslog',
    settles: SETTLES,
    async send(events) {
      if (broken !== undefined) {
        const failure = broken;
        broken = undefined;
        throw failure;
      }
      if (events.length === 0) return;
      try {
        const to = await opened();
        await written(to, Buffer.concat(events.map(framed)));
      } catch (error) {
        broken = undefined;
        socket?.destroy();
        socket = undefined;
        throw sinkError(error);
      }
    },
    async close() {
      const last = socket;
      socket = undefined;
      if (last === undefined || last.destroyed) return;
      await new Promise<void>(resolve => {
        last.once('close', () => resolve());
        last.setTimeout(TIME_LIMIT, () => last.destroy());
        last.end();
      });
    },
  };
}

/** Resolves when the operating system has accepted all bytes. */
function written(socket: TLSSocket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => socket.destroy(new SinkError('ETIMEDOUT')), TIME_LIMIT);
    const gone = (): void => reject(new SinkError('ECONNRESET'));
    socket.once('close', gone);
    socket.write(bytes, error => {
      clearTimeout(late);
      socket.off('close', gone);
      if (error) reject(error);
      else resolve();
    });
  });
}

/**
 * Frames a message: the number of bytes, a space, the message (RFC 5425 section 4.3). The message follows RFC 5424
 * section 6, without a byte order mark, as ITI-20 requires.
 */
export function framed({ json }: EventText): Buffer {
  const { recorded, outcome } = JSON.parse(json) as { readonly recorded: string; readonly outcome: string };
  const priority = outcome === '0' ? NOTICE : WARNING;
  const head = `<${priority}>1 ${recorded} ${name(hostname())} lintel ${process.pid} IHE+RFC-3881 -`;
  const message = Buffer.from(`${head} ${dicomMessage(json)}`, 'utf8');
  return Buffer.concat([Buffer.from(`${message.byteLength} `, 'latin1'), message]);
}

/** Returns HOSTNAME: printable ASCII, at most 255 characters. */
function name(host: string): string {
  return host.replace(/[^\x21-\x7e]/g, '').slice(0, 255) || '-';
}
