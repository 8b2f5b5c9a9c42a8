/**
 * The log: one line per event on standard error. In: a level, a message and a few fields, none of which may hold a value
 * of a patient or of a request. Out: text for people or JSON for machines.
 */

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
  // One object of all of it would be copied first, for every request.
  const rest = JSON.stringify(fields).slice(1);
  const comma = rest === '}' ? '' : ',';
  return `{"time":"${instant()}","level":"${level}","message":${JSON.stringify(message)}${comma}${rest}`;
}

let now = { at: 0, text: '' };

/** The present, ISO 8601 with milliseconds; written out once for all lines of a millisecond. */
function instant(): string {
  const at = Date.now();
  if (at !== now.at) now = { at, text: new Date(at).toISOString() };
  return now.text;
}

function textLine(level: Level, message: string, fields: LogFields): string {
  const rest = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [` ${name}=${value}`]));
  return `${instant().slice(11, 23)} ${level === 'info' ? '' : `${level}: `}${message}${rest.join('')}`;
}

/** Milliseconds that a line waits for others at most: under load one write is for many requests. */
const GATHERING = 10;

let lines = '';

function writeError(line: string): void {
  if (lines === '') setTimeout(flush, GATHERING);
  lines += `${line}\n`;
}

function flush(): void {
  if (lines !== '') process.stderr.write(lines);
  lines = '';
}

process.on('exit', flush);
