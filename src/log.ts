/**
 * The log: one line per event on standard error. In: a level, a message and a few fields, none of which may hold a value
 * of a patient or of a request. Out: text for people or JSON for machines.
 */
import { writeSync } from 'node:fs';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

type Level = Exclude<(typeof LOG_LEVELS)[number], 'silent'>;

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type Log = Readonly<Record<Level, (message: string, fields?: LogFields) => void>>;

export interface LogOptions {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: 'text' | 'json';
  /** Takes one line without its end; standard error by default. */
  readonly write?: (line: string) => void;
}

/** A log that writes lines of `level` and above. */
export function createLog({ level, format, write = writeError }: LogOptions): Log {
  const least = LOG_LEVELS.indexOf(level);
  const at = (own: Level) => {
    if (LOG_LEVELS.indexOf(own) < least) return () => {};
    return (message: string, fields: LogFields = {}) =>
      write(format === 'json' ? jsonLine(own, message, fields) : textLine(own, message, fields));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/**
 * What may be logged of an unexpected error: its kind and its innermost places. Its message may hold anything.
 */
export function describeError(error: unknown): { readonly kind: string; readonly at: string } {
  if (!(error instanceof Error)) return { kind: typeof error, at: '' };
  const places = [...(error.stack ?? '').matchAll(/^ +at .*?([^/\\(]+:\d+:\d+)\)?$/gm)].map(match => match[1] ?? '');
  return { kind: error.name, at: places.slice(0, 4).join(' < ') };
}

function jsonLine(level: Level, message: string, fields: LogFields): string {
  const rest = JSON.stringify(fields).slice(1);
  const head = `{"time":"${now()}","level":"${level}","message":${JSON.stringify(message)}`;
  return rest === '}' ? `${head}}` : `${head},${rest}`;
}

function textLine(level: Level, message: string, fields: LogFields): string {
  const rest = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [` ${name}=${value}`]));
  return `${now().slice(11, 23)} ${level === 'info' ? '' : `${level}: `}${message}${rest.join('')}`;
}

let instant = 0;
let written = '';

/** Many lines are written within a millisecond. */
function now(): string {
  const present = Date.now();
  if (present !== instant) {
    instant = present;
    written = new Date(present).toISOString();
  }
  return written;
}

/** Milliseconds that a line waits for others at most: one write for many costs what one for one does. */
const PATIENCE = 5;
const CHARACTERS_AT_MOST = 65_536;

let lines = '';

function writeError(line: string): void {
  if (lines === '') setTimeout(flush, PATIENCE).unref();
  lines += `${line}\n`;
  if (lines.length > CHARACTERS_AT_MOST) flush();
}

function flush(): void {
  const waiting = lines;
  lines = '';
  writeWhole(Buffer.from(waiting, 'utf8'));
}

const STANDARD_ERROR = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits until whoever reads the log has taken all of it: what process.stderr keeps for a slow reader has no bound, and is lost
 * when the process ends. Throws what the system says where nobody reads any more.
 */
function writeWhole(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.byteLength; ) {
    try {
      at += writeSync(STANDARD_ERROR, bytes, at);
    } catch (error) {
      if (!isFull(error)) throw error;
      Atomics.wait(NEVER, 0, 0, PATIENCE);
    }
  }
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

process.on('exit', flush);
