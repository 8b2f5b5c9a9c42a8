/**
 * Replaces `$name` in macros. In: a Tree and the arguments. Out: the Tree with each `$name` replaced: a scalar that is
 * nothing else becomes the argument; within a longer text the argument's text is inserted. `with`/`rows` apply a Tree
 * once per row.
 */
import type { Report } from '../problem.ts';
import { nearest } from '../read/spelling.ts';
import { child, type Entry, itemsOf, type MapTree, putBy, scalar, type Tree, textOf, without } from '../read/tree.ts';

const NAME = /\$([A-Za-z_][A-Za-z0-9_]*)/g;
const WHOLE = /^\$[A-Za-z_][A-Za-z0-9_]*$/;

export type Arguments = ReadonlyMap<string, Tree>;

/** The fragments of the pack by name. They decide which `$name` keys beside an `insert` are parameters. */
export interface NamedFragments {
  get(name: string): Entry | undefined;
  keys(): Iterable<string>;
}

/** Replaces the names of arguments; other names stay. Adds the names found to `used`. */
export function substitute(
  tree: Tree,
  given: Arguments,
  used: Set<string>,
  fragments: NamedFragments,
  report: Report,
): Tree {
  switch (tree.kind) {
    case 'scalar': {
      const whole = WHOLE.test(tree.text) ? given.get(tree.text) : undefined;
      if (whole) {
        used.add(tree.text);
        return whole;
      }
      return tree.text.includes('$') ? scalar(inText(tree.text, tree, given, used, report), tree.at) : tree;
    }
    case 'list':
      return { ...tree, items: tree.items.map(item => substitute(item, given, used, fragments, report)) };
    case 'map': {
      // A key that is a parameter of the inserted fragment stays, even if an argument has the same name.
      const inserted = fragments.get(textOf(child(tree, 'insert')) ?? '')?.value;
      const isParameter = (key: string): boolean =>
        inserted !== undefined && WHOLE.test(key) && mentions(inserted, key);
      return {
        ...tree,
        entries: tree.entries.map(({ key, value, at }) => ({
          key: key.includes('$') && !isParameter(key) ? inText(key, tree, given, used, report) : key,
          value: substitute(value, given, used, fragments, report),
          at,
        })),
      };
    }
  }
}

/** True if `$name` occurs anywhere in a tree. */
function mentions(tree: Tree, name: string): boolean {
  const isIn = (text: string): boolean => text.match(NAME)?.includes(name) ?? false;
  switch (tree.kind) {
    case 'scalar':
      return isIn(tree.text);
    case 'list':
      return tree.items.some(item => mentions(item, name));
    case 'map':
      return tree.entries.some(({ key, value }) => isIn(key) || mentions(value, name));
  }
}

function inText(text: string, around: Tree, given: Arguments, used: Set<string>, report: Report): string {
  return text.replace(NAME, name => {
    const argument = given.get(name);
    if (!argument) return name;
    used.add(name);
    if (argument.kind === 'scalar') return argument.text;
    report.error('wrong-macro', around.at, `${name} is not a single value and cannot be used within a text`);
    return name;
  });
}

/** Expands a map with `with` and `rows` once per row, without these keys. Returns any other map unchanged. */
export function expandRows(tree: MapTree, fragments: NamedFragments, report: Report): readonly MapTree[] {
  const names = child(tree, 'with');
  const rows = child(tree, 'rows');
  if (!names && !rows) return [tree];
  if (names?.kind !== 'list' || rows?.kind !== 'list') {
    report.error(
      'wrong-macro',
      (names ?? rows ?? tree).at,
      '`with: [$name, …]` and `rows: [[…], …]` require each other',
    );
    return [];
  }
  const parameters = itemsOf(names).map(name => (name.kind === 'scalar' ? name.text : ''));
  for (const [i, name] of parameters.entries()) {
    if (!WHOLE.test(name))
      report.error('wrong-macro', names.items[i]?.at ?? names.at, 'not a macro name', {
        expected: '$name',
        found: name,
      });
  }
  const body = without(tree, new Set(['with', 'rows']));
  const used = new Set<string>();
  const expanded = rows.items.flatMap(row => {
    const cells = itemsOf(row);
    if (row.kind !== 'list' || cells.length !== parameters.length) {
      report.error('wrong-macro', row.at, 'row of the wrong length', {
        expected: `${parameters.length}`,
        found: `${cells.length}`,
      });
      return [];
    }
    const given = new Map(cells.map((cell, i) => [parameters[i] ?? '', cell]));
    const called = putBy(body, { what: 'row', at: row.at });
    const result = substitute(called, given, used, fragments, report);
    return result.kind === 'map' ? [result] : [];
  });
  if (expanded.length > 0) {
    for (const [i, name] of parameters.entries()) {
      if (!used.has(name)) report.error('unused', names.items[i]?.at ?? names.at, `${name} is never used`);
    }
  }
  return expanded;
}

/** Reports names that no macro gives a value. */
export function reportUnknownNames(tree: Tree, known: Iterable<string>, report: Report): void {
  const among = [...known];
  const look = (text: string, at: Tree['at']): void => {
    for (const [name] of text.matchAll(NAME))
      report.error('unknown-name', at, 'unknown macro name', { found: name, among });
  };
  switch (tree.kind) {
    case 'scalar':
      look(tree.text, tree.at);
      return;
    case 'list':
      for (const item of tree.items) reportUnknownNames(item, among, report);
      return;
    case 'map':
      if (reportMissingInsert(tree, report)) return;
      for (const { key, value, at } of tree.entries) {
        look(key, at);
        reportUnknownNames(value, among, report);
      }
  }
}

/** Reports a misspelled `insert` beside parameters of a fragment. Returns true if there was one. */
function reportMissingInsert({ entries }: MapTree, report: Report): boolean {
  const parameters = entries.filter(({ key }) => WHOLE.test(key));
  const meant = entries.find(({ key }) => nearest(key, ['insert']) !== undefined);
  if (parameters.length === 0 || meant === undefined || meant.key === 'insert') return false;
  report.error('unknown-key', meant.at, 'unknown key', {
    found: meant.key,
    suggestion: 'insert',
    covers: [meant, ...parameters].map(({ at }) => at),
  });
  return true;
}
