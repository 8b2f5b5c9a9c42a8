/**
 * Prints the search parameters of each type (`lintel check --parameters`). In: a registry and the catalog. Out: codes
 * of search parameters by how they are answered, and columns without an index.
 */
import { plural } from '../common/plural.ts';
import type { Registry } from '../mapping/model.ts';
import { searchesWithoutIndex, sortsWithoutIndex, type WithoutIndex } from '../plan/index-use.ts';
import { makeOffers } from '../plan/offers.ts';
import { searchParametersOf } from '../r4/search-parameters.ts';
import type { Catalog } from '../sql/catalog.ts';
import type { Terminal } from './command.ts';

export function printParameters(registry: Registry, catalog: Catalog, { out }: Terminal): void {
  const offers = makeOffers(registry);
  for (const type of registry.types) {
    const offered = offers.of(type);
    const names = (inverse: string) => offered.filter(one => one.inverse === inverse).map(one => one.parameter.code);
    const none = searchParametersOf(type).filter(({ code }) => offers.find(type, code) === undefined);
    const mappings = registry.ofType(type);
    out(type);
    out(`  offered   ${names('indexed').join(', ') || '-'}`);
    out(`  computed  ${names('computed').join(', ') || '-'}`);
    out(`  none      ${none.map(({ code }) => code).join(', ') || '-'}`);
    printWithoutIndex('no index ', searchesWithoutIndex(offered, { mappings, registry, catalog }), out);
    printWithoutIndex('full sort', sortsWithoutIndex(offered, { mappings, registry, catalog }), out);
  }
}

function printWithoutIndex(title: string, found: readonly WithoutIndex[], out: Terminal['out']): void {
  const listed = found.map(({ code, columns }) => `${code} (${alikeOnce(columns).join(', ')})`);
  if (listed.length > 0) out(`  ${title} ${listed.join('; ')}`);
}

/** From so many further tables with the same column on, they are combined. */
const FEW = 3;

/**
 * Combines columns of the same name in many tables: `RESULTS_2005.PATNO and the same of 20 more tables`. In:
 * `TABLE.COLUMN`, followed by a remark that names the table's indexes.
 */
export function alikeOnce(columns: readonly string[]): readonly string[] {
  const groups = Map.groupBy(columns, text => text.replace(/^\S*\./, '').replace(/\bindex \S+/, 'index'));
  return [...groups.values()].flatMap(group => {
    const [first, ...others] = group;
    return first === undefined || others.length < FEW
      ? group
      : [`${first} and the same of ${plural(others.length, 'more table')}`];
  });
}
