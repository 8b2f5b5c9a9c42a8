/**
 * Reads code systems and numbering systems of a mapping. In: an alias or a URI. Out: the URI. Reports an unknown alias,
 * and a URI that is nearly a well-known one.
 */
import { hasTheForm } from '../../../r4/check-digits.ts';
import { misspeltSystem } from '../../../r4/systems.ts';
import type { Position } from '../../model.ts';
import type { Report } from '../problem.ts';
import type { ScalarTree } from '../read/tree.ts';

/** Code systems by alias. */
export interface Systems {
  get(alias: string): string | undefined;
  names(): readonly string[];
}

/** Makes Systems of `systems` of pack.yaml. */
export function systemsOf(systems: Readonly<Record<string, string>>): Systems {
  return {
    get: alias => (Object.hasOwn(systems, alias) ? systems[alias] : undefined),
    names: () => Object.keys(systems),
  };
}

/** Systems that record lookups. */
export interface AskedSystems {
  readonly systems: Systems;
  /** True if `now` gives the same answers to all lookups so far. */
  isUnchanged(now: Systems): boolean;
}

/** Wraps systems to record their lookups. */
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
    isUnchanged: now =>
      [...asked].every(([alias, found]) => now.get(alias) === found) &&
      (names === undefined || names.join('\n') === now.names().join('\n')),
  };
}

/** Returns the URI of an alias, or an absolute URI unchanged. Reports anything else and returns undefined. */
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

/** Warns of a probably misspelled URI of a system, because no search finds its codes. */
export function reportMisspelt(uri: string, at: Position, report: Report): void {
  const suggestion = misspeltSystem(uri);
  if (suggestion !== undefined) report.warning('unlikely-code', at, 'an unknown system', { found: uri, suggestion });
}

/** Warns of a code whose form or check digit is invalid in its system: a digit may be misspelled. */
export function reportMalformed(system: string | undefined, code: string, at: Position, report: Report): void {
  if (hasTheForm(system, code)) return;
  report.warning('unlikely-code', at, 'a code that is invalid in its system, by form or check digit', {
    found: code,
  });
}
