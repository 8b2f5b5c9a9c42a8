/**
 * Writes the log: one line per event on standard error. In: a level, a message and a few fields, none of which may
 * contain a value of a patient or of a request. Out: text for people or JSON for machines.
 */
import { constants, fstatSync, openSync, writeSync } from 'node:fs';
import { escapeInLine } from './common/markup.ts';
import { codeOf, lacksRoom } from './common/reason.ts';

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
  return escapeInLine(`${now().slice(11, 23)} ${level === 'info' ? '' : `${level}: `}${message}${rest.join('')}`);
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
/** Characters that wait for a slow reader; more lines are lost, because no request may wait for the log. */
const WAITING_AT_MOST = 1_000_000;
/** Milliseconds for which the end of the process waits for a reader that takes nothing. */
const LONGEST_WAIT = 5000;

const LOST = 'there was no room for lines of the log, and they are lost';

let lines = '';
let isPlanned = false;
/** Bytes that the reader has not taken yet. */
let unread: Uint8Array = new Uint8Array();
/** Lines for which there was no room; reported as soon as there is. */
let lost = 0;
let lostLine: (count: number) => string = () => '';

function writeError(line: string): void {
  lines += `${line}\n`;
  const most = unread.byteLength === 0 ? CHARACTERS_AT_MOST : WAITING_AT_MOST;
  if (lines.length > most) flush();
  if (lines.length > WAITING_AT_MOST) lose();
  if (!isPlanned) setTimeout(planned, FLUSH_DELAY).unref();
  isPlanned = true;
}

function planned(): void {
  isPlanned = false;
  flush();
  if (unread.byteLength === 0 || isPlanned) return;
  isPlanned = true;
  setTimeout(planned, FLUSH_DELAY).unref();
}

function lose(): void {
  lost += lines.split('\n').length - 1;
  lines = '';
}

/** Writes as much as the reader takes now. */
function flush(): void {
  if (unread.byteLength > 0) unread = rest(unread) ?? unread;
  if (unread.byteLength > 0 || (lines === '' && lost === 0)) return;
  // Begins with a line end, because the last line may have been cut.
  const lostText = lost === 0 ? '' : `\n${lostLine(lost)}\n`;
  const left = rest(Buffer.from(lostText + lines, 'utf8'));
  if (left === undefined) lose();
  else [lines, lost, unread] = ['', 0, left];
}

const NEVER = new Int32Array(new SharedArrayBuffer(4));

/** Waits for the reader, because nothing is written after the end of the process. */
function flushAtEnd(): void {
  for (let waited = 0, before = Number.NaN; waited < LONGEST_WAIT; waited += FLUSH_DELAY) {
    flush();
    if (unread.byteLength === 0) return;
    if (unread.byteLength !== before) waited = 0;
    before = unread.byteLength;
    Atomics.wait(NEVER, 0, 0, FLUSH_DELAY);
  }
}

/**
 * Writes bytes, and returns those that the reader does not take now; undefined if the disk is full, because no answer
 * depends on the log. What process.stderr buffers for a slow reader would be unbounded, and lost when the process ends.
 * Throws the system's error if nobody reads the log any more.
 */
function rest(bytes: Uint8Array): Uint8Array | undefined {
  let at = 0;
  try {
    while (at < bytes.byteLength) at += writeSync(standardError(), bytes, at);
  } catch (error) {
    if (lacksRoom(error)) return undefined;
    if (codeOf(error) !== 'EAGAIN') throw error;
  }
  return bytes.subarray(at);
}

const STANDARD_ERROR = 2;
let opened: number | undefined;

/**
 * Returns a descriptor of standard error. That of a pipe is opened anew, so that writing does not wait for its reader
 * and the programs that share the pipe are not affected.
 */
function standardError(): number {
  opened ??= openedAnew();
  return opened;
}

function openedAnew(): number {
  if (!fstatSync(STANDARD_ERROR).isFIFO()) return STANDARD_ERROR;
  try {
    return openSync(`/proc/self/fd/${STANDARD_ERROR}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    // Not on Linux, or the pipe belongs to another user: writing waits for the reader.
    return STANDARD_ERROR;
  }
}

process.on('exit', flushAtEnd);
