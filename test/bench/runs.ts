/**
 * What was measured several times, each time in processes of its own: how V8 compiles, and where the system puts a
 * process in memory, moves ratios by a tenth from one process to the next. In: microseconds of each contender in each
 * run. Out: texts for a table.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median } from './clock.ts';

/** Runs of each bench; the median of an odd number is one that was measured. */
export const RUNS = 5;

/** Microseconds of each contender, one object a run. */
export type Runs<Name extends string> = readonly Readonly<Record<Name, number>>[];

/**
 * Runs a program that sends one message again and again, each time anew, and says which run it is. Throws an Error
 * where one ends without.
 */
export async function inProcesses<T>(program: URL, ...args: readonly string[]): Promise<readonly T[]> {
  const messages: T[] = [];
  for (let run = 0; run < RUNS; run++) {
    console.error(`run ${run + 1} of ${RUNS}`);
    const child = fork(program, args);
    const [message] = await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => {
        throw new Error(`${program.pathname} says nothing`);
      }),
    ]);
    messages.push(message);
  }
  return messages;
}

/** `37.2 µs`: the median of the runs. */
export function shown<Name extends string>(runs: Runs<Name>, name: Name): string {
  const time = median(runs.map(run => run[name]));
  return `${time.toFixed(time < 100 ? 1 : 0)} µs`;
}

/** `0.74 (0.69 to 0.84)`: how fast `own` is in terms of `other`, the median of the runs and all of them. */
export function compared<Name extends string>(runs: Runs<Name>, own: Name, other: Name): string {
  const ratios = runs.map(run => run[other] / run[own]);
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
}
