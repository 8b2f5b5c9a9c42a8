import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { demoOfFile } from './demo-of-file.ts';
import { explainedWarnings } from './explained-warnings.ts';
import { findValidator, validate } from './shared-validator.ts';

const validator = findValidator();
const folder = temporaryFolder(afterAll);
const demo = demoOfFile(30);

/** A few documents of every kind; `node test/ccda/validate-shared.ts` validates all documents of all patients. */
async function samples(): Promise<readonly string[]> {
  const files: string[] = [];
  const add = async (topic: string, patient: number, encounterId?: string): Promise<void> => {
    const { xml } = await demo.make(topic, patient, encounterId === undefined ? {} : { encounterId });
    const file = join(folder, `${topic}-${patient}-${encounterId ?? ''}.xml`);
    writeFileSync(file, xml);
    files.push(file);
  };
  for (const { name } of TOPICS) {
    await add(name, 2);
    if (name !== 'all-patient-data') await add(name, 14);
  }
  await add('all-patient-data', 3);
  await add('patient-info', 5);
  await add('all-patient-data', 29);
  await add('care-team-members', 1);
  await add('udi-for-implantable-device', 1);
  await add('medication-allergies', 1);
  await add('encounter-ccds', 1, '49');
  return files;
}

test.skipIf(validator === undefined)(
  'documents pass the shared validator in every layer, and each of its warnings is explained',
  { timeout: 170_000 },
  async () => {
    const findings = await validate(validator ?? '', await samples(), join(folder, 'report.json'));
    const errors = findings.filter(({ severity }) => severity === 'E');
    expect(errors.map(({ file, id, path, message }) => `${basename(file)} ${id} ${path} ${message}`)).toEqual([]);
    const explained = explainedWarnings(readFileSync(new URL('../../docs/ccds-documents.md', import.meta.url), 'utf8'));
    const unexplained = new Map(
      findings
        .filter(({ id }) => !explained.has(id))
        .map(({ id, layer, message }) => [id, `${layer} ${id}: ${message}`]),
    );
    expect([...unexplained.values()]).toEqual([]);
  },
);
