/**
 * Answers questions of terminology without a terminology server: value sets that can be listed, and hierarchies of
 * codes.
 *
 * In: `terminology.json`, written by tools/r4/generate.ts from HL7's R4 and US Core; read on first use. Out: read-only
 * look-ups.
 * https://hl7.org/fhir/R4/valueset.html, https://hl7.org/fhir/R4/codesystem.html#hierarchy
 *
 *   codesOfValueSet(url): CodesBySystem|undefined
 *   systemsOfValueSets(): ReadonlySet<string>
 *   codesBelow(system, code, more?): readonly string[]|undefined    includes the code; undefined: no such hierarchy
 *   codesAbove(system, code, more?): readonly string[]|undefined
 *   systemsWithHierarchy(code, more?): readonly string[]
 */

import { readBeside } from './read-beside.ts';

/** All codes of a value set. */
export type CodesBySystem = readonly (readonly [system: string, codes: readonly string[]])[];

/** By code: the codes directly below it. */
type Children = ReadonlyMap<string, readonly string[]>;

/** By code system. */
export type Hierarchies = ReadonlyMap<string, Children>;

interface Table {
  readonly valueSets: ReadonlyMap<string, CodesBySystem>;
  readonly below: Hierarchies;
}

interface TableJson {
  readonly valueSets: Readonly<Record<string, CodesBySystem>>;
  readonly below: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
}

let table: Table | undefined;

function known(): Table {
  table ??= read();
  return table;
}

function read(): Table {
  const json = readBeside<TableJson>(import.meta.url, './terminology.json');
  const below = Object.entries(json.below).map(([system, children]) => [system, mapOf(children)] as const);
  return { valueSets: mapOf(json.valueSets), below: new Map(below) };
}

function mapOf<T>(record: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(Object.entries(record));
}

/** Returns the code systems whose codes are in value sets that can be listed. */
export function systemsOfValueSets(): ReadonlySet<string> {
  return new Set([...known().valueSets.values()].flatMap(systems => systems.map(([system]) => system)));
}

/** Returns the codes of a value set by its canonical URL; undefined if not all are known. */
export function codesOfValueSet(url: string): CodesBySystem | undefined {
  return known().valueSets.get(url);
}

/**
 * Returns a code and all that it subsumes; undefined if the system has no hierarchy with this code. `more`: hierarchies
 * besides HL7's.
 */
export function codesBelow(system: string, code: string, more?: Hierarchies): readonly string[] | undefined {
  const children = hierarchyWith(system, code, more);
  return children && reach(code, one => children.get(one) ?? []);
}

/** Returns a code and all that subsume it. */
export function codesAbove(system: string, code: string, more?: Hierarchies): readonly string[] | undefined {
  const children = hierarchyWith(system, code, more);
  return (
    children && reach(code, one => [...children].flatMap(([parent, codes]) => (codes.includes(one) ? [parent] : [])))
  );
}

/** Returns the code systems whose hierarchy contains a code. */
export function systemsWithHierarchy(code: string, more?: Hierarchies): readonly string[] {
  const systems = new Set([...known().below.keys(), ...(more?.keys() ?? [])]);
  return [...systems].filter(system => hierarchyWith(system, code, more) !== undefined);
}

function hierarchyWith(system: string, code: string, more: Hierarchies | undefined): Children | undefined {
  return [more?.get(system), known().below.get(system)].find(
    children => children?.has(code) || children?.values().some(codes => codes.includes(code)),
  );
}

/** Returns everything that can be reached from a code, each once, because a code may be below several others. */
function reach(from: string, next: (code: string) => readonly string[]): readonly string[] {
  const found = new Set([from]);
  for (const code of found) for (const further of next(code)) found.add(further);
  return [...found];
}
