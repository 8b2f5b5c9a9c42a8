/**
 * Reads the hierarchies of code systems that a pack contains, for `:above` and `:below`. In: `hierarchies` of pack.yaml
 * and the CSV files that it names, with the header `parent,code`. Out: by system the codes directly below each code.
 */
import type { Hierarchies } from '../../../r4/terminology.ts';
import { PackMemory } from '../pack/memory.ts';
import type { Settings } from '../pack/settings.ts';
import type { Report } from '../problem.ts';
import { readCsv } from '../read/csv.ts';
import type { PackFile } from '../read/files.ts';
import { resolveSystem, systemsOf } from './system.ts';

export interface LoadedHierarchies {
  readonly hierarchies: Hierarchies;
  /** The CSV files of hierarchies, which are no code maps. */
  readonly files: ReadonlySet<PackFile>;
}

const HEADER = ['parent', 'code'];

export function readHierarchies(
  tables: readonly PackFile[],
  { hierarchies: written, pack }: Settings,
  report: Report,
  memory: PackMemory = new PackMemory(),
): LoadedHierarchies {
  const hierarchies = new Map<string, ReadonlyMap<string, readonly string[]>>();
  const files = new Set<PackFile>();
  const systems = systemsOf(pack.systems);
  for (const { key, value, at } of written) {
    const system = resolveSystem({ kind: 'scalar', text: key, at }, systems, report);
    // Relative to the pack.yaml that names it, which may be that of a pack below.
    const name = value.at.file.replace(/[^/]*$/, '') + (value.kind === 'scalar' ? value.text : '');
    const file = tables.find(({ path }) => path === name);
    if (!file) {
      report.error('unknown-name', value.at, 'no such file in the pack', {
        found: name,
        among: tables.map(({ path }) => path),
      });
      continue;
    }
    files.add(file);
    const children = memory.cached(memory.hierarchies, file.path, [file.text], report, own => childrenIn(file, own));
    if (system !== undefined) hierarchies.set(system, children);
  }
  return { hierarchies, files };
}

function childrenIn({ path, text }: PackFile, report: Report): ReadonlyMap<string, readonly string[]> {
  const children = new Map<string, string[]>();
  const [header, ...records] = readCsv(text);
  if (header?.fields.map(field => field.trim().toLowerCase()).join() !== HEADER.join()) {
    report.error('wrong-code-map', { file: path, line: 1, column: 1 }, 'not a hierarchy', {
      expected: `a first line ${HEADER.join()}`,
    });
    return children;
  }
  for (const { line, fields } of records) {
    const [parent = '', code = '', ...more] = fields.map(field => field.trim());
    if (parent === '' || code === '' || parent === code || more.length > 0) {
      report.error('wrong-code-map', { file: path, line, column: 1 }, 'not a code and one below it', {
        found: fields.join(),
      });
      continue;
    }
    const known = children.get(parent);
    if (known === undefined) children.set(parent, [code]);
    else if (!known.includes(code)) known.push(code);
  }
  return children;
}
