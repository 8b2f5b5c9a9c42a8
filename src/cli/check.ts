/**
 * `lintel check`: every problem of a pack against the schema of the database, and what can be searched.
 */
import { type Config, readConfig } from '../config.ts';
import { type LoadedPack, loadPack } from '../mapping/load/pack.ts';
import { formatProblem, type Problem } from '../mapping/load/problem.ts';
import type { Registry } from '../mapping/model.ts';
import { makeOffers } from '../plan/offers.ts';
import { searchParametersOf } from '../r4/search-parameters.ts';
import { setUp } from '../setup.ts';
import { type Command, overrides, type Terminal, textOf } from './command.ts';

export const check: Command = {
  summary: 'tells every problem of a mapping pack, and what can be searched',
  help: `Usage: lintel check [PACK] [--database URL | --locked] [--parameters]

Reads the mapping pack in the folder PACK (default: MAPPINGS, or the demo pack) against the live schema of the
database (default: DATABASE_URL, or the demo database), and tells every problem at once with its place in the files,
what was expected, what was found, and the nearest right spelling.

  --database URL   sqlite:<file> or mssql://<user>:<password>@<host>/<database>
  --locked         checks against the pack's schema.lock.json (lintel lock writes it) instead of a database
  --parameters     also lists the search parameters of each type: those answered by plain comparisons of columns
                   (offered), those that compute on a column first (computed), and those of FHIR that the mappings
                   have no inverse for (none)

Exit code: 0 without errors (warnings are allowed), 1 with errors.`,
  options: { database: { type: 'string' }, locked: { type: 'boolean' }, parameters: { type: 'boolean' } },
  positionals: [0, 1],
  async run(args, terminal) {
    const instead = overrides({ MAPPINGS: args.positionals[0], DATABASE_URL: textOf(args, 'database') });
    const config = readConfig(terminal.environment, instead);
    const pack =
      args.values['locked'] === true ? loadPack(config.mappings, undefined) : await loadLive(config, terminal);
    for (const problem of pack.problems) terminal.out(formatProblem(problem));
    if (pack.registry !== undefined && args.values['parameters'] === true) printParameters(pack.registry, terminal);
    terminal.out(summary(pack.registry, pack.problems));
    return pack.registry === undefined ? 1 : 0;
  },
};

async function loadLive(config: Config, terminal: Terminal): Promise<LoadedPack> {
  const { database, pack } = await setUp(config, terminal.note);
  await database.close();
  return pack;
}

function summary(registry: Registry | undefined, problems: readonly Problem[]): string {
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  const found = `${counted(errors, 'error')}, ${counted(problems.length - errors, 'warning')}`;
  if (registry === undefined) return found;
  return `${registry.pack.name}: ${counted(registry.mappings.length, 'mapping')} of ${counted(registry.types.length, 'type')}; ${found}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function printParameters(registry: Registry, { out }: Terminal): void {
  const offers = makeOffers(registry);
  for (const type of registry.types) {
    const offered = offers.of(type);
    const names = (inverse: string) => offered.filter(one => one.inverse === inverse).map(one => one.parameter.code);
    const none = searchParametersOf(type).filter(({ code }) => offers.find(type, code) === undefined);
    out(type);
    out(`  offered   ${names('indexed').join(', ') || '-'}`);
    out(`  computed  ${names('computed').join(', ') || '-'}`);
    out(`  none      ${none.map(({ code }) => code).join(', ') || '-'}`);
  }
}
