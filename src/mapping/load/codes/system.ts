/**
 * Reads code systems and numbering systems of a mapping. In: an alias or an address. Out: the address. An unknown
 * alias, and an address that nearly is a well-known one, are reported.
 */
import { hasTheForm } from '../../../r4/check-digits.ts';
import { misspeltSystem } from '../../../r4/systems.ts';
import type { Position } from '../../model.ts';
import type { MappingSettings } from '../pack/settings.ts';
import type { Report } from '../problem.ts';
import type { ScalarTree } from '../read/tree.ts';

/** An alias of `systems`, or an absolute URI as it is. Undefined (and reported) for anything else. */
export function resolveSystem(tree: ScalarTree, settings: MappingSettings, report: Report): string | undefined {
  const { systems } = settings.pack;
  const known = Object.hasOwn(systems, tree.text) ? systems[tree.text] : undefined;
  if (known !== undefined) return known;
  if (/^[a-z][a-z0-9+.-]*:\S+$/i.test(tree.text)) {
    reportMisspelt(tree.text, tree.at, report);
    return tree.text;
  }
  report.error('unknown-name', tree.at, 'unknown system', {
    found: tree.text,
    expected: 'an alias of `systems` in pack.yaml or an absolute URI',
    among: Object.keys(systems),
  });
  return undefined;
}

/** Codes of a system whose address nobody knows are found by nobody. */
export function reportMisspelt(uri: string, at: Position, report: Report): void {
  const suggestion = misspeltSystem(uri);
  if (suggestion !== undefined)
    report.warning('unlikely-code', at, 'a system that nobody knows', { found: uri, suggestion });
}

/** A code that cannot be one of its system: a digit was misspelt, for the last one checks the others. */
export function reportMalformed(system: string | undefined, code: string, at: Position, report: Report): void {
  if (hasTheForm(system, code)) return;
  report.warning('unlikely-code', at, 'a code that its system cannot have, by its form or its check digit', {
    found: code,
  });
}
