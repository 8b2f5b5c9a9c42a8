/**
 * Finds the part of a schema that a pack names, so that only this part is read from a large catalog. In: the text of
 * its files. Out: tables, and columns that its rules name in any table. A name that a macro assembles is not found; a
 * loader that misses a table asks for the whole schema.
 */
import type { CatalogPart } from '../../../sql/catalog.ts';
import { createReport } from '../problem.ts';
import type { PackFile, PackFiles } from '../read/files.ts';
import { readLock } from './lock.ts';
import { PackMemory } from './memory.ts';
import { columnKey, readSettings } from './settings.ts';

/** A name with blanks ends at a quote, comma, brace, comment or line. */
const TABLE = /\btable["']?:\s*["']?(?:[^\s"',{}.#]+\.)?([^\s"',{}.#](?:[^\n"',{}#.]*[^\s"',{}.#])?)/g;

export function partNamed(files: PackFiles, memory: PackMemory = new PackMemory()): CatalogPart {
  const { pack, bases = [], codes, mappings, lock } = files;
  const packs = [...bases, ...(pack ? [pack] : [])];
  const texts = [...packs, ...codes, ...mappings];
  const written = texts.flatMap(({ path, text }) =>
    memory.tablesNamed.get(path, [text], () => [...text.matchAll(TABLE)].map(([, name = '']) => name)),
  );
  const locked =
    lock &&
    memory.cached(memory.lock, lock.path, [lock.text], createReport(), own => readLock(lock.path, lock.text, own));
  const rules = packs.flatMap(file => rulesOf(file, memory));
  const tables = [...written, ...(locked?.tables.keys() ?? []), ...rules.flatMap(({ table }) => table ?? [])];
  return {
    tables: [...new Set(tables.map(name => name.toLowerCase()))],
    columns: [...new Set(rules.flatMap(({ table, column }) => (table === undefined ? [column.toLowerCase()] : [])))],
  };
}

interface Rule {
  /** Undefined: any table. */
  readonly table: string | undefined;
  readonly column: string;
}

/** Returns the rules of `deny` and `absent`: `COLUMN`, `TABLE.COLUMN`, `*.COLUMN`. Columns with `*` are left out. */
function rulesOf(file: PackFile, memory: PackMemory): readonly Rule[] {
  const [tree] = memory.readYaml(file, createReport());
  const { denyRules, absent } = memory.cached(memory.settings, `alone ${file.path}`, [tree], createReport(), own =>
    readSettings(tree, file.path, own),
  );
  return [
    ...denyRules.map(rule => rule.text),
    ...absent.columns.keys(),
    ...absent.patterns.map(({ entry }) => columnKey(entry.key)),
  ].flatMap((rule): readonly Rule[] => {
    const [column = '', table] = rule.split('.').reverse();
    if (table !== undefined && !table.includes('*')) return [{ table, column }];
    return column.includes('*') ? [] : [{ table: undefined, column }];
  });
}
