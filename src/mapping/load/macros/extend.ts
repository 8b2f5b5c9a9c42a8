/**
 * Combines a pack with the packs that it extends (`extends`). In: documents of all packs, the base first. Out: one
 * pack.yaml; of code maps and mappings with the same name, those of the topmost pack.
 */
import type { PackFile } from '../read/files.ts';
import { child, type Entry, entriesOf, itemsOf, type MapTree, map, type Tree, textOf, without } from '../read/tree.ts';

/** How many packs lie between a file's and the one that is served, which is 0. */
export type Levels = (file: string) => number;

/** pack.yaml of one pack upon that of another: names of its own win, lists of values are added to. */
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

/** Undefined unless both packs have it: the one that there is counts as it stands. */
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

/** Of entries with one key the last. */
function latest(entries: readonly Entry[]): readonly Entry[] {
  return [...new Map(entries.map(one => [one.key, one])).values()];
}

/** pack.yaml of all packs as one. */
export function packDocument(documents: readonly Tree[]): Tree | undefined {
  const [lowest, ...above] = documents;
  return above.reduce<Tree | undefined>((base, own) => upon(base, own), lowest);
}

/** Documents of code maps without those that a pack above has too, and without rows that it has in a CSV file. */
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

/** CSV files without those of maps that a pack above has too, in a file of its own or with rows in YAML. */
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

/** The code map whose rows a CSV file has. */
export function mapIn(path: string): string {
  return path.replace(/^.*\//, '').replace(/\.csv$/, '');
}

/**
 * Documents of mappings without those whose name a pack above gives to a mapping of its own. Patches change, and
 * replace nothing.
 */
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
