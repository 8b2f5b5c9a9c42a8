/**
 * The files of a part. In: batches of JSON texts. Out: NDJSON files of a bounded number of lines, one write per batch.
 * What is on disk beyond the recorded length belongs to a batch that was not finished: it is cut off on opening.
 */
import { closeSync, constants, fdatasyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import type { FileState } from './job.ts';
import { collectedFile, outputFile } from './store.ts';

/** Bytes that all jobs together may take, counted across threads. */
export interface Quota {
  readonly used: BigInt64Array;
  readonly limit: number;
}

/** The quota is used up. A disk that is full is told by the system's own error. */
export class QuotaError extends Error {
  override readonly name = 'QuotaError';
}

export function isDiskFull(error: unknown): boolean {
  if (error instanceof QuotaError) return true;
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG';
}

/** Bytes that are written at once. */
const SCRATCH = 1 << 18;
/** Characters that are joined before they are encoded: a string of a whole batch costs more than the writing itself. */
const JOINED = 1 << 14;

export interface Output {
  readonly files: readonly FileState[];
  readonly collected: number;
  /** Throws QuotaError, or the system's error. */
  write(texts: readonly string[]): void;
  collect(references: readonly string[]): void;
  /** Returns once all bytes have reached the disk. */
  sync(): void;
  close(): void;
}

export interface OutputOptions {
  readonly folder: string;
  readonly part: number;
  readonly files: readonly FileState[];
  readonly collected: number;
  /** Lines of a file; a batch is never split. */
  readonly fileLines: number;
  readonly quota: Quota;
}

export function openOutput(options: OutputOptions): Output {
  const { folder, part, fileLines, quota } = options;
  const files: FileState[] = [...options.files];
  let collected = options.collected;
  let output: number | undefined;
  let references: number | undefined;
  /** Bytes that are counted and not yet kept: whoever continues from the recorded length writes them again. */
  let pending = 0;

  /** One buffer for all batches: fresh memory for each costs more than the writing itself. */
  let scratch = Buffer.allocUnsafeSlow(SCRATCH);
  const put = (descriptor: number, length: number, position: number): void => {
    const before = Number(Atomics.add(quota.used, 0, BigInt(length)));
    pending += length;
    if (before + length > quota.limit) throw new QuotaError('the space for exports is used up');
    for (let at = 0; at < length; ) at += writeSync(descriptor, scratch, at, length - at, position + at);
  };
  /** Writes lines at a place, and gives how many bytes they took. */
  const append = (descriptor: number, lines: readonly string[], position: number): number => {
    let [written, filled] = [0, 0];
    const flush = (): void => {
      put(descriptor, filled, position + written);
      written += filled;
      filled = 0;
    };
    for (let at = 0; at < lines.length; ) {
      let text = '';
      while (at < lines.length && text.length < JOINED) text += `${lines[at++]}\n`;
      // No UTF-16 unit takes more than three bytes; to count them exactly costs as much as to write them.
      const most = text.length * 3;
      if (filled + most > scratch.byteLength) flush();
      if (most > scratch.byteLength) scratch = Buffer.allocUnsafeSlow(most);
      filled += scratch.write(text, filled, 'utf8');
    }
    flush();
    return written;
  };
  const current = (): number => {
    const last = files.at(-1);
    if (last === undefined || last.lines >= fileLines) {
      if (output !== undefined) {
        fdatasyncSync(output);
        closeSync(output);
      }
      files.push({ lines: 0, bytes: 0 });
      output = openAt(outputFile(folder, part, files.length - 1), 0);
    }
    output ??= openAt(outputFile(folder, part, files.length - 1), last?.bytes ?? 0);
    return output;
  };

  return {
    get files() {
      return files;
    },
    get collected() {
      return collected;
    },
    write(texts) {
      if (texts.length === 0) return;
      const descriptor = current();
      const last = files.at(-1) ?? { lines: 0, bytes: 0 };
      const bytes = append(descriptor, texts, last.bytes);
      files[files.length - 1] = { lines: last.lines + texts.length, bytes: last.bytes + bytes };
    },
    collect(found) {
      if (found.length === 0) return;
      references ??= openAt(collectedFile(folder, part), collected);
      collected += append(references, found, collected);
    },
    sync() {
      if (output !== undefined) fdatasyncSync(output);
      if (references !== undefined) fdatasyncSync(references);
      pending = 0;
    },
    close() {
      Atomics.sub(quota.used, 0, BigInt(pending));
      pending = 0;
      for (const descriptor of [output, references]) if (descriptor !== undefined) closeSync(descriptor);
      output = undefined;
      references = undefined;
    },
  };
}

/** A file to write on, cut to the length that was recorded. */
function openAt(file: string, length: number): number {
  const descriptor = openSync(file, constants.O_WRONLY | constants.O_CREAT, 0o600);
  ftruncateSync(descriptor, length);
  return descriptor;
}
