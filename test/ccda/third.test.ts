import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TOPICS } from '../../src/ccda/topics.ts';
import { allOf } from '../../src/law/searches.ts';
import type { Demo } from '../law/demo.ts';
import { openThird, THIRD_PACK } from '../law/third.ts';
import { demoContent, documentOf } from './demo-documents.ts';
import { explainedWarnings } from './explained-warnings.ts';
import { findValidator, validate } from './shared-validator.ts';

const validator = findValidator();

describe('documents of the third database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lintel-third-documents-'));
  let third: Demo;
  beforeAll(async () => {
    third = await openThird();
  });
  afterAll(async () => {
    await third.close();
    rmSync(folder, { recursive: true });
  });

  const make = async (topic: string, patient: number): Promise<string> => {
    const content = demoContent(third.facade, THIRD_PACK);
    return (await documentOf(third.facade, topic, patient, {}, content)).xml;
  };

  test('name what FHIR serves of the patient: problems, drugs, allergies and vaccines', async () => {
    let named = 0;
    for (const patient of [2, 17, 30]) {
      const xml = (await make('all-patient-data', patient)).replaceAll('&apos;', "'");
      for (const [type, element] of [
        ['Condition', 'code'],
        ['MedicationRequest', 'medicationCodeableConcept'],
        ['AllergyIntolerance', 'code'],
        ['Immunization', 'vaccineCode'],
      ] as const) {
        for (const resource of await allOf(third.facade, type, [['patient', String(patient)]])) {
          const { text } = resource[element] as { readonly text?: string };
          expect(xml, `${type}/${resource.id} of ${patient}`).toContain(text);
          named++;
        }
      }
    }
    expect(named).toBeGreaterThan(20);
  });

  test.skipIf(validator === undefined)(
    'pass the shared validator in every layer, and each of its warnings is explained',
    { timeout: 170_000 },
    async () => {
      const files: string[] = [];
      for (const [topic, patient] of [
        ...TOPICS.map(({ name }) => [name, 12] as const),
        ['all-patient-data', 30] as const,
      ]) {
        const file = join(folder, `${topic}-${patient}.xml`);
        writeFileSync(file, await make(topic, patient));
        files.push(file);
      }
      const findings = await validate(validator ?? '', files, join(folder, 'report.json'));
      const errors = findings.filter(({ severity }) => severity === 'E');
      expect(errors.map(({ file, id, path, message }) => `${basename(file)} ${id} ${path} ${message}`)).toEqual([]);
      const explained = explainedWarnings(
        readFileSync(new URL('../../docs/ccds-documents.md', import.meta.url), 'utf8'),
      );
      const unexplained = findings.filter(({ id }) => !explained.has(id));
      expect([...new Set(unexplained.map(({ id, layer, message }) => `${layer} ${id}: ${message}`))]).toEqual([]);
    },
  );
});
