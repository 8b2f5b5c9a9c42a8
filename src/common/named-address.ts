/**
 * Makes a stable `urn:uuid:` URI from a name, for resources without another URI.
 * RFC 9562 section 5.5
 */
import { createHash } from 'node:crypto';

const NAMESPACE = Buffer.from('c51c6ad3efc44f10974b3fc1e17cd833', 'hex');

export function addressOf(name: string): string {
  const bytes = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return `urn:uuid:${bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')}`;
}
