/**
 * Loads the TLS configuration of the server. In: the files of a certificate, its key, and the authority of client
 * certificates. Out: options of node:https, renewed when the files change. Files that do not fit together, such as
 * half-written ones, change nothing. Their content is never logged.
 */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:https';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { stampOf } from '../../auth/private-file.ts';
import { reasonOf } from '../../common/reason.ts';
import { type Config, ConfigError } from '../../config/config.ts';
import type { Log } from '../../log.ts';

export type TlsFiles = NonNullable<Config['tls']>;

export interface Tls {
  readonly options: SecureContextOptions & { readonly requestCert: boolean; readonly rejectUnauthorized: boolean };
  /**
   * Updates the server when the files change. Calls `distrusts` if the authority of client certificates has changed,
   * because open connections were accepted under the old one. Returns a function that stops this.
   */
  follow(server: Pick<Server, 'setSecureContext'>, distrusts: () => void): () => void;
  /** Returns when the served certificate expires, in milliseconds since the epoch. */
  ends(): number;
}

/** Milliseconds between two checks of the files. */
const LOOK = 1000;
const DAY = 86_400_000;
/** Days before its expiry from which the log warns of a certificate. */
const SOON = 14;

/** A problem with one of the files. */
class TlsProblem extends Error {
  override readonly name = 'TlsProblem';
  readonly variable: string;

  constructor(variable: string, expected: string) {
    super(`${variable}: expected ${expected}`);
    this.variable = variable;
  }
}

/** Throws ConfigError if the files cannot be used. */
export function openTls(files: TlsFiles, log: Log, look = LOOK): Tls {
  let stamps = stampsOf(files);
  let context = start();
  let ends = endOf(context);
  /** Days left at the last warning: a server that runs for months warns once a day. */
  let warned = Number.NaN;
  warnOfEnd();

  function warnOfEnd(): void {
    const days = Math.floor((ends - Date.now()) / DAY);
    if (days >= SOON || days === warned) return;
    warned = days;
    log.warn(days < 0 ? 'the TLS certificate has ended' : 'the TLS certificate ends soon', { days });
  }

  function start(): SecureContextOptions {
    try {
      return contextOf(files);
    } catch (error) {
      throw error instanceof TlsProblem ? new ConfigError([error.message]) : error;
    }
  }

  return {
    options: { ...context, requestCert: files.clientCa !== undefined, rejectUnauthorized: true },
    follow(server, distrusts) {
      let failed = '';
      const timer = setInterval(() => {
        warnOfEnd();
        const now = stampsOf(files);
        if (now === stamps) return;
        try {
          const next = contextOf(files);
          server.setSecureContext(next);
          if (next.ca !== context.ca) distrusts();
          context = next;
          stamps = now;
          failed = '';
          log.info('the TLS certificate was read anew');
          ends = endOf(next);
          warned = Number.NaN;
          warnOfEnd();
        } catch (error) {
          // Certificate and key are usually written one after the other: only a problem that lasts is logged, once.
          if (failed === now) {
            stamps = now;
            log.error('the TLS files have changed and cannot be used; those before are served', {
              problem: error instanceof TlsProblem ? error.message : reasonOf(error).code,
            });
          }
          failed = now;
        }
      }, look).unref();
      return () => clearInterval(timer);
    },
    ends: () => ends,
  };
}

function stampsOf({ cert, key, clientCa }: TlsFiles): string {
  return [cert, key, ...(clientCa === undefined ? [] : [clientCa])].map(stampOrNone).join();
}

function stampOrNone(file: string): string {
  try {
    return stampOf(file);
  } catch (error) {
    return reasonOf(error).code;
  }
}

/** Reads the files. Throws TlsProblem if they do not fit together. */
function contextOf({ cert, key, clientCa }: TlsFiles): SecureContextOptions {
  const certificates = textOf('TLS_CERT', cert);
  const leaf = attempt(
    'TLS_CERT',
    'a certificate as PEM, that of the server first',
    () => new X509Certificate(certificates),
  );
  const privateText = textOf('TLS_KEY', key);
  const privateKey = attempt('TLS_KEY', 'a private key as PEM, without a passphrase', () =>
    createPrivateKey(privateText),
  );
  if (!leaf.checkPrivateKey(privateKey))
    throw new TlsProblem('TLS_KEY', 'the private key of the certificate in TLS_CERT');
  const ca = clientCa === undefined ? undefined : textOf('TLS_CLIENT_CA', clientCa);
  if (ca !== undefined) attempt('TLS_CLIENT_CA', 'a certificate as PEM', () => new X509Certificate(ca));
  const context = {
    cert: certificates,
    key: privateText,
    minVersion: 'TLSv1.2',
    ...(ca === undefined ? {} : { ca }),
  } as const;
  attempt('TLS_CERT', 'certificates as PEM, each of them whole', () => createSecureContext(context));
  return context;
}

function textOf(variable: string, file: string): string {
  return attempt(variable, 'the path of a file that can be read', () => readFileSync(file, 'utf8'));
}

function attempt<T>(variable: string, expected: string, make: () => T): T {
  try {
    return make();
  } catch {
    throw new TlsProblem(variable, expected);
  }
}

function endOf({ cert }: SecureContextOptions): number {
  return Date.parse(new X509Certificate(String(cert)).validTo);
}
