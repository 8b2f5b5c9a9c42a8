/**
 * Answers the questions of the view *Tests*: runs the pack's tests on their own rows with the unsaved texts, and makes
 * a test of a row.
 */
import { z } from 'zod';
import { forTests, runPackTests, testFilesIn } from '../../../check/pack-tests.ts';
import { DRAWN, type Recorded, recordRow } from '../../record/record.ts';
import type { WireRecorded, WireTests } from '../../wire/tests.ts';
import { placeOf } from '../to-wire.ts';
import { shownIn } from './mapping.ts';
import { type Question, question, Refusal, unsaved } from './question.ts';

export const TESTS_QUESTIONS: readonly Question[] = [
  question('tests', { unsaved }, async (asked, { desk, signal }) => {
    const { pack, catalog } = await desk.check(asked.unsaved);
    if (pack.registry === undefined) return { cases: undefined } satisfies WireTests;
    if (testFilesIn(desk.folder, Object.keys(asked.unsaved)).length === 0) return { cases: [] } satisfies WireTests;
    const registry = forTests(desk.files(asked.unsaved), catalog, desk.testMemory) ?? pack.registry;
    const options = { unsaved: new Map(Object.entries(asked.unsaved)), signal };
    const { cases } = await runPackTests(desk.folder, registry, catalog, options);
    return {
      cases: cases.map(({ name, at, problems }) => ({
        mapping: name,
        place: placeOf(at),
        failures: problems.map(({ position, message, expected, found }) => ({
          ...{ place: placeOf(position), message, expected, found },
        })),
      })),
    } satisfies WireTests;
  }),
  question(
    'record',
    { unsaved, mapping: z.string(), key: z.array(z.string()).max(20) },
    async ({ unsaved: texts, mapping: name, key }, { desk, signal }) => {
      const served = await desk.served(texts);
      if (served?.stale) throw new Refusal(409, 'The pack has errors: correct them to make a test');
      const made = await shownIn(served, name, desk, signal, (mapping, parts, { catalog, registry }) => {
        const ground = { catalog, registry: forTests(desk.files(texts), catalog, desk.testMemory) ?? registry };
        return recordRow(mapping, key, parts, ground, DRAWN);
      });
      return {
        path: made.file,
        test: made.test,
        remarks: remarksOf(made),
      } satisfies WireRecorded;
    },
  ),
];

function remarksOf({ leftOut, notMade }: Recorded): readonly string[] {
  return [
    ...leftOut.map(({ table, column, why }) => `Left out: ${table}.${column}: ${why}`),
    ...(notMade.length === 0 ? [] : [`Not made by the invented rows: ${notMade.join(', ')}`]),
  ];
}
