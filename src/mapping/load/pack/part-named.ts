/**
 * Which part of a schema a pack is about. In: its files. Out: tables that it names, and columns that its rules name in
 * whatever table. It goes by the text: what a macro makes of several pieces is not found, and whoever then misses a table
 * asks for all of the schema.
 */
import type { CatalogPart } from '../../../sql/catalog.ts';
import { createReport } from '../problem.ts';
import type { PackFile, PackFiles } from '../read/files.ts';
import { readYaml } from '../read/read.ts';
import { readLock } from './lock.ts';
import { readSettings } from './settings.ts';

const TABLE = /\btable["']?:\s*["']?(?:\w+\.)?(\w+)/g;

export function partNamed({ pack, bases = [], codes, mappings, lock }: PackFiles): CatalogPart {
  const packs = [...bases, ...(pack ? [pack] : [])];
  const texts = [...packs, ...codes, ...mappings];
  const written = texts.flatMap(({ text }) => [...text.matchAll(TABLE)].map(([, name = '']) => name));
  const locked = lock && readLock(lock.path, lock.text, createReport());
  const rules = packs.flatMap(rulesOf);
  const tables = [...written, ...(locked?.tables.keys() ?? []), ...rules.flatMap(({ table }) => table ?? [])];
  return {
    tables: [...new Set(tables.map(name => name.toLowerCase()))],
    columns: [...new Set(rules.flatMap(({ table, column }) => (table === undefined ? [column.toLowerCase()] : [])))],
  };
}

interface Rule {
  /** Undefined: any. */
  readonly table: string | undefined;
  readonly column: string;
}

/** Of `deny` and `absent`: `COLUMN`, `TABLE.COLUMN`, `*.COLUMN`; a column with `*` is not asked for. */
function rulesOf({ path, text }: PackFile): readonly Rule[] {
  const [tree] = readYaml(path, text, createReport());
  const { denyRules, absent } = readSettings(tree, path, createReport());
  return [...denyRules.map(rule => rule.text), ...absent.columns.keys()].flatMap((rule): readonly Rule[] => {
    const [column = '', table] = rule.split('.').reverse();
    if (table !== undefined && !table.includes('*')) return [{ table, column }];
    return column.includes('*') ? [] : [{ table: undefined, column }];
  });
}
