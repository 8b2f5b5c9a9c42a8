/**
 * What is known of terminology without a terminology server: value sets that can be listed, and which codes stand above
 * and below others.
 *
 * In: `terminology.json`, written by generate.ts from HL7's R4 and US Core; read when first asked. Out: read-only look-ups.
 * https://hl7.org/fhir/R4/valueset.html, https://hl7.org/fhir/R4/codesystem.html#hierarchy
 *
 *   codesOfValueSet(url): CodesBySystem|undefined
 *   codesBelow(system, code): readonly string[]|undefined     the code itself among them; undefined: no such hierarchy
 *   codesAbove(system, code): readonly string[]|undefined
 *   systemsWithHierarchy(code): readonly string[]
 */

import { readFileSync } from 'node:fs';

/** All codes of a value set. */
export type CodesBySystem = readonly (readonly [system: string, codes: readonly string[]])[];

type Children = Readonly<Record<string, readonly string[]>>;

interface Table {
  readonly valueSets: Readonly<Record<string, CodesBySystem>>;
  readonly below: Readonly<Record<string, Children>>;
}

let table: Table | undefined;

function known(): Table {
  table ??= JSON.parse(readFileSync(new URL('./terminology.json', import.meta.url), 'utf8')) as Table;
  return table;
}

/** The codes of a value set by its canonical address; undefined where they are not all known. */
export function codesOfValueSet(url: string): CodesBySystem | undefined {
  const { valueSets } = known();
  return Object.hasOwn(valueSets, url) ? valueSets[url] : undefined;
}

/** A code and all that it subsumes; undefined where the system has no hierarchy with this code. */
export function codesBelow(system: string, code: string): readonly string[] | undefined {
  const children = hierarchyWith(system, code);
  return children && reach(code, one => childrenOf(children, one));
}

/** A code and all that subsume it. */
export function codesAbove(system: string, code: string): readonly string[] | undefined {
  const children = hierarchyWith(system, code);
  return (
    children && reach(code, one => Object.keys(children).filter(parent => childrenOf(children, parent).includes(one)))
  );
}

/** The code systems in whose hierarchy a code stands. */
export function systemsWithHierarchy(code: string): readonly string[] {
  return Object.keys(known().below).filter(system => hierarchyWith(system, code) !== undefined);
}

function hierarchyWith(system: string, code: string): Children | undefined {
  const { below } = known();
  const children = Object.hasOwn(below, system) ? below[system] : undefined;
  if (!children) return undefined;
  return Object.hasOwn(children, code) || Object.values(children).some(codes => codes.includes(code))
    ? children
    : undefined;
}

function childrenOf(children: Children, code: string): readonly string[] {
  return Object.hasOwn(children, code) ? (children[code] ?? []) : [];
}

/** Everything that can be reached from a code, each once: a code may stand below several. */
function reach(from: string, next: (code: string) => readonly string[]): readonly string[] {
  const found = new Set([from]);
  for (const code of found) for (const further of next(code)) found.add(further);
  return [...found];
}
