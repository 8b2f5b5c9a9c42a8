/**
 * Finds cycles of mappings that need each other. A row is served only if the rows that it needs are served, so a cycle
 * would never end. In: all mappings. Out: reports.
 */

import { referencesIn } from '../../children.ts';
import type { Mapping } from '../../model.ts';
import type { Report } from '../problem.ts';

/** Reports every cycle of `needs` over references once, at one of its mappings. */
export function checkCircles(mappings: readonly Mapping[], report: Report): void {
  const needed = new Map(
    mappings.map(({ name, needs }) => {
      const targets = needs.flatMap(referencesIn).flatMap(({ exists, target }) => (exists ? [target] : []));
      return [name, new Set(targets)];
    }),
  );
  const done = new Set<string>();
  const visit = (name: string, way: readonly string[]): void => {
    const start = way.indexOf(name);
    if (start >= 0) {
      const circle = [...way.slice(start), name];
      const at = mappings.find(mapping => mapping.name === name)?.at;
      if (at) report.error('circle', at, `mappings need each other in a cycle: ${circle.join(' → ')}`);
      return;
    }
    if (done.has(name)) return;
    for (const next of needed.get(name) ?? []) visit(next, [...way, name]);
    done.add(name);
  };
  for (const { name } of mappings) visit(name, []);
}
