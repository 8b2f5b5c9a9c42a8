/**
 * Works out the cache key of a request from its headers before the application runs, so that a kept answer is sent
 * directly. In: a request as Node has it. Out: the start of the key, the coding, and what the token says; undefined
 * where the application has to look at it. Headers are read once for each connection. A token is checked with every
 * request, because it may have ended.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { type Access, NO_ACCESS, OPEN_ACCESS } from '../../auth/access.ts';
import { answerKey } from '../../cache/answers.ts';
import type { AppParts } from '../context.ts';
import { isUnkept } from '../middleware/answer-cache.ts';
import { type Decision, tokenOf } from '../middleware/bearer.ts';
import { codingOf } from '../middleware/compress.ts';
import { ownHost } from '../middleware/limits.ts';
import { isHost } from './malformed.ts';

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
  const { config, entry } = parts;
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
