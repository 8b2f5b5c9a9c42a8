/**
 * Caches results while their inputs are the same. In: a key, the inputs, and the work. Out: the result, new or cached.
 * The last few results per key are kept, because an edited text often returns to an earlier version.
 */

/** Number of results kept per key. */
const KEPT = 3;

interface Entry<T> {
  readonly inputs: readonly unknown[];
  readonly answer: T;
  round: number;
}

export class Memo<T> {
  readonly #entries = new Map<string, Entry<T>[]>();
  #round = 0;

  /**
   * Returns the cached or a new result. `inputs` are compared by identity. `holds`: returns true if everything else
   * that the result depends on is unchanged.
   */
  get(key: string, inputs: readonly unknown[], work: () => T, holds: (answer: T) => boolean = () => true): T {
    const known = this.#entries.get(key) ?? [];
    const found = known.find(entry => isSame(entry.inputs, inputs) && holds(entry.answer));
    const entry = found ?? { inputs, answer: work(), round: this.#round };
    entry.round = this.#round;
    const others = known.filter(one => one !== entry).slice(0, KEPT - 1);
    this.#entries.set(key, [entry, ...others]);
    return entry.answer;
  }

  /** Returns the latest result of a key. */
  last(key: string): T | undefined {
    return this.#entries.get(key)?.[0]?.answer;
  }

  /** Drops the latest result of a key. */
  drop(key: string): void {
    const [, ...others] = this.#entries.get(key) ?? [];
    this.#entries.set(key, others);
  }

  /** Starts a new round; drops the keys that were not requested in the last one. */
  turn(): void {
    for (const [key, [latest]] of this.#entries) if (latest?.round !== this.#round) this.#entries.delete(key);
    this.#round++;
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, i) => Object.is(one, others[i]));
}
