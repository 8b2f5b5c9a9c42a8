/**
 * Fingerprints the parts of the mappings that a page link depends on, so that the link survives any other change: a
 * comment, an element, a mapping of another type. In: the questions of a search. Out: a short text; while it stays
 * equal, the link works.
 */
import { createHash } from 'node:crypto';
import { boundedCache, memoized } from '../common/caches.ts';
import type { Environment } from '../plan/environment.ts';
import { sortParts } from '../plan/sort.ts';
import type { SystemQuery, TypeQuestion } from '../search/query.ts';
import { expressionKey } from '../sql/expression-key.ts';

type Questions = SystemQuery['questions'];

/** Limit of cached types with their sort keys; most searches have none. */
const KEPT = 200;

/** Creates the function. `env`: has the mappings that are served. */
export function pageMappings(env: Environment): (questions: Questions) => string {
  const ofTypes = boundedCache<{ readonly text: string }>(KEPT);
  const textOf = (question: TypeQuestion): string => {
    const sort = question.sort.map(({ parameter, descending }) => `${descending ? '-' : ''}${parameter.code}`);
    return ofTypes.get(`${question.type} ${sort.join()}`, () => ({ text: orderOf(question, env) })).text;
  };
  // A repeated search has the same question objects.
  return memoized(questions => {
    const hash = createHash('sha256');
    for (const question of questions) hash.update(textOf(question));
    return hash.digest('base64url').slice(0, 8);
  });
}

/** Returns the mappings of a type in their order, the keys of their rows, and their sort columns. */
function orderOf({ type, sort }: TypeQuestion, env: Environment): string {
  return JSON.stringify([
    type,
    env.registry.ofType(type).map(mapping => {
      const { ordinal, name, group, source } = mapping;
      const parts = sort.map(({ parameter, descending }) =>
        sortParts(mapping, parameter, env, descending)?.map(({ face }) => face?.statementKey ?? null),
      );
      const key = source.key.map(column => [expressionKey(column), column.type]);
      return [ordinal, name, group, source.table, key, parts];
    }),
  ]);
}
