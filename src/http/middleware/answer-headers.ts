/**
 * Headers of an answer while the parts of src/http add theirs. In: names and values that are ours. Out: an object that
 * the framework takes for the platform's Headers, without their checks and sorting: Node checks all headers again when
 * it sends them.
 */
type Visit = (value: string, name: string, all: Headers) => void;

/** No cookies: those stand one beside the other, and are never joined. */
export class AnswerHeaders extends Headers {
  /** By name in small letters, in the order of their coming. */
  readonly #values = new Map<string, string>();

  constructor(values: Readonly<Record<string, string>>) {
    super();
    for (const name in values) this.set(name, values[name] ?? '');
  }

  override get(name: string): string | null {
    return this.#values.get(name.toLowerCase()) ?? null;
  }

  override has(name: string): boolean {
    return this.#values.has(name.toLowerCase());
  }

  override set(name: string, value: string): void {
    this.#values.set(name.toLowerCase(), value);
  }

  override append(name: string, value: string): void {
    const before = this.get(name);
    this.set(name, before === null ? value : `${before}, ${value}`);
  }

  override delete(name: string): void {
    this.#values.delete(name.toLowerCase());
  }

  override getSetCookie(): string[] {
    return [];
  }

  override forEach(visit: Visit): void {
    for (const [name, value] of this.#values) visit(value, name, this);
  }

  override entries(): ReturnType<Headers['entries']> {
    return this.#values.entries() as ReturnType<Headers['entries']>;
  }

  override keys(): ReturnType<Headers['keys']> {
    return this.#values.keys() as ReturnType<Headers['keys']>;
  }

  override values(): ReturnType<Headers['values']> {
    return this.#values.values() as ReturnType<Headers['values']>;
  }

  override [Symbol.iterator](): ReturnType<Headers['entries']> {
    return this.entries();
  }
}
