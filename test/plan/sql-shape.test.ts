/**
 * The text of a statement depends only on the shape of a request: which parameters, modifiers and prefixes, the
 * precision of a value, whether it has a system. Everything else about values is bound as parameters.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { OPEN_ACCESS } from '../../src/auth/access.ts';
import type { Statement } from '../../src/sql/plan.ts';
import { type Demo, openDemo } from '../law/demo.ts';
import { runsOf } from '../share.ts';

let demo: Demo;
const statements: Statement[] = [];
beforeAll(async () => {
  demo = await openDemo({
    patients: 1,
    onQuery: (plan, placeholders, now) => statements.push(demo.database.render(plan, placeholders, now)),
  });
});
afterAll(() => demo.close());

/** The statements of a search with `_summary=count`; in other searches the rows found decide on further statements. */
async function textsOf(type: string, name: string, value: string): Promise<readonly string[]> {
  statements.length = 0;
  const parameters = [
    [name, value],
    ['_summary', 'count'],
  ] as const;
  await demo.facade.search({ type, parameters }, { access: OPEN_ACCESS, base: 'http://x/fhir', handling: 'strict' });
  return statements.map(({ text }) => text);
}

/** Words that occur neither in the demo's codes, names or numbers nor in SQL. */
const letters = fc.stringMatching(/^[qxz]{2}[b-y]{1,8}[qxz]$/);
const word = fc.tuple(letters, fc.constantFrom('', "'", '"', ';', '%', '_', '--')).map(([one, odd]) => `${one}${odd}q`);
/** The number of words in a value is part of a string search's shape. */
const oneWord = fc.tuple(letters, fc.constantFrom('', "'", '"', '%', '_', '’')).map(([one, odd]) => `${one}${odd}q`);
const twoWords = fc.tuple(letters, fc.constantFrom(' ', ';', '--', " ' ")).map(([one, odd]) => `${one}${odd}q`);
const digits = fc.integer({ min: 1_000_000, max: 9_999_999 }).map(String);
const two = (from: number, to: number) => fc.integer({ min: from, max: to }).map(n => String(n).padStart(2, '0'));
const year = fc.integer({ min: 1900, max: 2099 }).map(String);
/** Inside a month and a year: a day at their edges is also compared with dates that have only the month or the year. */
const day = fc.tuple(year, two(2, 11), two(5, 25)).map(parts => parts.join('-'));
/**
 * Away from the hospital's clock changes, which are before 9:00 UTC: near them a local time is compared in two parts.
 */
const instant = fc.tuple(day, two(9, 20), two(0, 59)).map(([on, hour, minute]) => `${on}T${hour}:${minute}:30Z`);

const prefixed = (prefixes: readonly string[], of: readonly fc.Arbitrary<string>[]): readonly fc.Arbitrary<string>[] =>
  prefixes.flatMap(prefix => of.map(one => one.map(text => prefix + text)));

/** Values of one shape, for each kind of parameter. */
const SHAPES: Readonly<Record<string, readonly fc.Arbitrary<string>[]>> = {
  string: [oneWord, twoWords],
  token: [word, word.map(one => `urn:${one}|${one}`), word.map(one => `|${one}`), word.map(one => `urn:${one}|`)],
  reference: [digits, letters],
  uri: [letters.map(one => `urn:${one}`)],
  date: prefixed(['', 'ge', 'lt', 'ne'], [year, day, instant]),
  number: prefixed(['', 'gt', 'le'], [digits]),
  quantity: prefixed(['', 'gt', 'le'], [digits, fc.tuple(digits, letters).map(([one, unit]) => `${one}||${unit}`)]),
};

const escaped = (text: string): string => text.replaceAll(/[\\,$]/g, '\\$&');

test('two requests of one shape send the same SQL, whatever their values', async () => {
  const offered = demo.facade.offers.types.flatMap(type =>
    demo.facade.offers
      .of(type)
      .filter(({ parameter }) => parameter.type in SHAPES)
      .map(one => [type, one] as const),
  );
  const asked = fc.constantFrom(...offered).chain(([type, { parameter, modifiers }]) => {
    const plain = (['exact', 'contains', 'not'] as const).filter(one => modifiers.has(one));
    const name = fc.constantFrom('', ...plain.map(one => `:${one}`)).map(suffix => parameter.code + suffix);
    const kind = parameter.code === '_id' ? 'reference' : parameter.type;
    const values = fc.constantFrom(...(SHAPES[kind] ?? [])).chain(of => fc.tuple(of, of));
    return fc.tuple(fc.constant(type), name, values);
  });
  await fc.assert(
    fc.asyncProperty(asked, async ([type, name, [a, b]]) => {
      const first = await textsOf(type, name, escaped(a));
      expect(await textsOf(type, name, escaped(b))).toEqual(first);
      for (const text of first) for (const value of [a, b]) expect(text).not.toContain(value);
    }),
    { numRuns: runsOf(800) },
  );
}, 120_000);

test('searches for a day have a few SQL texts, by where its ends lie in month and year', async () => {
  const days = Array.from({ length: 200 }, (_, i) => new Date(Date.UTC(1999, 11, 25) + i * 86_400_000 * 3.7));
  const texts = new Set<string>();
  for (const on of days) {
    const [text = ''] = await textsOf('CarePlan', 'date', `ap${on.toISOString().slice(0, 10)}`);
    texts.add(text);
  }
  expect(texts.size).toBeLessThanOrEqual(16);
});

test('searches for an instant near a change of the clock have three SQL texts, with values as parameters', async () => {
  const texts = new Set<string>();
  for (const on of ['1996-04-07', '1996-10-27', '2010-03-14', '2010-11-07', '2010-06-15']) {
    for (const time of ['04:59:59', '05:30:30', '06:00:00', '06:30:30', '07:00:30', '08:00:00']) {
      const [text = ''] = await textsOf('DiagnosticReport', 'issued', `${on}T${time}Z`);
      expect(text).not.toContain(on.slice(0, 4));
      texts.add(text);
    }
  }
  // Ordinary, next to a skipped hour, and next to a repeated one.
  expect(texts.size).toBe(3);
});

const numbered = (count: number, nth: (i: number) => string): readonly string[] =>
  Array.from({ length: count }, (_, i) => nth(i));

/** One comparison per column covers them all, not one per value; lists of parameters are rounded up. */
test.each<[string, string, (i: number) => string]>([
  ['Patient', 'name', i => `zq${i}`],
  ['Patient', 'name:exact', i => `Zq${i}`],
  ['Patient', 'name:contains', i => `zq${i}`],
  ['Patient', 'address', i => `zq${i}`],
  ['Patient', 'telecom', i => `555-${i}`],
  ['Patient', 'identifier', i => `no${i}`],
  ['Observation', 'code', i => `zq${i}`],
  ['Observation', 'code:not', i => `zq${i}`],
  ['Observation', 'code:text', i => `zq${i}`],
  ['Observation', 'code:text', i => `${i % 2 === 0 ? 'a' : ''}zq${i}`],
  ['Observation', 'subject', i => `Patient/${70_000 + i}`],
  ['Observation', 'encounter', i => `${7_000_000 + i}`],
  ['Organization', '_id', i => `fac-${7_000_000 + i}`],
  ['Patient', 'birthdate', i => `${1600 + i}-03-07`],
  ['Immunization', 'lot-number', i => `zq${i}`],
])('%s?%s: 140 and 250 values have the same SQL', async (type, name, nth) => {
  const texts = await textsOf(type, name, numbered(140, nth).join());
  expect(texts).not.toEqual([]);
  expect(await textsOf(type, name, numbered(250, nth).join())).toEqual(texts);
});
