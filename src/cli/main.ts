/** Runs the command line. In: arguments. Out: an exit code: 0 fine, 1 the answer is no, 2 wrong arguments. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import { codeOf, lacksRoom } from '../common/reason.ts';
import { printError } from '../start/print-error.ts';
import {
  Arguments,
  ArgumentsError,
  type Command,
  type Option,
  type Output,
  PRINTED,
  type Terminal,
  terminalOf,
} from './command.ts';

/** All commands. Each is loaded on demand, so that a server starts without loading the others. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  init: async () => (await import('./init.ts')).init,
  serve: async () => (await import('./serve.ts')).serve,
  health: async () => (await import('./health.ts')).health,
  check: async () => (await import('./check.ts')).check,
  test: async () => (await import('./test.ts')).test,
  coverage: async () => (await import('./coverage.ts')).coverage,
  workbench: async () => (await import('./workbench.ts')).workbench,
  explain: async () => (await import('./explain.ts')).explain,
  preview: async () => (await import('./preview.ts')).preview,
  profile: async () => (await import('./profile.ts')).profile,
  diff: async () => (await import('./diff.ts')).diff,
  indexes: async () => (await import('./indexes.ts')).indexes,
  words: async () => (await import('./words.ts')).words,
  codes: async () => (await import('./codes.ts')).codes,
  lock: async () => (await import('./lock.ts')).lock,
  user: async () => (await import('./user.ts')).user,
  client: async () => (await import('./client.ts')).client,
  keys: async () => (await import('./keys.ts')).keys,
  audit: async () => (await import('./audit.ts')).auditCommand,
  export: async () => (await import('./export.ts')).exportCommand,
};

async function helpText(): Promise<string> {
  const loaded = await Promise.all(
    Object.entries(COMMANDS).map(async ([name, load]) => `  ${name.padEnd(10)}${(await load()).summary}`),
  );
  return `Lintel: read-only FHIR R4 and C-CDA in front of an existing database.

Usage: lintel <command> [options]

Commands:
${loaded.join('\n')}

Help on a command, its options and exit codes: lintel <command> --help
lintel --version prints the version.
Configuration is by environment variables: lintel serve --help lists them.`;
}

/** Runs one command. Errors that a user can fix are printed without a stack trace. */
export async function run(argv: readonly string[], output: Output): Promise<number> {
  const terminal = terminalOf(output);
  const [name, ...rest] = argv;
  if (name === '--version' || name === '-v') {
    terminal.out((await import('../start/version.ts')).SOFTWARE_VERSION);
    return 0;
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(await helpText());
    return name === undefined ? 2 : 0;
  }
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (load === undefined) {
    terminal.note(`There is no command ${JSON.stringify(name)}; lintel --help lists them.`);
    return 2;
  }
  try {
    return await runCommand(name, await load(), rest, terminal);
  } catch (error) {
    if (error instanceof ArgumentsError) {
      for (const problem of error.problems) terminal.note(problem);
      terminal.note(helpHint(name));
      return 2;
    }
    printError(error, terminal.note);
    return 1;
  }
}

const helpHint = (name: string): string => `lintel ${name} --help explains it.`;

/** Line width of the help. */
const WIDTH = 120;

const HELP: Option = 'prints this';

/** Returns two columns as text; long texts wrap within their column. */
function columnsOf(rows: readonly (readonly [head: string, text: string])[]): string {
  const width = Math.max(...rows.map(([head]) => head.length));
  const line = new RegExp(`\\S.{0,${WIDTH - width - 5}}(?= |$)`, 'g');
  const wrapped = rows.flatMap(([head, text]) => {
    const [first, ...more] = text.match(line) ?? [];
    return [`  ${head.padEnd(width)}  ${first}`, ...more.map(rest => `${' '.repeat(width + 4)}${rest}`)];
  });
  return wrapped.join('\n');
}

function optionRow([name, option]: readonly [string, Option]): readonly [head: string, text: string] {
  return typeof option === 'string' ? [`--${name}`, option] : [`--${name} ${option[0]}`, option[1]];
}

function fullHelp({ help, options, exits: [fine, no] }: Command): string {
  return `${help}

Options:
${columnsOf(Object.entries({ ...options, help: HELP }).map(optionRow))}

Exit codes:
${columnsOf([
  ['0', fine],
  ['1', `${no}; or the configuration, a file or the database cannot be used`],
  ['2', 'the arguments are wrong'],
])}`;
}

/** Rewrites `--html` without a FILE as `--html=-`. */
function withPrinted(args: readonly string[], files: readonly string[]): string[] {
  return args.map((one, i) => {
    const isBare = files.some(file => one === `--${file}`) && /^-./.test(args[i + 1] ?? '--');
    return isBare ? `${one}=${PRINTED}` : one;
  });
}

function parsed(options: Command['options']): ParseArgsOptionsConfig {
  const forms = Object.entries(options).map(([name, option]) => {
    const isSwitch = typeof option === 'string';
    return [name, { type: isSwitch ? 'boolean' : 'string', multiple: !isSwitch && option[2] === 'several' }] as const;
  });
  return Object.fromEntries(forms);
}

async function runCommand(name: string, command: Command, rest: string[], terminal: Terminal): Promise<number> {
  let args: Arguments;
  try {
    const { values, positionals } = parseArgs({
      args: withPrinted(rest, command.files ?? []),
      options: { ...parsed(command.options), help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    args = new Arguments(values as Arguments['values'], positionals);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    terminal.note(`${error.message.replace(/\. To specify.*$/s, '.')}\n${helpHint(name)}`);
    return 2;
  }
  if (args.is('help')) {
    terminal.out(fullHelp(command));
    return 0;
  }
  const [fewest, most] = command.positionals;
  if (args.positionals.length < fewest || args.positionals.length > most) {
    const expected = `${fewest === most ? most : `${fewest} to ${most}`} argument${most === 1 ? '' : 's'}`;
    terminal.note(`lintel ${name} takes ${expected} and got ${args.positionals.length}; ${helpHint(name)}`);
    return 2;
  }
  return command.run(args, terminal);
}

/** Runs the given arguments (default: those of the process) and sets the exit code. */
export async function runProcess(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  // If the reader stops early, such as `head`, ignore EPIPE. A server does not need its output to be read.
  const isServer = argv[0] === 'serve';
  const isBorne = (error: Error): boolean => codeOf(error) === 'EPIPE' || (isServer && lacksRoom(error));
  for (const stream of isServer ? [process.stdout, process.stderr] : [process.stdout])
    stream.on('error', error => {
      if (!isBorne(error)) throw error;
    });
  process.exitCode = await run(argv, {
    out: text => process.stdout.write(`${text}\n`),
    note: text => process.stderr.write(`${text}\n`),
    environment: undefined,
  });
}
