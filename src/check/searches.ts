/**
 * Checks that searches agree with the resources. In: the sample. Searches each offered parameter with values of sampled
 * resources, restricted to these: the facade must find exactly those that the FHIRPath engine selects, and sorted
 * searches must return them in order. Out: differences, by the line that makes the element.
 */

import { OPEN_CONTEXT } from '../auth/access.ts';
import { plural } from '../common/plural.ts';
import type { Facade } from '../facade.ts';
import { nodesOfParameter } from '../law/compare.ts';
import { formOf } from '../law/forms.ts';
import { answering, indexedBy, type Question } from '../law/oracle.ts';
import type { Indexed } from '../law/oracle-values.ts';
import { isInSkippedHour, type SortValue, sortValueOf } from '../law/order.ts';
import { questionsFor, spread } from '../law/questions.ts';
import { allIds, asksPrimitiveForSystem, valueSetsOf } from '../law/searches.ts';
import { createReport, type Problem, placeText } from '../mapping/load/problem.ts';
import type { Mapping, Position } from '../mapping/model.ts';
import { FhirError } from '../outcome.ts';
import type { SearchParameter } from '../r4/search-parameters.ts';
import type { CodesBySystem } from '../r4/terminology.ts';
import { endOfString } from '../resource/xml.ts';
import type { Offered } from '../search/offers.ts';
import { isTooLong, LIMITS } from '../search/values.ts';
import { randomFrom } from './pool.ts';
import { isOver, yieldToEventLoop } from './sample.ts';
import { type CheckContext, type CheckSection, type SampledResource, someOf } from './section.ts';

/** Resources per type that searches are restricted to. */
const AMONG = 60;
/** Resources that one search names in `_id`; leaves room for the values of the question. */
const AT_ONCE = LIMITS.values / 2;
/** Questions per parameter and round; rounds continue until none are left or the time is over. */
const PER_ROUND = 4;
/** Different values per parameter that questions are made of. */
const VALUES = 3;
/** The same if every row is checked. */
const ALL_VALUES = 30;

export const SEARCHES: CheckSection = {
  name: 'searches',
  title: 'Searches',
  weight: 4,
  async run(context) {
    const sample = await context.sample();
    const valueSets = await valueSetsOf(context.facade);
    const random = randomFrom(context.seed);
    const asked = Map.groupBy(sample, ({ mapping }) => mapping.resource);
    const parameters = [...asked].flatMap(([type, resources]) =>
      parametersOf(type, spread(resources, context.all ? resources.length : AMONG), context, valueSets),
    );
    const inexact = sample.filter(hasLongNumber).length;
    const withoutValue = parameters.filter(({ questions }) => questions.length === 0);
    const total = parameters.reduce((sum, { questions }) => sum + questions.length, 0);
    const findings = createFindings(context.values);
    let questions = 0;
    shuffle(parameters, random);
    for (const one of parameters) shuffle(one.questions, random);
    try {
      for (let left = parameters; left.length > 0; left = left.filter(one => one.questions.length > 0)) {
        for (const one of left) {
          for (const question of one.questions.splice(0, PER_ROUND)) {
            try {
              await ask(question, one, context, findings, random);
            } catch (error) {
              if (!context.refused(error, `searches by ${one.name}`)) throw error;
              one.questions.length = 0;
              break;
            }
            questions++;
            context.progress(`${questions} of ${total}`);
          }
          await yieldToEventLoop();
          context.signal.throwIfAborted();
        }
      }
    } catch (error) {
      if (!context.signal.aborted && !isOver(error, context.signal)) throw error;
    }
    const never = parameters.filter(one => !one.isAsked);
    const unreached = never.filter(one => !withoutValue.includes(one));
    const notes = [
      `${questions} of ${total} searches by ${parameters.length - never.length} of ${parameters.length} parameters asked.`,
    ];
    if (inexact > 0)
      notes.push(
        `Not searched by numbers, as they have one of more than ${DIGITS} digits: ${plural(inexact, 'resource')}.`,
      );
    if (unreached.length > 0)
      notes.push(`Not reached within the time budget: ${someOf(unreached.map(one => one.name))}.`);
    if (withoutValue.length > 0)
      notes.push(`No value in the sample to search with: ${someOf(withoutValue.map(one => one.name))}.`);
    return { problems: findings.problems(), notes, tables: [] };
  },
};

/** A parameter of a type, with the questions that are left. */
interface Asked {
  readonly name: string;
  readonly type: string;
  readonly offered: Offered;
  readonly among: readonly SampledResource[];
  /** For each resource the values that the parameter indexes. */
  readonly indexed: readonly (readonly Indexed[])[];
  readonly questions: (Question | 'ascending' | 'descending')[];
  isAsked: boolean;
}

function parametersOf(
  type: string,
  among: readonly SampledResource[],
  { facade, all }: CheckContext,
  valueSets: ReadonlyMap<string, CodesBySystem>,
): readonly Asked[] {
  const { hierarchies } = facade.registry.pack;
  const exact = among.filter(one => !hasLongNumber(one));
  const amount = { values: all ? ALL_VALUES : VALUES, valueSets, hierarchies };
  return facade.offers.of(type).flatMap(offered => {
    const { parameter } = offered;
    if (parameter.type === 'special') return [];
    const judged = OF_NUMBERS.has(parameter.type) ? exact : among;
    const indexed = judged.map(({ resource }) => indexedBy(resource, parameter));
    const values = indexed.flat();
    const questions: Asked['questions'] = questionsFor(offered, values, amount).filter(
      question =>
        !isOfLostLetters(question) && !isTooLong(question.text) && !asksPrimitiveForSystem(values, question, offered),
    );
    // References sort by type and id of their target, which the resource does not contain.
    if (offered.sortable && parameter.type !== 'reference' && parameter.code !== '_id')
      questions.push('ascending', 'descending');
    const name = `${type}.${parameter.code}`;
    return [{ name, type, offered, among: judged, indexed, questions, isAsked: false }];
  });
}

/** Parameters that compare numbers. */
const OF_NUMBERS: ReadonlySet<SearchParameter['type']> = new Set(['number', 'quantity', 'composite']);
/** Up to so many digits, different numbers are different doubles. */
const DIGITS = 15;

/** True if a number is too long for a double: the server is exact, the oracle is not. */
function hasLongNumber({ json }: SampledResource): boolean {
  if (!/\d[\d.]{15}/.test(json)) return false;
  let outside = '';
  let at = 0;
  for (let quote = json.indexOf('"'); quote >= 0; quote = json.indexOf('"', at)) {
    outside += `${json.slice(at, quote)} `;
    at = endOfString(json, quote);
  }
  outside += json.slice(at);
  const numbers = outside.matchAll(/-?\d[\d.]*/g);
  return numbers.some(([text]) => text.replace(/^[-0.]+|\./g, '').length > DIGITS);
}

/** True for text with U+FFFD: the original letters are lost. Such rows are reported with the values (`values.ts`). */
function isOfLostLetters({ text }: Question): boolean {
  return text.includes('\uFFFD');
}

async function ask(
  question: Asked['questions'][number],
  one: Asked,
  context: CheckContext,
  findings: Findings,
  random: () => number,
): Promise<void> {
  one.isAsked = true;
  const { type, offered } = one;
  const { facade, signal, now } = context;
  const { among, indexed } = one.among.length <= AT_ONCE ? one : partOf(question, one, context, random);
  const { code } = offered.parameter;
  const within = ['_id', among.map(({ id }) => id).join()] as const;
  const isSorted = question === 'ascending' || question === 'descending';
  const asking = isSorted
    ? (['_sort', `${question === 'descending' ? '-' : ''}${code}`] as const)
    : ([question.modifier === undefined ? code : `${code}:${question.modifier}`, question.text] as const);
  const ids = await idsOf(facade, type, [asking, within], signal);
  if (ids === undefined) {
    for (const { mapping } of new Map(among.map(resource => [resource.mapping, resource])).values())
      findings.report(mapping, offered, asking, 'is refused');
    return;
  }
  const byId = new Map(among.map(resource => [resource.id, resource.mapping]));
  if (isSorted) {
    const values = new Map(
      among.map(({ id }, i) => [id, sortValueOf(indexed[i] ?? [], offered.parameter.type, question, zoneOf(facade))]),
    );
    const wrong = firstOutOfOrder(ids, values, question);
    if (wrong === undefined) return;
    const isDate = offered.parameter.type === 'date';
    const inSkippedHour = new Set(
      among.flatMap(({ id }, i) =>
        isDate && indexed[i]?.some(value => isInSkippedHour(value, zoneOf(facade))) ? id : [],
      ),
    );
    const others = ids.filter(id => !inSkippedHour.has(id));
    const mapping = byId.get(firstOutOfOrder(others, values, question) ?? '');
    if (mapping) findings.report(mapping, offered, asking, 'gives resources out of order');
    else
      findings.reportSkipped(
        offered,
        Map.groupBy(inSkippedHour, id => byId.get(id)),
        zoneOf(facade),
      );
    return;
  }
  const answers = answering(question, zoneOf(facade), now);
  const expected = new Set(among.filter((_, i) => answers(indexed[i] ?? [])).map(({ id }) => id));
  const found = new Set(ids);
  for (const [id, mapping] of byId) {
    if (expected.has(id) && !found.has(id))
      findings.report(mapping, offered, asking, 'does not find a resource that it names');
    if (!expected.has(id) && found.has(id))
      findings.report(mapping, offered, asking, 'finds a resource that it does not name');
  }
}

/**
 * Returns the resources to which a question is restricted if the type has many: one search has no room for all, and
 * several searches per question would take too long. Half of them match, if there are enough; the choice is random.
 */
function partOf(
  question: Asked['questions'][number],
  { among, indexed }: Asked,
  { facade, now }: CheckContext,
  random: () => number,
): Pick<Asked, 'among' | 'indexed'> {
  const isSorted = question === 'ascending' || question === 'descending';
  const answers = isSorted ? () => false : answering(question, zoneOf(facade), now);
  const places = Map.groupBy(among.keys(), i => answers(indexed[i] ?? []));
  const wanted = some(places.get(true) ?? [], AT_ONCE / 2, random);
  const others = some(places.get(false) ?? [], AT_ONCE - wanted.length, random);
  const all = [...wanted, ...others].toSorted((a, b) => a - b);
  return { among: all.flatMap(i => among[i] ?? []), indexed: all.map(i => indexed[i] ?? []) };
}

/** Returns `most` of the items, spread evenly from a random start. */
function some<T>(items: readonly T[], most: number, random: () => number): readonly T[] {
  const from = Math.floor(random() * items.length);
  return spread([...items.slice(from), ...items.slice(0, from)], most);
}

function zoneOf({ registry }: Facade): string {
  return registry.pack.zone;
}

/** Returns the first id that is out of order; ids without a value come last. */
function firstOutOfOrder(
  ids: readonly string[],
  values: ReadonlyMap<string, SortValue | undefined>,
  direction: 'ascending' | 'descending',
): string | undefined {
  return ids.find((id, i) => {
    const [before, here] = [i === 0 ? undefined : values.get(ids[i - 1] ?? ''), values.get(id)];
    if (i === 0 || here === undefined) return false;
    if (before === undefined) return true;
    return direction === 'ascending' ? before > here : before < here;
  });
}

/** Returns the ids that a search finds; undefined if the search is refused. */
async function idsOf(
  facade: Facade,
  type: string,
  parameters: readonly (readonly [string, string])[],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    return await allIds(facade, type, [...parameters, ['_elements', 'id']], 1000, { ...OPEN_CONTEXT, signal });
  } catch (error) {
    if (!(error instanceof FhirError) || signal.aborted) throw error;
    return undefined;
  }
}

interface Findings {
  report(mapping: Mapping, offered: Offered, asking: readonly [string, string], what: string): void;
  /** Reports rows sorted by a local time that the zone's clocks skip: a limitation that no mapping can repair. */
  reportSkipped(offered: Offered, ids: ReadonlyMap<Mapping | undefined, readonly string[]>, zone: string): void;
  problems(): readonly Problem[];
}

interface Finding {
  readonly at: Position;
  readonly search: string;
  /** The first failing search, and what is wrong with it. */
  readonly first: string;
  times: number;
}

/** Collects one problem per line and parameter. `values`: searches are shown verbatim. */
function createFindings(values: boolean): Findings {
  const findings = new Map<string, Finding>();
  const skipped = new Map<string, { readonly at: Position; readonly message: string }>();
  return {
    report(mapping, { parameter }, [name, text], what) {
      const at = placeOf(mapping, parameter);
      const search = `${mapping.resource}?${parameter.code}`;
      const key = `${placeText(at)} ${search}`;
      const known = findings.get(key);
      if (known) known.times++;
      else {
        const shown = values || name === '_sort' ? text : maskedText(text);
        findings.set(key, { at, search, first: `${name}=${shown} ${what}`, times: 1 });
      }
    },
    reportSkipped({ parameter }, ids, zone) {
      for (const [mapping, { length }] of ids) {
        if (!mapping) continue;
        const at = placeOf(mapping, parameter);
        const sort = `${mapping.resource}?_sort=${parameter.code}`;
        const message = `${sort} puts ${plural(length, 'sampled resource')} of ${mapping.name} by the written time, which clocks of ${zone} skip in spring, and not by the instant`;
        skipped.set(`${placeText(at)} ${sort}`, { at, message });
      }
    },
    problems() {
      const report = createReport();
      for (const { at, message } of skipped.values())
        report.notice('wrong-values', at, message, {
          expected:
            'local times of that zone: if the column is in another zone or in UTC, `zone` in pack.yaml or another codec says so',
        });
      for (const { at, search, first, times } of findings.values())
        report.error(
          'wrong-answer',
          at,
          `searches by ${search} do not agree with the elements of resources, ${plural(times, 'time')}`,
          {
            expected: 'exactly the resources that the FHIRPath engine finds',
            found: first,
          },
        );
      return report.problems();
    },
  };
}

/** Finds the line that makes the values of a parameter. */
function placeOf(mapping: Mapping, { expression }: SearchParameter): Position {
  return nodesOfParameter(mapping, expression)[0]?.at ?? mapping.at;
}

/** Replaces a searched value by its form; a prefix and a system stay, because the question added them. */
function maskedText(text: string): string {
  const [, prefix = '', rest = ''] =
    /^((?:eq|ne|gt|lt|ge|le|sa|eb|ap)?(?=\d)|(?:https?|urn):[^|]*\|)?(.*)$/s.exec(text) ?? [];
  return `${prefix}${formOf(rest)}`;
}

function shuffle<T>(items: T[], random: () => number): void {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    const [a, b] = [items[i], items[j]];
    if (a !== undefined && b !== undefined) [items[i], items[j]] = [b, a];
  }
}
