/**
 * Gives the checks of src/mapping the predicates of the planner, which that folder may not import. In: a registry and
 * the present instant. Out: functions from scopes, pieces, conditions and nodes to relations and predicates.
 */
import type { RowReaders } from '../mapping/check/questions.ts';
import type { Registry } from '../mapping/model.ts';
import { conditionPredicate, scopeRelation } from './condition.ts';
import { environment } from './environment.ts';
import { presentPredicate, somePiece } from './presence.ts';
import { FULL_VISIBILITY } from './visibility.ts';

export function rowReaders(registry: Registry, now: number): RowReaders {
  const env = environment(registry, now, FULL_VISIBILITY);
  return {
    clock: { now },
    readScope: scopeRelation,
    readPiece: somePiece,
    readCondition: condition => conditionPredicate(condition, env),
    readPresent: node => presentPredicate(node, env),
  };
}
