/**
 * The command line. In: arguments. Out: an exit code: 0 fine, 1 the answer is no, 2 not understood.
 */
import { parseArgs } from 'node:util';
import { tellError } from '../main.ts';
import { check } from './check.ts';
import type { Command, Terminal } from './command.ts';
import { explain } from './explain.ts';
import { exportCommand } from './export.ts';
import { lock } from './lock.ts';
import { serve } from './serve.ts';
import { user } from './user.ts';

const COMMANDS: Readonly<Record<string, Command>> = { serve, check, explain, lock, user, export: exportCommand };

const HELP = `Lintel: read-only FHIR R4 and C-CDA in front of the database that is already there.

Usage: lintel <command> [options]

Commands:
${Object.entries(COMMANDS)
  .map(([name, { summary }]) => `  ${name.padEnd(9)}${summary}`)
  .join('\n')}

Each command explains itself: lintel <command> --help
Configuration is by environment variables: lintel serve --help lists them.`;

/** Runs one command. Everything that a person can mend is told without a stack. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    terminal.out(HELP);
    return name === undefined ? 2 : 0;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (command === undefined) {
    terminal.note(`There is no command ${JSON.stringify(name)}; lintel --help lists them.`);
    return 2;
  }
  try {
    return await runCommand(name, command, rest, terminal);
  } catch (error) {
    tellError(error, terminal);
    return 1;
  }
}

async function runCommand(name: string, command: Command, rest: string[], terminal: Terminal): Promise<number> {
  let args: { values: Record<string, unknown>; positionals: string[] };
  try {
    args = parseArgs({
      args: rest,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    terminal.note(`${error.message.replace(/\. To specify.*$/s, '.')}\nlintel ${name} --help explains it.`);
    return 2;
  }
  if (args.values['help'] === true) {
    terminal.out(command.help);
    return 0;
  }
  const [fewest, most] = command.positionals;
  if (args.positionals.length < fewest || args.positionals.length > most) {
    const expected = fewest === most ? String(most) : `${fewest} to ${most}`;
    terminal.note(
      `lintel ${name} takes ${expected} arguments and got ${args.positionals.length}; lintel ${name} --help explains it.`,
    );
    return 2;
  }
  return command.run(
    { values: args.values as Record<string, string | boolean | undefined>, positionals: args.positionals },
    terminal,
  );
}

/** Runs the process's own arguments, or others, and sets its exit code. */
export async function runProcess(argv: readonly string[] = process.argv.slice(2)): Promise<void> {
  process.exitCode = await run(argv, {
    out: text => process.stdout.write(`${text}\n`),
    note: text => process.stderr.write(`${text}\n`),
    environment: undefined,
  });
}
