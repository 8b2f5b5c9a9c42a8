/**
 * Checks what a request is addressed to. In: its Host headers and its target, as they were sent. Out: whether they
 * name one host and one path that proxies, the framework and our own checks read alike.
 * RFC 9110 section 7.2, RFC 9112 section 3.2, RFC 3986 section 3.2
 */
import { isIPv4, isIPv6 } from 'node:net';

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,62})(\.[a-z0-9_][a-z0-9_-]{0,62})*\.?$/i;

/**
 * Whether a text is a host with or without a port. Numbers that URLs take for an address in another form (`0x7f.1`) are
 * none.
 */
export function isHost(text: string): boolean {
  const [, host = '', port = '0'] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5})?)?$/.exec(text) ?? [];
  if (Number(port) > 65_535) return false;
  if (host.startsWith('[')) return isIPv6(host.slice(1, -1)) && !host.includes('%');
  if (/(^|\.)(\d+|0x[0-9a-f]*)\.?$/i.test(host)) return isIPv4(host);
  return NAME.test(host);
}

/** Exactly one Host header, and an address in it. `raw`: names and values in turn. */
export function namesOneHost(raw: readonly string[]): boolean {
  let host: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    if (raw[i]?.length !== 4 || raw[i]?.toLowerCase() !== 'host') continue;
    if (host !== undefined) return false;
    host = raw[i + 1];
  }
  return host !== undefined && isHost(host);
}

/**
 * Whether the path of a target goes up or stays where it is (`..`, `.`), written in any way: whoever resolves it is at
 * another place than whoever does not.
 */
export function hasDotSegments(target: string): boolean {
  if (!DOTS.test(target)) return false;
  const [path = ''] = target.split(/[?#]/, 1);
  return path.split(/[/\\]|%2f|%5c/i).some(segment => /^(\.|%2e){1,2}(;.*)?$/i.test(segment));
}

/** Most targets have none. */
const DOTS = /\.|%2e/i;

/** Of a target that names its host itself, that host. */
export function hostOfTarget(target: string): string | undefined {
  return /^https?:\/\/([^/?#]*)/i.exec(target)?.[1];
}
