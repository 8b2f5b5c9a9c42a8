/**
 * Packs for the loader's tests. In: the files that a case is about. Out: the problems of the pack, as they are printed.
 */
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

/** Loads a pack of these files against the test schema, or its own lock; without a pack.yaml it has a plain one. */
export function load(files: Readonly<Record<string, string>>, schema: Catalog | null = catalog): LoadedPack {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-pack-'));
  try {
    for (const [name, text] of Object.entries({ 'pack.yaml': PACK, ...files })) writeFileSync(join(folder, name), text);
    return loadPack(folder, schema ?? undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The problems of a pack, one printed line each. */
export function problemsOf(files: Readonly<Record<string, string>>): readonly string[] {
  return load(files).problems.map(formatProblem);
}

/** A sound mapping of patients up to line 4. */
export const HEAD = `mapping: people
resource: Patient
source: { table: dbo.PT, as: p, key: [PT_NO] }
id: "{PT_NO}"
`;

/** The same up to its elements, which begin in line 6. */
export const PEOPLE = `${HEAD}elements:\n`;

/** The same whole. */
export const ACTIVE = `${PEOPLE}  active: "true"\n`;

/** A mapping of allergies up to its elements, which begin in line 7. */
export const ALLERGIES = `mapping: allergies
resource: AllergyIntolerance
source: { table: dbo.ALLRGY, as: a, key: [ALG_ID] }
id: "{ALG_ID}"
needs: [patient]
elements:
`;

/** pack.yaml up to line 4. */
export const SMALL = `name: small
title: Small
zone: UTC
schema: "4.1"
`;

/** The problems of a mapping of patients with these elements; `codes` are the lines of codes.yaml. */
export function problemsOfElements(elements: string, codes?: string): readonly string[] {
  return problemsOf({ 'm.yaml': `${PEOPLE}${elements}\n`, ...(codes === undefined ? {} : { 'codes.yaml': codes }) });
}

/** The problems of a mapping of patients whose `source` is as given, in line 3. */
export function problemsOfSource(source: string): readonly string[] {
  return problemsOf({ 'm.yaml': ACTIVE.replace(/^source: .*/m, `source: ${source}`) });
}

/** The problems of a mapping of patients under a condition on the source, in line 3. */
export function problemsOfCondition(where: string): readonly string[] {
  return problemsOfSource(`{ table: dbo.PT, as: p, key: [PT_NO], where: ${where} }`);
}
