/**
 * Identifiers that stay the same from call to call. In: what something is made of. Out: a UUID (version 8: its bits are a
 * hash) and `id` elements. RFC 9562 section 5.8
 */
import { createHash } from 'node:crypto';
import { rootOf } from './code-systems.ts';
import type { Identifier } from './fhir/datatypes.ts';
import { attribute } from './xml.ts';

/** The same parts give the same UUID. */
export function uuidOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/** `id` per identifier whose system is an OID or a UUID. */
export function identifierElements(identifiers: readonly Identifier[] | undefined): string {
  return (identifiers ?? [])
    .map(({ system, value }) => {
      const root = rootOf(system);
      const extension = attribute('extension', value);
      return root === undefined || extension === '' ? '' : `<id root="${root}"${extension}/>`;
    })
    .join('');
}
