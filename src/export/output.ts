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

/** Bytes that most batches fit into. */
const SCRATCH = 2 << 20;

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
  const encode = (text: string): Buffer => {
    // No UTF-16 unit takes more than three bytes; to count them exactly costs as much as to write them.
    const most = text.length * 3;
    if (most > scratch.byteLength) scratch = Buffer.allocUnsafeSlow(most);
    return scratch.subarray(0, scratch.write(text, 'utf8'));
  };
  const append = (descriptor: number, bytes: Buffer, position: number): void => {
    const before = Number(Atomics.add(quota.used, 0, BigInt(bytes.byteLength)));
    pending += bytes.byteLength;
    if (before + bytes.byteLength > quota.limit) throw new QuotaError('the space for exports is used up');
    for (let at = 0; at < bytes.byteLength; ) {
      at += writeSync(descriptor, bytes, at, bytes.byteLength - at, position + at);
    }
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
      const bytes = encode(`${texts.join('\n')}\n`);
      append(descriptor, bytes, last.bytes);
      files[files.length - 1] = { lines: last.lines + texts.length, bytes: last.bytes + bytes.byteLength };
    },
    collect(found) {
      if (found.length === 0) return;
      references ??= openAt(collectedFile(folder, part), collected);
      const bytes = encode(`${found.join('\n')}\n`);
      append(references, bytes, collected);
      collected += bytes.byteLength;
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
