/**
 * Remembers the XML of short values that recur, such as codes. In: the JSON of a value. Out: its XML. Bounded, over
 * all memos together too; a memo that seldom hits switches itself off.
 */
import { flat } from './memo.ts';

const ENTRIES_AT_MOST = 200;
const LONGEST = 600;
/** Times that a kept value has to come again on average. */
const WORTH = 2;
/** Characters of JSON and XML in all memos; beyond, each begins anew when it is used next. */
const CHARACTERS_AT_MOST = 10_000_000;

let characters = 0;
let beginning = 0;

export class XmlMemo {
  #known: Map<string, string> | undefined = new Map();
  #hits = 0;
  #begun = beginning;

  /** It has given up. */
  get isIdle(): boolean {
    return this.#known === undefined;
  }

  /** `make` is called where the XML is not known. */
  of(json: string, make: (json: string) => string): string {
    const known = this.#known;
    if (known === undefined || json.length > LONGEST) return make(json);
    if (this.#begun !== beginning) this.#clear(known);
    const found = known.get(json);
    if (found !== undefined) {
      this.#hits++;
      return found;
    }
    const made = flat(make(json));
    if (known.size < ENTRIES_AT_MOST) keep(known, json, made);
    else if (this.#hits < WORTH * ENTRIES_AT_MOST) this.#known = undefined;
    else this.#clear(known);
    return made;
  }

  #clear(known: Map<string, string>): void {
    known.clear();
    this.#hits = 0;
    this.#begun = beginning;
  }
}

function keep(known: Map<string, string>, json: string, xml: string): void {
  known.set(apart(json), xml);
  characters += json.length + xml.length;
  if (characters <= CHARACTERS_AT_MOST) return;
  characters = 0;
  beginning++;
}

/** The same text by itself: a part of a text holds the whole of it, which may be a page of somebody's record. */
function apart(json: string): string {
  return flat(`${json} `).slice(0, -1);
}
