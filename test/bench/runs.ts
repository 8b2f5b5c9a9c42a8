/**
 * Repeats measurements in processes of their own: V8's compilation and the placement of a process in memory move ratios
 * by a tenth from one process to the next. In: microseconds of each contender in each run. Out: texts for a table.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { median } from './clock.ts';

/** Number of runs of each bench; odd, so that the median is a measured value. */
export const RUNS = 5;

/** Microseconds of each contender, one object per run. */
export type Runs<Name extends string> = readonly Readonly<Record<Name, number>>[];

/**
 * Runs a program several times, each in a new process that sends one message, and prints the number of the run. Throws
 * an Error if a process ends without a message.
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

/** `0.74 (0.69 to 0.84)`: the speed of `own` as a multiple of `other`: the median and the range of the runs. */
export function compared<Name extends string>(runs: Runs<Name>, own: Name, other: Name): string {
  const ratios = runs.map(run => run[other] / run[own]);
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`;
}
