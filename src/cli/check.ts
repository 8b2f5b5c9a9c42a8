/**
 * `lintel check`: every problem of a pack against the schema of the database, and what can be searched.
 */
import { OPEN_ACCESS } from '../auth/access.ts';
import { checkCustodian } from '../ccda/check-custodian.ts';
import { type Config, readConfig } from '../config.ts';
import { counted } from '../counted.ts';
import { checkLive } from '../mapping/check/live.ts';
import { readPackFiles } from '../mapping/load/files.ts';
import { readLock } from '../mapping/load/lock.ts';
import type { LoadedPack } from '../mapping/load/pack.ts';
import { comparePositions, createReport, formatProblem, type Problem } from '../mapping/load/problem.ts';
import type { Registry } from '../mapping/model.ts';
import { scopeRelation } from '../plan/condition.ts';
import { searchesWithoutIndex, sortsWithoutIndex, type WithoutIndex } from '../plan/index-use.ts';
import { makeOffers } from '../plan/offers.ts';
import { searchParametersOf } from '../r4/search-parameters.ts';
import { facadeOf, loadWhole, setUp } from '../setup.ts';
import type { Catalog } from '../sql/catalog.ts';
import { type Command, overrides, type Terminal, textOf } from './command.ts';
import { runPackTests } from './pack-tests.ts';

export const check: Command = {
  summary: 'tells every problem of a mapping pack, and what can be searched',
  help: `Usage: lintel check [PACK] [--database URL | --locked] [--parameters]

Reads the mapping pack in the folder PACK (default: MAPPINGS, or the demo pack) against the live schema and the rows of
the database (default: DATABASE_URL, or the demo database), and tells every problem at once with its place in the
files, what was expected, what was found, and the nearest right spelling. Of the rows it asks only for numbers: keys
and ids that are not unique, lookups that find several rows, orders that leave open which row comes first, references
none of which find a row, codes that no map has, literals that rows write in other letters, a custodian in ccds.yaml
that is not there. Each sql is worked out for all rows of its table.
Tests beside the mappings (*.test.yaml) run on a database of their own that has only their rows.

  --database URL   sqlite:<file> or mssql://<user>:<password>@<host>/<database>
  --locked         checks against the pack's schema.lock.json (lintel lock writes it) instead of a database
  --parameters     also lists the search parameters of each type: those answered by plain comparisons of columns
                   (offered), those that compute on a column first (computed), and those of FHIR that the mappings
                   have no inverse for (none); and the columns without an index that searches and sorts read, which
                   cost a scan where no patient narrows them

Exit code: 0 without errors (warnings are allowed), 1 with errors.`,
  options: { database: { type: 'string' }, locked: { type: 'boolean' }, parameters: { type: 'boolean' } },
  positionals: [0, 1],
  async run(args, terminal) {
    const instead = overrides({ MAPPINGS: args.positionals[0], DATABASE_URL: textOf(args, 'database') });
    const config = readConfig(terminal.environment, instead);
    const locked = args.values['locked'] === true;
    const { pack, catalog } = locked ? checkLocked(config) : await checkRows(config, terminal);
    const { registry } = pack;
    const tests = registry && catalog ? await runPackTests(config.mappings, registry, catalog) : undefined;
    const problems = [...pack.problems, ...(tests?.problems ?? [])];
    for (const problem of problems) terminal.out(formatProblem(problem));
    if (registry && catalog && args.values['parameters'] === true) printParameters(registry, catalog, terminal);
    if (tests && tests.ran > 0) terminal.out(`${counted(tests.ran, 'test')} of mappings ran`);
    // A table or column may be unknown only because the pack did not use it when it was locked.
    const against = locked && catalog && !registry ? ', against schema.lock.json, which lintel lock writes anew' : '';
    terminal.out(summary(registry, problems) + against);
    return registry === undefined || problems.some(({ severity }) => severity === 'error') ? 1 : 0;
  },
};

interface Checked {
  readonly pack: LoadedPack;
  readonly catalog: Catalog | undefined;
}

function checkLocked({ mappings }: Config): Checked {
  const files = readPackFiles(mappings);
  const { lock } = files;
  const catalog = lock && readLock(lock.path, lock.text, createReport());
  return { pack: loadWhole(files, undefined).pack, catalog };
}

async function checkRows(config: Config, terminal: Terminal): Promise<Checked> {
  const { database, pack, catalog, content, changed } = await setUp(config, terminal.note);
  try {
    const { registry } = pack;
    if (!registry) return { pack, catalog };
    const shown = await checkLive({ registry, database, readScope: scopeRelation, now: Date.now() });
    const context = { access: OPEN_ACCESS, base: 'http://localhost/fhir', handling: 'strict' } as const;
    const custodian = content
      ? await checkCustodian(content, facadeOf(registry, database, changed, config), context)
      : [];
    const written = pack.problems.filter(({ provenBy }) => provenBy !== 'rows');
    const problems = [...written, ...shown, ...custodian].sort((a, b) => comparePositions(a.position, b.position));
    return { pack: { registry, problems }, catalog };
  } finally {
    await database.close();
  }
}

function summary(registry: Registry | undefined, problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found = `${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`;
  if (registry === undefined) return found;
  return `${registry.pack.name}: ${counted(registry.mappings.length, 'mapping')} of ${counted(registry.types.length, 'type')}; ${found}`;
}

function printParameters(registry: Registry, catalog: Catalog, { out }: Terminal): void {
  const offers = makeOffers(registry);
  for (const type of registry.types) {
    const offered = offers.of(type);
    const names = (inverse: string) => offered.filter(one => one.inverse === inverse).map(one => one.parameter.code);
    const none = searchParametersOf(type).filter(({ code }) => offers.find(type, code) === undefined);
    const mappings = registry.ofType(type);
    out(type);
    out(`  offered   ${names('indexed').join(', ') || '-'}`);
    out(`  computed  ${names('computed').join(', ') || '-'}`);
    out(`  none      ${none.map(({ code }) => code).join(', ') || '-'}`);
    printWithoutIndex('no index ', searchesWithoutIndex(offered, mappings, catalog, registry), out);
    printWithoutIndex('full sort', sortsWithoutIndex(offered, mappings, catalog, registry), out);
  }
}

function printWithoutIndex(title: string, found: readonly WithoutIndex[], out: Terminal['out']): void {
  const told = found.map(({ code, columns }) => `${code} (${columns.join(', ')})`);
  if (told.length > 0) out(`  ${title} ${told.join('; ')}`);
}
