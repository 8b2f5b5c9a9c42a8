/**
 * The interface of a command, and its access to the terminal.
 */
import type { ParseArgsOptionsConfig } from 'node:util';
import { type Config, type Environment, readConfig } from '../config/config.ts';

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

export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
  readonly positionals: readonly string[];
}

export interface Command {
  /** One line for the list of commands. */
  readonly summary: string;
  /** The whole text of `lintel <command> --help`. */
  readonly help: string;
  readonly options: ParseArgsOptionsConfig;
  /** Fewest and most arguments that are not options. */
  readonly positionals: readonly [fewest: number, most: number];
  /** Resolves to the exit code. */
  run(args: Arguments, terminal: Terminal): Promise<number>;
}

/** The text of an option, if it was given. */
export function textOf(args: Arguments, option: string): string | undefined {
  const value = args.values[option];
  return typeof value === 'string' ? value : undefined;
}

/** All texts of an option that may be given several times. */
export function listOf(args: Arguments, option: string): readonly string[] {
  const value = args.values[option];
  return Array.isArray(value) ? value : [];
}

/** Variables of the environment that options and arguments stand for. */
export function overrides(variables: Readonly<Record<string, string | undefined>>): Environment {
  return Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined));
}

/**
 * The configuration of a command on a pack and its database: `--database` and `--schema` come before the environment.
 */
export function configOf(args: Arguments, { environment }: Terminal, mappings: string | undefined): Config {
  const instead = overrides({
    MAPPINGS: mappings,
    DATABASE_URL: textOf(args, 'database'),
    SCHEMA: textOf(args, 'schema'),
  });
  return readConfig(environment, instead);
}
