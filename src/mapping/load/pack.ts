/**
 * A pack's folder → Registry. In: the folder, and the catalog of the database or, without one, the pack's own
 * schema.lock.json. Out: all mappings, or every problem at once. The stages: files, YAML, macros, shape, rows and ids,
 * elements, and what only all mappings together show.
 */

import { isResourceType, resourceTypes } from '../../r4/definitions.ts';
import type { Catalog } from '../../sql/catalog.ts';
import { checkDrift } from '../check/drift.ts';
import type { Node, Registry } from '../model.ts';
import { createRegistry } from '../registry.ts';
import { checkCircles } from './circles.ts';
import { readCodeMaps } from './codes.ts';
import { readCondition } from './condition.ts';
import type { Context, PackContext } from './context.ts';
import { type PackFile, type PackFiles, readPackFiles } from './files.ts';
import { commonId } from './id-shape.ts';
import { placesIn, readLock } from './lock.ts';
import { type Draft, expandMappings } from './macros.ts';
import { resolveMapping } from './mapping.ts';
import { readNode } from './node.ts';
import { createReport, type Problem, type Report } from './problem.ts';
import { readYaml } from './read.ts';
import { mappingSchema } from './schema.ts';
import { readScope } from './scope.ts';
import { checkColumnRules, readSettings, type Settings } from './settings.ts';
import { checkShape } from './shape.ts';
import { type OpenDraft, openDrafts } from './source.ts';
import { child, type Tree, textOf } from './tree.ts';

/** Without an error there is a registry, maybe with warnings. */
export type LoadedPack =
  | { readonly registry: Registry; readonly problems: readonly Problem[] }
  | { readonly registry: undefined; readonly problems: readonly Problem[] };

/** Loads and checks a pack. Throws only if its folder cannot be read. */
export function loadPack(folder: string, catalog: Catalog | undefined): LoadedPack {
  return loadPackFiles(readPackFiles(folder), catalog);
}

/** Likewise, of files that were read before. */
export function loadPackFiles(files: PackFiles, catalog: Catalog | undefined): LoadedPack {
  const report = createReport();
  if (catalog && files.lock) reportDrift(files.lock, catalog, report);
  const known = catalog ?? (files.lock && readLock(files.lock.path, files.lock.text, report));
  const yaml = (list: readonly PackFile[]): readonly Tree[] =>
    list.flatMap(({ path, text }) => readYaml(path, text, report));
  const documents = {
    pack: yaml(files.pack ? [files.pack] : []),
    codes: yaml(files.codes),
    mappings: yaml(files.mappings),
  };
  const unread = new Set(report.problems().map(problem => problem.position.file));
  const shared = [...(files.pack ? [files.pack] : []), ...files.codes];
  // Without the words that all files share, everything in them would seem wrong.
  if (shared.some(({ path }) => unread.has(path))) return { registry: undefined, problems: report.problems() };
  const settings = readSettings(documents.pack[0], 'pack.yaml', report);
  const codeMaps = readCodeMaps(documents.codes, files.tables, settings, report);
  const fragments = { named: settings.fragments, used: new Set<string>() };
  const drafts = expandMappings(documents.mappings, settings.schema, fragments, report);
  if (!known) {
    const position = { file: 'schema.lock.json', line: 1, column: 1 };
    report.error(position, 'no database and no lock of its schema: the columns are unknown');
    return { registry: undefined, problems: report.problems() };
  }
  const pack: PackContext = {
    report,
    settings,
    catalog: known,
    codeMaps,
    usedCodeMaps: new Set(),
    usedLists: new Set(),
  };
  const hidden = files.mappings.filter(({ path }) => unread.has(path)).flatMap(namesIn);
  const open = openAll(drafts, hidden, pack);
  const mappings = open.map((draft, ordinal) => resolveMapping(draft, ordinal, draft.context));
  checkIds(open, report);
  checkCircles(mappings, report);
  if (catalog) checkColumnRules(settings, catalog, report);
  if (report.problems().some(problem => problem.severity === 'error')) {
    return { registry: undefined, problems: report.problems() };
  }
  // What a broken mapping would have used is not known.
  reportUnused(settings, pack, fragments.used);
  const problems = report.problems();
  const used = [...codeMaps.values()].flatMap(one =>
    one.kind === 'rows' && pack.usedCodeMaps.has(one.name) ? [one.map] : [],
  );
  return { registry: createRegistry(settings.pack, mappings, files.version, used), problems };
}

/**
 * Beside a database, a lock only warns: what a mapping needs and no longer finds is an error at its own line, and
 * `lintel lock` has to be able to write a new one.
 */
function reportDrift({ path, text }: PackFile, catalog: Catalog, report: Report): void {
  const locked = readLock(path, text, createReport());
  if (locked) checkDrift(locked, catalog, { ...report, error: report.warning }, placesIn(path, text));
}

/** The mappings that a file with an error of syntax would have had. */
function namesIn({ text }: PackFile): readonly string[] {
  return [...text.matchAll(/^mapping:\s*([^\s#]+)/gm)].map(([, name = '']) => name);
}

/** Rows and ids of all drafts first: references look at the rows of other mappings. */
function openAll(drafts: readonly Draft[], hidden: readonly string[], pack: PackContext): readonly OpenDraft[] {
  const sound = drafts.filter(draft => {
    checkShape(draft.tree, mappingSchema, pack.report);
    const resource = child(draft.tree, 'resource');
    const known = isResourceType(textOf(resource) ?? '');
    if (resource?.kind === 'scalar' && !known) {
      pack.report.error(resource.at, 'unknown resource type', { found: resource.text, among: resourceTypes() });
    }
    return known;
  });
  const base: Omit<Context, 'aliases' | 'now'> = {
    ...pack,
    targets: [],
    broken: new Set(),
    certain: new WeakSet<Node>(),
    readCondition,
    readScope,
    readNode,
  };
  const groups = Map.groupBy(sound, draft => draft.group);
  const open = [...groups.values()].flatMap(group => openDrafts(group, base));
  const targets = open.map(({ target }) => target);
  const names = new Set(open.map(({ draft }) => draft.name));
  const lost = drafts.filter(({ name }) => !names.has(name)).flatMap(({ name, group }) => [name, group]);
  const broken = new Set([...hidden, ...lost]);
  return open.map(draft => ({ ...draft, context: { ...draft.context, targets, broken } }));
}

/** R8: an id belongs to one mapping, and to one alternative of its rule. */
function checkIds(open: readonly OpenDraft[], report: Report): void {
  const rules = open.flatMap(({ draft, target, id, idAt }) =>
    id.alternatives.map(parts => ({ name: draft.name, resource: target.resource, parts, at: idAt })),
  );
  for (const [i, rule] of rules.entries()) {
    for (const other of rules.slice(0, i)) {
      if (other.resource !== rule.resource) continue;
      const common = commonId(other.parts, rule.parts);
      if (common === undefined) continue;
      const whose = other.name === rule.name ? 'two alternatives' : `mappings ${other.name} and ${rule.name}`;
      report.error(rule.at, `ids of ${whose} can be equal, such as ${common}`, {
        expected: 'a literal that sets them apart',
      });
    }
  }
}

function reportUnused(settings: Settings, pack: PackContext, fragments: ReadonlySet<string>): void {
  const { report } = pack;
  for (const { key, at } of settings.fragments.values()) {
    if (!fragments.has(key)) report.warning(at, `fragment ${key} is never inserted`);
  }
  for (const { key, at } of settings.lists.values()) {
    if (!pack.usedLists.has(key)) report.warning(at, `list ${key} is never used`);
  }
  for (const { name, at } of pack.codeMaps.values()) {
    if (!pack.usedCodeMaps.has(name)) report.warning(at, `code map ${name} is never used`);
  }
}
