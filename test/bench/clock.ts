/**
 * Time as the benches count it: CPU of the whole process, garbage collection included. In: things to run. Out: medians of
 * rounds; the rounds of all are interleaved, so that what else the machine does falls on each alike.
 */

export type Work = () => unknown;

export interface Rounds {
  readonly rounds: number;
  /** Milliseconds that a round of one contender takes at least. */
  readonly least: number;
}

const ROUNDS: Rounds = { rounds: 9, least: 300 };

/** Milliseconds that each runs before it is measured: more code is compiled for a second or two. */
export const WARM_UP = 3000;

/** Runs all contenders side by side, after a warm-up of each. Out: microseconds of CPU per run, the median of the rounds. */
export async function sideBySide<Name extends string>(
  contenders: Readonly<Record<Name, Work>>,
  { rounds, least }: Rounds = ROUNDS,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(contenders) as Name[];
  const times = new Map<Name, number[]>();
  for (const name of names) await round(contenders[name], WARM_UP);
  for (let i = 0; i < rounds; i++) {
    for (const name of names) times.set(name, [...(times.get(name) ?? []), await round(contenders[name], least)]);
  }
  const clocked = names.map(name => [name, median(times.get(name) ?? [])] as const);
  return Object.fromEntries(clocked) as Readonly<Record<Name, number>>;
}

/** Microseconds of CPU per run. */
async function round(work: Work, least: number): Promise<number> {
  const [cpu, end] = [process.cpuUsage(), performance.now() + least];
  let runs = 0;
  for (; runs === 0 || performance.now() < end; runs++) await work();
  const { user, system } = process.cpuUsage(cpu);
  return (user + system) / runs;
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
