/**
 * Samples the cases of a long suite, for an engine on which each case is slow. In: cases in order. Out: the same ones
 * in every run: a few of each group, chosen by a seed.
 */
import { Random } from '../../fixtures/random.ts';
import type { Database } from '../../src/sql/database.ts';

export interface Sample {
  /** One in this many cases of a group, and at least one. */
  readonly oneIn: number;
  readonly seed: number;
}

export const ALL: Sample = { oneIn: 1, seed: 0 };
/** Babelfish parses each statement anew, which takes longer than its execution: 0.1 s and more. */
const ON_BABELFISH: Sample = { oneIn: Number(process.env['SAMPLE'] ?? 12), seed: Number(process.env['SEED'] ?? 1) };

const samples = new WeakMap<Database, Sample>();

/** From now on, suites run a sample of their cases on this database. */
export function askSampleOf(database: Database): void {
  samples.set(database, ON_BABELFISH);
}

/** The sample for a database; prints a message if it does not have all cases. */
export function sampleFor(database: Database, suite: string): Sample {
  const sample = samples.get(database) ?? ALL;
  if (sample.oneIn > 1)
    console.warn(`${suite}: Babelfish is asked one case in ${sample.oneIn} (SAMPLE), by seed ${sample.seed} (SEED).`);
  return sample;
}

/** Samples each group separately: the cases of a parameter, the parameters of a type. */
export function drawer({ oneIn, seed }: Sample): <T>(group: readonly T[]) => readonly T[] {
  const random = new Random(seed);
  return group => {
    if (oneIn === 1) return group;
    const left = [...group.keys()];
    const drawn = Array.from(
      { length: Math.ceil(group.length / oneIn) },
      () => left.splice(random.int(0, left.length - 1), 1)[0] ?? 0,
    );
    return drawn.toSorted((a, b) => a - b).map(i => group[i] as (typeof group)[number]);
  };
}
