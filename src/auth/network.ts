/**
 * Groups IP addresses by customer. In: an address as a socket has it. Out: a key; of IPv6 the first 64 bits, as a
 * provider gives each customer at least such a block.
 * RFC 6177, RFC 4291 section 2.2
 */

/** Of an IPv4 address, mapped or not, the address itself; at most 64 characters of anything else. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address.slice(0, 64);
  const [front = '', back] = (address.split('%', 1)[0] ?? '').split('::', 2);
  const before = front === '' ? [] : front.split(':');
  const after = back === undefined || back === '' ? [] : back.split(':');
  const zeros = back === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':');
}
