/**
 * Listens, and stops gracefully: on close it accepts no connection, lets requests in flight finish within the drain
 * time, and cuts off the rest.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import type { Hono } from 'hono';
import type { HttpEnv } from '../context.ts';
import type { Hits } from './cache-hits.ts';
import { boundConnections, type ConnectionLimits } from './connections.ts';
import {
  answerFailure,
  answerOfMalformed,
  createRefusals,
  nameHost,
  refuseMalformed,
  refuseRequest,
} from './malformed.ts';
import type { Tls } from './tls.ts';

export interface RunningServer {
  /** `http://host:port` or `https://host:port`, with the actual host and port. */
  readonly url: string;
  /** Resolves when every connection is closed. */
  close(): Promise<void>;
}

/** An application, or a function that chooses one per request; and what answers before it. */
export interface Answers extends Pick<Hono<HttpEnv>, 'fetch'> {
  readonly hits?: Hits | undefined;
  /** True if requests are refused, which costs almost nothing. Probes and logins are not refused. */
  readonly isFull?: (() => boolean) | undefined;
  /**
   * Answers requests that are not for an application, such as those to the authorization server; false: not one of
   * these.
   */
  readonly aside?: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Undefined: plain HTTP. */
  readonly tls?: Tls | undefined;
  /** Milliseconds for requests in flight to finish on close. */
  readonly drain: number;
  /** Milliseconds after which an inactive connection is closed: longer than any request may take. Default: never. */
  readonly idle?: number;
  readonly connections?: Partial<ConnectionLimits>;
  /**
   * Milliseconds that a request may take to arrive: its head, and all of it. A TLS handshake may take as long as a
   * head.
   */
  readonly arrival?: { readonly head: number; readonly whole: number };
  /** Called for each request that no application saw, with its status. */
  readonly refused?: (status: number) => void;
  /**
   * Called with an error thrown outside the application; the request is answered with 500. Default: ends the process.
   */
  readonly failed?: (error: unknown) => void;
}

const CONNECTIONS: ConnectionLimits = {
  ...{ most: 4000, perAddress: 2000, inRow: 100, inTurn: 16 },
  ...{ unread: 256 * 1024 * 1024, timeLimit: 20_000, pace: 256, every: 200 },
  ...{ cutOff: () => {}, crowded: () => {} },
};

const ARRIVAL = { head: 10_000, whole: 20_000 } as const;

const serverOptions = ({ head, whole }: NonNullable<ListenOptions['arrival']>): ServerOptions => ({
  headersTimeout: head,
  requestTimeout: whole,
  // How late a timeout may be noticed.
  connectionsCheckingInterval: Math.ceil(head / 10),
  keepAliveTimeout: 65_000,
  maxHeaderSize: 16_384,
  // Node's own refusal of a request without Host gives no reason.
  requireHostHeader: false,
});

/** Rejects if the port is taken or the address is not this machine's. */
export async function listen(
  { fetch, hits = () => false, isFull = () => false, aside = () => false }: Answers,
  { host, port, tls, drain, idle = 0, connections = {}, arrival = ARRIVAL, refused = () => {}, ...rest }: ListenOptions,
): Promise<RunningServer> {
  const errorHandler = (error: unknown): Response => {
    const response = answerOfMalformed(error);
    refused(response.status);
    return response;
  };
  const answer = getRequestListener(fetch, { errorHandler });
  const answers = new WeakMap<Duplex, ServerResponse>();
  const refuseLater = createRefusals();
  /** TLS connections accepted under the current authority of client certificates, if there is one. */
  let agreed = new WeakSet<Duplex>();
  const take = (request: IncomingMessage, response: ServerResponse): void => {
    if (!bounded.asked(request)) return;
    if (secure !== undefined && !agreed.has(request.socket)) {
      request.socket.destroy();
      return;
    }
    if (hits(request, response)) return;
    nameHost(request);
    const status = refuseRequest(request, response);
    if (status !== undefined) {
      refused(status);
      return;
    }
    if (isFull() && !isReserved(request)) {
      refused(503);
      refuseLater(response);
      return;
    }
    if (!bounded.begun(response)) return;
    answers.set(request.socket, response);
    if (!aside(request, response)) answer(request, response);
  };
  const { failed = rethrow } = rest;
  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    try {
      take(request, response);
    } catch (error) {
      failed(error);
      answerFailure(response);
    }
  };
  const secure =
    tls && createSecureServer({ ...serverOptions(arrival), ...tls.options, handshakeTimeout: arrival.head }, listener);
  const server = secure ?? createServer(serverOptions(arrival), listener);
  const distrust = (): void => {
    agreed = new WeakSet();
    server.closeIdleConnections();
  };
  const unfollow = secure && tls?.follow(secure, distrust);
  const bounded = boundConnections(server, { ...CONNECTIONS, ...connections });
  server.timeout = idle;
  secure?.on('secureConnection', socket => agreed.add(socket));
  server.on('clientError', (error, socket) => {
    // Without a completed TLS handshake the client can be told nothing, and nobody else closes the connection.
    if (secure !== undefined && !agreed.has(socket)) {
      socket.destroy();
      return;
    }
    const last = answers.get(socket);
    const status = refuseMalformed(error, socket, last?.headersSent === true && !last.writableEnded);
    if (status !== undefined) refused(status);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    // If the kernel's queue is full, the client retries after 1 s, then 3 s, then 7 s.
    server.listen({ port, host, backlog: connections.most ?? CONNECTIONS.most }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { address, family, port: actual } = server.address() as AddressInfo;
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${family === 'IPv6' ? `[${address}]` : address}:${actual}`,
    close() {
      unfollow?.();
      return drainServer(server, drain);
    },
  };
}

function rethrow(error: unknown): never {
  throw error;
}

/** True for requests that are answered under any load: probes show how the server fares, logins let people in. */
function isReserved({ method, url = '' }: IncomingMessage): boolean {
  return RESERVED.test(url) || (method === 'POST' && !url.includes('_search'));
}

const RESERVED = /^\/(health|ready|metrics)(\?|$)|\/(users|auth|\.well-known)\//;

/** Closes connections that become idle while the server drains: clients would keep them open. */
function drainServer(server: Server, drain: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const sweep = setInterval(() => server.closeIdleConnections(), 50);
    const deadline = setTimeout(() => server.closeAllConnections(), drain);
    server.close(error => {
      clearInterval(sweep);
      clearTimeout(deadline);
      if (error) reject(error);
      else resolve();
    });
  });
}
