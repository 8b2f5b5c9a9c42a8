/**
 * Translates errors of the driver. In: any thrown value. Out: a DatabaseError, with whether a retry may help and
 * whether the database is unreachable. Its message has the error's number and never its text, because SQL Server puts
 * values into some.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */
import { DatabaseError, type EngineCode } from '../database.ts';
import { LOCKED } from '../locked.ts';
import { retryIn } from '../retry-after.ts';
import { decisionOf, isOfStatement } from './error-numbers.ts';

export interface Failure {
  readonly error: DatabaseError;
  /** The statement lost a deadlock, or a connection that used to work broke: the same read may succeed now. */
  readonly again: boolean;
  /** Other statements would fail too, unless some connections still work. */
  readonly outage: boolean;
  /** The database no longer allows SNAPSHOT, which the session was set to. */
  readonly isolation: boolean;
  /** The connection has ended; others of the pool may have ended too. */
  readonly lost: boolean;
  /** The statement waited too long for a lock. */
  readonly locked: boolean;
  /** The server refused the login, so it is reachable. */
  readonly refused: boolean;
  /** No connection could be opened, or none became free. */
  readonly unconnected: boolean;
}

/** The driver's codes for a connection that failed to open or was lost. */
const LOST = new Set(['ESOCKET', 'ECONNCLOSED', 'ECONNRESET', 'ENOTOPEN']);
/** The system's codes beneath them, for a connection that never existed. */
const NOBODY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const NOT_REACHED = new Set(['ELOGIN', 'ETIMEOUT', 'EINSTLOOKUP', 'EFEDAUTH']);
/** Codes for a disagreement about encryption. */
const ENCRYPTION: ReadonlyMap<string, string> = new Map([
  ['EPLAIN', 'the server offers no encryption (EPLAIN)'],
  ['EENCRYPT', 'the server takes encrypted connections only (EENCRYPT)'],
]);

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE = /CERT_|_CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH/;

const RETRY_AFTER = 5;

/** Translates an error of the driver. */
export function readFailure(thrown: unknown): Failure {
  const engine = engineCode(thrown);
  const { reason, message, missing = false, publicText, ...more } = meaningOf(thrown, engine);
  const retry = reason === 'unavailable' ? { retryAfter: retryIn(more.outage ? RETRY_AFTER : 1) } : {};
  const words = engine.number !== undefined && isOfStatement(engine.number) ? wordsOf(thrown) : undefined;
  const unconnected = isPoolTimeout(thrown) || [...chain(thrown)].some(one => one instanceof LoginFailed);
  return {
    error: new DatabaseError(reason, message, { engine, missing, words, publicText, ...retry }),
    ...{ again: false, outage: false, isolation: false, lost: false, locked: false, refused: false },
    ...more,
    unconnected,
  };
}

/** A login that failed; `cause` is the driver's error. */
export class LoginFailed extends Error {
  /** The server's first message, if it sent one. */
  readonly number: number | undefined;
  readonly state: number | undefined;

  constructor(cause: unknown, said: { readonly number?: number; readonly state?: number } = {}) {
    super('a login failed', { cause });
    this.number = said.number;
    this.state = said.state;
  }
}

function wordsOf(thrown: unknown): string | undefined {
  const [first] = [...chain(thrown)].filter(one => typeof Reflect.get(one, 'number') === 'number');
  const message: unknown = first && Reflect.get(first, 'message');
  return typeof message === 'string' ? message : undefined;
}

interface Meaning extends Partial<Omit<Failure, 'error' | 'unconnected'>> {
  readonly reason: 'unavailable' | 'failed';
  readonly message: string;
  readonly missing?: boolean;
  /** The reason that the client may read. */
  readonly publicText?: string;
}

function meaningOf(thrown: unknown, { number, code }: EngineCode): Meaning {
  if (number !== undefined) return meaningOfNumber(number);
  const codes = codesIn(thrown);
  const codeText = code ?? 'no code';
  const encryption = codes.flatMap(code => ENCRYPTION.get(code) ?? [])[0];
  if (encryption !== undefined) return failure('unavailable', encryption, { outage: true });
  const certificate = codes.find(code => CERTIFICATE.test(code));
  if (certificate !== undefined)
    return failure('unavailable', `the certificate of the server is not trusted (${certificate})`, { outage: true });
  if (codes.includes('EPROTOCOL'))
    return failure('unavailable', 'what answers does not speak as SQL Server does (EPROTOCOL)', {
      ...{ again: true, outage: true, lost: true },
    });
  if (codes.some(code => NOT_REACHED.has(code))) {
    const message = codes.includes('ELOGIN')
      ? 'the server refuses the login, or the database of the address cannot be opened (ELOGIN)'
      : `the server cannot be reached (${codeText})`;
    return failure('unavailable', message, { outage: true });
  }
  if (isPoolTimeout(thrown))
    return failure('unavailable', 'no connection to the server became free in time', { again: true, outage: true });
  if (codes.some(code => LOST.has(code))) {
    const nobody = codes.find(code => NOBODY.has(code));
    const message = nobody
      ? `the server cannot be reached (${nobody})`
      : `the connection to the server is lost (${codeText})`;
    return failure('unavailable', message, { again: true, outage: true, lost: true });
  }
  return failure('failed', `SQL Server could not answer (${codeText})`);
}

const NO_ROOM = 'The database is out of resources';
const GAVE_WAY = 'The database gave way to other programs twice';
const ENDED = 'The database ended the session that this was asked in';

function meaningOfNumber(number: number): Meaning {
  switch (decisionOf(number)) {
    case 'again': {
      const what = number === 1205 ? 'the statement lost a deadlock' : 'a table was altered meanwhile';
      return failure('unavailable', `${what} (${number})`, { again: true, publicText: GAVE_WAY });
    }
    case 'ended':
      return failure('unavailable', `the session was ended on the server (${number})`, {
        ...{ again: true, lost: true, publicText: ENDED },
      });
    case 'isolation':
      return failure('unavailable', `the database does not allow SNAPSHOT (${number})`, {
        again: true,
        isolation: true,
      });
    case 'versions':
      return failure('unavailable', `row versions are gone, tempdb lacks space (${number})`, {
        again: true,
        publicText: NO_ROOM,
      });
    case 'locked':
      return failure('unavailable', `a row is locked for too long (${number})`, { locked: true, publicText: LOCKED });
    case 'busy':
      return failure('unavailable', `the server is out of resources (${number})`, { publicText: NO_ROOM });
    case 'refused':
      return failure('unavailable', `the server refuses the login (${number})`, { outage: true, refused: true });
    case 'database':
      return failure('unavailable', `the database of the address cannot be opened (${number})`, { outage: true });
    case 'away':
      return failure('unavailable', `the server or the database is not open (${number})`, { outage: true });
    case 'not there':
      return failure('failed', `a table or column is not there (${number})`, { missing: true });
    case 'not readable':
      return failure('failed', `the login may not read a table or column (${number})`, { missing: true });
    case 'no plan':
      return failure('failed', `the login lacks a permission, SHOWPLAN where a plan was asked for (${number})`);
    default:
      return failure('failed', `SQL Server could not answer (${number})`);
  }
}

function failure(reason: Meaning['reason'], message: string, more: Omit<Meaning, 'reason' | 'message'> = {}): Meaning {
  return { reason, message, ...more };
}

/** Returns the server's number and state; the driver's code if the error is not the server's. */
function engineCode(thrown: unknown): EngineCode {
  const [first] = [...chain(thrown)].filter(one => typeof Reflect.get(one, 'number') === 'number');
  if (first === undefined) {
    const [code] = codesIn(thrown);
    return code === undefined ? {} : { code };
  }
  const [number, state]: readonly unknown[] = [Reflect.get(first, 'number'), Reflect.get(first, 'state')];
  return {
    ...(typeof number === 'number' ? { number } : {}),
    ...(typeof state === 'number' ? { state } : {}),
  };
}

/** Returns all errors inside an error: the driver wraps errors, and combines several into one. */
function* chain(thrown: unknown, depth = 0): Generator<object> {
  if (typeof thrown !== 'object' || thrown === null || depth > 5) return;
  yield thrown;
  for (const key of ['originalError', 'cause', 'info']) yield* chain(Reflect.get(thrown, key), depth + 1);
  const several: unknown = Reflect.get(thrown, 'errors');
  if (Array.isArray(several)) for (const one of several) yield* chain(one, depth + 1);
}

function codesIn(thrown: unknown): readonly string[] {
  const codes = [...chain(thrown)].map(one => Reflect.get(one, 'code')).filter(c => typeof c === 'string');
  // EREQUEST last, because the driver's wrapper has that code for every error.
  return [...codes.filter(code => code !== 'EREQUEST'), ...codes.filter(code => code === 'EREQUEST')];
}

/** True for the pool's own timeout. Checks the name of its class, because a package beneath the driver throws it. */
function isPoolTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.constructor.name === 'TimeoutError';
}
