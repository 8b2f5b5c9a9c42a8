/**
 * Applies `patch:`, small changes of a mapping for another version of the schema. In: the mapping as written, and
 * paths with replacements. Out: the changed mapping. A path must exist; lists count from 0 and are never merged.
 */
import type { Report } from '../problem.ts';
import { type Entry, entriesOf, type Tree } from '../read/tree.ts';

/** Applies every entry of `patch`; reports paths that lead nowhere. */
export function applyPatch(tree: Tree, patch: Tree, report: Report): Tree {
  return entriesOf(patch).reduce((changed, e) => replaceAt(changed, e.key.split('.'), e, report), tree);
}

function replaceAt(tree: Tree, path: readonly string[], change: Entry, report: Report): Tree {
  const [step, ...rest] = path;
  if (step === undefined) return change.value;
  if (tree.kind === 'map' && tree.entries.some(e => e.key === step)) {
    const entries = tree.entries.map(e =>
      e.key === step ? { ...e, value: replaceAt(e.value, rest, change, report) } : e,
    );
    return { ...tree, entries };
  }
  if (tree.kind === 'list' && /^\d+$/.test(step) && Number(step) < tree.items.length) {
    return {
      ...tree,
      items: tree.items.map((item, i) => (i === Number(step) ? replaceAt(item, rest, change, report) : item)),
    };
  }
  report.error('wrong-macro', change.at, `patch of a path that does not exist: ${change.key}`, {
    found: step,
    ...(tree.kind === 'map' ? { among: tree.entries.map(e => e.key) } : {}),
    ...(tree.kind === 'list' ? { expected: `an index below ${tree.items.length}` } : {}),
  });
  return tree;
}
