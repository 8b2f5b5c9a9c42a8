/**
 * Sends cached answers without passing through the web framework: a cache lookup, then the stored bytes. In: a Node
 * request. Out: true if it was answered, with the headers that the application set the first time; false if the
 * application has to answer. It also has to if the answer might differ from the cached one, or if the token was not
 * seen before or has ended.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { createMiddleware } from 'hono/factory';
import { type Access, NO_ACCESS, OPEN_ACCESS } from '../../auth/access.ts';
import type { Meter } from '../../auth/meter.ts';
import { answerKey } from '../../cache/answers.ts';
import { describeError } from '../../log.ts';
import type { AppParts, HttpEnv } from '../context.ts';
import { type Answer, SMALL } from '../middleware/answer.ts';
import { hitStatus, isUnkept } from '../middleware/answer-cache.ts';
import { type RecordOfHits, recordOfHits, UNWRITTEN } from '../middleware/audit.ts';
import { type Decision, tokenOf } from '../middleware/bearer.ts';
import { type Coding, codingOf, isWorthCoding } from '../middleware/compress.ts';
import { ownHost } from '../middleware/limits.ts';
import { clientMeter, furtherUnits } from '../middleware/rate.ts';
import { type AnsweredAlike, isTraced, logHits } from '../middleware/request-log.ts';
import { isPublic } from '../public.ts';
import { answerFailure, isHost } from './malformed.ts';

export type Hits = (request: IncomingMessage, response: ServerResponse) => boolean;

/** A complete response, without the headers that differ per request. */
interface Sendable {
  readonly alike: AnsweredAlike;
  /** Alternating names and values; the values at ID and STATUS are set before each sending. */
  readonly headers: string[];
  /** A small body is a Latin-1 string, because Node sends a string in one piece with the head. */
  readonly body: string | Buffer;
}

const ID = 1;
const STATUS = 3;

/** Headers whose values differ per request. */
const OWN = new Set(['cache-status', 'date', 'server-timing', 'x-correlation-id', 'x-request-id']);

interface Forms {
  readonly worthCoding: boolean;
  /** Keyed by content coding; '' for none. */
  readonly sendable: Map<string, Sendable>;
  /** Audit records of this answer, by caller and connection. */
  readonly records: WeakMap<Asking, { readonly url: string; readonly record: RecordOfHits }>;
}

const formsOf = new WeakMap<Answer, Forms>();

/** Remembers how a plain GET was answered. Has to wrap all middleware that sets headers. */
export const rememberAnswers = ({ config }: Pick<AppParts, 'config'>) =>
  createMiddleware<HttpEnv>(async (c, next) => {
    await next();
    const answer = c.get('answer');
    if (answer === undefined || c.res.status !== 200 || c.req.method !== 'GET') return;
    const raw = c.env?.incoming?.rawHeaders ?? Object.entries(c.req.header()).flat();
    if (askedOf(raw, config.access !== 'open') === undefined) return;
    const forms = formsOf.get(answer) ?? {
      worthCoding: isWorthCoding(answer, answer.contentType),
      sendable: new Map(),
      records: new WeakMap(),
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

/** Returns the function that answers hits; undefined if no cache is configured. */
export function answerHits(parts: AppParts): Hits | undefined {
  const { answers, audit, config, facade, log } = parts;
  if (answers === undefined) return undefined;
  const { cache, version } = answers;
  const askingOf = knownClients(parts, version);
  const nextId = createIds();
  const logHit = logHits(parts);
  const needsNoToken = isPublic(config.fhirPath);
  const isOpen = (url = '/'): boolean => needsNoToken(url.split('?', 1)[0] ?? url);

  const recordFor = (asking: Asking, url: string, { patients }: Answer, { alike }: Sendable, { records }: Forms) => {
    const known = records.get(asking);
    if (known?.url === url) return known.record;
    const record = recordOfHits({ url, route: alike.route, patients, ...asking }, config, facade);
    records.set(asking, { url, record });
    return record;
  };

  return (request, response) => {
    if (request.method !== 'GET' || isTraced()) return false;
    const begun = performance.now();
    const asking = askingOf(request);
    if (asking === undefined) return false;
    const ready = cache.ready(asking.stem + request.url);
    if (ready === undefined) return false;
    const { answer, ttl } = ready;
    const forms = formsOf.get(answer);
    const found = forms?.sendable.get(forms.worthCoding ? asking.coding : '');
    if (forms === undefined || found === undefined) return false;
    // The client is over its rate limit: the application answers with 429.
    if (asking.meter !== undefined && asking.meter.take() > 0) return false;
    cache.sent();
    const { alike, headers, body } = found;
    const id = nextId();
    const send = (): void => {
      headers[ID] = id;
      headers[STATUS] = hitStatus(ttl);
      response.writeHead(200, headers);
      response.end(body, 'latin1');
      logHit(alike, id, performance.now() - begun);
    };
    if (audit === undefined || isOpen(request.url)) send();
    else {
      const record = recordFor(asking, request.url ?? '/', answer, found, forms);
      asking.meter?.charge(furtherUnits(record));
      const refuse = (): void => {
        response.writeHead(503, { ...UNWRITTEN.headers, 'X-Request-Id': id });
        response.end(UNWRITTEN.body);
        logHit({ ...alike, status: 503, bytes: UNWRITTEN.body.length }, id, performance.now() - begun);
      };
      const fail = (error: unknown): void => {
        log.error('unexpected error', { request: id, ...describeError(error) });
        answerFailure(response);
      };
      audit
        .write({ at: Date.now(), request: id, ...record })
        .then(send, refuse)
        .catch(fail);
    }
    return true;
  };
}

/**
 * Returns a generator of ids in the form of UUIDs: a random half and a counter, because a random UUID for each request
 * costs as much as the cache lookup. The last digits come from a table, which is faster than formatting a number.
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

export interface Asking {
  /** The cache key without the URL. */
  readonly stem: string;
  /** Content coding; '' for none. */
  readonly coding: string;
  readonly access: Access;
  /** Absent without a token. */
  readonly grant?: Decision['grant'];
  /** Address of the peer. */
  readonly address: string;
  /** Host name of this server, as the client addressed it. */
  readonly hostname: string;
  /** Counts the client's requests; undefined without a rate limit. */
  readonly meter?: Meter | undefined;
}

type Caller = Pick<Decision, 'access'> & Partial<Pick<Decision, 'grant'>>;

interface Client {
  /** Headers, without the value of the token. */
  readonly raw: readonly string[];
  /** Index of that value in `raw`; -1: no token. */
  readonly tokenAt: number;
  /** Derives how a caller asks; undefined if the application has to answer. */
  readonly asks: ((caller: Caller) => Asking) | undefined;
  /** The last caller on this connection, and what was derived for it. */
  last?: { readonly caller: Caller; readonly asking: Asking };
}

type Known = Socket & { readonly encrypted?: boolean };

/** Characters of all headers. Longer ones are not stored with the connection, and the application answers. */
const HEADERS_AT_MOST = 4096;

/** Client with longer headers: they are read again at each request. */
const LONG: Client = { raw: [], tokenAt: -1, asks: undefined };

const OPEN: Caller = { access: OPEN_ACCESS };
const NOBODY: Caller = { access: NO_ACCESS };

/** Finds the caller of a request, remembered per connection. `version`: of the mappings. */
export function knownClients(parts: AppParts, version: string): (request: IncomingMessage) => Asking | undefined {
  const { config, entry, rate } = parts;
  const byToken = config.access !== 'open';
  const mayAsk = ownHost(parts);

  const clientOf = (raw: readonly string[], scheme: string, address = 'unknown'): Client => {
    if (raw.reduce((sum, text) => sum + text.length, 0) > HEADERS_AT_MOST) return LONG;
    const asked = askedOf(raw, byToken);
    const tokenAt = raw.findIndex((name, i) => i % 2 === 0 && name.toLowerCase() === 'authorization') + 1 || -1;
    const client = { raw: tokenAt < 0 ? raw : raw.with(tokenAt, ''), tokenAt, asks: undefined };
    const url = URL.parse(`${scheme}://${asked?.host}`);
    if (asked?.host === undefined || url === null || !isHost(asked.host) || !mayAsk(url.hostname)) return client;
    if (isUnkept(asked.accept)) return client;
    const base = (config.baseUrl ?? url.origin) + config.fhirPath;
    const { handling } = config;
    const coding = codingOf(asked['accept-encoding']) ?? '';
    const asks = (caller: Caller): Asking => ({
      ...caller,
      stem: answerKey({ version, access: caller.access, base, handling, accept: asked.accept, target: '' }),
      coding,
      address,
      hostname: url.hostname,
      meter: rate && clientMeter(rate, caller.grant, address),
    });
    return { ...client, asks };
  };

  /**
   * Belongs to these parts: after a reload, the same connection gets a new entry and keeps nothing of the old parts.
   */
  const clients = new WeakMap<Socket, Client>();
  const known = (socket: Known, raw: readonly string[]): Client => {
    const kept = clients.get(socket);
    if (kept !== undefined && isSame(kept, raw)) return kept;
    const made = clientOf(raw, socket.encrypted === true ? 'https' : 'http', socket.remoteAddress);
    if (made !== LONG) clients.set(socket, made);
    return made;
  };

  /** Returns the caller; undefined if the token was not seen before or is no longer valid. */
  const callerOf = (header: string | undefined): Caller | undefined => {
    if (!byToken) return OPEN;
    if (header === undefined) return NOBODY;
    const token = tokenOf(header);
    return token === undefined ? undefined : entry?.known(token);
  };

  return ({ socket, rawHeaders }) => {
    const client = known(socket, rawHeaders);
    if (client.asks === undefined) return undefined;
    const caller = callerOf(client.tokenAt < 0 ? undefined : rawHeaders[client.tokenAt]);
    if (caller === undefined) return undefined;
    if (client.last?.caller !== caller) client.last = { caller, asking: client.asks(caller) };
    return client.last.asking;
  };
}

function isSame({ raw, tokenAt }: Client, now: readonly string[]): boolean {
  if (raw.length !== now.length) return false;
  for (let i = 0; i < raw.length; i++) if (i !== tokenAt && raw[i] !== now[i]) return false;
  return true;
}

/** Headers that are part of the cache key, choose a content coding, or identify the caller. */
const ASKED = ['host', 'accept', 'accept-encoding', 'authorization'] as const;

export type Asked = Readonly<Record<(typeof ASKED)[number], string | undefined>>;

/** Headers that no answer depends on. */
const IDLE = [
  ...['accept-language', 'connection', 'forwarded', 'keep-alive', 'priority', 'referer', 'user-agent', 'via'],
  ...['sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user'],
  ...['x-forwarded-for', 'x-forwarded-host', 'x-forwarded-port', 'x-forwarded-proto', 'x-real-ip'],
];

const MEANING = new Map<string, keyof Asked | 'idle'>([
  ...ASKED.map(name => [name, name] as const),
  ...IDLE.map(name => [name, 'idle'] as const),
]);

/**
 * Returns undefined if a header may affect the answer, or if a header in ASKED occurs twice. `byToken`: the server
 * requires access tokens; an open server expects no credentials.
 */
export function askedOf(raw: readonly string[], byToken: boolean): Asked | undefined {
  const asked: Partial<Record<keyof Asked, string | undefined>> = {};
  for (let i = 0; i < raw.length; i += 2) {
    const meaning = MEANING.get(raw[i]?.toLowerCase() ?? '');
    if (meaning === 'idle') continue;
    if (meaning === undefined || asked[meaning] !== undefined) return undefined;
    if (meaning === 'authorization' && !byToken) return undefined;
    asked[meaning] = raw[i + 1];
  }
  const { host, accept, authorization } = asked;
  return { host, accept, authorization, 'accept-encoding': asked['accept-encoding'] };
}
