/**
 * The log: one line per event on standard error. In: a level, a message and a few fields, none of which may hold a
 * value of a patient or of a request. Out: text for people or JSON for machines.
 */
import { writeSync } from 'node:fs';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

type Level = Exclude<(typeof LOG_LEVELS)[number], 'silent'>;

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * `same`: fields before the others, in an object that comes with many lines, so that it is not written out for each.
 */
export type Log = Readonly<Record<Level, (message: string, fields?: LogFields, same?: LogFields) => void>>;

export interface LogOptions {
  readonly level: (typeof LOG_LEVELS)[number];
  readonly format: 'text' | 'json';
  /** Takes one line without its end; standard error by default. */
  readonly write?: (line: string) => void;
}

/** A log that writes lines of `level` and above. */
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
 * What may be logged of an unexpected error: its kind and its innermost places. Its message may hold anything.
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

/** Behind others. */
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

/** Many lines are written within a millisecond. */
function now(): string {
  const milliseconds = Date.now();
  if (milliseconds !== instant) {
    instant = milliseconds;
    present = new Date(milliseconds).toISOString();
  }
  return present;
}

/** Milliseconds that a line waits for others at most: one write for many costs what one for one does. */
const FLUSH_DELAY = 5;
const CHARACTERS_AT_MOST = 65_536;

const LOST = 'there was no room for lines of the log, and they are lost';

let lines = '';
/** Lines for which there was no room; told as soon as there is. */
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
  // The last line that was begun may have no end.
  const told = lost === 0 ? '' : `\n${lostLine(lost)}\n`;
  if (writeWhole(Buffer.from(told + waiting, 'utf8'))) lost = 0;
  else lost += waiting.split('\n').length - 1;
}

const STANDARD_ERROR = 2;
const NEVER = new Int32Array(new SharedArrayBuffer(4));

/**
 * Waits until whoever reads the log has taken all of it: what process.stderr keeps for a slow reader has no bound, and
 * is lost when the process ends. False where the disk has no room: nobody's answer depends on that. Throws what the
 * system says where nobody reads any more.
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

/** Whether a disk took no more of what was written. */
export function lacksRoom(error: unknown): boolean {
  return error instanceof Error && 'code' in error && NO_ROOM.has(error.code);
}

process.on('exit', flush);
