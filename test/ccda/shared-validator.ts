/**
 * The validator of ../shared/tools/ccda-validate, where it is there and set up: schema, schematrons, vocabulary. In:
 * files. Out: its errors, or undefined (with one printed line) where it cannot run. It is never fetched or installed
 * here.
 */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The tool beside this repository, and a copy of it that was set up. */
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

/** Where the tool can run; prints how to prepare it where it cannot. */
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
    // 1 says that there are errors.
    if (error && error.code !== 1) reject(new Error(`the validator could not run: ${complaint || error.message}`));
    else resolve();
  });
  await promise;
  const results = JSON.parse(readFileSync(report, 'utf8')) as Readonly<
    Record<string, { readonly findings: readonly Omit<Finding, 'file'>[] }>
  >;
  return Object.entries(results).flatMap(([file, { findings }]) => findings.map(finding => ({ ...finding, file })));
}
