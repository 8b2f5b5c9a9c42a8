/**
 * Fetches addresses that the configuration or an issuer's metadata name. In: an address. Out: its answer, bounded in
 * size, without redirects. Addresses of private networks are refused unless they are listed; the connection uses the
 * address that was checked, even if the name resolves to another a moment later.
 */

import type { LookupAddress, LookupOptions } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { request as plainRequest } from 'node:http';
import { request as secureRequest } from 'node:https';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { getOrInsert } from '../common/caches.ts';
import { bareHost, isSafe } from './settings.ts';

export interface Asked {
  readonly method: 'GET' | 'POST';
  readonly headers: Headers;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/** Sends a request. Rejects if nobody answers, or the address is not allowed. */
export type Ask = (address: string, asked: Asked) => Promise<Response>;

/** Maximum bytes of an answer. */
const LONGEST = 512 * 1024;

/** https://www.iana.org/assignments/iana-ipv4-special-registry, …/iana-ipv6-special-registry */
const SPECIAL: readonly (readonly [address: string, prefix: number])[] = [
  ...([
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
  ] as const),
  ...([
    ['172.16.0.0', 12],
    ['192.0.0.0', 24],
    ['192.0.2.0', 24],
    ['192.88.99.0', 24],
    ['192.168.0.0', 16],
  ] as const),
  ...([
    ['198.18.0.0', 15],
    ['198.51.100.0', 24],
    ['203.0.113.0', 24],
    ['224.0.0.0', 4],
    ['240.0.0.0', 4],
  ] as const),
  ...([
    ['::', 128],
    ['::1', 128],
    ['64:ff9b::', 96],
    ['64:ff9b:1::', 48],
    ['100::', 64],
    ['2001::', 23],
  ] as const),
  ...([
    ['2001:db8::', 32],
    ['2002::', 16],
    ['3fff::', 20],
    ['5f00::', 16],
    ['fc00::', 7],
  ] as const),
  ...([
    ['fe80::', 10],
    ['fec0::', 10],
    ['ff00::', 8],
  ] as const),
];

const special = new BlockList();
for (const [address, prefix] of SPECIAL) special.addSubnet(address, prefix, familyOf(address));

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}

/** True if an IP address is not on the public internet; an IPv4 address within an IPv6 one counts as itself. */
export function isSpecialUse(address: string): boolean {
  return isIP(address) === 0 || special.check(address, familyOf(address));
}

/** An address that is not allowed, or an answer that is unusable. */
export class RefusedAddress extends Error {
  override readonly name = 'RefusedAddress';
}

/** Resolves all addresses of a name. */
type Resolve = (hostname: string, options: LookupOptions) => Promise<readonly LookupAddress[]>;

const resolveName: Resolve = (hostname, options) => lookup(hostname, { ...options, all: true });

/**
 * Resolves a name once for all concurrent requests: a lookup occupies one of the few threads that also hash passwords
 * and write files, for as long as the resolver waits.
 */
function sharing(resolve: Resolve): Resolve {
  const resolving = new Map<string, Promise<readonly LookupAddress[]>>();
  return (hostname, options) => {
    const key = `${hostname} ${options.family} ${options.hints}`;
    return getOrInsert(resolving, key, () => resolve(hostname, options).finally(() => resolving.delete(key)));
  };
}

/** Resolves names once, and allows a connection only if every address is public or `isAllowed`. */
function lookupBy(resolve: Resolve, isAllowed: boolean): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, options).then(
      addresses => {
        const [first] = addresses;
        if (first === undefined) callback(new RefusedAddress('no address'), '', 0);
        else if (!isAllowed && addresses.some(({ address }) => isSpecialUse(address)))
          callback(new RefusedAddress('a private address that private-hosts does not allow'), '', 0);
        else if (options.all === true) callback(null, [...addresses]);
        else callback(null, first.address, first.family);
      },
      error => callback(error, '', 0),
    );
  };
}

/** Makes the function that sends requests. `privateHosts`: in lower case. */
export function asker(privateHosts: ReadonlySet<string>, resolve: Resolve = resolveName): Ask {
  const shared = sharing(resolve);
  return async (address, { method, headers, body, signal }) => {
    const url = new URL(address);
    const host = bareHost(url);
    const isAllowed = privateHosts.has(host);
    if (!isSafe(url, privateHosts)) throw new RefusedAddress('not https');
    if (!isAllowed && isIP(host) !== 0 && isSpecialUse(host)) throw new RefusedAddress('a private address');
    const send = url.protocol === 'https:' ? secureRequest : plainRequest;
    return new Promise((resolve, reject) => {
      const options = {
        method,
        signal,
        headers: Object.fromEntries(headers),
        lookup: lookupBy(shared, isAllowed),
      };
      const request = send(url, options, response => {
        const chunks: Buffer[] = [];
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.byteLength;
          chunks.push(chunk);
          if (bytes > LONGEST) request.destroy(new RefusedAddress('too long an answer'));
        });
        response.on('error', reject);
        response.on('end', () => {
          const { statusCode: status = 0 } = response;
          // Of other answers only the status is needed, and some of them cannot have a body.
          if (status !== 200) resolve(new Response(null, { status: status >= 200 && status <= 599 ? status : 502 }));
          else resolve(new Response(Buffer.concat(chunks), { status }));
        });
      });
      request.on('error', reject);
      // A response that changes the protocol (101) ends like this, without an answer or an error.
      request.on('close', () => reject(new RefusedAddress('no whole answer')));
      request.end(body);
    });
  };
}
