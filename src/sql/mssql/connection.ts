/**
 * Opens the connections of one bulkhead. In: an address and an isolation level. Out: the driver's pool. Each session
 * starts with settings that protect other sessions: a short lock timeout, and low priority in deadlocks.
 * https://learn.microsoft.com/sql/t-sql/statements/set-statements-transact-sql
 */
import { readFileSync } from 'node:fs';
import sql, { type config as DriverConfig } from 'mssql';
import { inTime } from '../../common/in-time.ts';
import type { Login, SqlServerAddress } from './address.ts';
import { createLogins, type Logins, type Said } from './logins.ts';

/** READ COMMITTED reads row versions if the database has READ_COMMITTED_SNAPSHOT on; otherwise it waits for locks. */
export type Isolation = 'READ COMMITTED' | 'SNAPSHOT';

/** Milliseconds that the server has to stop a statement; then the connection is dropped. */
const CANCEL_TIMEOUT = 2000;
const IDLE_TIMEOUT = 60_000;

/** An error in the form of the driver's own. */
class NotEncrypted extends Error {
  readonly code = 'EPLAIN';
}

/** Returns the first statements of each session. They contain only numbers of the configuration. */
export function sessionSettings(lockTimeout: number, isolation: Isolation): string {
  return [
    `SET LOCK_TIMEOUT ${Math.trunc(lockTimeout)}`,
    'SET DEADLOCK_PRIORITY LOW',
    'SET NOCOUNT ON',
    `SET TRANSACTION ISOLATION LEVEL ${isolation}`,
  ].join('\n');
}

export interface PoolOptions {
  readonly size: number;
  readonly isolation: Isolation;
  /** Milliseconds. */
  readonly lockTimeout: number;
}

/** Creates a pool that is not connected yet. */
export function createPool(address: SqlServerAddress, options: PoolOptions, logins: Logins): sql.ConnectionPool {
  const saying = new Saying();
  const pool = new sql.ConnectionPool(driverConfig(address, options, saying));
  // If an idle connection breaks, the pool replaces it when it is next needed.
  pool.on('error', () => undefined);
  waitInTurn(pool, logins, address.connectTimeout, saying);
  return pool;
}

/** Creates a pool of one connection, for a single query. */
export function createSingle(
  address: SqlServerAddress,
  isolation: Isolation = 'READ COMMITTED',
  logins: Logins = createLogins({ pause: 1000 }),
): sql.ConnectionPool {
  return createPool(address, { size: 1, isolation, lockTimeout: address.lockTimeout }, logins);
}

/** Returns the number of open connections of a pool, in use or not; those being opened do not count. */
export function connectionsOf(pool: sql.ConnectionPool): number {
  return pool.connected ? pool.available + pool.borrowed : 0;
}

/**
 * Makes logins wait their turn. The driver has no hook before a login, so this replaces a private method of its pool;
 * test/sql/mssql/logins.test.ts checks that it still exists.
 */
function waitInTurn(pool: sql.ConnectionPool, logins: Logins, longest: number, saying: Saying): void {
  const create: unknown = Reflect.get(pool, '_poolCreate');
  if (typeof create !== 'function') throw new TypeError('the driver has no step that makes a connection');
  const began = (): Promise<unknown> => Reflect.apply(create, pool, []);
  Reflect.set(pool, '_poolCreate', () => {
    const made: Made = {};
    return logins.logIn(
      () => {
        saying.current = made;
        return inTime(began(), longest + GRACE, () => {
          made.close?.();
          throw new NotInTime();
        });
      },
      () => made.first,
      () => connectionsOf(pool) > 0,
    );
  });
}

/** An error in the form of the driver's own. */
class NotInTime extends Error {
  readonly code = 'ETIMEOUT';
}

class NotUnderstood extends Error {
  readonly code = 'EPROTOCOL';

  constructor(options: ErrorOptions) {
    super('an answer that cannot be read', options);
  }
}

/**
 * Milliseconds in addition to the driver's own limit, because the driver ignores it once the server has begun to
 * answer.
 */
const GRACE = 250;

/** A connection that is being opened. */
interface Made {
  first?: Said;
  close?: () => void;
}

/** Records what the server says, because the driver does not keep the number of a refused login. */
class Saying {
  current: Made = {};
}

function driverConfig(
  address: SqlServerAddress,
  { size, isolation, lockTimeout }: PoolOptions,
  saying: Saying,
): DriverConfig {
  const { host, instance, port, database, login, connectTimeout } = address;
  return {
    server: host,
    database,
    port,
    ...credentials(login),
    connectionTimeout: connectTimeout,
    requestTimeout: 0,
    validateConnection: 'socket',
    arrayRowMode: true,
    pool: { max: size, min: 0, idleTimeoutMillis: IDLE_TIMEOUT, acquireTimeoutMillis: 2 * connectTimeout },
    options: {
      ...(instance === undefined ? {} : { instanceName: instance }),
      ...(address.serverName === undefined ? {} : { serverName: address.serverName }),
      encrypt: address.encrypt,
      trustServerCertificate: address.trustServerCertificate,
      ...(address.ca === undefined ? {} : { cryptoCredentialsDetails: { ca: readFileSync(address.ca, 'utf8') } }),
      // The driver parses a row again for each packet that ends within it, which costs more than the row.
      packetSize: address.packetSize,
      appName: address.applicationName,
      readOnlyIntent: address.readOnlyIntent,
      multiSubnetFailover: address.multiSubnetFailover,
      cancelTimeout: CANCEL_TIMEOUT,
      maxRetriesOnTransientErrors: 0,
      useUTC: true,
      enableArithAbort: true,
    },
    beforeConnect(connection) {
      const settings = connection.getInitialSql.bind(connection);
      connection.getInitialSql = () => `${settings()}\n${sessionSettings(lockTimeout, isolation)}`;
      const made = saying.current;
      made.close = () => connection.close();
      connection.on('errorMessage', ({ number, state }) => {
        made.first ??= { number, state };
      });
      // If the server, or somebody in between, says that it offers no encryption, the driver would send the password in
      // plain text.
      const logIn = connection.sendLogin7Packet.bind(connection);
      connection.sendLogin7Packet = () => {
        if (address.encrypt && !connection.messageIo.tlsNegotiationComplete) throw new NotEncrypted();
        logIn();
      };
      // The driver has no handler for an answer that it cannot parse, so the error would end this process. Ends the
      // connection with it instead.
      const parserOf = connection.createTokenStreamParser.bind(connection);
      connection.createTokenStreamParser = (message, handler) => {
        const tokens = parserOf(message, handler);
        tokens.parser.on('error', cause => {
          const error = new NotUnderstood({ cause });
          // Otherwise a login would wait for the end of the answer without a limit.
          if (tokens.listenerCount('error') > 0) tokens.emit('error', error);
          connection.socket?.destroy(error);
        });
        return tokens;
      };
      // Otherwise the last packet of a long statement would wait for the server to acknowledge earlier ones, which
      // takes 40 ms or more.
      connection.on('connect', () => connection.socket?.setNoDelay());
    },
  };
}

function credentials(login: Login): Pick<DriverConfig, 'user' | 'password' | 'domain' | 'authentication'> {
  switch (login.kind) {
    case 'sql':
      return { user: login.user, password: login.password };
    case 'ntlm':
      return { user: login.user, password: login.password, domain: login.domain };
    case 'azure-password': {
      const { user: userName, password, clientId, tenantId } = login;
      return {
        authentication: {
          type: 'azure-active-directory-password',
          options: { userName, password, clientId, tenantId },
        },
      };
    }
    case 'azure-secret': {
      const { clientId, clientSecret, tenantId } = login;
      return {
        authentication: {
          type: 'azure-active-directory-service-principal-secret',
          options: { clientId, clientSecret, tenantId },
        },
      };
    }
    case 'azure-default':
      return {
        authentication: {
          type: 'azure-active-directory-default',
          options: login.clientId === undefined ? {} : { clientId: login.clientId },
        },
      };
  }
}
