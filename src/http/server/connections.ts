/**
 * Limits connections: their number, per address and in all; requests in flight per connection; and answers that a
 * client does not read, whose bytes the server must keep. In: the server, and responses as they begin. Out:
 * connections that are closed, idle and slow ones first.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as SecureServer } from 'node:https';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

export interface ConnectionLimits {
  /** Connections: in all, and of one address. */
  readonly most: number;
  readonly perAddress: number;
  /** Requests of one connection that are not answered. */
  readonly inRow: number;
  /**
   * Requests of one connection in one turn of the event loop, answered or not: all that came in one piece is worked on
   * before anybody else.
   */
  readonly inTurn: number;
  /** Bytes of all answers that wait for their clients. */
  readonly unread: number;
  /**
   * Milliseconds that a client may take nothing of what is sent to it, and bytes in a millisecond that it has to take
   * of more.
   */
  readonly timeLimit: number;
  readonly pace: number;
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Told of each connection that is closed because its client takes no answers, with the bytes that it held. */
  readonly cutOff: (bytes: number) => void;
  /** Told of how many connections were closed since the last time because there were too many. */
  readonly crowded: (connections: number) => void;
}

export interface Connections {
  /** Each request, as soon as its head is there. False: the connection is closed, for it asked for too much at once. */
  asked(request: IncomingMessage): boolean;
  /**
   * Each response at its beginning, but those whose bytes others share. False: the connection is closed, nobody waits
   * for it.
   */
  begun(response: ServerResponse): boolean;
}

interface Connection {
  /** With TLS that of the network, until both sides have agreed on it. */
  socket: Socket;
  readonly address: string;
  readonly responses: Set<ServerResponse>;
  requests: number;
  /** The last turn of the event loop in which it asked, and how often. */
  turn: number;
  asked: number;
  /** Requests at the last look, and when there were more for the last time (or it began): milliseconds. */
  seen: number;
  used: number;
  /** What its client has taken, and since when it has taken nothing; undefined: nothing waits for it. */
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
  /** Turns of the event loop in which somebody asked. */
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

  // With TLS a request knows the socket within that of the network, which alone is there from the beginning.
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

  /** Closes those that hold most, until the rest is little enough. */
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
      // What stood behind too much in one piece comes here, too.
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

/** Of two connections at a time it differs. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Some request of it has come as a whole and is not answered. */
function isWaiting({ responses }: Connection): boolean {
  for (const { req } of responses) if (req.complete) return true;
  return false;
}

/**
 * Whether the client has taken nothing of what is sent to it for so long; a large text is taken all at once, as far as
 * can be seen.
 */
function isStuck(connection: Connection, bytes: number, now: number, timeLimit: number): boolean {
  const taken = connection.socket.bytesWritten - bytes;
  if (bytes === 0 || connection.since === undefined || taken !== connection.taken) {
    connection.taken = taken;
    connection.since = bytes === 0 ? undefined : now;
  }
  return connection.since !== undefined && now - connection.since > timeLimit;
}

/** What the connection is sending, and what waits behind it. */
function heldBy({ socket, responses }: Connection): number {
  let bytes = socket.writableLength;
  for (const response of responses) if (response.socket === null) bytes += response.writableLength;
  return bytes;
}
