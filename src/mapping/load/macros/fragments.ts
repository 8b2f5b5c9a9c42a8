/**
 * Expands `insert:` of fragments. In: a Tree and the fragments of pack.yaml. Out: the Tree without `insert`: a node
 * with no other key becomes the fragment; a map with other keys is the fragment with these keys replaced.
 */
import type { Report } from '../problem.ts';
import { type Entry, type MapTree, putBy, type Tree, textOf } from '../read/tree.ts';
import { type Arguments, type NamedFragments, substitute } from './substitute.ts';

export interface Fragments {
  readonly named: NamedFragments;
  /** Names of the fragments that some `insert` uses. */
  readonly used: Set<string>;
}

/** Records which fragments were looked up. */
export class ReadFragments implements NamedFragments {
  readonly #of: NamedFragments;
  readonly #read = new Map<string, Entry | undefined>();
  #names: string | undefined;

  constructor(of: NamedFragments) {
    this.#of = of;
  }

  get(name: string): Entry | undefined {
    const found = this.#of.get(name);
    this.#read.set(name, found);
    return found;
  }

  keys(): Iterable<string> {
    const names = [...this.#of.keys()];
    this.#names = names.join();
    return names;
  }

  /** True if every lookup so far would give the same result in `others`. */
  isAsIn(others: NamedFragments): boolean {
    const isSame = [...this.#read].every(([name, found]) => others.get(name) === found);
    return isSame && (this.#names === undefined || this.#names === [...others.keys()].join());
  }
}

/** Replaces every `insert`, also those within fragments. */
export function insertFragments(tree: Tree, fragments: Fragments, report: Report): Tree {
  return insert(tree, fragments, report, []);
}

function insert(tree: Tree, fragments: Fragments, report: Report, within: readonly string[]): Tree {
  switch (tree.kind) {
    case 'scalar':
      return tree;
    case 'list':
      return { ...tree, items: tree.items.flatMap(item => insertItem(item, fragments, report, within)) };
    case 'map':
      return tree.entries.some(e => e.key === 'insert')
        ? merge(tree, fragments, report, within)
        : {
            ...tree,
            entries: tree.entries.map(e => ({ ...e, value: insert(e.value, fragments, report, within) })),
          };
  }
}

/** Inserts into an item of a list. A fragment that is a list adds its items. */
function insertItem(item: Tree, fragments: Fragments, report: Report, within: readonly string[]): readonly Tree[] {
  const result = insert(item, fragments, report, within);
  return result.kind === 'list' && item.kind === 'map' ? result.items : [result];
}

function merge(tree: MapTree, fragments: Fragments, report: Report, within: readonly string[]): Tree {
  const directive = tree.entries.find(e => e.key === 'insert');
  const name = textOf(directive?.value) ?? '';
  const fragment = fragments.named.get(name);
  const at = directive?.value.at ?? tree.at;
  const own = tree.entries.filter(e => e.key !== 'insert' && !e.key.startsWith('$'));
  const rest: MapTree = { ...tree, entries: own };
  if (!fragment) {
    report.error('unknown-name', at, 'unknown fragment', { found: name, among: fragments.named.keys() });
    return insert(rest, fragments, report, within);
  }
  fragments.used.add(name);
  if (within.includes(name)) {
    report.error('circle', at, `fragment ${name} inserts itself`);
    return rest;
  }
  const given: Arguments = new Map(tree.entries.filter(e => e.key.startsWith('$')).map(e => [e.key, e.value]));
  const used = new Set<string>();
  const called = putBy(fragment.value, { what: 'insert', at });
  const body = insert(substitute(called, given, used, fragments.named, report), fragments, report, [...within, name]);
  for (const e of tree.entries) {
    if (given.has(e.key) && !used.has(e.key))
      report.error('wrong-macro', e.at, `fragment ${name} does not use ${e.key}`);
  }
  if (own.length === 0) return body;
  if (body.kind !== 'map') {
    report.error('wrong-macro', at, `fragment ${name} is no map and cannot be merged with further keys`);
    return insert(rest, fragments, report, within);
  }
  const written = insert(rest, fragments, report, within);
  const over = written.kind === 'map' ? written.entries : [];
  const kept = body.entries.filter(e => !over.some(o => o.key === e.key));
  return { ...tree, entries: [...kept, ...over] };
}
