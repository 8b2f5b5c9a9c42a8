/**
 * Writes the files of a part. In: JSON texts. Out: NDJSON files of a bounded number of lines. Bytes after the recorded
 * length belong to an unfinished batch and are cut off when a file is opened.
 */

import { closeSync, constants, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { lacksRoom } from '../common/reason.ts';
import type { FileState } from './job.ts';
import { collectedFile, outputFile } from './store.ts';

/** Bytes that all jobs together may take, and those they take, counted across threads. */
export interface Quota {
  readonly used: BigInt64Array;
  readonly limit: number;
}

/** The quota is used up. If the disk is full, the error is the system's own. */
export class QuotaError extends Error {
  override readonly name = 'QuotaError';
}

export function isDiskFull(error: unknown): boolean {
  return error instanceof QuotaError || lacksRoom(error);
}

export interface Output {
  readonly files: readonly FileState[];
  readonly collected: number;
  /** Writes texts. Throws QuotaError, or the system's error. `headers`: how many of the texts are headers of blocks. */
  write(texts: readonly string[], headers?: number): void;
  collect(references: readonly string[]): void;
  /** Returns when all bytes have reached the disk. */
  sync(): void;
  close(): void;
}

export interface OutputOptions {
  readonly folder: string;
  readonly part: number;
  readonly files: readonly FileState[];
  readonly collected: number;
  /** Lines per file; texts of one call are never split. */
  readonly fileLines: number;
  readonly quota: Quota;
}

export function openOutput(options: OutputOptions): Output {
  const { folder, part, fileLines, quota } = options;
  const files: FileState[] = [...options.files];
  let collected = options.collected;
  let output: Lines | undefined;
  let references: Lines | undefined;
  /** Bytes that are counted but not yet recorded: a run that continues from the recorded length writes them again. */
  let pending = 0;

  const claim = (bytes: number): void => {
    const before = Number(Atomics.add(quota.used, 0, BigInt(bytes)));
    pending += bytes;
    if (before + bytes > quota.limit) throw new QuotaError('the space for exports is used up');
  };
  const current = (): Lines => {
    const last = files.at(-1);
    if (last === undefined || last.lines >= fileLines) {
      output?.sync();
      output?.close();
      output = undefined;
      files.push({ lines: 0, bytes: 0 });
    }
    output ??= openLines(outputFile(folder, part, files.length - 1), files.at(-1)?.bytes ?? 0, claim);
    return output;
  };

  return {
    get files() {
      return files;
    },
    get collected() {
      return collected;
    },
    write(texts, headers = 0) {
      if (texts.length === 0) return;
      const lines = current();
      lines.add(texts);
      const before = files.at(-1);
      const all = (before?.headers ?? 0) + headers;
      files[files.length - 1] = {
        lines: (before?.lines ?? 0) + texts.length,
        bytes: lines.bytes,
        ...(all > 0 && { headers: all }),
      };
    },
    collect(found) {
      if (found.length === 0) return;
      references ??= openLines(collectedFile(folder, part), collected, claim);
      references.add(found);
      collected = references.bytes;
    },
    sync() {
      output?.sync();
      references?.sync();
      pending = 0;
    },
    close() {
      Atomics.sub(quota.used, 0, BigInt(pending));
      pending = 0;
      output?.close();
      references?.close();
      output = undefined;
      references = undefined;
    },
  };
}

/** Bytes per write. */
const BUFFER = 1 << 18;
/** Characters joined before encoding: longer strings become garbage that costs more than the writing. */
const JOINED = 1 << 14;

export interface Lines {
  /** Length of the file once everything is written. */
  readonly bytes: number;
  /** Appends lines. Throws what `claim` throws, or the system's error. */
  add(lines: readonly string[]): void;
  /** Returns when all bytes have reached the disk. */
  sync(): void;
  /** Closes the file and drops what was not written. */
  close(): void;
}

/**
 * Opens a file, cut to a length, to append lines. Writes their UTF-8 whenever the buffer is full; `sync` writes the
 * rest and flushes it to disk. `claim` is called with bytes before they are written, and may throw.
 */
export function openLines(file: string, length: number, claim: (bytes: number) => void): Lines {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
  ftruncateSync(descriptor, length);
  // One buffer for all batches: fresh memory for each costs more than the writing itself.
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
    // A UTF-16 unit takes at most three bytes; an exact count costs as much as the writing.
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
