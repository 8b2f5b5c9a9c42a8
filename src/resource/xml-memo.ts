/**
 * XML of short values that come again and again, such as codes. In: the JSON of a value. Out: its XML, made once while it is kept.
 * Bounded; a memo whose values seldom come again gives up.
 */

const ENTRIES_AT_MOST = 200;
const LONGEST = 600;
/** Times that a kept value has to come again on average. */
const WORTH = 2;

export class XmlMemo {
  #known: Map<string, string> | undefined = new Map();
  #hits = 0;

  /** It has given up. */
  get isIdle(): boolean {
    return this.#known === undefined;
  }

  /** `make` is called where the XML is not known. */
  of(json: string, make: (json: string) => string): string {
    const known = this.#known;
    if (known === undefined || json.length > LONGEST) return make(json);
    const found = known.get(json);
    if (found !== undefined) {
      this.#hits++;
      return found;
    }
    const made = make(json);
    if (known.size < ENTRIES_AT_MOST) known.set(json, made);
    else if (this.#hits < WORTH * ENTRIES_AT_MOST) this.#known = undefined;
    else {
      known.clear();
      this.#hits = 0;
    }
    return made;
  }
}
