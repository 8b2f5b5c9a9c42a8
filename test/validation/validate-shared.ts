/**
 * Validates a folder of NDJSON or JSON files with both validators:
 * `node test/validation/validate-shared.ts [FOLDER] [--us-core 6.1.0]`.
 *
 * In: the folder (an export, say). Out: each kind of error once with how often it is and one resource that has it; exit
 * code 1 if there is any. The first run copies ../shared/tools/fhir-validate to `.lintel/fhir-validate` and installs
 * its packages there, which needs the network; without FOLDER it does only that.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { validateResource } from '../../src/validation/validator.ts';
import { isPrepared, loadSharedValidator, PREPARED_COPY, SHARED_TOOL, type Validate } from './shared-validator.ts';

const VERSIONS = ['3.1.1', '6.1.0', '7.0.0'] as const;

const { values, positionals } = parseArgs({
  options: { 'us-core': { type: 'string', default: '6.1.0' } },
  allowPositionals: true,
});
const usCore = VERSIONS.find(version => version === values['us-core']);
if (usCore === undefined) throw new Error(`--us-core must be one of ${VERSIONS.join(', ')}`);

prepare();
const folder = positionals[0];
if (folder !== undefined) {
  const shared = await loadSharedValidator(usCore);
  const validators: Record<string, Validate> = { own: resource => validateResource(resource, [usCore]) };
  if (shared !== undefined) validators['shared'] = shared;
  await report(folder, validators);
}

function prepare(): void {
  if (isPrepared()) return;
  if (!existsSync(SHARED_TOOL)) {
    console.log('there is no ../shared/tools/fhir-validate; only the own validator runs');
    return;
  }
  cpSync(SHARED_TOOL, PREPARED_COPY, { recursive: true });
  execFileSync('chmod', ['-R', 'u+w', PREPARED_COPY]);
  execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: PREPARED_COPY, stdio: 'inherit' });
}

async function report(from: string, validators: Readonly<Record<string, Validate>>): Promise<void> {
  const found = new Map<string, { count: number; readonly example: string }>();
  let resources = 0;
  for await (const resource of resourcesOf(from)) {
    resources += 1;
    for (const [name, validate] of Object.entries(validators)) {
      for (const error of validate(resource)) {
        const kind = `${name}: ${error.replace(/\[\d+\]/g, '')}`;
        const known = found.get(kind) ?? { count: 0, example: nameOf(resource) };
        known.count += 1;
        found.set(kind, known);
      }
    }
  }
  const kinds = [...found].sort(([, a], [, b]) => b.count - a.count);
  for (const [kind, { count, example }] of kinds) console.log(`${count} × ${kind} (${example})`);
  console.log(`${resources} resources, ${kinds.length} kinds of errors from ${Object.keys(validators).join(' and ')}`);
  if (kinds.length > 0) process.exitCode = 1;
}

async function* resourcesOf(from: string): AsyncGenerator<object> {
  for (const file of readdirSync(from, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(from, file);
    if (file.endsWith('.json')) yield JSON.parse(readFileSync(path, 'utf8'));
    if (!file.endsWith('.ndjson')) continue;
    for await (const line of createInterface({ input: createReadStream(path) }))
      if (line !== '') yield JSON.parse(line);
  }
}

function nameOf(resource: object): string {
  const { resourceType, id }: { readonly resourceType?: unknown; readonly id?: unknown } = resource;
  return `${resourceType}/${id}`;
}
