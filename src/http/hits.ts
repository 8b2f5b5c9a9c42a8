/**
 * Kept answers, sent without a framework in between: where the same plain GET was answered before, what it takes is a
 * look into the cache and the bytes. In: a request as Node has it. Out: true, and it is answered with the headers that the
 * application gave the first time; or false, and the application has to answer. Whatever is not surely the same is false.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createMiddleware } from 'hono/factory';
import { OPEN_ACCESS } from '../auth/access.ts';
import { boundedCache } from '../cache/bounded.ts';
import { answerKey } from '../cache/key.ts';
import type { Spent } from '../observe/stages.ts';
import type { Answer } from './answer.ts';
import { hitStatus } from './cached.ts';
import { codingFor } from './compress.ts';
import type { AppParts, HttpEnv } from './context.ts';
import { ownHost } from './limits.ts';
import { isTraced, tellRequests } from './request-log.ts';

export type Hits = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Headers of requests that the key holds, or that nothing depends on. With any other the application answers. */
const PLAIN = new Set([
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'forwarded',
  'host',
  'keep-alive',
  'priority',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'sec-fetch-user',
  'user-agent',
  'via',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-port',
  'x-forwarded-proto',
  'x-real-ip',
]);

/** Headers of answers that each request has its own of. */
const OWN = new Set(['cache-status', 'date', 'server-timing', 'x-correlation-id', 'x-request-id']);

const NOTHING_SPENT: Spent = { stages: { parse: 0, plan: 0, sql: 0, write: 0 }, statements: 0 };

interface Head {
  readonly route: string;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

/** What the application sent with an answer, by its coding; '' for none. */
const heads = new WeakMap<Answer, Map<string, Head>>();

/** Remembers what a plain GET was answered with. Stands around everything that sets headers. */
export const rememberHeads = createMiddleware<HttpEnv>(async (c, next) => {
  await next();
  const answer = c.get('answer');
  if (answer === undefined || c.res.status !== 200 || c.req.method !== 'GET') return;
  const known = heads.get(answer) ?? new Map<string, Head>();
  const coding = c.res.headers.get('content-encoding') ?? '';
  if (known.has(coding) || !isPlain(c.req.header())) return;
  const headers = [...c.res.headers].filter(([name]) => !OWN.has(name)).flat();
  known.set(coding, { route: c.get('route') ?? '', headers });
  heads.set(answer, known);
});

/** Node gives this header as one text, however often it was sent. */
function acceptEncodingOf({ 'accept-encoding': value }: IncomingHttpHeaders): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function isPlain(headers: IncomingHttpHeaders): boolean {
  for (const name in headers) if (!PLAIN.has(name)) return false;
  return true;
}

/** Undefined where nothing is kept, or where it is not open to all: then the application decides who asks. */
export function answerHits(parts: AppParts): Hits | undefined {
  const { answers, config } = parts;
  if (answers === undefined || config.access !== 'open') return undefined;
  const { cache, version } = answers;
  const mayAsk = ownHost(parts);
  const hosts = boundedCache<{ readonly base: string | undefined }>(100);
  const baseFor = (host: string): string | undefined =>
    hosts.get(host, () => {
      const url = URL.parse(`http://${host}`);
      const own = url !== null && mayAsk(url.hostname);
      return { base: own ? (config.baseUrl ?? url.origin) + config.fhirPath : undefined };
    }).base;
  const tell = tellRequests(parts);

  return (request, response) => {
    const { method, url = '', headers } = request;
    if (method !== 'GET' || !isPlain(headers) || isTraced()) return false;
    const begun = performance.now();
    const base = baseFor(headers.host ?? '');
    if (base === undefined) return false;
    const { handling } = config;
    const key = answerKey({ version, access: OPEN_ACCESS, base, handling, accept: headers.accept, target: url });
    const ready = cache.ready(key);
    if (ready === undefined) return false;
    const { answer, ttl } = ready;
    const coding = codingFor(answer.body, answer.contentType, acceptEncodingOf(headers));
    const head = heads.get(answer)?.get(coding ?? '');
    const body = coding === undefined ? answer.body : answer.made(coding);
    if (head === undefined || body === undefined) return false;
    cache.sent();
    const id = randomUUID();
    const timing = tell({
      ...{ request: id, method, route: head.route, status: 200, bytes: body.byteLength },
      ...{ milliseconds: performance.now() - begun, spent: NOTHING_SPENT },
    });
    response.writeHead(200, [
      ...head.headers,
      'x-request-id',
      id,
      'cache-status',
      hitStatus(ttl),
      'server-timing',
      timing,
    ]);
    response.end(body);
    return true;
  };
}
