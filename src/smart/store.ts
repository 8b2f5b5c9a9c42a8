/**
 * Stores the state of the authorization server: sessions, codes, tokens, grants, launches. In: entries of a kind with a
 * lifetime. Out: the same entries, also after a restart, from a SQLite file that only its owner can read. Ids are
 * stored as hashes, so a reader of the file gets no token and no cookie.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import { touchPrivate } from '../auth/private-file.ts';

/**
 * Kinds of entries besides those of the provider: contexts of launches and of grants, logins of sessions; logins in
 * progress at the hospital's issuer, and the people who logged in there.
 */
export type OwnKind = 'Launch' | 'Context' | 'Login' | 'IssuerLogin' | 'IssuerDone' | 'Person';

export interface Kept<T> {
  readonly value: T;
  /** Seconds since the epoch. */
  readonly expires: number;
}

export interface Store {
  /** Returns the storage of one model of the provider. */
  adapter(model: string): Adapter;
  /**
   * Stores an entry until `expires` (seconds since the epoch). `grant`: it ends with this grant; `account`: its owner.
   */
  keep(
    kind: OwnKind,
    id: string,
    value: object,
    lasting: { readonly expires: number; readonly grant?: string; readonly account?: string },
  ): void;
  find<T>(kind: OwnKind, id: string): Kept<T> | undefined;
  /** Removes an entry and returns it: of two concurrent callers, one gets it. */
  take<T>(kind: OwnKind, id: string): Kept<T> | undefined;
  ofAccount<T>(kind: OwnKind, account: string): readonly Kept<T>[];
  /** True if the grant still exists. */
  hasGrant(grant: string): boolean;
  /** Ends a grant and everything issued for it. */
  revoke(grant: string): void;
  /** Removes expired entries, some of them at a time: true if there may be more. */
  sweep(): boolean;
  /** Returns a number that changes whenever something ended before it expired. */
  epoch(): number;
  close(): void;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS entry (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    uid TEXT,
    grant_id TEXT,
    account TEXT,
    payload TEXT NOT NULL,
    expires INTEGER NOT NULL,
    consumed INTEGER,
    PRIMARY KEY (kind, id)
  );
  CREATE INDEX IF NOT EXISTS entry_uid ON entry (uid) WHERE uid IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entry_grant ON entry (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entry_account ON entry (kind, account) WHERE account IS NOT NULL;
  CREATE INDEX IF NOT EXISTS entry_expires ON entry (expires);
`;

/**
 * Anyone can begin a login without authenticating, so only this many are kept of each of these kinds; the oldest are
 * dropped. One machine begins several hundred per second, and a person takes a minute or two. Each takes 700 bytes, and
 * 9 kB at most.
 */
const BEGUN: ReadonlySet<string> = new Set(['Interaction', 'IssuerLogin']);
const MOST_BEGUN = 100_000;
/** New entries of these kinds between two counts. */
const BETWEEN_LOOKS = 1000;

/**
 * Limits of what one person can make grow, with an app that asks in a loop. Each use of a refresh token leaves an entry
 * for 100 days, by which a second use is noticed; consent leaves a grant for a year.
 */
const TOKENS_AN_HOUR = 1000;
const MOST_GRANTS = 2000;
/** Expired entries that are removed at a time, in less than 0.1 s. */
const SWEPT = 10_000;

/** Models whose removal changes the epoch. */
const TOKENS: ReadonlySet<string> = new Set(['AccessToken', 'ClientCredentials']);

/** Seconds for entries without a lifetime. */
const NO_LIFETIME = 10 * 365 * 24 * 3600;

interface Row {
  readonly payload: string;
  readonly expires: number;
  readonly consumed: number | null;
}

interface Owner {
  readonly grant_id: string | null;
  readonly account: string | null;
}

/**
 * Throws an error with SQLite's number if a page of the file is damaged.
 * https://sqlite.org/pragma.html#pragma_quick_check
 */
function checkWhole(database: DatabaseSync): void {
  const [first] = database.prepare('PRAGMA quick_check(1)').all();
  if (first?.['quick_check'] === 'ok') return;
  throw Object.assign(new Error('The store of the authorization server is damaged'), { errcode: DAMAGED[0] });
}

/** Returns the path of the store in a folder. */
export function storeFile(folder: string): string {
  return join(folder, 'smart.sqlite');
}

/** SQLite's result codes: damaged, and not a database. */
const DAMAGED: readonly unknown[] = [11, 26];

/** True if the error means that the file is damaged or not a store. */
export function isDamagedStore(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && DAMAGED.includes(error.errcode);
}

/** Seconds for Retry-After while nothing can be written. */
export const WRITE_AGAIN = 10;

/** Returns the error for what cannot be stored: 503, which the library sends as `temporarily_unavailable`. */
export function unwritten(cause: unknown): Error {
  const error = new errors.TemporarilyUnavailable('the authorization server cannot store anything now', { cause });
  return Object.assign(error, { status: 503, statusCode: 503 });
}

/** Seconds for Retry-After to an account that had too many tokens. */
export const TOKENS_AGAIN = 60;

/** Returns the error for an account that had too many tokens. */
function tooManyTokens(): Error {
  const text = 'too many tokens of this account within an hour; try again later';
  const error = new errors.CustomOIDCProviderError('temporarily_unavailable', text);
  return Object.assign(error, { status: 429, statusCode: 429 });
}

/** True if something could not be stored, as on a full disk. */
export function isUnwritten(error: unknown): boolean {
  return error instanceof errors.TemporarilyUnavailable;
}

/**
 * Opens or makes `smart.sqlite` in a folder. `clock`: milliseconds since the epoch. `failed` is called with each error
 * of a write; the method that wrote throws TemporarilyUnavailable then. Throws the system's errors.
 */
export function openStore(
  folder: string,
  clock: () => number = Date.now,
  failed: (error: unknown) => void = () => {},
): Store {
  const file = storeFile(folder);
  touchPrivate(file);
  const database = new DatabaseSync(file);
  try {
    checkWhole(database);
    database.exec(SCHEMA);
  } catch (error) {
    database.close();
    throw error;
  }
  /** Prepares a statement that writes. */
  const writing = (sql: string) => {
    const statement = database.prepare(sql);
    const guarded = <T>(write: () => T): T => {
      try {
        return write();
      } catch (error) {
        failed(error);
        throw unwritten(error);
      }
    };
    return {
      run: (...values: SQLInputValue[]) => guarded(() => statement.run(...values)),
      get: (...values: SQLInputValue[]) => guarded(() => statement.get(...values)),
    };
  };
  const upsert = writing(
    `INSERT INTO entry (kind, id, uid, grant_id, account, payload, expires) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (kind, id) DO UPDATE SET uid = excluded.uid, grant_id = excluded.grant_id, account = excluded.account,
       payload = excluded.payload, expires = excluded.expires`,
  );
  const insert = writing(
    'INSERT INTO entry (kind, id, payload, expires) VALUES (?, ?, ?, ?) ON CONFLICT (kind, id) DO NOTHING',
  );
  const select = database.prepare('SELECT payload, expires, consumed FROM entry WHERE kind = ? AND id = ?');
  const selectUid = database.prepare('SELECT payload, expires, consumed FROM entry WHERE kind = ? AND uid = ?');
  const selectAccount = database.prepare(
    'SELECT payload, expires FROM entry WHERE kind = ? AND account = ? AND expires > ? ORDER BY rowid DESC LIMIT 1000',
  );
  const ownerOf = database.prepare('SELECT grant_id, account FROM entry WHERE kind = ? AND id = ?');
  const tokensOf = database.prepare(
    `SELECT COUNT(*) AS entries FROM
       (SELECT 1 FROM entry WHERE kind = 'AccessToken' AND account = ? AND expires > ? LIMIT ${TOKENS_AN_HOUR})`,
  );
  // The index of accounts has the order of the table.
  const grantsBeyond = database.prepare(
    `SELECT grant_id FROM entry WHERE kind = 'Grant' AND account = ? ORDER BY rowid DESC LIMIT 10 OFFSET ${MOST_GRANTS}`,
  );
  const consume = writing('UPDATE entry SET consumed = ? WHERE kind = ? AND id = ? AND consumed IS NULL');
  const remove = writing('DELETE FROM entry WHERE kind = ? AND id = ?');
  const take = writing('DELETE FROM entry WHERE kind = ? AND id = ? RETURNING payload, expires');
  const removeGrant = writing('DELETE FROM entry WHERE grant_id = ?');
  const sweepExpired = writing(
    `DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE expires <= ? LIMIT ${SWEPT})`,
  );
  const countOf = database.prepare('SELECT COUNT(*) AS entries FROM entry WHERE kind = ?');
  // Reads in the order of the table, not of an index: sorting all entries would take a second.
  const forgetOldest = writing(
    'DELETE FROM entry WHERE rowid IN (SELECT rowid FROM entry WHERE +kind = ? ORDER BY rowid LIMIT ?)',
  );

  let epoch = 0;
  let begun = 0;
  const seconds = (): number => Math.floor(clock() / 1000);

  const revoke = (grant: string): void => {
    if (removeGrant.run(grant).changes > 0) epoch++;
  };

  const hasManyTokens = (account: string): boolean => {
    const { entries } = tokensOf.get(account, seconds()) as { readonly entries: number };
    return entries >= TOKENS_AN_HOUR;
  };
  const endOldestGrants = (account: string | undefined): void => {
    const beyond = account === undefined ? [] : (grantsBeyond.all(account) as unknown as readonly Owner[]);
    for (const { grant_id: grant } of beyond) if (grant !== null) revoke(grant);
  };

  const countBegun = (kind: string): void => {
    if (BEGUN.has(kind) && ++begun % BETWEEN_LOOKS === 0) forgetBegun();
  };
  const forgetBegun = (): void => {
    for (const kind of BEGUN) {
      const { entries } = countOf.get(kind) as { readonly entries: number };
      if (entries > MOST_BEGUN) forgetOldest.run(kind, entries - MOST_BEGUN);
    }
  };

  const adapter = (model: string): Adapter => {
    const payloadOf = (row: unknown, id?: string): AdapterPayload | undefined => {
      if (row === undefined) return undefined;
      const { payload, consumed } = row as Row;
      const value = JSON.parse(payload) as AdapterPayload;
      return { ...value, ...(id === undefined ? {} : { jti: id }), ...(consumed === null ? {} : { consumed }) };
    };
    return {
      async upsert(id, payload, lifetime = NO_LIFETIME) {
        const expires = seconds() + lifetime;
        // The id and the cookie of a session are stored as hashes only.
        const { jti: _jti, ...rest } = payload;
        if (rest.session !== undefined) rest.session = withoutCookie(rest.session);
        const text = JSON.stringify(rest);
        if (model === 'ReplayDetection') {
          // Of two concurrent requests with the same assertion, only one writes this.
          if (insert.run(model, hashed(id), text, expires).changes === 0)
            throw new errors.InvalidClientAuth('client assertion tokens must only be used once');
          return;
        }
        const grant = model === 'Grant' ? id : (payload.grantId ?? null);
        const uid = model === 'Session' ? (payload.uid ?? null) : null;
        upsert.run(model, hashed(id), uid, grant, payload.accountId ?? null, text, expires);
        countBegun(model);
        if (model === 'Grant') endOldestGrants(payload.accountId);
      },
      async find(id) {
        return payloadOf(select.get(model, hashed(id)), id);
      },
      async findByUid(uid) {
        return payloadOf(selectUid.get(model, uid));
      },
      // Only device flows have user codes.
      async findByUserCode() {
        return undefined;
      },
      async consume(id) {
        const owner = ownerOf.get(model, hashed(id)) as Owner | undefined;
        // Before it is used up: the app can send it again later.
        if (owner !== undefined && owner.account !== null && hasManyTokens(owner.account)) throw tooManyTokens();
        if (consume.run(seconds(), model, hashed(id)).changes === 1) return;
        // Another request was first: everything issued for it ends.
        if (owner !== undefined && owner.grant_id !== null) revoke(owner.grant_id);
        throw new errors.InvalidGrant('already used');
      },
      async destroy(id) {
        if (model === 'Grant') revoke(id);
        else if (remove.run(model, hashed(id)).changes > 0 && TOKENS.has(model)) epoch++;
      },
      async revokeByGrantId(grant) {
        revoke(grant);
      },
    };
  };

  const keptOf = <T>(row: unknown): Kept<T> | undefined => {
    if (row === undefined) return undefined;
    const { payload, expires } = row as Row;
    return expires <= seconds() ? undefined : { value: JSON.parse(payload) as T, expires };
  };

  return {
    adapter,
    keep(kind, id, value, { expires, grant, account }) {
      upsert.run(kind, hashed(id), null, grant ?? null, account ?? null, JSON.stringify(value), expires);
      countBegun(kind);
    },
    find: (kind, id) => keptOf(select.get(kind, hashed(id))),
    take: (kind, id) => keptOf(take.get(kind, hashed(id))),
    ofAccount: <T>(kind: OwnKind, account: string) =>
      selectAccount.all(kind, account, seconds()).flatMap(row => keptOf<T>(row) ?? []),
    hasGrant: grant => select.get('Grant', hashed(grant)) !== undefined,
    revoke,
    sweep() {
      const { changes } = sweepExpired.run(seconds());
      forgetBegun();
      return changes === SWEPT;
    },
    epoch: () => epoch,
    close: () => database.close(),
  };
}

function withoutCookie({ cookie: _cookie, ...session }: NonNullable<AdapterPayload['session']>) {
  return session;
}

function hashed(id: string): string {
  return hash('sha256', id, 'base64url');
}
