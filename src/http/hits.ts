/**
 * Kept answers, sent without a framework in between: where the same plain GET was answered before, what it takes is a
 * look into the cache and the bytes. In: a request as Node has it. Out: true, and it is answered with the headers that the
 * application gave the first time; or false, and the application has to answer. Whatever is not surely the same is false.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createMiddleware } from 'hono/factory';
import { OPEN_ACCESS } from '../auth/access.ts';
import { answerKey } from '../cache/key.ts';
import { type Answer, SMALL } from './answer.ts';
import { recordOfHit, UNWRITTEN } from './audit.ts';
import { hitStatus } from './cached.ts';
import { type Coding, codingOf, isWorthCoding } from './compress.ts';
import type { AppParts, HttpEnv } from './context.ts';
import { ownHost } from './limits.ts';
import { askedOf } from './plain-request.ts';
import { isPublic } from './public.ts';
import { type AnsweredAlike, isTraced, tellHits } from './request-log.ts';

export type Hits = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A whole response but for what each has of its own. */
interface Sendable {
  readonly alike: AnsweredAlike;
  /** Names and values in turn; the values at ID and STATUS are set before each sending. */
  readonly headers: string[];
  /** Small ones as text of bytes: Node sends that with the head in one piece. */
  readonly body: string | Buffer;
}

const ID = 1;
const STATUS = 3;

/** Headers of answers that each request has its own of. */
const OWN = new Set(['cache-status', 'date', 'server-timing', 'x-correlation-id', 'x-request-id']);

interface Forms {
  readonly worthCoding: boolean;
  /** By coding; '' for none. */
  readonly sendable: Map<string, Sendable>;
}

const formsOf = new WeakMap<Answer, Forms>();

/** Remembers how a plain GET was answered. Stands around everything that sets headers. */
export const rememberAnswers = createMiddleware<HttpEnv>(async (c, next) => {
  await next();
  const answer = c.get('answer');
  if (answer === undefined || c.res.status !== 200 || c.req.method !== 'GET') return;
  if (askedOf(c.env?.incoming?.rawHeaders ?? Object.entries(c.req.header()).flat()) === undefined) return;
  const forms = formsOf.get(answer) ?? {
    worthCoding: isWorthCoding(answer, answer.contentType),
    sendable: new Map(),
  };
  const coding = c.res.headers.get('content-encoding') ?? '';
  const form = coding === '' ? answer.body : answer.made(coding as Coding);
  if (forms.sendable.has(coding) || form === undefined) return;
  const same = [...c.res.headers].filter(([name]) => !OWN.has(name)).flat();
  forms.sendable.set(coding, {
    alike: { method: 'GET', route: c.get('route') ?? '', status: 200, bytes: form.byteLength },
    headers: ['x-request-id', '', 'cache-status', '', 'server-timing', 'cache;desc=hit', ...same],
    body: form.byteLength < SMALL ? form.toString('latin1') : form,
  });
  formsOf.set(answer, forms);
});

/** What the requests of a connection have in common: one client sends the same headers again and again. */
interface Client {
  readonly raw: readonly string[];
  /** All of the key but the address; undefined where the application has to answer. */
  readonly stem: string | undefined;
  /** '' for none. */
  readonly coding: string;
}

const CLIENT = Symbol('client');

/** Undefined where nothing is kept, or where it is not open to all: then the application decides who asks. */
export function answerHits(parts: AppParts): Hits | undefined {
  const { answers, audit, config } = parts;
  if (answers === undefined || config.access !== 'open') return undefined;
  const { cache, version } = answers;
  const mayAsk = ownHost(parts);
  const nextId = createIds();
  const tell = tellHits(parts);
  const told = isPublic(config.fhirPath);
  const isOpen = (url = '/'): boolean => told(url.split('?', 1)[0] ?? url);

  const clientOf = (raw: readonly string[]): Client => {
    const asked = askedOf(raw);
    const url = URL.parse(`http://${asked?.host}`);
    const nobody = { raw, stem: undefined, coding: '' };
    if (asked?.host === undefined || url === null || !mayAsk(url.hostname)) return nobody;
    const base = (config.baseUrl ?? url.origin) + config.fhirPath;
    const { handling } = config;
    const stem = answerKey({ version, access: OPEN_ACCESS, base, handling, accept: asked.accept, target: '' });
    return { raw, stem, coding: codingOf(asked['accept-encoding']) ?? '' };
  };

  /** Of these parts: after a reload the same connection has another. */
  const known = (socket: Socket & { [CLIENT]?: readonly [owner: unknown, Client] }, raw: readonly string[]): Client => {
    const kept = socket[CLIENT];
    if (kept !== undefined && kept[0] === parts && isSame(kept[1].raw, raw)) return kept[1];
    const made = clientOf(raw);
    socket[CLIENT] = [parts, made];
    return made;
  };

  return (request, response) => {
    if (request.method !== 'GET' || isTraced()) return false;
    const begun = performance.now();
    const { stem, coding } = known(request.socket, request.rawHeaders);
    const ready = stem === undefined ? undefined : cache.ready(stem + request.url);
    if (ready === undefined) return false;
    const { answer, ttl } = ready;
    const forms = formsOf.get(answer);
    const found = forms?.sendable.get(forms.worthCoding ? coding : '');
    if (found === undefined) return false;
    cache.sent();
    const { alike, headers, body } = found;
    const id = nextId();
    const send = (): void => {
      headers[ID] = id;
      headers[STATUS] = hitStatus(ttl);
      response.writeHead(200, headers);
      response.end(body, 'latin1');
      tell(alike, id, performance.now() - begun);
    };
    if (audit === undefined || isOpen(request.url)) send();
    else {
      const record = recordOfHit(request, { route: alike.route, id, patients: answer.patients }, config);
      audit.write(record).then(send, () => {
        response.writeHead(503, { ...UNWRITTEN.headers, 'X-Request-Id': id });
        response.end(UNWRITTEN.body);
        tell({ ...alike, status: 503, bytes: UNWRITTEN.body.length }, id, performance.now() - begun);
      });
    }
    return true;
  };
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * UUIDs in form: a random half, and a half that counts, for a random one each time costs as much as the look-up. The last
 * digits come from a table, for a number of that size takes longer to write.
 */
function createIds(): () => string {
  const random = randomUUID().slice(0, 24);
  let high = 0x100000000;
  let low = DIGITS.length;
  let stem = '';
  return () => {
    if (low === DIGITS.length) {
      low = 0;
      stem = random + (++high).toString(16);
    }
    return stem + DIGITS[low++];
  };
}

const DIGITS = Array.from({ length: 0x1000 }, (_, i) => i.toString(16).padStart(3, '0'));
