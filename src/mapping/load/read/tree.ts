/**
 * Defines a YAML document as the loader uses it: every scalar is text, and every node has its position in the file.
 * Macros move and copy nodes, which keep their positions.
 */
import type { Origin, Position } from '../../model.ts';

export type Tree = ScalarTree | ListTree | MapTree;

export interface ScalarTree {
  readonly kind: 'scalar';
  readonly text: string;
  /** Written as unquoted `null` or `~`, which means NULL elsewhere in YAML. */
  readonly isNull?: true;
  readonly at: Position;
}

export interface ListTree {
  readonly kind: 'list';
  readonly items: readonly Tree[];
  readonly at: Position;
}

export interface MapTree {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
  readonly at: Position;
}

export interface Entry {
  readonly key: string;
  readonly value: Tree;
  /** Position of the key. */
  readonly at: Position;
}

export function scalar(text: string, at: Position, isNull = false): ScalarTree {
  return { kind: 'scalar', text, at, ...(isNull ? { isNull } : {}) };
}

export function list(items: readonly Tree[], at: Position): ListTree {
  return { kind: 'list', items, at };
}

/** Makes a map of the entries whose value is defined. */
export function map(content: Readonly<Record<string, Tree | undefined>>, at: Position): MapTree {
  const entries = Object.entries(content).flatMap(([key, value]) => (value ? [{ key, value, at: value.at }] : []));
  return { kind: 'map', entries, at };
}

/** Returns the value under a key of a map; undefined for other nodes, because another stage reports their shape. */
export function child(tree: Tree | undefined, key: string): Tree | undefined {
  return entry(tree, key)?.value;
}

export function entry(tree: Tree | undefined, key: string): Entry | undefined {
  return tree?.kind === 'map' ? tree.entries.find(e => e.key === key) : undefined;
}

export function entriesOf(tree: Tree | undefined): readonly Entry[] {
  return tree?.kind === 'map' ? tree.entries : [];
}

/** Returns the items of a list, a single node as a list of one, or an empty list for undefined. */
export function itemsOf(tree: Tree | undefined): readonly Tree[] {
  if (!tree) return [];
  return tree.kind === 'list' ? tree.items : [tree];
}

export function textOf(tree: Tree | undefined): string | undefined {
  return tree?.kind === 'scalar' ? tree.text : undefined;
}

/** Returns the scalars of a list, or a single one. */
export function scalarsOf(tree: Tree | undefined): readonly ScalarTree[] {
  return itemsOf(tree).filter(item => item.kind === 'scalar');
}

/** Returns the map without some keys. */
export function without(tree: MapTree, keys: ReadonlySet<string>): MapTree {
  return { ...tree, entries: tree.entries.filter(e => !keys.has(e.key)) };
}

/** Returns the tree with a further origin on every position, after the origins that it already has. */
export function putBy(tree: Tree, origin: Origin): Tree {
  const at = calledBy(tree.at, origin);
  switch (tree.kind) {
    case 'scalar':
      return { ...tree, at };
    case 'list':
      return { ...tree, items: tree.items.map(item => putBy(item, origin)), at };
    case 'map':
      return {
        ...tree,
        entries: tree.entries.map(e => ({ ...e, value: putBy(e.value, origin), at: calledBy(e.at, origin) })),
        at,
      };
  }
}

function calledBy(at: Position, origin: Origin): Position {
  const { by } = at;
  return { ...at, by: by ? { ...by, at: calledBy(by.at, origin) } : origin };
}

/** Converts to plain data for a schema validator: texts, arrays and objects without a prototype. */
export function plain(tree: Tree): unknown {
  switch (tree.kind) {
    case 'scalar':
      return tree.text;
    case 'list':
      return tree.items.map(plain);
    case 'map': {
      const object: Record<string, unknown> = Object.create(null);
      for (const { key, value } of tree.entries) object[key] = plain(value);
      return object;
    }
  }
}

/** Returns the node at a path of keys and indexes, or the last one that exists on the way. */
export function nodeAt(tree: Tree, path: readonly PropertyKey[]): Tree {
  let at = tree;
  for (const step of path) {
    const next = at.kind === 'list' ? at.items[Number(step)] : child(at, String(step));
    if (!next) return at;
    at = next;
  }
  return at;
}

/** Returns `after` with every unchanged part (same content and position) replaced by the object from `before`. */
export function reuse<T extends Tree>(before: Tree | undefined, after: T): T;
export function reuse(before: Tree | undefined, after: Tree): Tree {
  switch (after.kind) {
    case 'scalar':
      return before?.kind === 'scalar' &&
        before.text === after.text &&
        before.isNull === after.isNull &&
        isSamePlace(before.at, after.at)
        ? before
        : after;
    case 'list': {
      const known = before?.kind === 'list' ? before.items : [];
      const items = after.items.map((item, i) => reuse(known[i], item));
      const isSame = before?.kind === 'list' && isSameList(known, items) && isSamePlace(before.at, after.at);
      return isSame ? before : { ...after, items };
    }
    case 'map': {
      const known = before?.kind === 'map' ? before.entries : [];
      const byKey = known.length > FEW_ENTRIES ? new Map(known.map(one => [one.key, one])) : undefined;
      const entries = after.entries.map((one, i) => {
        const own = known[i]?.key === one.key ? known[i] : byKey ? byKey.get(one.key) : entryNamed(known, one.key);
        return own === undefined ? one : reuseEntry(own, one);
      });
      const isSame = before?.kind === 'map' && isSameList(known, entries) && isSamePlace(before.at, after.at);
      return isSame ? before : { ...after, entries };
    }
  }
}

/** Maps with more entries are indexed for lookups by key. */
const FEW_ENTRIES = 20;

function entryNamed(entries: readonly Entry[], key: string): Entry | undefined {
  return entries.find(one => one.key === key);
}

function reuseEntry(before: Entry, after: Entry): Entry {
  const value = reuse(before.value, after.value);
  return value === before.value && isSamePlace(before.at, after.at) ? before : { ...after, value };
}

/** True if both hold the same objects in the same order. */
export function isSameList(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, i) => one === others[i]);
}

function isSamePlace(one: Position, other: Position): boolean {
  return (
    one === other ||
    (one.file === other.file &&
      one.line === other.line &&
      one.column === other.column &&
      isSameOrigin(one.by, other.by))
  );
}

function isSameOrigin(one: Origin | undefined, other: Origin | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return one.what === other.what && isSamePlace(one.at, other.at);
}
