/**
 * Handles login, logout and sessions of the REST interface. In: form data, the cookie. Out: the cookie JSESSIONID
 * (HttpOnly, SameSite, Secure except on plain loopback); 401 without a valid session. docs/interfaces.md, RFC 6265
 */
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { csrf } from 'hono/csrf';
import { createMiddleware } from 'hono/factory';
import { HTTPException } from 'hono/http-exception';
import { type Access, NO_ACCESS } from '../../auth/access.ts';
import { isLoopback } from '../../common/loopback.ts';
import type { RestParts } from '../../rest/start.ts';
import { type AppParts, type HttpContext, type HttpEnv, peerOf, serverBase } from '../context.ts';
import { BAD_TOKEN, type Entry, isBearer, tokenOf } from '../middleware/bearer.ts';
import { wantsPage } from '../middleware/negotiate.ts';
import { headerOf } from '../middleware/request.ts';
import { nextAddress } from '../pages/login-page.ts';
import { RestError } from './errors.ts';

const COOKIE = 'JSESSIONID';
const FORMS = ['application/x-www-form-urlencoded', 'multipart/form-data'];

/**
 * Refuses requests that a page of another site sends: it could log somebody in as another, or out. Browsers say where a
 * form comes from. Programs do not, but have no cookies except their own.
 */
export function refuseOtherSites(parts: AppParts) {
  const guard = csrf({ origin: (origin, c) => origin === new URL(serverBase(c, parts)).origin });
  return createMiddleware<HttpEnv>(async (c, next) => {
    if (c.req.header('origin') === undefined && c.req.header('sec-fetch-site') === undefined) return next();
    try {
      await guard(c, async () => {});
    } catch (error) {
      if (!(error instanceof HTTPException)) throw error;
      throw new RestError('forbidden', 'This was sent by a page of another site');
    }
    await next();
  });
}

/** Handles `POST /users/login`; a browser's form is redirected to a page. */
export async function login(c: HttpContext, parts: AppParts, rest: RestParts): Promise<Response> {
  const { username, password, next } = await credentials(c);
  c.set('next', nextAddress(c, parts, next));
  const result = await rest.login.try(username, password, peerOf(c), rest.may);
  if (result.kind !== 'in') c.set('tried', rest.login.known(username));
  switch (result.kind) {
    case 'wait':
      throw new RestError('too-many-requests', `Too many failed logins; try again in ${result.seconds} s`, {
        'Retry-After': String(result.seconds),
      });
    case 'wrong':
      throw new RestError('unauthorized', 'The user name or the password is wrong');
    case 'in': {
      // For the audit.
      c.set('account', result.account);
      const id = rest.sessions.open(result.account, getCookie(c, COOKIE));
      setCookie(c, COOKIE, id, cookieOptions(c, parts));
      if (wantsPage(c.req.header('accept'))) return c.redirect(nextAddress(c, parts, next), 303);
      const { session } = parts.config;
      return c.json({
        username: result.account.name,
        idleSeconds: session.idle / 1000,
        lifetimeSeconds: session.lifetime / 1000,
      });
    }
  }
}

/** Handles `POST /users/logout`, also without a session. */
export function logout(c: HttpContext, parts: AppParts, rest: RestParts): Response {
  const id = getCookie(c, COOKIE);
  const account = id === undefined ? undefined : rest.sessions.account(id);
  // For the audit.
  if (account !== undefined) c.set('account', account);
  if (id !== undefined) rest.sessions.close(id);
  deleteCookie(c, COOKIE, cookieOptions(c, parts));
  if (wantsPage(c.req.header('accept'))) return c.redirect(`${serverBase(c, parts)}/`, 303);
  return c.body(null, 204);
}

/**
 * Requires a valid session, or an access token of the FHIR interface, which decides alone if it is sent. Stores the
 * caller for the handlers that follow.
 */
export function requireSession(rest: RestParts, entry: Entry | undefined) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const header = headerOf(c, 'authorization');
    if (entry !== undefined && header !== undefined && isBearer(header)) {
      const token = tokenOf(header);
      const decision = token === undefined ? undefined : await entry.decide(token);
      if (decision === undefined) throw new RestError('unauthorized', BAD_TOKEN, { 'WWW-Authenticate': CHALLENGE });
      c.set('access', decision.access);
      c.set('grant', decision.grant);
      return next();
    }
    const id = getCookie(c, COOKIE);
    const account = id === undefined ? undefined : rest.sessions.account(id);
    if (account === undefined) {
      throw new RestError('unauthorized', 'There is no session, or it has expired; log in at /users/login');
    }
    c.set('account', account);
    await next();
  });
}

/** RFC 6750 section 3 */
const CHALLENGE = 'Bearer realm="rest", error="invalid_token"';

/** Returns what the caller may see. Only for use behind requireSession. */
export function accessOf(c: HttpContext, rest: RestParts | undefined): Access {
  // Set for a token, and for whoever has broken the glass.
  const decided = c.get('access');
  if (decided !== undefined) return decided;
  const account = c.get('account');
  if (account === undefined) throw new RestError('unauthorized', 'There is no session');
  return rest === undefined ? NO_ACCESS : rest.accessOf(account);
}

/** Returns the caller's name, for a page. */
export function nameOf(c: HttpContext): string {
  return c.get('account')?.name ?? c.get('grant')?.subject ?? '';
}

interface Credentials {
  readonly username: string;
  readonly password: string;
  /** Where a browser continues after the login. */
  readonly next: unknown;
}

async function credentials(c: HttpContext): Promise<Credentials> {
  const [mediaType = ''] = (c.req.header('content-type') ?? '').split(';');
  if (!FORMS.includes(mediaType.trim().toLowerCase())) {
    throw new RestError('bad-request', `Content-Type: expected ${FORMS.join(' or ')} with username and password`);
  }
  let form: Readonly<Record<string, unknown>>;
  try {
    form = await c.req.parseBody();
  } catch {
    throw new RestError('bad-request', 'The body is no form data');
  }
  const { username, password, next } = form as Readonly<Record<keyof Credentials, unknown>>;
  if (typeof username !== 'string' || typeof password !== 'string' || username === '' || password === '') {
    throw new RestError('bad-request', 'Expected the form fields username and password');
  }
  return { username, password, next };
}

function cookieOptions(c: HttpContext, parts: AppParts) {
  const base = new URL(serverBase(c, parts));
  const plainLoopback = base.protocol === 'http:' && isLoopback(base.hostname);
  return {
    path: base.pathname.replace(/\/$/, '') + parts.config.apiPath,
    httpOnly: true,
    sameSite: 'Strict',
    secure: !plainLoopback,
  } as const;
}
