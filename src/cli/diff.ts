/** `lintel diff`: reports the differences for callers between two packs over one database. */

import { someOf } from '../check/section.ts';
import { nowAndThen } from '../common/now-and-then.ts';
import { plural } from '../common/plural.ts';
import type { Config } from '../config/config.ts';
import type { Facade } from '../facade.ts';
import { problemLine } from '../mapping/load/problem.ts';
import { type PackFiles, readPackFiles } from '../mapping/load/read/files.ts';
import type { Database } from '../sql/database.ts';
import { checkAgainst, facadeOf } from '../start/setup.ts';
import { differenceOf, type ElementDifference, type PackDifference, type TypeDifference } from '../workbench/diff.ts';
import { type Command, configOf, DATABASE, printJson, refuse, type Terminal } from './command.ts';
import { withPack } from './with-pack.ts';

/** Default number of rows per source and pack whose resources are compared. */
const SAMPLE = 100;
/** Time limit in milliseconds for the sample of a pack. */
const LONGEST = 60_000;
/** At most so many elements per type are printed. */
const PRINTED = 20;

export const diff: Command = {
  summary: 'lists the resources and searches that differ between two packs',
  help: `Usage: lintel diff OLD NEW [--sample N] [--json] [--database URL] [--schema VERSION]

Serves the packs in the folders OLD and NEW from the same database, and prints by type: how many resources each has,
the search parameters added and removed, and of a sample how many resources are added, removed or changed, with the
elements. The sample has rows of every table that either pack makes resources of, unusual ones first. Types that are
equal in all this are omitted. No value is printed.`,
  exits: ['nothing differs', 'something differs, or a pack has errors'],
  options: {
    sample: ['N', `rows of each such table, by either pack (default ${SAMPLE})`],
    json: 'prints one JSON object',
    ...DATABASE,
    schema: ['VERSION', "version of the database's schema, instead of the packs'"],
  },
  positionals: [2, 2],
  async run(args, terminal) {
    const [before, after] = args.positionals;
    const sample = args.wholeNumber('sample', [1, 100_000]) ?? SAMPLE;
    const config = configOf(args, terminal, before);
    const code = await withPack(config, terminal, async ({ registry, database, changed }) => {
      const old = facadeOf(registry, database, changed, config);
      const now = await otherPack(configOf(args, terminal, after), database, terminal);
      if (now === undefined) return 1;
      const onType = nowAndThen(type => terminal.note(`Comparing ${type}`));
      const found = await differenceOf({ old, new: now, database, sample, milliseconds: LONGEST, onType });
      const texts = textsThatDiffer(readPackFiles(config.mappings), readPackFiles(args.positionals[1] ?? ''));
      if (args.json) printJson({ sample, ...found, texts }, terminal);
      else for (const line of [...found.types.flatMap(linesOf), ...closing(found, texts)]) terminal.out(line);
      return found.types.length === 0 ? 0 : 1;
    });
    return code ?? 1;
  },
};

/** Returns the files whose texts differ, or that only one pack has. */
function textsThatDiffer(old: PackFiles, now: PackFiles): readonly string[] {
  const textsOf = ({ pack, codes, tables, mappings, ccds, access }: PackFiles): ReadonlyMap<string, string> =>
    new Map(
      [pack, ...codes, ...tables, ...mappings, ccds, access].flatMap(file => (file ? [[file.path, file.text]] : [])),
    );
  const [before, after] = [textsOf(old), textsOf(now)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(path => before.get(path) !== after.get(path))
    .toSorted();
}

/** Tells the reader how much "nothing differs" means. */
function closing({ types, compared, unreached }: PackDifference, texts: readonly string[]): readonly string[] {
  const left =
    unreached.length === 0
      ? []
      : [`Not compared within the time budget: ${someOf(unreached)}. A smaller --sample is faster.`];
  if (types.length > 0) return left;
  const differ =
    texts.length === 0
      ? 'The texts of the packs are the same.'
      : `The texts of ${someOf(texts)} differ; a larger --sample looks at more rows.`;
  return [`Nothing differs in the ${plural(compared, 'resource')} that were compared. ${differ}`, ...left];
}

async function otherPack(config: Config, database: Database, terminal: Terminal): Promise<Facade | undefined> {
  const files = readPackFiles(config.mappings, config.schema);
  const { pack, changed } = await checkAgainst(database, files, {});
  if (pack.registry !== undefined) return facadeOf(pack.registry, database, changed, config);
  refuse(pack.problems.map(problemLine), terminal);
  return undefined;
}

function linesOf({ type, resources, searches, sample, elements }: TypeDifference): readonly string[] {
  const { compared, gone, added, changed } = sample;
  const more = elements.length - PRINTED;
  return [
    `${type}: ${resources.old} → ${plural(resources.new, 'resource')}`,
    ...(searches.gone.length > 0 ? [`  searches gone   ${searches.gone.join(', ')}`] : []),
    ...(searches.added.length > 0 ? [`  searches added  ${searches.added.join(', ')}`] : []),
    ...(gone + added + changed > 0
      ? [`  of ${plural(compared, 'resource')} compared: ${gone} gone, ${added} added, ${changed} changed`]
      : []),
    ...elements.slice(0, PRINTED).map(elementLine),
    ...(more > 0 ? [`    … and ${plural(more, 'element')} more`] : []),
  ];
}

function elementLine({ path, gone, added, changed }: ElementDifference): string {
  const changes = [
    ...(gone > 0 ? [`gone in ${gone}`] : []),
    ...(added > 0 ? [`added in ${added}`] : []),
    ...(changed > 0 ? [`changed in ${changed}`] : []),
  ];
  return `    ${path}: ${changes.join(', ')}`;
}
