/** Look-up of one among very many people whose names begin alike: nobody is guessed, and nobody is missed. */
import { expect, test } from 'vitest';
import type { RestSource } from '../../src/rest/fhir-source.ts';
import { lookUpPatient } from '../../src/rest/patient-lookup.ts';
import { demoContent } from '../ccda/demo-documents.ts';
import { openDemo } from '../law/demo.ts';

/** A search that finds these family names in this order, for any request. */
async function lookUp(families: readonly string[], lastName: string): Promise<{ result: unknown; read: number }> {
  const demo = await openDemo({ patients: 1, engine: 'sqlite' });
  let read = 0;
  const searchPages: RestSource['facade']['searchPages'] = async function* ({ parameters }) {
    const count = Number(new Map(parameters).get('_count'));
    for (let from = 0; from < families.length; from += count) {
      const resources = families
        .slice(from, from + count)
        .map((family, i) => ({ resourceType: 'Patient', id: String(from + i), name: [{ family }] }));
      read += resources.length;
      yield { resources, texts: [], numbers: new Map(), more: from + count < families.length };
    }
  };
  const numbers = { idOf: String, numberOf: Number };
  const source = {
    facade: { ...demo.facade, searchPages },
    content: demoContent(demo.facade),
    patients: numbers,
    encounters: numbers,
  };
  await demo.close();
  const context = { access: { kind: 'all', caller: '' }, base: 'http://x/fhir', handling: 'strict' } as const;
  return { result: await lookUpPatient({ lastName }, source, context), read };
}

const lindens = (count: number): readonly string[] => Array.from({ length: count }, () => 'Linden');

test('a full name finds one person among thousands with the same prefix', async () => {
  const { result } = await lookUp([...lindens(12_000), 'Li'], 'li');
  expect(result).toEqual({ kind: 'one', number: 12_000 });
});

test('an unused full name finds nobody, despite many longer names', async () => {
  expect((await lookUp(lindens(12_000), 'Li')).result).toEqual({ kind: 'none' });
});

test('reading stops early for several matches, with the count so far', async () => {
  const { result, read } = await lookUp(lindens(50_000), 'Linden');
  expect(result).toMatchObject({ kind: 'several', count: 5000, more: true });
  expect(read).toBe(5000);
});

test('reading is bounded, and a cut result never counts as one or none', async () => {
  for (const families of [lindens(200_000), ['Li', ...lindens(200_000)]]) {
    const { result, read } = await lookUp(families, 'Li');
    expect(result).toMatchObject({ kind: 'several', count: families.length - 200_000, more: true });
    expect(read).toBe(100_000);
  }
});
