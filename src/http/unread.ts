/**
 * Answers that are made and not taken: a client that asks for much and reads nothing would have the server keep it all, and a few dozen
 * such clients all of its memory. In: the server, and responses as they begin. Out: once all answers together hold too much, the
 * connections that hold most are closed.
 */
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface UnreadLimits {
  /** Bytes of all answers that wait for their clients. */
  readonly atMost: number;
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Told of each connection that is closed, with the bytes that it held. */
  readonly cutOff: (bytes: number) => void;
}

/** Tell it of each response at its beginning, but of those whose bytes others share. */
export function boundUnread(
  server: Server,
  { atMost, every, cutOff }: UnreadLimits,
): (response: ServerResponse) => void {
  const connections = new Map<Socket, Set<ServerResponse>>();

  server.on('connection', socket => {
    connections.set(socket, new Set());
    socket.once('close', () => connections.delete(socket));
  });

  const look = (): void => {
    let all = 0;
    for (const [socket, responses] of connections) all += heldBy(socket, responses);
    if (all <= atMost) return;
    const held = [...connections].map(([socket, responses]) => ({ socket, bytes: heldBy(socket, responses) }));
    for (const { socket, bytes } of held.sort((a, b) => b.bytes - a.bytes)) {
      if (all <= atMost) return;
      all -= bytes;
      cutOff(bytes);
      socket.destroy();
    }
  };
  const timer = setInterval(look, every).unref();
  server.once('close', () => clearInterval(timer));

  return response => {
    const responses = connections.get(response.req.socket);
    if (responses === undefined) return;
    responses.add(response);
    response.once('close', () => responses.delete(response));
  };
}

/** What the connection is sending, and what waits behind it. */
function heldBy(socket: Socket, responses: ReadonlySet<ServerResponse>): number {
  let bytes = socket.writableLength;
  for (const response of responses) if (response.socket === null) bytes += response.writableLength;
  return bytes;
}
