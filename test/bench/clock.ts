/**
 * Measures CPU time of the whole process, garbage collection included. In: functions to run. Out: medians of rounds. In
 * each round the contenders take short turns, so that other load of the machine affects them equally.
 */

export type Work = () => unknown;

export interface Rounds {
  readonly rounds: number;
  /** Minimum milliseconds of a contender per round. */
  readonly least: number;
}

const ROUNDS: Rounds = { rounds: 9, least: 320 };

/** Milliseconds of a turn. The speed of a shared machine changes within a second. */
const TURN = 40;

/** Milliseconds of warm-up of each contender: V8 goes on compiling for a second or two. */
export const WARM_UP = 3000;

/**
 * Runs all contenders in alternation, after a warm-up of each. Out: microseconds of CPU per run, the median of the
 * rounds.
 */
export async function sideBySide<Name extends string>(
  contenders: Readonly<Record<Name, Work>>,
  { rounds, least }: Rounds = ROUNDS,
): Promise<Readonly<Record<Name, number>>> {
  const names = Object.keys(contenders) as Name[];
  const times = new Map<Name, number[]>(names.map(name => [name, []]));
  for (const name of names) await turn(contenders[name], WARM_UP);
  for (let i = 0; i < rounds; i++) {
    const spent = new Map<Name, Spent>();
    for (let run = 0; run < least; run += TURN) {
      for (const name of names) spent.set(name, together(spent.get(name), await turn(contenders[name], TURN)));
    }
    for (const [name, { cpu, runs }] of spent) times.get(name)?.push(cpu / runs);
  }
  const clocked = names.map(name => [name, median(times.get(name) ?? [])] as const);
  return Object.fromEntries(clocked) as Readonly<Record<Name, number>>;
}

interface Spent {
  /** Microseconds. */
  readonly cpu: number;
  readonly runs: number;
}

function together(before: Spent | undefined, { cpu, runs }: Spent): Spent {
  return { cpu: cpu + (before?.cpu ?? 0), runs: runs + (before?.runs ?? 0) };
}

async function turn(work: Work, least: number): Promise<Spent> {
  const [cpu, end] = [process.cpuUsage(), performance.now() + least];
  let runs = 0;
  for (; runs === 0 || performance.now() < end; runs++) await work();
  const { user, system } = process.cpuUsage(cpu);
  return { cpu: user + system, runs };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
