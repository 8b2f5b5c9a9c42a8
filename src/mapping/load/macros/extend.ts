/**
 * Combines a pack with the packs that it extends (`extends`). In: documents of all packs, the base first. Out: one
 * pack.yaml; of code maps and mappings with the same name, those of the topmost pack.
 */
import type { PackFile } from '../read/files.ts';
import { child, type Entry, entriesOf, itemsOf, type MapTree, map, type Tree, textOf, without } from '../read/tree.ts';

/** Returns how many `extends` steps a file's pack is below the served pack, which has 0. */
export type Levels = (file: string) => number;

/** Merges two pack.yaml: entries of `own` replace those of `base` by name, lists of values are joined. */
function upon(base: Tree | undefined, own: Tree): Tree {
  if (base?.kind !== 'map' || own.kind !== 'map') return own;
  const { systems, lists, hierarchies, words, fragments, schemas, deny, absent } = Object.fromEntries(
    [...NAMES, 'schemas', 'deny', 'absent'].map(key => [key, both(base, own, key)]),
  );
  const merged = map(
    {
      systems: systems && named(systems),
      lists: lists && named(lists),
      hierarchies: hierarchies && named(hierarchies),
      words: words && named(words),
      fragments: fragments && named(fragments),
      schemas: schemas && joined(schemas),
      deny: deny && joined(deny),
      absent: absent && absences(absent),
    },
    own.at,
  );
  const rest = [...base.entries, ...own.entries].filter(({ key }) => key !== 'extends' && !child(merged, key));
  return { ...own, entries: [...latest(rest), ...merged.entries] };
}

const NAMES = ['systems', 'lists', 'hierarchies', 'words', 'fragments'] as const;

type Both = readonly [base: Tree, own: Tree];

/** Returns both values; undefined unless both packs have the key. A value of one pack alone is kept as written. */
function both(base: Tree, own: Tree, key: string): Both | undefined {
  const [lower, upper] = [child(base, key), child(own, key)];
  return lower && upper ? [lower, upper] : undefined;
}

function named([base, own]: Both): Tree {
  return { kind: 'map', entries: latest([...entriesOf(base), ...entriesOf(own)]), at: own.at };
}

function joined([base, own]: Both): Tree {
  return { kind: 'list', items: [...itemsOf(base), ...itemsOf(own)], at: own.at };
}

function absences([base, own]: Both): Tree {
  const kinds = [...new Set([...entriesOf(base), ...entriesOf(own)].map(({ key }) => key))];
  const merged = kinds.map((kind): [string, Tree | undefined] => {
    const pair = both(base, own, kind);
    if (!pair) return [kind, child(own, kind) ?? child(base, kind)];
    return [kind, kind === 'columns' ? named(pair) : joined(pair)];
  });
  return map(Object.fromEntries(merged), own.at);
}

/** Keeps the last entry of each key. */
function latest(entries: readonly Entry[]): readonly Entry[] {
  return [...new Map(entries.map(one => [one.key, one])).values()];
}

/** Merges the pack.yaml of all packs. */
export function packDocument(documents: readonly Tree[]): Tree | undefined {
  const [lowest, ...above] = documents;
  return above.reduce<Tree | undefined>((base, own) => upon(base, own), lowest);
}

/**
 * Drops code maps that a pack above has too. Rows in YAML are dropped if a pack above has a CSV file of the same name.
 */
export function latestCodes(documents: readonly Tree[], tables: readonly PackFile[], levels: Levels): readonly Tree[] {
  const uppermost = new Map<string, number>();
  for (const document of documents) {
    const level = levels(document.at.file);
    for (const { key } of entriesOf(document)) uppermost.set(key, Math.min(level, uppermost.get(key) ?? level));
  }
  return documents.map(document => {
    if (document.kind !== 'map') return document;
    const level = levels(document.at.file);
    const entries = document.entries.flatMap((entry): readonly Entry[] => {
      if (uppermost.get(entry.key) !== level) return [];
      const hasFile = tables.some(table => mapIn(table.path) === entry.key && (table.level ?? 0) < level);
      if (!hasFile || entry.value.kind !== 'map') return [entry];
      return child(entry.value, 'table') ? [] : [{ ...entry, value: without(entry.value, new Set(['rows'])) }];
    });
    return { ...document, entries };
  });
}

/** Drops CSV files of maps that a pack above has too, as a CSV file or with rows in YAML. */
export function latestTables(tables: readonly PackFile[], codes: readonly Tree[], levels: Levels): readonly PackFile[] {
  const uppermost = new Map<string, number>();
  const see = (name: string, level: number): void => {
    uppermost.set(name, Math.min(level, uppermost.get(name) ?? level));
  };
  for (const { path, level = 0 } of tables) see(mapIn(path), level);
  for (const document of codes) {
    for (const { key, value } of entriesOf(document))
      if (child(value, 'rows') ?? child(value, 'table')) see(key, levels(document.at.file));
  }
  return tables.filter(({ path, level = 0 }) => level <= (uppermost.get(mapIn(path)) ?? level));
}

/** Returns the name of the code map that a CSV file belongs to. */
export function mapIn(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.csv$/, '');
}

/** Drops mappings whose name a pack above uses for a mapping of its own. Patches do not replace a mapping. */
export function latestMappings(documents: readonly MapTree[], levels: Levels): readonly MapTree[] {
  const uppermost = new Map<string, number>();
  for (const document of documents) {
    const name = nameOf(document);
    const level = levels(document.at.file);
    if (!child(document, 'patch')) uppermost.set(name, Math.min(level, uppermost.get(name) ?? level));
  }
  return documents.filter(document => levels(document.at.file) <= (uppermost.get(nameOf(document)) ?? Infinity));
}

function nameOf(document: Tree): string {
  return textOf(child(document, 'mapping')) ?? '';
}
