/**
 * Writes XHTML whose elements occur only where XHTML 1.0 Strict allows them, which FHIR validators check. In: elements
 * and text in the order of old HTML, wherever they occur there. Out: XHTML with the same text in the same order. A
 * block ends the enclosing paragraph. A row, cell or list item without its table or list gets one. Bold and other
 * formats continue in the next block.
 * https://hl7.org/fhir/R4/narrative.html#xhtml, https://www.w3.org/TR/xhtml1/dtds.html#a_dtd_XHTML-1.0-Strict
 */

const setOf = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** Inline elements. */
const INLINE = setOf('b strong i em small big sub sup tt code kbd samp var cite dfn abbr acronym q span');
/** Elements that hold text, but no blocks. */
const LINES = setOf('p h1 h2 h3 h4 h5 h6 pre address caption dt');
/** The child to insert if text occurs directly in an element that cannot hold text. */
const IMPLIED: Readonly<Record<string, string>> = {
  ...{ ul: 'li', ol: 'li', dl: 'dd', table: 'tr', tr: 'td' },
  blockquote: 'p',
};
/** Elements that may only occur in certain others. */
const WITHIN: Readonly<Record<string, readonly [first: string, ...others: string[]]>> = {
  ...{ li: ['ul', 'ol'], dt: ['dl'], dd: ['dl'] },
  ...{ tr: ['table'], td: ['tr'], th: ['tr'], caption: ['table'] },
};
/** The search for the enclosing element stops at these. */
const BOUNDS: Readonly<Record<string, readonly string[]>> = {
  ...{ li: ['td', 'th'], dt: ['td', 'th'], dd: ['td', 'th'] },
  ...{ td: ['table'], th: ['table'] },
};
/** Row groups must be in a certain order, which old HTML does not keep. Rows alone need no order. */
const OMITTED = setOf('thead tbody tfoot');
/** True for elements that are invalid when empty. They are written once they have a child. */
const isHolder = (name: string): boolean => name in IMPLIED && name !== 'blockquote';
/**
 * Limits of open formats, because each may be repeated in each block, and of open blocks. The text of further ones is
 * kept.
 */
const FORMATS_AT_MOST = 16;
const BLOCKS_AT_MOST = 100;

/** Handle of an opened element for `close`; undefined if nothing was opened. */
export type Opened = Block | 'format' | undefined;

interface Block {
  readonly name: string;
  readonly attributes: string;
  /** Inserted around content that lacked it. It ends when other content follows. */
  readonly added: boolean;
  /** The start tag has been written. */
  begun: boolean;
}

export class NarrativeWriter {
  #xhtml = '';
  readonly #blocks: Block[] = [];
  readonly #formats: string[] = [];
  /** Number of formats whose start tag has been written. */
  #shown = 0;

  /** Opens an element. `attributes`: as written, each after a blank. */
  open(name: string, attributes = ''): Opened {
    if (INLINE.has(name)) {
      if (this.#formats.length === FORMATS_AT_MOST) return undefined;
      this.#formats.push(name);
      return 'format';
    }
    if (name === 'br' || name === 'hr') {
      this.#empty(name);
      return undefined;
    }
    if (OMITTED.has(name) || this.#blocks.length >= BLOCKS_AT_MOST) return undefined;
    // A caption must be the first element of its table.
    if (name === 'caption' && this.#blocks.findLast(one => one.name === 'table')?.begun !== false) return undefined;
    this.#makeRoomFor(name);
    return this.#push(name, attributes, false);
  }

  /** Closes the innermost open element, or one that another has closed already. */
  close(opened: Opened): void {
    if (opened === 'format') {
      const name = this.#formats.pop();
      if (this.#shown <= this.#formats.length) return;
      this.#shown--;
      this.#xhtml += `</${name}>`;
    } else if (opened !== undefined) {
      const depth = this.#blocks.indexOf(opened);
      if (depth >= 0) this.#closeTo(depth);
    }
  }

  /** Writes `text`, in which markup is escaped. */
  text(text: string): void {
    if (/^[\s\u00a0]*$/.test(text)) {
      if (!this.#needsMore()) this.#xhtml += text;
      return;
    }
    this.#makeRoomFor('');
    this.#showFormats();
    this.#xhtml += text;
  }

  /** Closes everything that is open and returns the XHTML. */
  end(): string {
    this.#closeTo(0);
    return this.#xhtml;
  }

  #empty(name: 'br' | 'hr'): void {
    if (name === 'br') {
      if (this.#needsMore()) return;
      this.#showFormats();
    } else {
      if (isHolder(this.#blocks.at(-1)?.name ?? '')) return;
      this.#makeRoomFor(name);
      this.#hideFormats();
    }
    this.#xhtml += `<${name}/>`;
  }

  /** True if text would need another element around it. */
  #needsMore(): boolean {
    return (this.#blocks.at(-1)?.name ?? '') in IMPLIED;
  }

  /** Closes and opens blocks as needed for a block or, with '', for text. */
  #makeRoomFor(name: string): void {
    const outer = WITHIN[name];
    if (outer !== undefined) {
      this.#makeRoomWithin(name, outer);
      return;
    }
    for (let top = this.#blocks.at(-1); top !== undefined; top = this.#blocks.at(-1)) {
      if (LINES.has(top.name) && name !== '') this.#closeTo(this.#blocks.length - 1);
      else {
        const implied = IMPLIED[top.name];
        if (implied === undefined || (top.name === 'blockquote' && name !== '')) return;
        if (top.added) this.#closeTo(this.#blocks.length - 1);
        else this.#push(implied, '', false);
      }
    }
  }

  #makeRoomWithin(name: string, outer: readonly [string, ...string[]]): void {
    const bounds = BOUNDS[name] ?? [];
    for (let depth = this.#blocks.length; depth > 0; depth--) {
      const around = this.#blocks[depth - 1]?.name ?? '';
      if (outer.includes(around)) {
        this.#closeTo(depth);
        return;
      }
      if (bounds.includes(around)) break;
    }
    this.#makeRoomFor(outer[0]);
    this.#push(outer[0], '', true);
  }

  #push(name: string, attributes: string, added: boolean): Block {
    this.#hideFormats();
    const block: Block = { name, attributes, added, begun: false };
    this.#blocks.push(block);
    if (!isHolder(name)) this.#begin();
    return block;
  }

  /** Writes the start tags of all open blocks. */
  #begin(): void {
    for (const block of this.#blocks) {
      if (block.begun) continue;
      block.begun = true;
      this.#xhtml += `<${block.name}${block.attributes}>`;
    }
  }

  #closeTo(depth: number): void {
    this.#hideFormats();
    while (this.#blocks.length > depth) {
      const { name, begun } = this.#blocks.pop() as Block;
      if (begun) this.#xhtml += `${name === 'table' && this.#xhtml.endsWith('</caption>') ? NO_ROW : ''}</${name}>`;
    }
  }

  #showFormats(): void {
    while (this.#shown < this.#formats.length) this.#xhtml += `<${this.#formats[this.#shown++]}>`;
  }

  #hideFormats(): void {
    while (this.#shown > 0) this.#xhtml += `</${this.#formats[--this.#shown]}>`;
  }
}

/** A table must have a row. */
const NO_ROW = '<tr><td></td></tr>';
