/**
 * Makes identifiers that are the same in every call. In: the parts that an identifier stands for. Out: a UUID of
 * version 8 from their hash, and `id` elements.
 * RFC 9562 section 5.8
 */
import { createHash } from 'node:crypto';
import { rootOf } from './code-systems.ts';
import type { Identifier } from './fhir/datatypes.ts';
import { attribute, type Markup, NOTHING, xml } from './xml.ts';

/** The same parts give the same UUID. */
export function uuidOf(...parts: readonly string[]): string {
  const hex = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * The system as documents can name it: itself where it has a root, else `urn:oid:` with a number below the OID of the
 * pack that is made of the address alone, so that it stays the same and is another system's only by chance (1 in 2^48).
 * Undefined stays, and so does an address without an OID of the pack.
 */
export function rootedSystem(system: string | undefined, oid: string | undefined): string | undefined {
  if (system === undefined || oid === undefined || rootOf(system) !== undefined) return system;
  return `urn:oid:${oid}.${Number.parseInt(createHash('sha256').update(system).digest('hex').slice(0, 12), 16)}`;
}

/** `id` per identifier whose system is an OID or a UUID. */
export function identifierElements(identifiers: readonly Identifier[] | undefined): Markup {
  return xml`${(identifiers ?? []).map(({ system, value }) => {
    const root = rootOf(system);
    const extension = attribute('extension', value);
    return root === undefined || extension.isEmpty ? NOTHING : xml`<id root="${root}"${extension}/>`;
  })}`;
}
