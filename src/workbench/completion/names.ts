/**
 * Collects the names that the files of a pack define, for the editor's completion. In: files, some of which may
 * temporarily be invalid YAML. Out: names.
 */
import { packDocument } from '../../mapping/load/macros/extend.ts';
import type { PackMemory } from '../../mapping/load/pack/memory.ts';
import { readSettings } from '../../mapping/load/pack/settings.ts';
import { createReport } from '../../mapping/load/problem.ts';
import type { PackFile, PackFiles } from '../../mapping/load/read/files.ts';
import { child, entriesOf, scalarsOf, type Tree, textOf } from '../../mapping/load/read/tree.ts';
import type { Catalog } from '../../sql/catalog.ts';
import type { NamedMapping, Names } from './complete.ts';

export function namesIn(files: PackFiles, catalog: Catalog, memory: PackMemory): Names {
  const trees = (list: readonly PackFile[]): readonly Tree[] => list.flatMap(file => memory.lastTrees(file));
  const main = packDocument(trees([...(files.bases ?? []), ...(files.pack ? [files.pack] : [])]));
  const { pack, fragments, lists, deny } = readSettings(main, 'pack.yaml', createReport());
  const tables = files.tables.map(({ path }) => path.replace(/^.*\//, '').replace(/\.csv$/, ''));
  return {
    mappings: files.mappings.flatMap(file => memory.lastTrees(file).flatMap(tree => mappingOf(tree, file.path))),
    codeMaps: [
      ...new Set([
        ...trees(files.codes)
          .flatMap(entriesOf)
          .map(({ key }) => key),
        ...tables,
      ]),
    ],
    fragments: [...fragments.keys()],
    lists: [...lists.keys()],
    systems: pack.systems,
    isDenied: (table, column) => deny(undefined, table, column) !== undefined,
    catalog,
  };
}

function mappingOf(tree: Tree, file: string): readonly NamedMapping[] {
  const [name, type, source] = [child(tree, 'mapping'), child(tree, 'resource'), child(tree, 'source')];
  if (!name || !type) return [];
  const key = scalarsOf(child(source, 'key')).map(({ text }) => text);
  const table = textOf(child(source, 'table')) ?? '';
  return [{ name: textOf(name) ?? '', type: textOf(type) ?? '', table, key, file }];
}
