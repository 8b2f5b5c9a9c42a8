/**
 * Refuses requests before any work is done: long addresses, foreign Host headers, slow requests.
 */
import { createMiddleware } from 'hono/factory';
import { type BoundedCache, boundedCache } from '../../cache/bounded.ts';
import { isLoopback } from '../../config/config.ts';
import { endsAt } from '../../sql/database.ts';
import type { AppParts, HttpEnv } from '../context.ts';
import { refuse } from './refuse.ts';

/** Characters of the whole URL. Longer searches go into the body of `POST [type]/_search`. */
export const URL_LENGTH = 8000;

/** 414 for a URL beyond URL_LENGTH. */
export const limitUrl = createMiddleware<HttpEnv>(async (c, next) => {
  if (c.req.url.length <= URL_LENGTH) return next();
  return refuse(
    c,
    414,
    'too-long',
    `The URL has more than ${URL_LENGTH} characters; send the parameters as the body of POST [type]/_search`,
  );
});

/**
 * While access is open, only requests addressed to loopback (or to BASE_URL) are answered: otherwise any web page could
 * point its own name at 127.0.0.1 and read everything through the visitor's browser (DNS rebinding).
 */
export function guardHost(parts: Pick<AppParts, 'config'>) {
  const isOwn = ownHost(parts);
  const asked: BoundedCache<{ readonly own: boolean }> = boundedCache(100);
  return createMiddleware<HttpEnv>(async (c, next) => {
    const { url } = c.req;
    const origin = url.slice(0, url.indexOf('/', url.indexOf('//') + 2));
    if (asked.get(origin, () => ({ own: isOwn(new URL(url).hostname) })).own) return next();
    return refuse(c, 421, 'wrong-host', 'Host: expected the name of this server (localhost or that of BASE_URL)');
  });
}

/** Whether requests to a host name are answered. */
export function ownHost({ config }: Pick<AppParts, 'config'>): (hostname: string) => boolean {
  const own = config.baseUrl === undefined ? undefined : new URL(config.baseUrl).hostname;
  return hostname => config.access !== 'open' || hostname === own || isLoopback(hostname);
}

/** Gives the request a signal that aborts when the client has gone or the time is over. */
export function limitTime({ config }: Pick<AppParts, 'config'>) {
  return createMiddleware<HttpEnv>(async (c, next) => {
    const abort = new AbortController();
    endsAt(abort.signal, performance.now() + config.timeout.request);
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      abort.abort();
    }, config.timeout.request);
    const outgoing = c.env?.outgoing;
    if (outgoing === undefined) c.req.raw.signal.addEventListener('abort', () => abort.abort(), { once: true });
    else outgoing.once('close', () => outgoing.writableFinished || abort.abort());
    c.set('timedOut', () => late);
    c.set('signal', abort.signal);
    await next();
    clearTimeout(timer);
  });
}
