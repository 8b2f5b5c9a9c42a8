/**
 * Defines an environment variable and the kinds of values: how each is parsed, and the description of the expected
 * value.
 */
import { z } from 'zod';
import { LOG_LEVELS } from '../log.ts';
import type { Engine } from '../sql/engine.ts';
import { engineOfAddress } from '../sql/engines.ts';

/** A database address as text; may contain a password. Its engine parses it. */
export interface AddressText {
  readonly engine: Engine;
  readonly text: string;
}

export interface Variable<T> {
  readonly name: string;
  /** In the notation of the environment; undefined if the variable is optional. */
  readonly default: string | undefined;
  /** Shown in the table if the default is not a plain text. */
  readonly shownDefault?: string;
  readonly expected: string;
  readonly meaning: string;
  readonly secret: boolean;
  readonly schema: z.ZodType<T, string>;
}

export const wholeNumber = (min: number, max: number): z.ZodType<number, string> =>
  z
    .string()
    .regex(/^\d{1,9}$/)
    .transform(Number)
    .refine(number => number >= min && number <= max);

export const path = z.string().regex(/^(\/[A-Za-z0-9._~-]+)+$/);

/** Allows brackets around IPv6 addresses, as in URLs. */
export const hostName: z.ZodType<string, string> = z
  .string()
  .min(1)
  .transform(text => text.replace(/^\[(.*)\]$/, '$1'));

export const webAddress: z.ZodType<string, string> = z
  .string()
  .refine(text => {
    const url = URL.parse(text);
    return (
      url !== null && /^https?:$/.test(url.protocol) && `${url.search}${url.hash}${url.username}${url.password}` === ''
    );
  })
  .transform(text => text.replace(/\/+$/, ''));

/**
 * URL of an issuer, exactly as in its metadata, including a final slash. Plain HTTP is allowed on this machine only.
 */
export const issuerAddress: z.ZodType<string, string> = z.string().refine(text => {
  const url = URL.parse(text);
  if (url === null || `${url.search}${url.hash}${url.username}${url.password}` !== '') return false;
  return (
    url.protocol === 'https:' || (url.protocol === 'http:' && /^(?:127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname))
  );
});

/** A private JSON Web Key with its signature algorithm. RFC 7517 */
export interface PrivateKey {
  readonly [member: string]: unknown;
  readonly alg: string;
  readonly kid?: string;
}

export const privateKey: z.ZodType<PrivateKey, string> = z.string().transform((text, context): PrivateKey => {
  let key: unknown;
  try {
    key = JSON.parse(text);
  } catch {
    key = undefined;
  }
  const { alg, kid, d } = (key ?? {}) as Readonly<Record<string, unknown>>;
  const isKey = typeof alg === 'string' && /^(?:RS|PS|ES)(?:256|384|512)$/.test(alg) && typeof d === 'string';
  if (isKey && (kid === undefined || typeof kid === 'string')) return key as PrivateKey;
  context.addIssue('no private key');
  return z.NEVER;
});

/** Port of syslog over TLS, RFC 5425 */
const SYSLOG_PORT = 6514;

export const tlsAddress: z.ZodType<{ readonly host: string; readonly port: number }, string> = z
  .string()
  .transform((text, context) => {
    const [, host, port] =
      /^tls:\/\/([A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{1,5}))?\/?$/.exec(text) ?? [];
    const number = port === undefined ? SYSLOG_PORT : Number(port);
    if (host !== undefined && number > 0 && number < 65_536)
      return { host: host.replace(/^\[(.*)\]$/, '$1'), port: number };
    context.addIssue('no address');
    return z.NEVER;
  });

/**
 * HTTP headers in the notation of OpenTelemetry's variables.
 * https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export const headers: z.ZodType<Readonly<Record<string, string>>, string> = z.string().transform((text, context) => {
  const pairs = text
    .split(',')
    .map(pair => /^\s*([A-Za-z0-9!#$%&'*+.^_`|~-]{1,100})\s*=\s*([\x21-\x7e]{0,4000})\s*$/.exec(pair));
  try {
    const known = pairs.map(pair => [pair?.[1] ?? '', decodeURIComponent(pair?.[2] ?? '')] as const);
    if (known.every(([name, value]) => name !== '' && /^[\x20-\x7e]*$/.test(value))) return Object.fromEntries(known);
  } catch {
    // Not percent-encoded.
  }
  context.addIssue('no headers');
  return z.NEVER;
});

export const origins: z.ZodType<readonly string[], string> = z
  .string()
  .transform(text => text.split(',').map(item => item.trim()))
  .refine(items => items.every(item => item === '*' || (URL.parse(item)?.origin === item && !item.includes('*'))));

export const databaseAddress: z.ZodType<AddressText, string> = z.string().transform((text, context): AddressText => {
  const engine = engineOfAddress(text);
  if (engine !== undefined) return { engine, text };
  context.addIssue('unknown kind of address');
  return z.NEVER;
});

export function variable<T>(
  name: string,
  schema: z.ZodType<T, string>,
  rest: { default?: string; shownDefault?: string; expected: string; meaning: string; secret?: boolean },
): Variable<T> {
  return { name, schema, default: rest.default, secret: rest.secret ?? false, ...rest };
}

export const oneOf = <const T extends readonly [string, ...string[]]>(...values: T) => ({
  schema: z.enum(values) as z.ZodType<T[number], string>,
  expected: values.length === 1 ? `\`${values[0]}\`` : `one of ${values.map(value => `\`${value}\``).join(', ')}`,
});

export const handling = oneOf('lenient', 'strict');
export const access = oneOf('open', 'smart', 'jwt');
export const level = oneOf(...LOG_LEVELS);
export const format = oneOf('text', 'json');
export const flag = oneOf('true', 'false');
export const audit = oneOf('required', 'best-effort', 'off');
export const auditSync = oneOf('process', 'power');
