/**
 * What an error of the driver means. In: whatever it threw. Out: a DatabaseError whose message has the error's number and
 * never its text, since SQL Server puts values into some; whether trying again may help; whether the database is away.
 * https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors
 */
import { DatabaseError, type EngineCode } from '../database.ts';

export interface Failure {
  readonly error: DatabaseError;
  /** A victim of a deadlock, or a connection that had been good: the same read may well succeed now. */
  readonly again: boolean;
  /** Nothing else would be answered either. */
  readonly outage: boolean;
  /** The database no longer allows SNAPSHOT, which the session was told to read in. */
  readonly isolation: boolean;
}

const DEADLOCK = 1205;
const LOCK_TIMEOUT = 1222;
const NO_SNAPSHOT = 3952;
/** Under SNAPSHOT, a table that was altered since the transaction began. */
const ALTERED = 3961;

/** Login refused, database not open or being recovered, server paused, shutting down, moving, or out of resources. */
const AWAY = new Set([
  ...[233, 911, 922, 923, 924, 927, 942, 945, 952, 976, 983, 4060, 4064, 6005, 6006, 17142, 18401, 18451, 18456, 18470],
  ...[18487, 18488, 40197, 40501, 40532, 40613, 40615, 49918, 49919, 49920],
]);
const BUSY = new Set([701, 802, 1204, 8645, 8651, 10928, 10929]);

/** No such column, no such table, a view of what is not there any more. */
const NOT_THERE = new Set([207, 208, 4413]);
const NOT_READABLE = new Set([229, 230]);

/**
 * What the compiler says of a statement before a row is read: syntax, names, functions and their arguments, types that do not go
 * together. Its words hold names and types. Errors of conversion (245, 8114) come with rows, and some hold a value.
 */
const OF_THE_STATEMENT = new Set([
  ...[102, 105, 156, 170, 174, 189, 195, 206, 207, 208, 209, 243, 402, 403, 1035, 4104, 4121, 8116, 8117],
]);

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
  const {
    reason,
    message,
    again = false,
    outage = false,
    isolation = false,
    missing = false,
  } = meaningOf(thrown, engine);
  const retry = reason === 'unavailable' ? { retryAfter: outage ? RETRY_AFTER : 1 } : {};
  const words = engine.number !== undefined && OF_THE_STATEMENT.has(engine.number) ? wordsOf(thrown) : undefined;
  return { error: new DatabaseError(reason, message, { engine, missing, words, ...retry }), again, outage, isolation };
}

function wordsOf(thrown: unknown): string | undefined {
  const [first] = [...chain(thrown)].filter(one => typeof Reflect.get(one, 'number') === 'number');
  const message: unknown = first && Reflect.get(first, 'message');
  return typeof message === 'string' ? message : undefined;
}

interface Meaning extends Partial<Omit<Failure, 'error'>> {
  readonly reason: 'unavailable' | 'failed';
  readonly message: string;
  readonly missing?: boolean;
}

function meaningOf(thrown: unknown, { number, code }: EngineCode): Meaning {
  const codes = codesIn(thrown);
  const told = number ?? code ?? 'no code';
  if (number === DEADLOCK) return failure('unavailable', 'the statement lost a deadlock (1205)', { again: true });
  if (number === NO_SNAPSHOT)
    return failure('unavailable', 'the database does not allow SNAPSHOT (3952)', { again: true, isolation: true });
  if (number === ALTERED) return failure('unavailable', 'a table was altered meanwhile (3961)', { again: true });
  if (number === LOCK_TIMEOUT) return failure('unavailable', 'a row is locked for too long (1222)');
  if (number !== undefined && BUSY.has(number))
    return failure('unavailable', `the server is out of resources (${told})`);
  if (number !== undefined && AWAY.has(number)) {
    const message =
      number === 4060 || number === 911
        ? `the database of the address cannot be opened (${told})`
        : number >= 18_400 && number < 18_500
          ? `the server refuses the login (${told})`
          : `the server or the database is not open (${told})`;
    return failure('unavailable', message, { outage: true });
  }
  const encryption = codes.flatMap(code => ENCRYPTION.get(code) ?? [])[0];
  if (number === undefined && encryption !== undefined) return failure('unavailable', encryption, { outage: true });
  const certificate = codes.find(code => CERTIFICATE.test(code));
  if (number === undefined && certificate !== undefined)
    return failure('unavailable', `the certificate of the server is not trusted (${certificate})`, { outage: true });
  if (number === undefined && codes.some(code => NOT_REACHED.has(code))) {
    const message = codes.includes('ELOGIN')
      ? 'the server refuses the login, or the database of the address cannot be opened (ELOGIN)'
      : `the server cannot be reached (${told})`;
    return failure('unavailable', message, { outage: true });
  }
  if (number === undefined && (codes.some(code => LOST.has(code)) || isPoolTimeout(thrown))) {
    const nobody = codes.find(code => NOBODY.has(code));
    const message = nobody
      ? `the server cannot be reached (${nobody})`
      : `the connection to the server is lost (${told})`;
    return failure('unavailable', message, { again: true, outage: true });
  }
  if (number !== undefined && NOT_THERE.has(number))
    return failure('failed', `a table or column is not there (${told})`, { missing: true });
  if (number !== undefined && NOT_READABLE.has(number))
    return failure('failed', `the login may not read a table or column (${told})`, { missing: true });
  return failure('failed', `SQL Server could not answer (${told})`);
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
