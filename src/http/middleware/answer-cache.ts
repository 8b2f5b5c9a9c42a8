/**
 * Answers requests from the cache. In: a request and a function that makes its answer. Out: the response, from the
 * cache if it has a valid one, and a `Cache-Status` that says what happened. RFC 9211, RFC 9111 section 5.2.1
 */
import { type AnswerCache, type AnswerOrigin, answerKey, hearPlans } from '../../cache/answers.ts';
import type { Freshness } from '../../cache/freshness.ts';
import type { Parameters, RequestContext } from '../../facade.ts';
import { timed } from '../../observe/statements.ts';
import { type AppParts, type HttpContext, requestContext } from '../context.ts';
import { type Answer, answerOf, representationOf, sendAnswer } from './answer.ts';
import { admitted } from './limits.ts';
import { headerOf, queryOf } from './request.ts';

/** The process's cache, and what it needs to know of the served mappings. */
export interface KeptAnswers {
  readonly cache: AnswerCache<Answer>;
  readonly freshness: Freshness;
  /** Of the mappings. */
  readonly version: string;
}

/**
 * Sends the answer that `read` makes, or a cached one. The signal of `read` aborts when nobody waits any more. Only
 * answers to GET and HEAD are cached. Errors of `read` are not; they go to all who waited for it.
 */
export async function respondCached(
  c: HttpContext,
  parts: AppParts,
  read: (context: RequestContext) => Promise<Answer>,
): Promise<Response> {
  const { answers, admission, audit } = parts;
  const context = requestContext(c, parts);
  const make = async (own: RequestContext): Promise<Answer> => {
    if (audit === undefined) return admitted(admission?.answers, own.signal, () => read(own));
    const seen = new Set<string>();
    const see = (patients: Iterable<string>): void => {
      for (const patient of patients) seen.add(patient);
    };
    const made = await admitted(admission?.answers, own.signal, () => read({ ...own, see }));
    made.patients = [...seen];
    return made;
  };
  const send: typeof sendAnswer = (to, answer, sending) => {
    context.see?.(answer.patients);
    return sendAnswer(to, answer, sending);
  };
  const type = c.req.param('inner') ?? c.req.param('type') ?? '';
  if (answers === undefined || parts.unkept?.has(type) || isUnkept(headerOf(c, 'accept')))
    return send(c, await make(context));
  if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
    return send(c, await make(context), { cacheStatus: 'Lintel; fwd=method' });
  }
  const key = keyOf(c, context, answers.version);
  const { answer, origin } = await answers.cache.answer({
    key,
    kind: kindOf(c),
    freshness: answers.freshness,
    signal: context.signal,
    ...directivesOf(c),
    make: (signal, touch) => make({ ...context, signal, onQuery: hearPlans(touch) }),
  });
  if (origin.kind === 'hit' || (origin.kind === 'made' && origin.stored)) c.set('answer', answer);
  if (origin.kind === 'hit') c.set('cacheHit', true);
  return send(c, answer, {
    cacheStatus: cacheStatus(origin),
    onGrown: () => answers.cache.grown(key, answer),
  });
}

/** Sends what the facade returns for the parameters. `read` reads them; it is not called if the answer is cached. */
export function respondWithResult(
  c: HttpContext,
  parts: AppParts,
  read: () => Parameters | Promise<Parameters>,
  ask: (parameters: Parameters, context: RequestContext) => Promise<{ readonly json: string }>,
): Promise<Response> {
  return respondCached(c, parts, async context => {
    const parameters = await read();
    const representation = representationOf(c, parameters);
    const { json } = await ask(parameters, context);
    return timed(context, 'write', () => answerOf(json, representation));
  });
}

/** Characters of Accept. A client with a longer one will hardly repeat it. */
const LONGEST_ACCEPT = 500;

/** True if answers to this Accept, which is part of their key, are not cached. */
export function isUnkept(accept: string | undefined): boolean {
  return accept !== undefined && accept.length > LONGEST_ACCEPT;
}

function keyOf(c: HttpContext, { access, base, handling }: RequestContext, version: string): string {
  const { url } = c.req;
  const target = url.slice(url.indexOf('/', url.indexOf('//') + 2));
  return answerKey({ version, access, base, handling, accept: headerOf(c, 'accept'), target });
}

/** Returns the path pattern and the names of parameters. */
function kindOf(c: HttpContext): string {
  return `${c.req.path.split('/', 3).join('/')}?${queryOf(c.req.url).replace(/=[^&]*/g, '')}`;
}

/** Returns the client's directives for caches. `Pragma` counts if there is no Cache-Control. RFC 9111 section 5.4 */
function directivesOf(c: HttpContext): { readonly maxAge?: number; readonly noStore?: true } {
  const text = headerOf(c, 'cache-control') ?? headerOf(c, 'pragma');
  if (text === undefined) return {};
  const directives = text
    .toLowerCase()
    .split(',')
    .map(one => one.trim());
  if (directives.includes('no-store')) return { noStore: true };
  if (directives.includes('no-cache')) return { maxAge: 0 };
  const seconds = directives.map(one => /^max-age="?(\d{1,9})"?$/.exec(one)?.[1]).find(one => one !== undefined);
  return seconds === undefined ? {} : { maxAge: Number(seconds) * 1000 };
}

/** Returns the Cache-Status of a hit. `ttl`: milliseconds. */
export function hitStatus(ttl: number): string {
  return `Lintel; hit; ttl=${Math.floor(ttl / 1000)}`;
}

function cacheStatus(origin: AnswerOrigin): string {
  return origin.kind === 'hit'
    ? hitStatus(origin.ttl)
    : `Lintel; fwd=${origin.why}${origin.stored ? '; stored' : ''}${origin.collapsed ? '; collapsed' : ''}`;
}
