/**
 * Lists the tables that mappings read. In: a registry. Out: their names in lower case, with or without schema,
 * including those of lookups, conditions, child rows and code tables.
 */

import { memoized } from '../../../common/caches.ts';
import { printTable } from '../../../sql/identifier.ts';
import { childrenOf, testsIn } from '../../children.ts';
import type { Condition, Mapping, Node, Registry, Scope } from '../../model.ts';
import { scopesOf } from '../../piece-lookups.ts';

/** The parts of a registry that tables are taken from; `pack` for its tables of words. */
type Read = Pick<Registry, 'mappings'> & Partial<Pick<Registry, 'pack'>>;

/** Returns the names of all tables that some mapping reads, without their schemas. */
export function tablesOf(registry: Read): ReadonlySet<string> {
  return new Set([...namesOf(registry)].map(name => name.replace(/^.*\./, '')));
}

/** Returns the names as in statements: `cdm.person`, or `person` if the server finds it without a schema. */
export function namesOf(registry: Read): ReadonlySet<string> {
  const names = new Set(registry.pack?.words?.map(({ table }) => printTable(table).toLowerCase()));
  for (const mapping of registry.mappings) for (const name of namesIn(mapping)) names.add(name);
  return names;
}

const namesIn = memoized((mapping: Mapping): ReadonlySet<string> => {
  const names = new Set<string>();
  addScope(mapping.source, names);
  addNode(mapping.root, names);
  for (const need of mapping.needs) addNode(need, names);
  return names;
});

function addScope(scope: Scope, names: Set<string>): void {
  names.add(printTable(scope.table).toLowerCase());
  addCondition(scope.where, names);
  for (const lookup of scope.lookups) {
    names.add(printTable(lookup.table).toLowerCase());
    addCondition(lookup.where, names);
  }
}

function addCondition(condition: Condition | undefined, names: Set<string>): void {
  for (const test of testsIn(condition)) if (test.kind === 'exists') addScope(test.scope, names);
}

function addNode(node: Node, names: Set<string>): void {
  addCondition(node.if, names);
  for (const child of childrenOf(node)) addNode(child, names);
  if (node.kind === 'each') for (const scope of scopesOf(node.from)) addScope(scope, names);
}
