/**
 * Limits the number of connections, per address and in total; the requests in flight per connection; and the bytes of
 * answers that clients do not read. In: the server, and each response as it begins. Out: closed connections, idle and
 * slow ones first.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface ConnectionLimits {
  /** Connections: in total, and per address. */
  readonly most: number;
  readonly perAddress: number;
  /** Unanswered requests per connection. */
  readonly inRow: number;
  /**
   * Requests per connection in one turn of the event loop, answered or not: Node handles all requests that arrive in
   * one piece before any other.
   */
  readonly inTurn: number;
  /** Bytes of all answers that clients have not read. */
  readonly unread: number;
  /**
   * Milliseconds for which a client may read nothing, and the pace in bytes per millisecond at which it has to read
   * more.
   */
  readonly timeLimit: number;
  readonly pace: number;
  /** Milliseconds between two checks. */
  readonly every: number;
  /** Called for each connection that is closed because its client does not read, with its unread bytes. */
  readonly cutOff: (bytes: number) => void;
  /** Called with the number of connections closed since the last call because there were too many. */
  readonly crowded: (connections: number) => void;
}

export interface Connections {
  /**
   * Takes each request as soon as its head has arrived. False: the connection is closed, because it sent too many at
   * once.
   */
  asked(request: IncomingMessage): boolean;
  /**
   * Takes each response at its beginning, except cache hits, whose bytes are shared. False: the connection is closed,
   * and nobody waits for the answer.
   */
  begun(response: ServerResponse): boolean;
}

interface Connection {
  /** With TLS: the TCP socket until the handshake is complete, then the TLS socket. */
  socket: Socket;
  readonly address: string;
  readonly responses: Set<ServerResponse>;
  requests: number;
  /** The last turn of the event loop with a request, and the number of requests in it. */
  turn: number;
  asked: number;
  /** Requests at the last check. Time in milliseconds at which a check last found new ones, or the connection began. */
  seen: number;
  used: number;
  /** Bytes that the client has taken, and since when it has taken none; undefined: nothing waits for it. */
  taken: number;
  since: number | undefined;
}

const CONNECTION = Symbol('connection');
type Known = Socket & { [CONNECTION]?: Connection };

export function boundConnections(
  server: Server,
  { most, perAddress, inRow, inTurn, unread, timeLimit, pace, every, cutOff, crowded }: ConnectionLimits,
): Connections {
  const connections = new Set<Connection>();
  const byAddress = new Map<string, number>();
  let closed = 0;
  /** Turns of the event loop with at least one request. */
  let turn = 0;
  let isOver = true;
  const nextTurn = (): void => {
    turn++;
    isOver = true;
  };

  const forget = (connection: Connection): void => {
    if (!connections.delete(connection)) return;
    const left = (byAddress.get(connection.address) ?? 1) - 1;
    if (left === 0) byAddress.delete(connection.address);
    else byAddress.set(connection.address, left);
  };

  const cut = (connection: Connection): void => {
    forget(connection);
    connection.socket.destroy();
  };

  const makeRoom = (newest: Connection, isRival: (other: Connection) => boolean): void => {
    let victim = newest;
    for (const other of connections)
      if (other.used <= victim.used && other !== newest && isRival(other) && !isWaiting(other)) victim = other;
    closed++;
    cut(victim);
  };

  // With TLS, a request refers to the TLS socket, but at first only the TCP socket exists.
  const isSecure = server instanceof SecureServer;
  const agreeing = new Map<string, Connection>();
  server.on('secureConnection', (socket: TLSSocket & Known) => {
    const connection = agreeing.get(peerOf(socket));
    if (connection === undefined) {
      socket.destroy();
      return;
    }
    agreeing.delete(peerOf(socket));
    connection.socket = socket;
    socket[CONNECTION] = connection;
  });

  server.on('connection', (socket: Known) => {
    const address = socket.remoteAddress ?? '';
    const peer = peerOf(socket);
    const used = performance.now();
    const connection: Connection = {
      socket,
      address,
      responses: new Set<ServerResponse>(),
      requests: 0,
      turn: 0,
      asked: 0,
      seen: 0,
      used,
      taken: 0,
      since: undefined,
    };
    socket[CONNECTION] = connection;
    connections.add(connection);
    byAddress.set(address, (byAddress.get(address) ?? 0) + 1);
    if (isSecure) agreeing.set(peer, connection);
    socket.once('close', () => {
      agreeing.delete(peer);
      forget(connection);
    });
    if ((byAddress.get(address) ?? 0) > perAddress) makeRoom(connection, other => other.address === address);
    else if (connections.size > most) makeRoom(connection, () => true);
  });

  /** Closes the connections with the most unread bytes until the total is within the limit. */
  const boundBytes = (): void => {
    let all = 0;
    for (const connection of connections) all += heldBy(connection);
    if (all <= unread) return;
    const held = [...connections].map(connection => ({ connection, bytes: heldBy(connection) }));
    for (const { connection, bytes } of held.sort((a, b) => b.bytes - a.bytes)) {
      if (all <= unread) return;
      all -= bytes;
      cutOff(bytes);
      cut(connection);
    }
  };

  const look = (): void => {
    const now = performance.now();
    for (const connection of connections) {
      if (connection.requests !== connection.seen) {
        connection.seen = connection.requests;
        connection.used = now;
      }
      const bytes = connection.socket.writableLength;
      if (!isStuck(connection, bytes, now, timeLimit + bytes / pace)) continue;
      cutOff(bytes);
      cut(connection);
    }
    boundBytes();
    if (closed > 0) crowded(closed);
    closed = 0;
  };
  const timer = setInterval(look, every).unref();
  server.once('close', () => clearInterval(timer));

  return {
    asked({ socket }) {
      const connection = (socket as Known)[CONNECTION];
      if (connection === undefined) return true;
      // Requests pipelined behind the one that exceeded the limit arrive here too.
      if (socket.destroyed) return false;
      connection.requests++;
      if (isOver) {
        isOver = false;
        setImmediate(nextTurn);
      }
      connection.asked = connection.turn === turn ? connection.asked + 1 : 1;
      connection.turn = turn;
      if (connection.asked <= inTurn) return true;
      cut(connection);
      return false;
    },
    begun(response) {
      const { socket } = response.req;
      const responses = (socket as Known)[CONNECTION]?.responses;
      if (responses === undefined || socket.destroyed) return false;
      responses.add(response);
      response.once('close', () => responses.delete(response));
      if (responses.size <= inRow) return true;
      socket.destroy();
      return false;
    },
  };
}

/** Returns address and port, which differ between any two open connections. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** True if a request has arrived completely and is not answered. */
function isWaiting({ responses }: Connection): boolean {
  for (const { req } of responses) if (req.complete) return true;
  return false;
}

/**
 * True if the client has taken nothing for `timeLimit` milliseconds. Node counts a large text as taken only when all of
 * it is.
 */
function isStuck(connection: Connection, bytes: number, now: number, timeLimit: number): boolean {
  const taken = connection.socket.bytesWritten - bytes;
  if (bytes === 0 || connection.since === undefined || taken !== connection.taken) {
    connection.taken = taken;
    connection.since = bytes === 0 ? undefined : now;
  }
  return connection.since !== undefined && now - connection.since > timeLimit;
}

/** Bytes that the connection is sending, and those of the responses queued behind them. */
function heldBy({ socket, responses }: Connection): number {
  let bytes = socket.writableLength;
  for (const response of responses) if (response.socket === null) bytes += response.writableLength;
  return bytes;
}
