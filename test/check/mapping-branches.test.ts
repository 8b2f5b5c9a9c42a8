/**
 * The sample has a row for each branch of a mapping, however rare, including branches of child rows and pieces. So a
 * fault that only such a branch shows is found.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { takeSample } from '../../src/check/sample.ts';
import { VALUES } from '../../src/check/values.ts';
import { type SmallClinic, smallClinic } from '../cli/small-clinic.ts';
import { facadeOver } from '../facade-over.ts';
import { check, type Opened, open, reading, told } from './opened.ts';

const WEIGHTS = `mapping: weights
resource: Observation
source: { table: WEIGHING, as: w, key: [NO] }
id: "w-{NO}"
elements:
  status: final
  code: loinc#29463-7 Body weight
  note: [{ text: { const: heavy, if: { KG: { ge: "400" } } } }]
  first:
    - valueQuantity: { value: { from: KG }, unit: kg, system: http://unitsofmeasure.org, code: kg }
    - dataAbsentReason: { coding: [{ system: http://terminology.hl7.org/CodeSystem/data-absent-reason, code: unknown }] }
`;

/** People with child rows and pieces of their names; the branches are in these. */
const PEOPLE = `mapping: people
resource: Patient
source: { table: PERSON, as: p, key: [ID] }
id: "{ID}"
elements:
  name: [{ given: [{ each: { split: SURNAME, by: "/", as: n }, item: { first: [{ from: n.piece, if: { n.piece: X } }, { const: other }] } }] }]
  contact:
    - each: { table: WEIGHING, as: w, on: { PERSON_ID: ID }, order: [NO] }
      elements:
        name: { text: { first: [{ from: KG }, { const: not weighed }] } }
        period: { start: { from: TAKEN, if: { KG: { ge: "400" } } } }
`;

/** 20,000 people and weighings: one weighing has no weight, one is heavy. */
function clinic(files: Readonly<Record<string, string>>): SmallClinic {
  const made = smallClinic(files);
  const writer = new DatabaseSync(join(made.folder, 'clinic.sqlite'));
  writer.exec(`WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 20100)
    INSERT INTO WEIGHING SELECT i, i, '2024-04-10 08:30:00.000', 60 + i % 40 FROM n`);
  writer.exec('INSERT INTO PERSON (ID, SURNAME) SELECT NO, NO FROM WEIGHING WHERE NO >= 100');
  writer.exec('UPDATE WEIGHING SET KG = NULL WHERE NO = 7777; UPDATE WEIGHING SET KG = 410 WHERE NO = 13333');
  writer.exec("UPDATE PERSON SET SURNAME = 'A/X/B' WHERE ID = 11111");
  writer.close();
  return made;
}

/** Returns the ids of the sampled rows. */
async function sampled({ registry, database }: Opened, seed: number): Promise<readonly (string | undefined)[]> {
  const facade = facadeOver({ registry, database });
  const seen: (string | undefined)[] = [];
  const { signal } = new AbortController();
  const { mappings } = registry;
  const refused = () => false;
  const now = Date.UTC(2026, 5, 30);
  const asking = { registry, mappings, database, facade, now, seed, all: false, signal, refused };
  await takeSample(asking, ({ id }) => void seen.push(id));
  expect(new Set(seen).size).toBe(seen.length);
  return seen;
}

test.each([1, 2, 3])('the sample has the one row in 20,000 that takes an alternative, seed %i', async seed => {
  const opened = await open(clinic({ 'weighing.yaml': WEIGHTS }));
  const seen = await sampled(opened, seed);
  await opened.close();
  expect(seen).toContain('w-7777');
  expect(seen).toContain('w-13333');
});

describe('branches of child rows', () => {
  test.each([1, 2])('have a sampled row each with such a child or piece, seed %i', async seed => {
    const opened = await open(clinic({ 'person.yaml': PEOPLE, 'weighing.yaml': WEIGHTS }));
    const seen = await sampled(opened, seed);
    await opened.close();
    for (const id of ['7777', '13333', '11111']) expect(seen).toContain(id);
  });

  test('reveal a fault of a rare branch', async () => {
    const opened = await open(clinic({ 'person.yaml': PEOPLE, 'weighing.yaml': WEIGHTS }));
    const { codec } = reading(opened, 'people', 'TAKEN');
    const decode = codec.decode.bind(codec);
    Object.assign(codec, {
      decode: (...raws: Parameters<typeof decode>) => String(decode(...raws)).replace('2024', '2023'),
    });
    const problems = told(await check(opened, { sections: [VALUES] }));
    await opened.close();
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^person\.yaml:11:\d+: TAKEN is read as another value by datetime, in 1 sampled row/);
  });
});

test('branches beyond the bound are reported as not sampled', async () => {
  const notes = Array.from(
    { length: 210 },
    (_, i) => `    - { text: { const: note ${i}, if: { KG: { ge: "${200 + i}" } } } }`,
  );
  const many = WEIGHTS.replace(/ {2}note: .*/, `  note:\n${notes.join('\n')}`);
  const opened = await open(smallClinic({ 'weighing.yaml': many }));
  const [values] = await check(opened, { sections: [VALUES] });
  await opened.close();
  expect(values?.notes.join(' ')).toMatch(
    /No row was looked for of further branches \(`first`, `if`\): weights \(12\)\. `--all` reads every row\./,
  );
});
