/**
 * Builds the source of a generated function. In: statements, and values of the compiler that they name. Out: the
 * function. Only literals of a mapping and names made here get into the source; values of a request are arguments.
 */

/** Some JSON or bare text that generated code produces; '' where there is none. */
export interface Text {
  /** A variable or a literal, free of effects. */
  readonly code: string;
  /** Never ''. */
  readonly certain: boolean;
  /** The text itself, where it is known now. */
  readonly literal?: string;
  /** Bare text of digits, letters and signs that JSON writes as they are. */
  readonly plain?: boolean;
}

export const ABSENT: Text = { code: "''", certain: false, literal: '' };

export function literal(text: string): Text {
  return { code: JSON.stringify(text), certain: text !== '', literal: text };
}

/** Source of "one of these texts is there"; 'true' or 'false' where that is known. */
export function anyPresent(texts: readonly Text[]): string {
  if (texts.some(text => text.certain)) return 'true';
  const open = texts.filter(text => text.literal === undefined);
  return open.length === 0 ? 'false' : open.map(text => `${text.code} !== ''`).join(' || ');
}

export class Source {
  readonly #lines: string[] = [];
  readonly #bound = new Map<unknown, string>();
  #names = 0;
  /** Variables of the function at hand, by what they hold. */
  readonly #hoisted = new Map<string, string>();

  line(text: string): void {
    this.#lines.push(text);
  }

  /** A block under a head such as `if (x)`; nothing for a condition known to be true. */
  block(head: string, body: () => void): void {
    this.line(`${head} {`);
    body();
    this.line('}');
  }

  /** `body` where `condition` holds, without a test where that is known. */
  when(condition: string, body: () => void): void {
    if (condition === 'false') return;
    if (condition === 'true') body();
    else this.block(`if (${condition})`, body);
  }

  fresh(): string {
    this.#names++;
    return `v${this.#names}`;
  }

  /** A new variable with an initial value. */
  variable(code: string, keyword: 'let' | 'const' = 'let'): string {
    const name = this.fresh();
    this.line(`${keyword} ${name} = ${code};`);
    return name;
  }

  /** A variable of the whole function, undefined at first; the same for the same key. */
  hoisted(key: string): string {
    let name = this.#hoisted.get(key);
    if (name === undefined) {
      name = this.fresh();
      this.#hoisted.set(key, name);
    }
    return name;
  }

  /** The name by which the generated code reaches a value. */
  bind(value: unknown): string {
    let name = this.#bound.get(value);
    if (name === undefined) {
      name = `b${this.#bound.size}`;
      this.#bound.set(value, name);
    }
    return name;
  }

  /** A function per entry: parameter list and body; they share the bound values. */
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

/** Comma-separated members between brackets, literals merged, commas decided now wherever that is possible. */
export class Joined {
  readonly #source: Source;
  readonly #open: string;
  readonly #close: string;
  /** Whether a member was written before: surely, surely not, or to be seen by the variable. */
  #begun: 'yes' | 'no' | 'maybe';
  #pending: { readonly code: string; readonly literal?: string }[] = [];
  #variable: string | undefined;
  /** How many forks are open; within one nothing may be pending, for its blocks end unseen. */
  #forks = 0;

  /**
   * `before`: stands before the opening bracket; `head`: literal and code that stand before the first member in place
   * of the opening bracket.
   */
  constructor(source: Source, brackets: '{}' | '[]', before = '', head?: readonly Text[]) {
    this.#source = source;
    this.#open = before + brackets.charAt(0);
    this.#close = brackets.charAt(1);
    this.#begun = head ? 'yes' : 'no';
    for (const text of head ?? []) this.#push(text);
  }

  add(key: string, text: Text): void {
    if (text.literal === '') return;
    if (text.certain && this.#begun !== 'maybe' && this.#forks === 0) {
      this.#push(literal(this.#begun === 'no' ? this.#open + key : `,${key}`));
      this.#push(text);
      this.#begun = 'yes';
      return;
    }
    const variable = this.flush();
    const [first, next] = [JSON.stringify(this.#open + key), JSON.stringify(`,${key}`)];
    const before = { yes: next, no: first, maybe: `(${variable} === '' ? ${first} : ${next})` }[this.#begun];
    const statement = `${variable} += ${before} + ${text.code};`;
    this.#source.line(text.certain ? statement : `if (${text.code} !== '') ${statement}`);
    if (text.certain) this.#begun = 'yes';
    else if (this.#begun === 'no') this.#begun = 'maybe';
  }

  /** A member, or none, that brings its comma and its key along. Throws a TypeError where it may be the first. */
  append(text: Text): void {
    if (this.#begun !== 'yes' || this.#forks > 0) throw new TypeError('nothing stands before a member with its comma');
    if (text.literal !== '') this.#push(text);
  }

  /** `body` writes statements that may run any number of times; members added there are written where they stand. */
  fork(body: () => void): void {
    this.flush();
    const before = this.#begun === 'yes' ? 'yes' : 'maybe';
    this.#begun = before;
    this.#forks++;
    body();
    this.#forks--;
    this.#begun = before;
  }

  /** Everything added so far is in the variable returned. */
  flush(): string {
    const code = this.#pending.map(part => part.code).join(' + ');
    this.#pending = [];
    if (this.#variable === undefined) this.#variable = this.#source.variable(code === '' ? "''" : code);
    else if (code !== '') this.#source.line(`${this.#variable} += ${code};`);
    return this.#variable;
  }

  /** The whole; '' if nothing was added. */
  finish(): Text {
    if (this.#begun === 'no') return ABSENT;
    if (this.#begun === 'maybe') {
      const variable = this.flush();
      this.#source.line(`if (${variable} !== '') ${variable} += ${JSON.stringify(this.#close)};`);
      return { code: variable, certain: false };
    }
    this.#push(literal(this.#close));
    const [only, ...more] = this.#pending;
    if (this.#variable === undefined && only?.literal !== undefined && more.length === 0) return literal(only.literal);
    return { code: this.flush(), certain: true };
  }

  #push(text: { readonly code: string; readonly literal?: string }): void {
    const last = this.#pending.at(-1);
    if (last?.literal !== undefined && text.literal !== undefined) {
      this.#pending[this.#pending.length - 1] = literal(last.literal + text.literal);
    } else this.#pending.push(text);
  }
}
