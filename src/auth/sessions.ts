/**
 * Holds sessions of people who are logged in. In: an authenticated account. Out: a random id, valid until it is idle
 * for too long or too old, the account is disabled or removed, or its password changes. Ids are stored as hashes. The
 * number of sessions is bounded; the one that has been idle longest is dropped first.
 */
import { hash, randomBytes } from 'node:crypto';
import { type Account, type Accounts, sessionMark } from './accounts.ts';

export interface SessionLimits {
  /** Milliseconds after which a session ends: without a request, and in total. */
  readonly idle: number;
  readonly lifetime: number;
  /** Maximum number of sessions: of all accounts, and of one. */
  readonly most: number;
  readonly mostPerAccount: number;
}

export interface Sessions {
  /** Opens a new session; ends `before`, the id that the client sent. */
  open(account: Account, before: string | undefined): string;
  /** Returns the account of a valid session; counts as a use. */
  account(id: string): Account | undefined;
  close(id: string): void;
}

interface Session {
  readonly name: string;
  /** Mark of the account when the session was opened; the session ends if it changes. */
  readonly mark: string;
  readonly opened: number;
  used: number;
}

/**
 * Holds sessions in memory. `clock`: milliseconds of a monotonic clock, so that setting the system clock prolongs no
 * session.
 */
export function createSessions(
  accounts: Accounts,
  limits: SessionLimits,
  clock: () => number = () => performance.now(),
): Sessions {
  /** Keyed by hash of the id, in order of last use. */
  const sessions = new Map<string, Session>();

  const isOver = ({ opened, used }: Session, now: number): boolean =>
    now - used >= limits.idle || now - opened >= limits.lifetime;

  const sweep = (now: number): void => {
    for (const [key, session] of sessions) if (isOver(session, now)) sessions.delete(key);
  };

  const makeRoom = (name: string): void => {
    const own = [...sessions].filter(([, session]) => session.name === name);
    for (const [key] of own.slice(0, Math.max(0, own.length - limits.mostPerAccount + 1))) sessions.delete(key);
    for (const key of sessions.keys()) {
      if (sessions.size < limits.most) break;
      sessions.delete(key);
    }
  };

  return {
    open(account, before) {
      if (before !== undefined) sessions.delete(keyOf(before));
      const now = clock();
      sweep(now);
      makeRoom(account.name);
      const id = randomBytes(32).toString('base64url');
      sessions.set(keyOf(id), { name: account.name, mark: sessionMark(account), opened: now, used: now });
      return id;
    },
    account(id) {
      const key = keyOf(id);
      const session = sessions.get(key);
      if (session === undefined) return undefined;
      const now = clock();
      const account = accounts.find(session.name);
      if (isOver(session, now) || account === undefined || account.disabled || sessionMark(account) !== session.mark) {
        sessions.delete(key);
        return undefined;
      }
      session.used = now;
      sessions.delete(key);
      sessions.set(key, session);
      return account;
    },
    close(id) {
      sessions.delete(keyOf(id));
    },
  };
}

function keyOf(id: string): string {
  return hash('sha256', id, 'base64url');
}
