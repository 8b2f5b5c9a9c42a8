/**
 * Translates errors of the driver. In: whatever it threw. Out: a DatabaseError that says whether a retry may help and
 * whether the database is away. Its message has the error's number and never its text, as SQL Server puts values into
 * some.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */
import { DatabaseError, type EngineCode } from '../database.ts';
import { LOCKED } from '../locked.ts';
import { retryIn } from '../retry-after.ts';
import { decisionOf, isOfStatement } from './error-numbers.ts';

export interface Failure {
  readonly error: DatabaseError;
  /** A victim of a deadlock, or a connection that had been good: the same read may well succeed now. */
  readonly again: boolean;
  /** Nothing else would be answered either, unless there are connections that work. */
  readonly outage: boolean;
  /** The database no longer allows SNAPSHOT, which the session was told to read in. */
  readonly isolation: boolean;
  /** The connection has ended; those beside it may have, too. */
  readonly lost: boolean;
  /** It was waited for a lock in vain. */
  readonly locked: boolean;
  /** The server knows the login and does not let it in: it is there. */
  readonly refused: boolean;
  /** No connection came about, or none became free. */
  readonly unconnected: boolean;
}

/** Codes of the driver for a connection that did not come about or was lost. */
const LOST = new Set(['ESOCKET', 'ECONNCLOSED', 'ECONNRESET', 'ENOTOPEN']);
/** Codes of the system beneath them: there was no connection that could be lost. */
const NOBODY = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);
const NOT_REACHED = new Set(['ELOGIN', 'ETIMEOUT', 'EINSTLOOKUP', 'EFEDAUTH']);
/** What one side wants of encryption and the other does not. */
const ENCRYPTION: ReadonlyMap<string, string> = new Map([
  ['EPLAIN', 'the server offers no encryption (EPLAIN)'],
  ['EENCRYPT', 'the server takes encrypted connections only (EENCRYPT)'],
]);

/** https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const CERTIFICATE = /CERT_|_CERT|LEAF_SIGNATURE|HOSTNAME_MISMATCH/;

const RETRY_AFTER = 5;

/** Reads an error of the driver. */
export function readFailure(thrown: unknown): Failure {
  const engine = engineCode(thrown);
  const { reason, message, missing = false, told, ...more } = meaningOf(thrown, engine);
  const retry = reason === 'unavailable' ? { retryAfter: retryIn(more.outage ? RETRY_AFTER : 1) } : {};
  const words = engine.number !== undefined && isOfStatement(engine.number) ? wordsOf(thrown) : undefined;
  const unconnected = isPoolTimeout(thrown) || [...chain(thrown)].some(one => one instanceof LoginFailed);
  return {
    error: new DatabaseError(reason, message, { engine, missing, words, told, ...retry }),
    ...{ again: false, outage: false, isolation: false, lost: false, locked: false, refused: false },
    ...more,
    unconnected,
  };
}

/** A login that did not come about; `cause` is what the driver threw. */
export class LoginFailed extends Error {
  /** What the server said first, if it said anything. */
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
  /** What whoever asked may read. */
  readonly told?: string;
}

function meaningOf(thrown: unknown, { number, code }: EngineCode): Meaning {
  if (number !== undefined) return meaningOfNumber(number);
  const codes = codesIn(thrown);
  const told = code ?? 'no code';
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
      : `the server cannot be reached (${told})`;
    return failure('unavailable', message, { outage: true });
  }
  if (isPoolTimeout(thrown))
    return failure('unavailable', 'no connection to the server became free in time', { again: true, outage: true });
  if (codes.some(code => LOST.has(code))) {
    const nobody = codes.find(code => NOBODY.has(code));
    const message = nobody
      ? `the server cannot be reached (${nobody})`
      : `the connection to the server is lost (${told})`;
    return failure('unavailable', message, { again: true, outage: true, lost: true });
  }
  return failure('failed', `SQL Server could not answer (${told})`);
}

const NO_ROOM = 'The database is out of resources';
const GAVE_WAY = 'The database gave way to other programs twice';
const ENDED = 'The database ended the session that this was asked in';

function meaningOfNumber(number: number): Meaning {
  switch (decisionOf(number)) {
    case 'again': {
      const what = number === 1205 ? 'the statement lost a deadlock' : 'a table was altered meanwhile';
      return failure('unavailable', `${what} (${number})`, { again: true, told: GAVE_WAY });
    }
    case 'ended':
      return failure('unavailable', `the session was ended on the server (${number})`, {
        ...{ again: true, lost: true, told: ENDED },
      });
    case 'isolation':
      return failure('unavailable', `the database does not allow SNAPSHOT (${number})`, {
        again: true,
        isolation: true,
      });
    case 'versions':
      return failure('unavailable', `row versions are gone, tempdb lacks space (${number})`, {
        again: true,
        told: NO_ROOM,
      });
    case 'locked':
      return failure('unavailable', `a row is locked for too long (${number})`, { locked: true, told: LOCKED });
    case 'busy':
      return failure('unavailable', `the server is out of resources (${number})`, { told: NO_ROOM });
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

/** The server's number and state; of what it did not say, the driver's code. */
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

/** The driver wraps errors into errors, and several into one. */
function* chain(thrown: unknown, depth = 0): Generator<object> {
  if (typeof thrown !== 'object' || thrown === null || depth > 5) return;
  yield thrown;
  for (const key of ['originalError', 'cause', 'info']) yield* chain(Reflect.get(thrown, key), depth + 1);
  const several: unknown = Reflect.get(thrown, 'errors');
  if (Array.isArray(several)) for (const one of several) yield* chain(one, depth + 1);
}

function codesIn(thrown: unknown): readonly string[] {
  const codes = [...chain(thrown)].map(one => Reflect.get(one, 'code')).filter(c => typeof c === 'string');
  // The wrapper says EREQUEST of everything.
  return [...codes.filter(code => code !== 'EREQUEST'), ...codes.filter(code => code === 'EREQUEST')];
}

/** The pool's own error, by name: it is thrown by a package beneath the driver. */
function isPoolTimeout(thrown: unknown): boolean {
  return thrown instanceof Error && thrown.constructor.name === 'TimeoutError';
}
