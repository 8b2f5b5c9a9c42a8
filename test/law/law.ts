/**
 * Tests the law: search(p, v) returns exactly the resources on which v matches p. In: a facade over some data. Out: the
 * number of cases, and each difference, by parameter and value (the data is invented).
 */
import type { Facade } from '../../src/facade.ts';
import { answering, indexedBy, type Question } from '../../src/law/oracle.ts';
import type { Indexed } from '../../src/law/oracle-values.ts';
import { type Amount, questionsFor } from '../../src/law/questions.ts';
import { allIds, allOf, asksPrimitiveForSystem, type Resource, valueSetsOf } from '../../src/law/searches.ts';
import { ALL, drawer, type Sample } from '../engines/sample.ts';
import { ASKS_ALL, shareOf } from '../share.ts';

/** A question about a type with more resources costs up to a hundred times as much, so one in four is asked. */
const MANY = 3000;
const OF_MANY: Sample = { oneIn: 4, seed: 23 };
export const NOW = Date.parse('2026-06-30T16:00:00Z');

interface Difference {
  readonly request: string;
  /** Ids that only the search returned, and ids that only the law does; a few of each. */
  readonly tooMany: readonly string[];
  readonly missing: readonly string[];
}

/** Resources of a type, and the values that a parameter indexes on each. */
interface Judged {
  readonly resources: readonly Resource[];
  readonly indexed: readonly (readonly Indexed[])[];
  /** Zone of local times without an offset, and the present instant. */
  readonly zone: string;
  readonly now: number;
}

export interface LawReport {
  readonly cases: number;
  readonly differences: readonly Difference[];
  /** Number of cases by type and parameter. */
  readonly byParameter: ReadonlyMap<string, number>;
}

export interface LawOptions extends Amount {
  readonly zone: string;
  readonly types?: readonly string[];
  /** Stops after this number of differences. */
  readonly enough?: number;
  /** Source of the resources for the oracle, if not the facade itself. */
  readonly reference?: Facade;
  /** Default: all cases, except for large types. */
  readonly sample?: Sample;
  /** Asks one in this many of the questions of each kind, and half of the kinds, today. Default: all. */
  readonly oneIn?: number;
}

/** The kind of a question: modifier, comparator, and whether it has a system or several values. */
function kindOf({ parameter: { type }, modifier, text }: Question): string {
  const compares = type === 'date' || type === 'number' || type === 'quantity';
  const prefix = compares ? /^(?:ne|gt|lt|ge|le|sa|eb|ap)/.exec(text)?.[0] : undefined;
  return [modifier, prefix, text.includes('|'), text.includes(',')].join();
}

/** Returns one in this many of each kind, and half of the kinds; tomorrow the other half. */
function today(questions: readonly Question[], oneIn: number): readonly Question[] {
  return oneIn === 1 ? questions : shareOf(shareOf(questions, oneIn, kindOf), 2);
}

export async function checkLaw(facade: Facade, options: LawOptions): Promise<LawReport> {
  const differences: Difference[] = [];
  const byParameter = new Map<string, number>();
  let cases = 0;
  const draw = drawer(options.sample ?? ALL);
  const valueSets = await valueSetsOf(options.reference ?? facade);
  const { hierarchies } = facade.registry.pack;
  for (const type of options.types ?? facade.offers.types) {
    const resources = await allOf(options.reference ?? facade, type, []);
    const drawOfMany = drawer(resources.length > MANY && !ASKS_ALL ? OF_MANY : ALL);
    for (const offered of facade.offers.of(type)) {
      if (offered.parameter.type === 'special') continue;
      const indexed = resources.map(resource => indexedBy(resource, offered.parameter));
      const judged = { resources, indexed, zone: options.zone, now: NOW };
      const values = indexed.flat();
      const questions = questionsFor(offered, values, { ...options, valueSets, hierarchies }).filter(
        one => !asksPrimitiveForSystem(values, one, offered),
      );
      for (const question of drawOfMany(draw(today(questions, options.oneIn ?? 1)))) {
        cases++;
        const name = `${type}.${offered.parameter.code}`;
        byParameter.set(name, (byParameter.get(name) ?? 0) + 1);
        const difference = await compareSearch(facade, type, question, judged);
        if (difference) differences.push(difference);
        if (differences.length >= (options.enough ?? 20)) return { cases, differences, byParameter };
      }
    }
  }
  return { cases, differences, byParameter };
}

/** Returns the difference between the result of a search in all its pages and the law's, if there is one. */
async function compareSearch(
  facade: Facade,
  type: string,
  question: Question,
  { resources, indexed, zone, now }: Judged,
): Promise<Difference | undefined> {
  const answers = answering(question, zone, now);
  const expected = new Set(resources.filter((_, i) => answers(indexed[i] ?? [])).map(({ id }) => id));
  const name =
    question.modifier === undefined ? question.parameter.code : `${question.parameter.code}:${question.modifier}`;
  const ids = await allIds(facade, type, [
    [name, question.text],
    ['_elements', 'id'],
  ]);
  const got = new Set<string>();
  const tooMany = ids.filter(id => {
    const again = got.has(id);
    got.add(id);
    return again || !expected.has(id);
  });
  const missing = [...expected].filter(id => !got.has(id));
  if (tooMany.length === 0 && missing.length === 0) return undefined;
  return { request: `${type}?${name}=${question.text}`, tooMany: tooMany.slice(0, 5), missing: missing.slice(0, 5) };
}
