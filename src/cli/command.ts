/** Defines the interface of a command and its access to the terminal. */
import { statSync, writeFileSync } from 'node:fs';
import { escapeLines } from '../common/markup.ts';
import { type Config, type Environment, readConfig } from '../config/config.ts';
import { nearest } from '../mapping/load/read/spelling.ts';
import type { Registry } from '../mapping/model.ts';
import { ADDRESS_FORMS } from '../sql/engines.ts';

/** The output of a process. */
export interface Output {
  /** Writes one or more lines of the result. */
  readonly out: (text: string) => void;
  /** Writes messages that are not part of the result: progress and problems. */
  readonly note: (text: string) => void;
  /** Undefined: the environment of the process. */
  readonly environment: Environment | undefined;
  /** Asks for a line without showing it. Undefined: uses the process's own terminal. */
  readonly secret?: (prompt: string) => Promise<string>;
}

/** An output whose `out` and `note` escape what a terminal would act on, because values of rows may contain it. */
export interface Terminal extends Output {
  /** Writes a line for a program as it is; escaped as well if a person sees it on a terminal. */
  readonly exactly: (text: string) => void;
}

export function terminalOf(output: Output): Terminal {
  const out = (text: string): void => output.out(escapeLines(text));
  const note = (text: string): void => output.note(escapeLines(text));
  return { ...output, out, note, exactly: process.stdout.isTTY ? out : output.out };
}

/** The parsed arguments of a command. */
export class Arguments {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];

  constructor(values: Arguments['values'], positionals: readonly string[]) {
    this.values = values;
    this.positionals = positionals;
  }

  /** True if a switch was given. */
  is(option: string): boolean {
    return this.values[option] === true;
  }

  /** True if `--json` was given. */
  get json(): boolean {
    return this.is('json');
  }

  /** Returns the text of an option, if it was given. */
  text(option: string): string | undefined {
    const value = this.values[option];
    return typeof value === 'string' ? value : undefined;
  }

  /** Returns all texts of an option that may be repeated. */
  list(option: string): readonly string[] {
    const value = this.values[option];
    return Array.isArray(value) ? value : [];
  }

  /** Returns the whole number of an option. Throws ArgumentsError for anything else. */
  wholeNumber(option: string, [least, most]: readonly [number, number]): number | undefined {
    const text = this.text(option);
    if (text === undefined) return undefined;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new ArgumentsError([`--${option} takes a whole number from ${least} to ${most}`]);
  }
}

/**
 * Description of an option; for one that takes a value, first the placeholder of the value (`FILE`). `several`: it may
 * be repeated. The parser and the help both read this.
 */
export type Option = string | readonly [value: string, does: string, several?: 'several'];

type Options = Readonly<Record<string, Option>>;

/** Options that many commands share. */
export const DATABASE = { database: ['URL', ADDRESS_FORMS] } as const satisfies Options;
export const SCHEMA = {
  schema: ['VERSION', "version of the database's schema, instead of the pack's"],
} as const satisfies Options;
export const MAPPINGS = { mappings: ['FOLDER', 'folder of the pack'] } as const satisfies Options;

export interface Command {
  /** Its line in the list of commands. */
  readonly summary: string;
  /** The beginning of `lintel <command> --help`; options and exit codes follow. */
  readonly help: string;
  /** The meaning of exit codes 0 and 1. Exit code 2 always means wrong arguments. */
  readonly exits: readonly [fine: string, no: string];
  readonly options: Options;
  /**
   * Options that take a FILE. Without a value they print to stdout in place of the command's text, as `--json` does.
   */
  readonly files?: readonly string[];
  /** Minimum and maximum number of positional arguments. */
  readonly positionals: readonly [fewest: number, most: number];
  /** Resolves to the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>;
}

/** Wrong arguments: `main` prints what was expected and exits with 2. */
export class ArgumentsError extends Error {
  override readonly name = 'ArgumentsError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super('The arguments are wrong');
    this.problems = problems;
  }
}

/** Prints one JSON object, for `--json`. */
export function printJson(shown: object, { out }: Terminal): void {
  out(JSON.stringify(shown, undefined, 2));
}

/** Value of a FILE option that means the terminal. */
export const PRINTED = '-';

/**
 * True if the command prints its text, because neither an option of `files` nor `--json` prints instead. Throws
 * ArgumentsError if two of them would print, or if a FILE is a folder.
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

/** Appends the most similar known name to a message, if there is one. */
export function withNearest(message: string, written: string, known: readonly string[]): string {
  const near = nearest(written, known);
  return near === undefined ? message : `${message}; did you mean ${near}?`;
}

/** Longer lists of names are not printed. */
const LISTED = 12;

/** Makes the error for a mapping name that the pack does not have. */
export function unknownMapping({ pack, mappings }: Registry, name: string): ArgumentsError {
  const names = mappings.map(one => one.name);
  const expected =
    names.length > LISTED
      ? `one of its ${names.length}, which lintel check --rows lists`
      : `one of ${names.join(', ')}`;
  const problem = `MAPPING: the pack ${pack.name} has no such mapping; expected ${expected}; found ${name}`;
  return new ArgumentsError([withNearest(problem, name, names)]);
}

/** Reports why a command cannot do its work. Returns the exit code. */
export function refuse(lines: readonly string[], { note }: Terminal): number {
  for (const line of lines) note(line);
  return 1;
}

/** Options that override environment variables. */
const VARIABLES: Readonly<Record<string, string>> = {
  accounts: 'ACCOUNTS',
  database: 'DATABASE_URL',
  degraded: 'DEGRADED',
  mappings: 'MAPPINGS',
  port: 'PORT',
  schema: 'SCHEMA',
};

/**
 * Reads the configuration of a command; its options override the environment. `pack`: the argument that names the
 * folder of the pack, if there is one.
 */
export function configOf(args: Arguments, { environment }: Terminal, pack?: string): Config {
  const given = Object.entries({ ...args.values, ...(pack !== undefined && { mappings: pack }) });
  const instead = given.flatMap(([option, value]) => {
    const variable = VARIABLES[option];
    return variable === undefined || value === undefined ? [] : [[variable, String(value)] as const];
  });
  return readConfig(environment, Object.fromEntries(instead));
}
