/**
 * Opens and reads sessions of the authorization server, for pages outside of a launch. In: the cookie that the
 * provider sets at login. Out: the account, or a new session of the same form.
 */
import type Provider from 'oidc-provider';
import type { Account } from '../auth/accounts.ts';
import type { PageContext, SmartParts } from './parts.ts';
import { isLoggedIn, keepLogin, LIFETIMES, type LoggedIn, loginMark } from './provider.ts';

type Session = Awaited<ReturnType<Provider['Session']['get']>>;
type KoaContext = Parameters<Provider['Session']['get']>[0];

function contextOf(c: PageContext, provider: Provider): KoaContext {
  return provider.createContext(c.env.incoming, c.env.outgoing) as KoaContext;
}

/** Returns the account that is logged in with this browser. */
export async function accountOf(c: PageContext, parts: SmartParts): Promise<Account | undefined> {
  const session = await currentSession(c, parts.provider());
  const { accountId } = session;
  return accountId !== undefined && isLoggedIn(session, parts) ? parts.accounts.find(accountId) : undefined;
}

function currentSession(c: PageContext, provider: Provider): Promise<Session> {
  return provider.Session.get(contextOf(c, provider));
}

/** Begins a session under a new id; ends the previous one. */
export async function logIn(
  c: PageContext,
  { provider, store, issuer }: SmartParts,
  account: Account,
  way: LoggedIn['way'],
): Promise<void> {
  const server = provider();
  const before = await currentSession(c, server);
  if (before.accountId !== undefined) await before.destroy();
  const session = new server.Session();
  session.loginAccount({ accountId: account.name });
  await session.save(LIFETIMES.session);
  keepLogin(store, session.uid, loginMark(account), way);
  contextOf(c, server).cookies.set(server.cookieName('session'), session.jti, {
    ...{ httpOnly: true, sameSite: 'lax', path: new URL(issuer).pathname, maxAge: LIFETIMES.session * 1000 },
  });
}

/** Ends the session of this browser. Resolves to the way in which the person had logged in. */
export async function logOut(
  c: PageContext,
  { provider, issuer, store }: SmartParts,
): Promise<LoggedIn['way'] | undefined> {
  const server = provider();
  const session = await currentSession(c, server);
  const way = session.accountId === undefined ? undefined : store.find<LoggedIn>('Login', session.uid)?.value.way;
  if (session.accountId !== undefined) await session.destroy();
  contextOf(c, server).cookies.set(server.cookieName('session'), null, { path: new URL(issuer).pathname });
  return way;
}
