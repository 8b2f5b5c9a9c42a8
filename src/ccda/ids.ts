/**
 * Makes stable identifiers. In: the parts that an identifier stands for. Out: a UUID of version 8 from their hash, and
 * `id` elements. RFC 9562 section 5.8
 */
import { hash } from 'node:crypto';
import { rootOf } from './code-systems.ts';
import type { Identifier } from './fhir/datatypes.ts';
import { attribute, type Markup, NOTHING, xml } from './xml.ts';

/** Returns the same UUID for the same parts. */
export function uuidOf(...parts: readonly string[]): string {
  const hex = hash('sha256', JSON.stringify(parts), 'hex');
  const variant = '89ab'[Number.parseInt(hex[16] ?? '0', 16) % 4] ?? '8';
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns the system as documents can name it. A system with a root stays. A URL becomes `urn:oid:` with a number below
 * the OID of the pack; the number is a hash of the URL alone, so it is stable and two URLs collide only by chance (1 in
 * 2^48). Without a system or an OID of the pack, nothing changes.
 */
export function rootedSystem(system: string | undefined, oid: string | undefined): string | undefined {
  if (system === undefined || oid === undefined || rootOf(system) !== undefined) return system;
  return `urn:oid:${oid}.${Number.parseInt(hash('sha256', system, 'hex').slice(0, 12), 16)}`;
}

/** Returns the medical record number: of the first of these systems that an identifier has. */
export function recordNumber(
  identifiers: readonly Identifier[] | undefined,
  systems: readonly string[],
): string | undefined {
  const [first] = systems.flatMap(system => identifiers?.find(one => one.system === system) ?? []);
  return first?.value;
}

/** Writes an `id` per identifier whose system is an OID or a UUID. */
export function identifierElements(identifiers: readonly Identifier[] | undefined): Markup {
  return xml`${(identifiers ?? []).map(({ system, value }) => {
    const root = rootOf(system);
    const extension = attribute('extension', value);
    return root === undefined || extension.isEmpty ? NOTHING : xml`<id root="${root}"${extension}/>`;
  })}`;
}
