/**
 * Builds the source of a generated function. In: statements, and values of the compiler that they name. Out: the
 * function. The source contains only literals of a mapping and names made here; values of a request are arguments.
 */

/** JSON or bare text that generated code produces; '' if absent. */
export interface Text {
  /** A variable or a literal, without side effects. */
  readonly code: string;
  /** True if it is never ''. */
  readonly neverEmpty: boolean;
  /** The text itself, if it is constant. */
  readonly literal?: string;
  /** True for bare text of characters that JSON does not escape. */
  readonly plain?: boolean;
}

export const ABSENT: Text = { code: "''", neverEmpty: false, literal: '' };

export function literal(text: string): Text {
  return { code: JSON.stringify(text), neverEmpty: text !== '', literal: text };
}

/** Returns the source of "one of these texts is present"; 'true' or 'false' if that is constant. */
export function anyPresent(texts: readonly Text[]): string {
  if (texts.some(text => text.neverEmpty)) return 'true';
  const open = texts.filter(text => text.literal === undefined);
  return open.length === 0 ? 'false' : open.map(text => `${text.code} !== ''`).join(' || ');
}

export class Source {
  readonly #lines: string[] = [];
  readonly #bound = new Map<unknown, string>();
  #names = 0;
  /** Variables of the current function, by key. */
  readonly #hoisted = new Map<string, string>();

  line(text: string): void {
    this.#lines.push(text);
  }

  /** Writes a block under a head such as `if (x)`. */
  block(head: string, body: () => void): void {
    this.line(`${head} {`);
    body();
    this.line('}');
  }

  /** Writes `body` under a condition; without a test if the condition is constant. */
  when(condition: string, body: () => void): void {
    if (condition === 'false') return;
    if (condition === 'true') body();
    else this.block(`if (${condition})`, body);
  }

  fresh(): string {
    this.#names++;
    return `v${this.#names}`;
  }

  /** Writes a new variable with an initial value and returns its name. */
  variable(code: string, keyword: 'let' | 'const' = 'let'): string {
    const name = this.fresh();
    this.line(`${keyword} ${name} = ${code};`);
    return name;
  }

  /** Returns a variable of the whole function, undefined at first; the same one for the same key. */
  hoisted(key: string): string {
    let name = this.#hoisted.get(key);
    if (name === undefined) {
      name = this.fresh();
      this.#hoisted.set(key, name);
    }
    return name;
  }

  /** Returns the name by which the generated code reaches a value. */
  bind(value: unknown): string {
    let name = this.#bound.get(value);
    if (name === undefined) {
      name = `b${this.#bound.size}`;
      this.#bound.set(value, name);
    }
    return name;
  }

  /** Makes one function per entry, from parameter list and body; they share the bound values. */
  functions<T>(heads: Readonly<Record<string, { readonly parameters: string; readonly body: () => void }>>): T {
    this.line('return {');
    for (const [name, { parameters, body }] of Object.entries(heads)) {
      this.block(`${name}(${parameters})`, () => {
        const at = this.#lines.length;
        body();
        if (this.#hoisted.size > 0) this.#lines.splice(at, 0, `let ${[...this.#hoisted.values()].join()};`);
        this.#hoisted.clear();
      });
      this.line(',');
    }
    this.line('};');
    const make = new Function(...this.#bound.values(), `'use strict';\n${this.#lines.join('\n')}`);
    return make(...this.#bound.keys());
  }
}

/**
 * Generates comma-separated members between brackets; merges literals, and decides on commas at compile time if
 * possible.
 */
export class Joined {
  readonly #source: Source;
  readonly #open: string;
  readonly #close: string;
  /** Whether a member was written before; `maybe`: the variable decides at run time. */
  #begun: 'yes' | 'no' | 'maybe';
  #pending: { readonly code: string; readonly literal?: string }[] = [];
  #variable: string | undefined;
  /** Number of open forks. Within a fork nothing may be pending, because it would be lost at the end of its block. */
  #forks = 0;

  /** `before`: text in front of the opening bracket; `head`: literals and code that replace the opening bracket. */
  constructor(source: Source, brackets: '{}' | '[]', before = '', head?: readonly Text[]) {
    this.#source = source;
    this.#open = before + brackets.charAt(0);
    this.#close = brackets.charAt(1);
    this.#begun = head ? 'yes' : 'no';
    for (const text of head ?? []) this.#push(text);
  }

  add(key: string, text: Text): void {
    if (text.literal === '') return;
    if (text.neverEmpty && this.#begun !== 'maybe' && this.#forks === 0) {
      this.#push(literal(this.#begun === 'no' ? this.#open + key : `,${key}`));
      this.#push(text);
      this.#begun = 'yes';
      return;
    }
    const variable = this.flush();
    const [first, next] = [JSON.stringify(this.#open + key), JSON.stringify(`,${key}`)];
    const before = { yes: next, no: first, maybe: `(${variable} === '' ? ${first} : ${next})` }[this.#begun];
    const statement = `${variable} += ${before} + ${text.code};`;
    this.#source.line(text.neverEmpty ? statement : `if (${text.code} !== '') ${statement}`);
    if (text.neverEmpty) this.#begun = 'yes';
    else if (this.#begun === 'no') this.#begun = 'maybe';
  }

  /**
   * Adds a text, which may be empty, with its own comma and key. Throws a TypeError if it could be the first member.
   */
  append(text: Text): void {
    if (this.#begun !== 'yes' || this.#forks > 0) throw new TypeError('nothing stands before a member with its comma');
    if (text.literal !== '') this.#push(text);
  }

  /** `body` writes statements that may run any number of times; members added there are written at once. */
  fork(body: () => void): void {
    this.flush();
    const before = this.#begun === 'yes' ? 'yes' : 'maybe';
    this.#begun = before;
    this.#forks++;
    body();
    this.#forks--;
    this.#begun = before;
  }

  /** Writes all members so far and returns their variable. */
  flush(): string {
    const code = this.#pending.map(part => part.code).join(' + ');
    this.#pending = [];
    if (this.#variable === undefined) this.#variable = this.#source.variable(code === '' ? "''" : code);
    else if (code !== '') this.#source.line(`${this.#variable} += ${code};`);
    return this.#variable;
  }

  /** Returns the whole text; '' if nothing was added. */
  finish(): Text {
    if (this.#begun === 'no') return ABSENT;
    if (this.#begun === 'maybe') {
      const variable = this.flush();
      this.#source.line(`if (${variable} !== '') ${variable} += ${JSON.stringify(this.#close)};`);
      return { code: variable, neverEmpty: false };
    }
    this.#push(literal(this.#close));
    const [only, ...more] = this.#pending;
    if (this.#variable === undefined && only?.literal !== undefined && more.length === 0) return literal(only.literal);
    return { code: this.flush(), neverEmpty: true };
  }

  #push(text: { readonly code: string; readonly literal?: string }): void {
    const last = this.#pending.at(-1);
    if (last?.literal !== undefined && text.literal !== undefined) {
      this.#pending[this.#pending.length - 1] = literal(last.literal + text.literal);
    } else this.#pending.push(text);
  }
}
