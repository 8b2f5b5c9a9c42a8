/**
 * Appends lines to a file. In: lines. Out: their UTF-8, written whenever the buffer is full. `sync` writes the rest
 * and flushes it to disk.
 */
import { closeSync, constants, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';

/** Bytes that are written at once. */
const BUFFER = 1 << 18;
/** Characters that are joined before they are encoded: longer strings are garbage that costs more than the writing. */
const JOINED = 1 << 14;

export interface Lines {
  /** Length of the file once all is written. */
  readonly bytes: number;
  /** Throws what `claim` throws, or the system's error. */
  add(lines: readonly string[]): void;
  /** Returns once all bytes have reached the disk. */
  sync(): void;
  /** Forgets what was not written. */
  close(): void;
}

/** Opens a file cut to a length. `claim` is told of bytes before they are written, and may throw. */
export function openLines(file: string, length: number, claim: (bytes: number) => void): Lines {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
  ftruncateSync(descriptor, length);
  // One buffer for all: fresh memory for each batch costs more than the writing itself.
  let buffer = Buffer.allocUnsafeSlow(BUFFER);
  let [written, filled] = [length, 0];

  const flush = (): void => {
    if (filled === 0) return;
    claim(filled);
    for (let at = 0; at < filled; ) at += writeSync(descriptor, buffer, at, filled - at, written + at);
    written += filled;
    filled = 0;
  };
  const encode = (text: string): void => {
    // No UTF-16 unit takes more than three bytes; to count them exactly costs as much as to write them.
    const most = text.length * 3;
    if (filled + most > buffer.byteLength) flush();
    if (most > buffer.byteLength) buffer = Buffer.allocUnsafeSlow(most);
    filled += buffer.write(text, filled, 'utf8');
  };

  return {
    get bytes() {
      return written + filled;
    },
    add(lines) {
      for (let at = 0; at < lines.length; ) {
        let text = '';
        while (at < lines.length && text.length < JOINED) text += `${lines[at++]}\n`;
        encode(text);
      }
    },
    sync() {
      flush();
      fdatasyncSync(descriptor);
    },
    close() {
      closeSync(descriptor);
    },
  };
}
