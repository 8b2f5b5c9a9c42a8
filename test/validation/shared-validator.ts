/**
 * The validator of ../shared/tools/fhir-validate, where it is there: a second opinion beside validator.ts.
 *
 * In: the copy that validate-shared.ts prepares under `.lintel/fhir-validate`. Out: a function from a resource to error
 * lines, or undefined (with one printed line) where there is no copy. It is never fetched or installed here.
 */

import { existsSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Release } from '../../src/validation/facts.ts';

export type Validate = (resource: object) => readonly string[];

interface Issue {
  readonly severity: string;
  readonly path: string;
  readonly message: string;
}

interface SharedModule {
  readonly Validator: {
    load(version: string): Promise<{ validate(resource: object): { readonly issues: readonly Issue[] } }>;
  };
}

/** Path of the tool beside this repository, and of its installed copy. */
export const SHARED_TOOL = fileURLToPath(new URL('../../../shared/tools/fhir-validate', import.meta.url));
export const PREPARED_COPY = fileURLToPath(new URL('../../.lintel/fhir-validate', import.meta.url));

/** True if the copy exists with its packages. */
export function isPrepared(): boolean {
  return existsSync(`${PREPARED_COPY}/node_modules`);
}

/** Loads the validator for one US Core version; the first load of a process takes seconds. */
export async function loadSharedValidator(usCore: Exclude<Release, 'R4'>): Promise<Validate | undefined> {
  if (!isPrepared()) {
    console.log('skipped: no shared validator; prepare it with `node test/validation/validate-shared.ts`');
    return undefined;
  }
  const tool: SharedModule = await import(pathToFileURL(`${PREPARED_COPY}/validate.mjs`).href);
  const validator = await tool.Validator.load(`v${usCore}`);
  return resource => {
    // The validator modifies its input.
    const { issues } = validator.validate(structuredClone(resource));
    return issues.filter(issue => issue.severity === 'error').map(issue => `${issue.path}: ${issue.message}`);
  };
}
