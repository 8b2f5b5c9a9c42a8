/** Loads packs for the loader's tests. In: the files of a case. Out: the printed problems of the pack. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LoadedPack, loadPack } from '../../../src/mapping/load/pack/pack.ts';
import { formatProblem } from '../../../src/mapping/load/problem.ts';
import type { Catalog } from '../../../src/sql/catalog.ts';
import { catalog } from './catalog.ts';

const PACK = `name: small
title: Small
schema: "4.1"
zone: America/New_York
systems: { loinc: http://loinc.org, sct: http://snomed.info/sct, ucum: http://unitsofmeasure.org }
deny: ["*.SSN"]
`;

/** Loads a pack of these files against the test schema, or against its own lock. A missing pack.yaml is added. */
export function load(files: Readonly<Record<string, string>>, schema: Catalog | null = catalog): LoadedPack {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-pack-'));
  try {
    for (const [name, text] of Object.entries({ 'pack.yaml': PACK, ...files })) writeFileSync(join(folder, name), text);
    return loadPack(folder, schema ?? undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the problems of a pack, one printed line each. */
export function problemsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return load(files).problems.map(formatProblem);
}

/** Lines 1 to 4 of a valid mapping of patients. */
export const HEAD = `mapping: people
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
`;

/** The same up to its elements, which begin in line 6. */
export const PEOPLE = `${HEAD}elements:\n`;

/** The complete mapping. */
export const ACTIVE = `${PEOPLE}  active: "true"\n`;

/** A mapping of allergies up to its elements, which begin in line 7. */
export const ALLERGIES = `mapping: allergies
resource: AllergyIntolerance
source: { table: dbo.ALLRGY, as: a, key: [ALG_ID] }
id: "{ALG_ID}"
needs: [patient]
elements:
`;

/** Lines 1 to 4 of pack.yaml. */
export const SMALL = `name: small
title: Small
zone: UTC
schema: "4.1"
`;

/** Returns the problems of a mapping of patients with these elements; `codes` are the lines of codes.yaml. */
export function problemsOfElements(elements: string, codes?: string): readonly string[] {
  return problemsOf({ 'm.yaml': `${PEOPLE}${elements}\n`, ...(codes === undefined ? {} : { 'codes.yaml': codes }) });
}

/** Returns the problems of a mapping of patients with this `source` in line 3. */
export function problemsOfSource(source: string): readonly string[] {
  return problemsOf({ 'm.yaml': ACTIVE.replace(/^source: .*/m, `source: ${source}`) });
}

/** Returns the problems of a mapping of patients with this condition on the source, in line 3. */
export function problemsOfCondition(where: string): readonly string[] {
  return problemsOfSource(`{ table: dbo.PT, as: p, key: [PT_NO], where: ${where} }`);
}
