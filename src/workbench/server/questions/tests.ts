/**
 * Questions of the view *Tests*: the tests beside the mappings, run on rows of their own with the texts as they are typed.
 */
import { forTests, runPackTests } from '../../../check/pack-tests.ts';
import type { WireTests } from '../../wire/tests.ts';
import { placeOf } from '../tell.ts';
import { type Question, question, unsaved } from './question.ts';

export const TESTS_QUESTIONS: readonly Question[] = [
  question('tests', { unsaved }, async (asked, { desk, signal }) => {
    const { pack, catalog } = await desk.check(asked.unsaved);
    if (pack.registry === undefined) return { cases: undefined } satisfies WireTests;
    const registry = forTests(desk.files(asked.unsaved), catalog) ?? pack.registry;
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
];
