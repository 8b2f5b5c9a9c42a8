/**
 * The interface of a command, and its access to the terminal.
 */
import { statSync, writeFileSync } from 'node:fs';
import { type Config, type Environment, readConfig } from '../config/config.ts';
import { nearest } from '../mapping/load/read/spelling.ts';
import type { Registry } from '../mapping/model.ts';
import { ADDRESS_FORMS } from '../sql/engines.ts';

export interface Terminal {
  /** Writes one line, or several, of the result. */
  readonly out: (text: string) => void;
  /** Writes what goes beside the result: progress and complaints. */
  readonly note: (text: string) => void;
  /** Undefined: that of the process. */
  readonly environment: Environment | undefined;
  /** Asks for a line without showing it. Undefined: on the process's own terminal. */
  readonly secret?: (prompt: string) => Promise<string>;
}

/** What stands behind the command. */
export class Arguments {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];

  constructor(values: Arguments['values'], positionals: readonly string[]) {
    this.values = values;
    this.positionals = positionals;
  }

  /** Whether a switch was given. */
  is(option: string): boolean {
    return this.values[option] === true;
  }

  /** Whether `--json` was given. */
  get json(): boolean {
    return this.is('json');
  }

  /** The text of an option, if it was given. */
  text(option: string): string | undefined {
    const value = this.values[option];
    return typeof value === 'string' ? value : undefined;
  }

  /** All texts of an option that may be given several times. */
  list(option: string): readonly string[] {
    const value = this.values[option];
    return Array.isArray(value) ? value : [];
  }

  /** The whole number of an option. Throws ArgumentsError for anything else. */
  wholeNumber(option: string, [least, most]: readonly [number, number]): number | undefined {
    const text = this.text(option);
    if (text === undefined) return undefined;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new ArgumentsError([`--${option} takes a whole number from ${least} to ${most}`]);
  }
}

/**
 * What an option does; before that what follows it (`FILE`), where it is no switch. `several`: it may be given more
 * than once. The parser and the help read nothing else.
 */
export type Option = string | readonly [value: string, does: string, several?: 'several'];

type Options = Readonly<Record<string, Option>>;

/** Options of many commands. */
export const DATABASE = { database: ['URL', ADDRESS_FORMS] } as const satisfies Options;
export const SCHEMA = {
  schema: ['VERSION', "version of the database's schema, instead of the pack's"],
} as const satisfies Options;
export const MAPPINGS = { mappings: ['FOLDER', 'folder of the pack'] } as const satisfies Options;

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The beginning of `lintel <command> --help`; the options and the exit codes follow. */
  readonly help: string;
  /** What the exit codes 0 and 1 say. 2 says the same of every command: the arguments are wrong. */
  readonly exits: readonly [fine: string, no: string];
  readonly options: Options;
  /** Options that take a FILE; without one behind them they print instead of the command's text, as `--json` does. */
  readonly files?: readonly string[];
  /** Fewest and most arguments that are not options. */
  readonly positionals: readonly [fewest: number, most: number];
  /** Resolves to the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>;
}

/** The arguments are wrong: `main` tells what was expected, and the exit code is 2. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super('The arguments are wrong');
    this.problems = problems;
  }
}

/** Prints one JSON object, as `--json` asks for. */
export function printJson(shown: object, { out }: Terminal): void {
  out(JSON.stringify(shown, undefined, 2));
}

/** What stands for the terminal in the place of a FILE. */
export const PRINTED = '-';

/**
 * Whether the command prints its text, and no option of `files`, nor `--json`, prints in its place. Throws
 * ArgumentsError where two of them would, or where a FILE is a folder.
 */
export function printsText(args: Arguments, files: readonly string[]): boolean {
  const printed = [...(args.json ? ['json'] : []), ...files.filter(one => args.text(one) === PRINTED)];
  const folders = files.filter(one => statSync(args.text(one) ?? '', { throwIfNoEntry: false })?.isDirectory());
  const problems = [
    ...folders.map(one => `--${one} takes a FILE, and ${args.text(one)} is a folder; write PACK before --${one}`),
    ...(printed.length > 1 ? [`${printed.map(one => `--${one}`).join(' and ')} both print; give one a FILE`] : []),
  ];
  if (problems.length > 0) throw new ArgumentsError(problems);
  return printed.length === 0;
}

/** Writes a text to the FILE of an option, or prints it. */
export function writeFileOf(file: string, text: string, { out }: Terminal): void {
  if (file === PRINTED) out(text.trimEnd());
  else writeFileSync(file, text);
}

/** The message with the known name that is nearest to the one that was written, if one is near. */
export function withNearest(message: string, written: string, known: readonly string[]): string {
  const near = nearest(written, known);
  return near === undefined ? message : `${message}; did you mean ${near}?`;
}

/** More names than these are no help. */
const LISTED = 12;

/** No mapping of the pack has this name. */
export function unknownMapping({ pack, mappings }: Registry, name: string): ArgumentsError {
  const names = mappings.map(one => one.name);
  const expected =
    names.length > LISTED
      ? `one of its ${names.length}, which lintel check --rows lists`
      : `one of ${names.join(', ')}`;
  const problem = `MAPPING: the pack ${pack.name} has no such mapping; expected ${expected}; found ${name}`;
  return new ArgumentsError([withNearest(problem, name, names)]);
}

/** Tells why a command does not do what it is asked for. Returns the exit code. */
export function refuse(lines: readonly string[], { note }: Terminal): number {
  for (const line of lines) note(line);
  return 1;
}

/** Options that stand for variables of the environment. */
const VARIABLES: Readonly<Record<string, string>> = {
  accounts: 'ACCOUNTS',
  database: 'DATABASE_URL',
  degraded: 'DEGRADED',
  mappings: 'MAPPINGS',
  port: 'PORT',
  schema: 'SCHEMA',
};

/**
 * The configuration of a command: its options come before the environment. `pack`: the argument that names the folder
 * of the pack, if one does.
 */
export function configOf(args: Arguments, { environment }: Terminal, pack?: string): Config {
  const given = Object.entries({ ...args.values, ...(pack !== undefined && { mappings: pack }) });
  const instead = given.flatMap(([option, value]) => {
    const variable = VARIABLES[option];
    return variable === undefined || value === undefined ? [] : [[variable, String(value)] as const];
  });
  return readConfig(environment, Object.fromEntries(instead));
}
