/**
 * Writes the log: one line per event on standard error. In: a level, a message and a few fields, none of which may
 * contain a value of a patient or of a request. Out: text for people or JSON for machines.
 */
import { writeSync } from 'node:fs';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

type Level = Exclude<(typeof LOG_LEVELS)[number], 'silent'>;

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/** `same`: an object with fields for many lines, which come before the others. Its text is cached. */
export type Log = Readonly<Record<Level, (message: string, fields?: LogFields, same?: LogFields) => void>>;

export interface LogOptions {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: 'text' | 'json';
  /** Writes one line, without a line end; default: standard error. */
  readonly write?: (line: string) => void;
}

/** Creates a log that writes lines of `level` and above. */
export function createLog({ level, format, write = writeError }: LogOptions): Log {
  const least = LOG_LEVELS.indexOf(level);
  const line = format === 'json' ? jsonLine : textLine;
  if (write === writeError) lostLine = count => line('error', LOST, { lines: count }, NONE);
  const at = (own: Level) => {
    if (LOG_LEVELS.indexOf(own) < least) return () => {};
    return (message: string, fields: LogFields = NONE, same: LogFields = NONE) =>
      write(line(own, message, fields, same));
  };
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}

/**
 * Returns what may be logged of an unexpected error: its kind and its innermost source positions. Its message may
 * contain any data.
 */
export function describeError(error: unknown): { readonly kind: string; readonly at: string } {
  if (!(error instanceof Error)) return { kind: typeof error, at: '' };
  const places = [...(error.stack ?? '').matchAll(/^ +at .*?([^/\\(]+:\d+:\d+)\)?$/gm)].map(match => match[1] ?? '');
  return { kind: error.name, at: places.slice(0, 4).join(' < ') };
}

const NONE: LogFields = {};

function jsonLine(level: Level, message: string, fields: LogFields, same: LogFields): string {
  return `{"time":"${now()}","level":"${level}","message":${JSON.stringify(message)}${membersOf(same)}${jsonMembers(fields)}}`;
}

const written = new WeakMap<LogFields, string>();

function membersOf(same: LogFields): string {
  const known = written.get(same);
  if (known !== undefined) return known;
  const members = jsonMembers(same);
  written.set(same, members);
  return members;
}

/** Writes members that follow others. */
function jsonMembers(fields: LogFields): string {
  const json = JSON.stringify(fields);
  return json === '{}' ? '' : `,${json.slice(1, -1)}`;
}

function textLine(level: Level, message: string, fields: LogFields, same: LogFields): string {
  const all = Object.entries({ ...same, ...fields });
  const rest = all.flatMap(([name, value]) => (value === undefined ? [] : [` ${name}=${value}`]));
  return `${now().slice(11, 23)} ${level === 'info' ? '' : `${level}: `}${message}${rest.join('')}`;
}

let instant = 0;
let present = '';

/** Caches the time, because many lines are written within a millisecond. */
function now(): string {
  const milliseconds = Date.now();
  if (milliseconds !== instant) {
    instant = milliseconds;
    present = new Date(milliseconds).toISOString();
  }
  return present;
}

/** Milliseconds that a line waits for others: one write of many lines costs as much as one of a single line. */
const FLUSH_DELAY = 5;
const CHARACTERS_AT_MOST = 65_536;

const LOST = 'there was no room for lines of the log, and they are lost';

let lines = '';
/** Lines for which there was no room; reported as soon as there is. */
let lost = 0;
let lostLine: (count: number) => string = () => '';

function writeError(line: string): void {
  if (lines === '') setTimeout(flush, FLUSH_DELAY).unref();
  lines += `${line}\n`;
  if (lines.length > CHARACTERS_AT_MOST) flush();
}

function flush(): void {
  const waiting = lines;
  lines = '';
  // Begins with a line end, because the last line may have been cut.
  const lostText = lost === 0 ? '' : `\n${lostLine(lost)}\n`;
  if (writeWhole(Buffer.from(lostText + waiting, 'utf8'))) lost = 0;
  else lost += waiting.split('\n').length - 1;
}

const STANDARD_ERROR = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits until the reader of the log has taken all of it: what process.stderr buffers for a slow reader is unbounded,
 * and lost when the process ends. Returns false if the disk is full, because no answer depends on the log. Throws the
 * system's error if nobody reads the log any more.
 */
function writeWhole(bytes: Uint8Array): boolean {
  for (let at = 0; at < bytes.byteLength; ) {
    try {
      at += writeSync(STANDARD_ERROR, bytes, at);
    } catch (error) {
      if (lacksRoom(error)) return false;
      if (!isFull(error)) throw error;
      Atomics.wait(NEVER, 0, 0, FLUSH_DELAY);
    }
  }
  return true;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN';
}

const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** True if the disk was full. */
export function lacksRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_ROOM.has(error.code);
}

process.on('exit', flush);
