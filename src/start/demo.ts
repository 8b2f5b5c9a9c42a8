/**
 * Provides the demo that is served without configuration: its pack, and its database, built once under DATA_DIR. No
 * other file of src knows the demo.
 */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '../common/make-folder.ts';

/** The default pack of MAPPINGS. */
export const DEMO_PACK = fileURLToPath(new URL('../../mappings/medkeep', import.meta.url));

/** Accounts of the demo, with their FHIR identities. */
export const DEMO_PEOPLE = [
  { name: 'amelia', fhirUser: 'Patient/1' },
  { name: 'doctor', fhirUser: 'Practitioner/1' },
] as const;

/** FHIR identity of the trial account of the REST interface, if one is required. */
export const DEMO_USER = 'Practitioner/1';

const GENERATOR = fileURLToPath(new URL('../../fixtures', import.meta.url));

/** Parameters of the demo database. */
const DEMO = { patients: 120, seed: 1 } as const;

/** Returns the path of the demo database, whether it exists or not. */
export function demoFile(dataDir: string): string {
  return join(dataDir, `demo-${DEMO.patients}-${DEMO.seed}-${generatorVersion()}.sqlite`);
}

/**
 * Returns the SQLite file of the demo; builds it if there is none of this size, seed and generator. Calls `announce`
 * before building. Removes older ones.
 */
export async function demoDatabase(dataDir: string, announce: (what: string) => void): Promise<string> {
  const file = demoFile(dataDir);
  if (existsSync(file)) return file;
  announce(`Building the demo database (${DEMO.patients} patients) as ${file}`);
  makeFolder(dataDir);
  const { buildFixture } = await import('../../fixtures/build.ts');
  const unfinished = `${file}.${process.pid}`;
  try {
    await buildFixture({ ...DEMO, file: unfinished });
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
  for (const old of globSync('demo-*.sqlite', { cwd: dataDir })) {
    if (old !== basename(file)) rmSync(join(dataDir, old), { force: true });
  }
  return file;
}

/** Returns a hash that changes with any file of the generator. */
function generatorVersion(): string {
  const hash = createHash('sha256');
  for (const file of globSync('**/*.{ts,csv,json}', { cwd: GENERATOR }).toSorted()) {
    hash.update(file).update(readFileSync(join(GENERATOR, file)));
  }
  return hash.digest('hex').slice(0, 12);
}
