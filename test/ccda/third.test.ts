import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uuidOf } from '../../src/ccda/ids.ts';
import { TOPICS } from '../../src/ccda/topics.ts';
import { allOf } from '../../src/law/searches.ts';
import type { Demo } from '../law/demo.ts';
import { openThird, THIRD_PACK } from '../law/third.ts';
import { demoContent, documentOf } from './demo-documents.ts';
import { explainedWarnings } from './explained-warnings.ts';
import { findValidator, validate } from './shared-validator.ts';
import { at, everything } from './xml-tree.ts';

const validator = findValidator();

/** The expected time in a row and the ends in its entry, computed from the resource alone. */
function expectedWhen(value: unknown): { readonly text: string; readonly low?: string; readonly high?: string } {
  const digits = (date: string): string => date.replaceAll('-', '');
  if (typeof value === 'string') {
    return /^\d/.test(value) ? { text: value, low: digits(value), high: digits(value) } : { text: value };
  }
  interface Age {
    readonly value: number;
    readonly unit: string;
  }
  const when = value as Partial<Age> & {
    readonly [Name in 'start' | 'end']?: string;
  } & { readonly [Name in 'low' | 'high']?: Age };
  if (when.start !== undefined) {
    const { start, end } = when;
    if (end === undefined) return { text: `from ${start} on`, low: digits(start) };
    return { text: `${start} to ${end}`, low: digits(start), high: digits(end) };
  }
  const ages = when.low && when.high ? [when.low, when.high] : [when];
  return { text: `at the age of ${ages.map(one => `${one.value} ${one.unit}`).join(' to ')}` };
}

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

  const documents = new Map<string, ReturnType<typeof documentOf>>();
  const made = (topic: string, patient: number): ReturnType<typeof documentOf> => {
    const name = `${topic} of ${patient}`;
    const document =
      documents.get(name) ?? documentOf(third.facade, topic, patient, {}, demoContent(third.facade, THIRD_PACK));
    documents.set(name, document);
    return document;
  };

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

  test('have dates in narrative and entry in their recorded form', async () => {
    const forms = new Set<string>();
    for (const [topic, type, part, elements] of [
      ['problems', 'Condition', 'observation', ['onset', 'abatement']],
      ['all-patient-data', 'AllergyIntolerance', 'observation', ['onset']],
      ['procedures', 'Procedure', '', ['performed']],
    ] as const) {
      for (const resource of await allOf(third.facade, type, [])) {
        if (!resource.id.startsWith('told-')) continue;
        const { reference } = (resource['subject'] ?? resource['patient']) as { readonly reference: string };
        const { root } = await made(topic, Number(reference.split('/')[1]));
        const entry = everything(root).find(
          one => at(one, 'id')?.attributes['root'] === uuidOf('wardbook', type, resource.id, part),
        );
        const row = at(entry ?? root, 'text', 'reference')?.attributes['value']?.slice(1);
        const told = everything(root).find(one => one.attributes['ID'] === row);
        const words = told && everything(told).map(({ text }) => text);
        for (const element of elements) {
          const form = Object.keys(resource).find(name => name.startsWith(element));
          if (form === undefined) continue;
          forms.add(`${type}.${form}`);
          const { text, low, high } = expectedWhen(resource[form]);
          expect(words, `${type}/${resource.id} ${form}`).toContain(text);
          const time = at(entry ?? root, 'effectiveTime');
          const written = (end: 'low' | 'high') => at(time ?? root, end)?.attributes['value'];
          if (element === 'onset') expect(written('low')).toBe(low);
          if (element === 'abatement') expect(written('high')).toBe(high);
          if (element === 'performed' && low !== high) expect([written('low'), written('high')]).toEqual([low, high]);
          if (element === 'performed' && low === high) expect(time?.attributes['value']).toBe(low);
        }
      }
    }
    expect([...forms].sort()).toEqual(
      ['Condition.onset', 'Condition.abatement', 'AllergyIntolerance.onset', 'Procedure.performed']
        .flatMap(name => ['DateTime', 'Period', 'Age', 'Range', 'String'].map(form => name + form))
        .sort(),
    );
  });

  test('an undated record is found by its text or age, not by a date', async () => {
    const forms = async (type: string, element: string, name: string, value: string): Promise<readonly string[]> => {
      const found = (await allOf(third.facade, type, [[name, value]])).filter(({ id }) => id.startsWith('told-'));
      return [...new Set(found.flatMap(one => Object.keys(one).filter(key => key.startsWith(element))))].sort();
    };
    expect(await forms('Condition', 'onset', 'onset-date', 'ge1900')).toEqual(['onsetDateTime', 'onsetPeriod']);
    expect(await forms('Condition', 'onset', 'onset-info', 'since spring')).toEqual(['onsetString']);
    const year = 'http://unitsofmeasure.org|a';
    expect(await forms('Condition', 'onset', 'onset-age', `ge1|${year}`)).toEqual(['onsetAge', 'onsetRange']);
    expect(await forms('Condition', 'abatement', 'abatement-age', `ge1|${year}`)).toContain('abatementRange');
    expect(await forms('Condition', 'onset', 'onset-age:missing', 'true')).not.toContain('onsetRange');
    expect(await forms('Condition', 'abatement', 'abatement-date', 'ge1900')).toEqual([
      'abatementDateTime',
      'abatementPeriod',
    ]);
    expect(await forms('Condition', 'abatement', 'abatement-string', 'last')).toEqual(['abatementString']);
    expect(await forms('Procedure', 'performed', 'date', 'ge1900')).toEqual(['performedDateTime', 'performedPeriod']);
    expect(await forms('Procedure', 'performed', 'date:missing', 'true')).toEqual([
      'performedAge',
      'performedRange',
      'performedString',
    ]);
  });

  test.skipIf(validator === undefined)(
    'pass the shared validator in every layer, and each of its warnings is explained',
    { timeout: 400_000 },
    async () => {
      const files: string[] = [];
      for (const [topic, patient] of [
        ...TOPICS.map(({ name }) => [name, 12] as const),
        ...(await allOf(third.facade, 'Patient', [])).map(({ id }) => ['all-patient-data', Number(id)] as const),
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
