/**
 * Reports values that can be emitted but not searched, and so remove search parameters from their type: a text that is
 * put together has no inverse. In: the mappings. Out: a notice per value, with the parameters that the type could offer
 * without it.
 */
import { getOrInsert } from '../common/caches.ts';
import { createReport } from '../mapping/load/problem.ts';
import type { Mapping, Node } from '../mapping/model.ts';
import { environment } from '../plan/environment.ts';
import { leavesOf } from '../plan/offers.ts';
import { FULL_VISIBILITY } from '../plan/visibility.ts';
import { searchParametersOf } from '../r4/search-parameters.ts';
import type { CheckSection } from './section.ts';

interface Withheld {
  readonly node: Node;
  readonly mapping: Mapping;
  readonly codes: Set<string>;
}

export const WITHHELD: CheckSection = {
  name: 'withheld',
  title: 'Searches prevented by a value without an inverse',
  weight: 0,
  async run({ registry, facade }) {
    const env = environment(registry, 0, FULL_VISIBILITY);
    const found = new Map<Node, Withheld>();
    for (const type of registry.types) {
      for (const parameter of searchParametersOf(type)) {
        const isReference = parameter.type === 'reference' || parameter.type === 'composite';
        if (isReference || facade.offers.find(type, parameter.code) !== undefined) continue;
        for (const mapping of registry.ofType(type)) {
          for (const node of leavesOf(mapping, parameter, env)) {
            if (!isOutputOnly(node)) continue;
            const of = getOrInsert(found, node, () => ({ node, mapping, codes: new Set<string>() }));
            of.codes.add(parameter.code);
          }
        }
      }
    }
    const report = createReport();
    for (const { node, mapping, codes } of found.values()) {
      const searches = [...codes].toSorted().join(', ');
      report.notice('withheld-search', node.at, `${mapping.resource} cannot be searched by ${searches}`, {
        expected: 'columns of their own, or `sql`, which compares what it computes',
        found: `${nameOf(node)}, which is emitted and cannot be searched`,
      });
    }
    return { problems: report.problems(), notes: [], tables: [] };
  },
};

function isOutputOnly(node: Node): boolean {
  return node.kind === 'text' || (node.kind === 'value' && node.codec.inverse === 'none');
}

function nameOf(node: Node): string {
  return node.kind === 'text' ? `\`${node.mode}\`` : node.kind === 'value' ? `\`${node.codec.label}\`` : node.kind;
}
