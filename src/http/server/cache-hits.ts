/**
 * Kept answers, sent without a framework in between: where the same plain GET was answered before, what it takes is a
 * look into the cache and the bytes. In: a request as Node has it. Out: true, and it is answered with the headers that
 * the application gave the first time; or false, and the application has to answer. Whatever is not surely the same is
 * false, and so is a token that was not seen before or has ended since.
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
import { type AnsweredAlike, isTraced, tellHits } from '../middleware/request-log.ts';
import { isPublic } from '../public.ts';
import { answerFailure, isHost } from './malformed.ts';

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
  /** What the audit says of each sending to a caller on one connection. */
  readonly records: WeakMap<Asking, { readonly url: string; readonly record: RecordOfHits }>;
}

const formsOf = new WeakMap<Answer, Forms>();

/** Remembers how a plain GET was answered. Stands around everything that sets headers. */
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

/** Undefined where nothing is kept. */
export function answerHits(parts: AppParts): Hits | undefined {
  const { answers, audit, config, facade, log } = parts;
  if (answers === undefined) return undefined;
  const { cache, version } = answers;
  const askingOf = knownClients(parts, version);
  const nextId = createIds();
  const tell = tellHits(parts);
  const told = isPublic(config.fhirPath);
  const isOpen = (url = '/'): boolean => told(url.split('?', 1)[0] ?? url);

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
    // The application says so.
    if (asking.meter !== undefined && asking.meter.take() > 0) return false;
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
      const record = recordFor(asking, request.url ?? '/', answer, found, forms);
      asking.meter?.charge(furtherUnits(record));
      const refuse = (): void => {
        response.writeHead(503, { ...UNWRITTEN.headers, 'X-Request-Id': id });
        response.end(UNWRITTEN.body);
        tell({ ...alike, status: 503, bytes: UNWRITTEN.body.length }, id, performance.now() - begun);
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
 * UUIDs in form: a random half, and a half that counts, for a random one each time costs as much as the look-up. The
 * last digits come from a table, for a number of that size takes longer to write.
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
  /** All of the key but the address. */
  readonly stem: string;
  /** '' for none. */
  readonly coding: string;
  readonly access: Access;
  /** Absent without a token. */
  readonly grant?: Decision['grant'];
  /** Of the peer. */
  readonly address: string;
  /** Of this server, as the client addressed it. */
  readonly hostname: string;
  /** Counts the requests of the client, if anybody counts. */
  readonly meter?: Meter | undefined;
}

type Caller = Pick<Decision, 'access'> & Partial<Pick<Decision, 'grant'>>;

interface Client {
  /** Headers, without the value of the token. */
  readonly raw: readonly string[];
  /** Where that value stands; -1: nowhere. */
  readonly tokenAt: number;
  /** Undefined where the application has to answer. */
  readonly asks: ((caller: Caller) => Asking) | undefined;
  /** Who asked last, and for what. */
  last?: { readonly caller: Caller; readonly asking: Asking };
}

type Known = Socket & { readonly encrypted?: boolean };

/** Characters of all headers; more are not remembered with the connection, and the application answers. */
const HEADERS_AT_MOST = 4096;

/** Of whoever sends so much that it is looked at each time. */
const LONG: Client = { raw: [], tokenAt: -1, asks: undefined };

const OPEN: Caller = { access: OPEN_ACCESS };
const NOBODY: Caller = { access: NO_ACCESS };

/** `version`: of the mappings. */
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

  /** Of these parts: after a reload the same connection has another, and holds nothing of those before. */
  const clients = new WeakMap<Socket, Client>();
  const known = (socket: Known, raw: readonly string[]): Client => {
    const kept = clients.get(socket);
    if (kept !== undefined && isSame(kept, raw)) return kept;
    const made = clientOf(raw, socket.encrypted === true ? 'https' : 'http', socket.remoteAddress);
    if (made !== LONG) clients.set(socket, made);
    return made;
  };

  /** Undefined: no token that was seen before and is still good. */
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

/** Headers that the key holds, that choose a compressed form, or that say who asks. */
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
 * Undefined where there is a header that an answer may depend on, or one that counts stands there twice. `byToken`: the
 * server lets people in by access token; on one that is open nobody expects credentials.
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
