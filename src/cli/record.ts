/** `lintel test --record`: makes a test from a row, with invented values, and shows or writes it. */
import { forTests } from '../check/pack-tests.ts';
import { readPackFiles } from '../mapping/load/read/files.ts';
import { facadeOf } from '../start/setup.ts';
import { PreviewError } from '../workbench/preview.ts';
import { DRAWN, recordRow } from '../workbench/record/record.ts';
import { PackFileError, readFileOf, saveFile } from '../workbench/server/pack-folder.ts';
import { withTest } from '../workbench/wire/append-test.ts';
import {
  type Arguments,
  ArgumentsError,
  configOf,
  printJson,
  refuse,
  type Terminal,
  unknownMapping,
} from './command.ts';
import { type LoadedSetup, withPack } from './with-pack.ts';

/** Resolves to the exit code. */
export async function recordTest(name: string, args: Arguments, terminal: Terminal): Promise<number> {
  const { values, positionals: key } = args;
  const unfit = ['locked', 'sarif', 'junit'].find(one => values[one] !== undefined);
  if (unfit !== undefined || key.length === 0) {
    const why = unfit === undefined ? 'needs the KEY of a row' : `does not go with --${unfit}`;
    throw new ArgumentsError([`--record ${why}`]);
  }
  const config = configOf(args, terminal);
  const recordIn = async ({ registry, database, catalog, changed }: LoadedSetup): Promise<number> => {
    const mapping = registry.mappings.find(one => one.name === name);
    if (mapping === undefined) throw unknownMapping(registry, name);
    const facade = facadeOf(registry, database, changed, config);
    const { signal } = new AbortController();
    const ground = {
      registry: forTests(readPackFiles(config.mappings, config.schema), catalog) ?? registry,
      catalog,
    };
    const made = await recordRow(mapping, key, { registry, database, facade, now: Date.now(), signal }, ground, DRAWN);
    const isWritten = args.is('write');
    if (isWritten) {
      const before = readFileOf(config.mappings, made.file);
      saveFile(config.mappings, made.file, withTest(before?.text, made.test), before?.hash);
    }
    if (args.json) printJson({ ...made, written: isWritten }, terminal);
    else terminal.out(made.test.trimEnd());
    for (const { table, column, why } of made.leftOut) terminal.note(`Left out: ${table}.${column}: ${why}`);
    if (made.notMade.length > 0) terminal.note(`Not made by the invented rows: ${made.notMade.join(', ')}`);
    terminal.note(isWritten ? `${made.file} has the test` : `Not written; --write appends it to ${made.file}`);
    return 0;
  };
  try {
    return (await withPack(config, terminal, recordIn)) ?? 1;
  } catch (error) {
    if (!(error instanceof PreviewError) && !(error instanceof PackFileError)) throw error;
    return refuse([error.message], terminal);
  }
}
