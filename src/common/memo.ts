/**
 * Keeps results while their inputs are the same. In: a key, the inputs, and the work. Out: the result, new or kept.
 * The last few results per key are kept, as a text that is being edited changes back and forth.
 */

/** Answers of one key that are kept. */
const KEPT = 3;

interface Entry<T> {
  readonly inputs: readonly unknown[];
  readonly answer: T;
  round: number;
}

export class Memo<T> {
  readonly #entries = new Map<string, Entry<T>[]>();
  #round = 0;

  /** `inputs` are compared by identity. `holds`: whatever else the answer read is still the same. */
  get(key: string, inputs: readonly unknown[], work: () => T, holds: (answer: T) => boolean = () => true): T {
    const known = this.#entries.get(key) ?? [];
    const found = known.find(entry => isSame(entry.inputs, inputs) && holds(entry.answer));
    const entry = found ?? { inputs, answer: work(), round: this.#round };
    entry.round = this.#round;
    const others = known.filter(one => one !== entry).slice(0, KEPT - 1);
    this.#entries.set(key, [entry, ...others]);
    return entry.answer;
  }

  /** The answer that was given last. */
  last(key: string): T | undefined {
    return this.#entries.get(key)?.[0]?.answer;
  }

  /** Forgets the answer that was given last. */
  drop(key: string): void {
    const [, ...others] = this.#entries.get(key) ?? [];
    this.#entries.set(key, others);
  }

  /** Begins another round, and forgets the keys that nobody asked for in the last one. */
  turn(): void {
    for (const [key, [latest]] of this.#entries) if (latest?.round !== this.#round) this.#entries.delete(key);
    this.#round++;
  }
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, i) => Object.is(one, others[i]));
}
