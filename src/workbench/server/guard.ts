/**
 * Protects the workbench: only one browser on this machine may use it, the one that opened the link in the terminal.
 * In: each request. Out: a refusal, or the request continues. The link works once and sets a cookie. Paths begin with a
 * random part, and the cookie is bound to it: cookies ignore ports, so another server on this machine would receive it
 * otherwise.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';

const COOKIE = 'lintel_workbench';
const LOOPBACK = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

export interface Guard {
  /** Prefix of all paths: `/` and a random text. */
  readonly base: string;
  /** One-time token of the link. */
  readonly token: string;
  /** Refuses requests to host names other than loopback's, and requests from pages of other origins. */
  readonly origin: MiddlewareHandler;
  /** Exchanges the token for the cookie. */
  readonly enter: MiddlewareHandler;
  /** Refuses requests without the cookie. */
  readonly session: MiddlewareHandler;
}

/** Creates a guard with new secrets. */
export function createGuard(): Guard {
  const base = `/${secret()}`;
  const token = secret();
  const session = secret();
  let used = false;
  return {
    base,
    token,
    async origin(c, next) {
      const host = c.req.header('Host') ?? '';
      if (!LOOPBACK.test(host)) return c.json({ error: 'Host: expected 127.0.0.1 or localhost' }, 403);
      const origin = c.req.header('Origin');
      const site = c.req.header('Sec-Fetch-Site');
      const isForeign = origin !== undefined && origin !== `http://${host}`;
      // The link may be opened from another site, such as a mail; the token authorizes it.
      const isLink = c.req.method === 'GET' && c.req.path === `${base}/open`;
      const isOther = site !== undefined && site !== 'same-origin' && site !== 'none' && !isLink;
      const isUnsaid = c.req.method !== 'GET' && origin === undefined && site === undefined;
      if (isForeign || isOther || isUnsaid)
        return c.json({ error: 'Only the page of the workbench may send this request' }, 403);
      return next();
    },
    async enter(c) {
      if (used || !isSame(c.req.query('token') ?? '', token)) {
        return c.text(
          'This link was used already, or is not the one in the terminal. Start lintel workbench again.',
          403,
        );
      }
      used = true;
      setCookie(c, COOKIE, session, { path: `${base}/`, httpOnly: true, sameSite: 'Strict' });
      // No redirect: it would count as part of the cross-site navigation, and a strict cookie would not be sent.
      return c.html(
        `<!doctype html><title>Lintel workbench</title><meta http-equiv="refresh" content="0;url=${base}/">`,
      );
    },
    async session(c, next) {
      if (isSame(getCookie(c, COOKIE) ?? '', session)) return next();
      return c.json({ error: 'Open the link that lintel workbench printed in the terminal' }, 401);
    },
  };
}

function secret(): string {
  return randomBytes(24).toString('base64url');
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
