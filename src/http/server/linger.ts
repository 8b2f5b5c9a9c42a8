/**
 * Closes connections whose clients are still sending. In: a connection whose last bytes are being sent. Out: it is
 * closed when the client has read them, or after a moment. If it were closed at once, it would be reset and the client
 * would not see the answer.
 * RFC 9112 section 9.6
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
