/**
 * Reads code systems and numbering systems of a mapping. In: an alias or an address. Out: the address. An unknown
 * alias, and an address that nearly is a well-known one, are reported.
 */
import { hasTheForm } from '../../../r4/check-digits.ts';
import { misspeltSystem } from '../../../r4/systems.ts';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import type { ScalarTree } from '../read/tree.ts';

/** Code systems by their aliases. */
export interface Systems {
  get(alias: string): string | undefined;
  names(): readonly string[];
}

/** `systems` of pack.yaml. */
export function systemsOf(systems: Readonly<Record<string, string>>): Systems {
  return {
    get: alias => (Object.hasOwn(systems, alias) ? systems[alias] : undefined),
    names: () => Object.keys(systems),
  };
}

/** Systems that note what was asked of them. */
export interface AskedSystems {
  readonly systems: Systems;
  /** Others answer the same. */
  holds(now: Systems): boolean;
}

/** Notes what is asked of systems. */
export function asking(systems: Systems): AskedSystems {
  const asked = new Map<string, string | undefined>();
  let names: readonly string[] | undefined;
  return {
    systems: {
      get(alias) {
        const found = systems.get(alias);
        asked.set(alias, found);
        return found;
      },
      names() {
        names = systems.names();
        return names;
      },
    },
    holds: now =>
      [...asked].every(([alias, found]) => now.get(alias) === found) &&
      (names === undefined || names.join('\n') === now.names().join('\n')),
  };
}

/** An alias of `systems`, or an absolute URI as it is. Undefined (and reported) for anything else. */
export function resolveSystem(tree: ScalarTree, systems: Systems, report: Report): string | undefined {
  const known = systems.get(tree.text);
  if (known !== undefined) return known;
  if (/^[a-z][a-z0-9+.-]*:\S+$/i.test(tree.text)) {
    reportMisspelt(tree.text, tree.at, report);
    return tree.text;
  }
  report.error('unknown-name', tree.at, 'unknown system', {
    found: tree.text,
    expected: 'an alias of `systems` in pack.yaml or an absolute URI',
    among: systems.names(),
  });
  return undefined;
}

/** Codes of a system whose address nobody knows are found by nobody. */
export function reportMisspelt(uri: string, at: Position, report: Report): void {
  const suggestion = misspeltSystem(uri);
  if (suggestion !== undefined) report.warning('unlikely-code', at, 'an unknown system', { found: uri, suggestion });
}

/** A code that cannot be one of its system: a digit was misspelt, for the last one checks the others. */
export function reportMalformed(system: string | undefined, code: string, at: Position, report: Report): void {
  if (hasTheForm(system, code)) return;
  report.warning('unlikely-code', at, 'a code that is invalid in its system, by form or check digit', {
    found: code,
  });
}
