/** Runs the command line as a function. Out: its output and its exit code. */
import { run } from '../../src/cli/main.ts';
import type { Environment } from '../../src/config/config.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly notes: string;
}

export async function lintel(environment: Environment, ...argv: string[]): Promise<Outcome> {
  const out: string[] = [];
  const notes: string[] = [];
  const code = await run(argv, { out: text => out.push(text), note: text => notes.push(text), environment });
  return { code, out: out.join('\n'), notes: notes.join('\n') };
}
