/**
 * Expands the macros of mappings. In: the documents of all mapping files, the pack's schema version and its fragments.
 * Out: one draft per mapping or variant, without `only`, `patch`, `with`/`rows`, `variants` and `insert`. Variants of a
 * document share its `source` node.
 */
import type { Position } from '../../model.ts';
import { type PackMemory, withOwnReport } from '../pack/memory.ts';
import { placeText, type Report } from '../problem.ts';
import { macroSchema } from '../read/schema.ts';
import { checkShape } from '../read/shape.ts';
import {
  child,
  type Entry,
  entriesOf,
  entry,
  itemsOf,
  type MapTree,
  reuse,
  scalarsOf,
  type Tree,
  textOf,
  without,
} from '../read/tree.ts';
import { type Levels, latestMappings } from './extend.ts';
import { type Fragments, insertFragments, ReadFragments } from './fragments.ts';
import { expandRows, reportUnknownNames } from './substitute.ts';

export interface Draft {
  /** `mapping`, or `mapping.variant`. */
  readonly name: string;
  /** The document's `mapping`. Its variants read the same rows. */
  readonly group: string;
  readonly tree: MapTree;
  readonly at: Position;
}

const MACRO_KEYS: ReadonlySet<string> = new Set(['only', 'patch', 'variants', 'with', 'rows']);

/** The version of the database's schema, the level of each file's pack, and the memory of the last load. */
export interface Around {
  readonly schema: string | undefined;
  readonly levels: Levels;
  readonly memory: PackMemory;
}

/** Expands the documents of a pack and of the packs that it extends, in their order. */
export function expandMappings(
  documents: readonly Tree[],
  around: Around,
  fragments: Fragments,
  report: Report,
): readonly Draft[] {
  const { schema, levels, memory } = around;
  const current = documents.filter(
    (document): document is MapTree =>
      memory.cached(memory.shapes, `document ${placeText(document.at)}`, [document], report, own =>
        checkMacros(document, own),
      ) && appliesTo(document, schema),
  );
  const patched = applyPatches(latestMappings(current, levels), around, report);
  const drafts = patched.flatMap(document => draftsOf(document, fragments, around, report));
  const seen = new Set<string>();
  return drafts.filter(({ name, at }) => {
    if (seen.has(name)) report.error('written-twice', at, 'name of a mapping used twice', { found: name });
    const fresh = !seen.has(name);
    seen.add(name);
    return fresh;
  });
}

function checkMacros(document: Tree, report: Report): boolean {
  if (document.kind === 'map') return checkShape(document, macroSchema, report);
  report.error('wrong-form', document.at, 'a document is a map that begins with `mapping:`');
  return false;
}

function appliesTo(document: Tree, schema: string | undefined): boolean {
  const only = child(child(document, 'only'), 'schema');
  return !only || scalarsOf(only).some(version => version.text === schema);
}

/** Returns the drafts of one document. Unchanged drafts are the same objects as at the last load. */
function draftsOf(document: MapTree, fragments: Fragments, { memory }: Around, report: Report): readonly Draft[] {
  const key = placeText(document.at);
  const before = new Map(memory.drafts.last(key)?.made.map(draft => [draft.name, draft.tree]));
  const { made, problems, used } = memory.drafts.get(
    key,
    [document],
    () => {
      const named = new ReadFragments(fragments.named);
      const names = new Set<string>();
      const expanded = withOwnReport(own => expandDocument(document, { named, used: names }, own));
      const drafts = expanded.made.map(draft => ({ ...draft, tree: reuse(before.get(draft.name), draft.tree) }));
      return { ...expanded, made: drafts, read: named, used: names };
    },
    answer => answer.read.isAsIn(fragments.named),
  );
  report.take(problems);
  for (const name of used) fragments.used.add(name);
  return made;
}

function applyPatches(documents: readonly MapTree[], { levels, memory }: Around, report: Report): readonly MapTree[] {
  const whole = documents.filter(document => !child(document, 'patch'));
  const nameOf = (document: MapTree): string => textOf(child(document, 'mapping')) ?? '';
  return documents
    .filter(document => child(document, 'patch'))
    .reduce((changed, change) => {
      const name = nameOf(change);
      const patch = child(change, 'patch');
      const isBelow = (document: MapTree): boolean => levels(document.at.file) > levels(change.at.file);
      if (!child(change, 'only') && !changed.some(document => nameOf(document) === name && isBelow(document)))
        report.error('wrong-macro', change.at, '`patch` requires `only`', {
          expected: 'only: {schema: …}, or a mapping of the pack that `extends` names',
        });
      if (!changed.some(document => nameOf(document) === name)) {
        const at = child(change, 'mapping')?.at ?? change.at;
        report.error('unknown-name', at, 'patch of an unknown mapping', { found: name, among: changed.map(nameOf) });
      }
      for (const e of change.entries) {
        if (!['mapping', 'only', 'patch'].includes(e.key))
          report.error('wrong-macro', e.at, `\`${e.key}\` is not allowed with \`patch\``);
      }
      return changed.map(document => {
        if (!patch || nameOf(document) !== name) return document;
        const key = `${placeText(document.at)} ${placeText(change.at)}`;
        const result = memory.cached(memory.patched, key, [document, patch], report, own =>
          applyPatch(document, patch, own),
        );
        return result.kind === 'map' ? result : document;
      });
    }, whole);
}

function expandDocument(document: MapTree, fragments: Fragments, report: Report): readonly Draft[] {
  return expandRows(document, fragments.named, report).flatMap(row => {
    const variants = child(row, 'variants');
    const inserted = insertFragments(without(row, MACRO_KEYS), fragments, report);
    if (inserted.kind !== 'map') return [];
    const base: MapTree = inserted;
    const group = textOf(child(base, 'mapping')) ?? '';
    const drafts: Draft[] = variants
      ? itemsOf(variants)
          .flatMap(item => (item.kind === 'map' ? expandRows(item, fragments.named, report) : []))
          .flatMap(item => overlay(base, group, insertFragments(item, fragments, report), report))
      : [{ name: group, group, tree: base, at: base.at }];
    for (const draft of drafts) reportUnknownNames(draft.tree, macroNames(document), report);
    return drafts;
  });
}

/** Merges a variant into its base: elements replace shared ones by name, `needs` are added, other keys replace. */
function overlay(base: MapTree, group: string, variant: Tree, report: Report): readonly Draft[] {
  const conditions = entriesOf(variant).filter(e => e.key === 'where' || e.key === 'if');
  for (const { key, at } of conditions)
    report.error('wrong-macro', at, `a variant has no \`${key}\`: its rows are those of the mapping`, {
      expected: 'a mapping of its own for other rows of the table, with `where` in its `source`',
    });
  const own = entriesOf(variant).filter(e => e.key !== 'variant' && !conditions.includes(e));
  const merged: Entry[] = base.entries.map(shared => {
    const mine = own.find(e => e.key === shared.key);
    if (!mine) return shared;
    if (shared.key === 'elements') return { ...mine, value: mergeElements(shared.value, mine.value) };
    if (shared.key === 'needs') {
      const items = [...itemsOf(shared.value), ...itemsOf(mine.value)];
      return { ...mine, value: { kind: 'list', items, at: mine.value.at } };
    }
    return mine;
  });
  const added = own.filter(e => !base.entries.some(shared => shared.key === e.key));
  const tree: MapTree = { kind: 'map', entries: [...merged, ...added], at: variant.at };
  return [{ name: `${group}.${textOf(entry(variant, 'variant')?.value) ?? ''}`, group, tree, at: variant.at }];
}

function mergeElements(shared: Tree, mine: Tree): Tree {
  const over = entriesOf(mine);
  const kept = entriesOf(shared).filter(e => !over.some(o => o.key === e.key));
  return { kind: 'map', entries: [...kept, ...over], at: mine.at };
}

function macroNames(tree: Tree): readonly string[] {
  if (tree.kind === 'scalar') return [];
  if (tree.kind === 'list') return tree.items.flatMap(macroNames);
  return tree.entries.flatMap(e => (e.key === 'with' ? scalarsOf(e.value).map(s => s.text) : macroNames(e.value)));
}

/**
 * Applies `patch:`, small changes of a mapping for another version of the schema. In: the mapping as written, and paths
 * with replacements. Out: the changed mapping. Reports paths that do not exist. Lists count from 0 and are never
 * merged.
 */
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
