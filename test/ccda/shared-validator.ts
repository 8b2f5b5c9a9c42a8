/**
 * Runs the validator of ../shared/tools/ccda-validate, if it exists and is set up: schema, schematrons, vocabulary. In:
 * files. Out: its errors, or undefined (with one printed line) if it cannot run. It is never fetched or installed here.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The tool beside this repository, and a copy that was set up. */
const PLACES = ['../../.lintel/ccda-validate', '../../../shared/tools/ccda-validate'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
);

export interface Finding {
  readonly file: string;
  readonly layer: string;
  readonly severity: 'E' | 'W';
  /** Of the rule. */
  readonly id: string;
  readonly path: string;
  readonly message: string;
}

/** Returns the folder in which the tool can run; if there is none, prints how to prepare it. */
export function findValidator(): string | undefined {
  const place = PLACES.find(path => existsSync(join(path, 'lib/java/CcdaValidate.class')));
  if (place === undefined) {
    console.log(
      'skipped: no C-CDA validator; copy ../shared/tools/ccda-validate to .lintel/ccda-validate and run its setup.sh',
    );
  }
  return place;
}

/** All findings of some files under `--strict`. Rejects if the tool could not run. */
export async function validate(place: string, files: readonly string[], report: string): Promise<readonly Finding[]> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const arguments_ = ['-q', '--strict', '-j', '1', '--json', report, ...files];
  execFile(join(place, 'validate.sh'), arguments_, { maxBuffer: 64 * 1024 * 1024 }, (error, _out, complaint) => {
    // Exit code 1: the validator found errors.
    if (error && error.code !== 1) reject(new Error(`the validator could not run: ${complaint || error.message}`));
    else resolve();
  });
  await promise;
  const results = JSON.parse(readFileSync(report, 'utf8')) as Readonly<
    Record<string, { readonly findings: readonly Omit<Finding, 'file'>[] }>
  >;
  return Object.entries(results).flatMap(([file, { findings }]) => findings.map(finding => ({ ...finding, file })));
}
