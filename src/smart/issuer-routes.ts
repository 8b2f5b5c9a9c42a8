/**
 * Serves login at the hospital's issuer. In: a button of a page. Out: redirects to the issuer and back, and then to
 * what the person was about to do. A login continues only once, and only in the browser that began it.
 */
import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { serialize } from 'hono/utils/cookie';
import { errors } from 'oidc-provider';
import { describeError } from '../log.ts';
import { type Checks, type Hints, IssuerError } from './issuer.ts';
import { type Again, finish, interactionOf, loginForApp, loginForPlace, type Place, placeOf } from './login-form.ts';
import { errorPage } from './pages.ts';
import {
  fieldsOf,
  type Hospital,
  type NodeEnv,
  type PageContext,
  pageOf,
  refuseForeign,
  type SmartParts,
} from './parts.ts';
import { loginMark } from './provider.ts';
import { logIn } from './sessions.ts';
import { TEXTS } from './texts.ts';

/** Where the issuer sends browsers back to: the only redirect address registered there. */
export const CALLBACK = '/callback';

/** Where a login leads: to an interaction with an app, or to a page. */
type Aim = { readonly interaction: string } | { readonly place: Place };

/** A login that is under way. */
interface Begun extends Checks {
  readonly aim: Aim;
  /** Hash of the cookie in the browser that began it. */
  readonly browser: string;
}

/** A login that succeeded, on its way back to its interaction. */
interface Done {
  readonly interaction: string;
  readonly account: string;
  /** The mark as `loginMark` returns it. */
  readonly mark: string;
}

/** Seconds for a login, including second factors; and for the step from the callback to the interaction. */
const LIFETIMES = { begun: 15 * 60, done: 60 } as const;

export function issuerRoutes(parts: SmartParts): Hono<NodeEnv> {
  const routes = new Hono<NodeEnv>();
  const { issuer, store } = parts;
  if (parts.hospital === undefined) return routes;
  const hospital: Hospital = parts.hospital;

  routes.post('/login/issuer', async c => {
    refuseForeign(c, parts);
    const place = placeOf((await fieldsOf(c)).get('place'));
    return begin(c, { place }, { anew: false }, failure => loginForPlace(c, parts, place, failure));
  });

  routes.post('/interaction/:uid/issuer', async c => {
    refuseForeign(c, parts);
    const interaction = await interactionOf(c, parts);
    const { uid, params, prompt } = interaction;
    const hint = params['login_hint'];
    const hints = {
      name: typeof hint === 'string' ? hint : undefined,
      anew: prompt.reasons.some(reason => reason === 'login_prompt' || reason === 'max_age'),
    };
    return begin(c, { interaction: uid }, hints, failure => loginForApp(c, parts, interaction, failure));
  });

  routes.get(CALLBACK, async c => {
    const query = new URL(c.req.url).searchParams;
    const [state = '', ...more] = query.getAll('state');
    const begun = store.find<Begun>('IssuerLogin', state)?.value;
    const cookie = getCookie(c, cookieName(state)) ?? '';
    const isHere = begun !== undefined && fits(cookie, begun.browser);
    if (!isHere || more.length > 0 || store.take('IssuerLogin', state) === undefined)
      return pageOf(c, errorPage(TEXTS.error.expired), 400);
    keepCookie(c, state, '', 0);
    try {
      const account = await hospital.people.admit(await hospital.issuer.finish(query, begun));
      await parts.record(c, { who: account, status: account === undefined ? 403 : 303 });
      if (account === undefined) return pageOf(c, errorPage(TEXTS.issuer.nobody(hospital.issuer.label)), 403);
      if ('place' in begun.aim) {
        await logIn(c, parts, account, 'issuer');
        return c.redirect(`${issuer}/${begun.aim.place}`, 303);
      }
      const ticket = randomBytes(24).toString('base64url');
      const { interaction } = begun.aim;
      const done: Done = { interaction, account: account.name, mark: loginMark(account) };
      store.keep('IssuerDone', ticket, done, { expires: seconds() + LIFETIMES.done });
      return c.redirect(`${issuer}/interaction/${interaction}/back?ticket=${ticket}`, 303);
    } catch (error) {
      const { text, status } = explained(error);
      return pageOf(c, errorPage(text), status);
    }
  });

  // The browser sends the cookie of the interaction only to this path.
  routes.get('/interaction/:uid/back', async c => {
    const { uid, prompt } = await interactionOf(c, parts);
    const ticket = c.req.query('ticket') ?? '';
    const done = store.find<Done>('IssuerDone', ticket)?.value;
    if (done?.interaction !== uid || prompt.name !== 'login' || store.take('IssuerDone', ticket) === undefined)
      throw new errors.SessionNotFound(TEXTS.error.expired);
    return finish(c, parts, { login: { accountId: done.account }, mark: done.mark, issuer: true });
  });

  return routes;

  async function begin(c: PageContext, aim: Aim, hints: Hints, again: (failure: Again) => Response): Promise<Response> {
    try {
      const { url, checks } = await hospital.issuer.begin(hints);
      const secret = randomBytes(32).toString('base64url');
      const begun: Begun = { ...checks, aim, browser: hashed(secret) };
      store.keep('IssuerLogin', checks.state, begun, { expires: seconds() + LIFETIMES.begun });
      keepCookie(c, checks.state, secret, LIFETIMES.begun);
      return c.redirect(url, 303);
    } catch (error) {
      return again({ complaint: explained(error).text, status: 503 });
    }
  }

  /** Returns the text for a failed login. An error that is not the issuer's is logged and counts as an outage. */
  function explained(error: unknown): { readonly text: string; readonly status: 400 | 503 } {
    if (!(error instanceof IssuerError)) {
      parts.log.error('a login at the issuer could not be followed', describeError(error));
      return { text: TEXTS.issuer.away(hospital.issuer.label), status: 503 };
    }
    const { failure, code } = error;
    parts.log.warn('a login at the issuer failed', { failure, code });
    const text = TEXTS.issuer[failure](hospital.issuer.label);
    return { text, status: failure === 'away' ? 503 : 400 };
  }

  /** Returns a name per login, so that two tabs do not interfere. */
  function cookieName(state: string): string {
    const name = `lintel_login_${hashed(state).slice(0, 12)}`;
    return isSecure() ? `__Host-${name}` : name;
  }

  /** Adds to the provider's cookies, which are in the headers of Node's response. */
  function keepCookie(c: PageContext, state: string, value: string, maxAge: number): void {
    // The issuer redirects the browser from another site by GET, for which `Lax` allows cookies.
    const options = { path: '/', httpOnly: true, sameSite: 'Lax', secure: isSecure(), maxAge } as const;
    c.env.outgoing.appendHeader('Set-Cookie', serialize(cookieName(state), value, options));
  }

  function isSecure(): boolean {
    return issuer.startsWith('https:');
  }
}

function fits(cookie: string, kept: string): boolean {
  return timingSafeEqual(Buffer.from(hashed(cookie)), Buffer.from(kept));
}

function hashed(text: string): string {
  return hash('sha256', text, 'base64url');
}

function seconds(): number {
  return Math.floor(Date.now() / 1000);
}
