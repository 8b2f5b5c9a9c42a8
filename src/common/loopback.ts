/** Tells whether an address leads to this machine only. In: a host name or address, from a setting or a URL. */

/** Addresses that mean all interfaces of this machine. */
export const ANY_ADDRESS: ReadonlySet<string> = new Set(['0.0.0.0', '::', '[::]']);

/** True for names and addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1');
  return bare === 'localhost' || bare === '::1' || /^127(\.\d{1,3}){3}$/.test(bare);
}
