/**
 * Connections that end while their clients are still sending. In: a connection whose last bytes are on their way. Out: it is closed when
 * the client has read them, or a moment later whatever the client does. Closed at once, it would be reset, and the client would see
 * nothing of the answer. RFC 9112 section 9.6
 */
import type { Duplex } from 'node:stream';

/** Milliseconds. */
const LINGER = 500;

/** What still comes is read and dropped. */
export function lingerOn(socket: Duplex): void {
  socket.resume();
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => clearTimeout(timer));
}
