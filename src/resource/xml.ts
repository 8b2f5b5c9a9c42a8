/**
 * Converts a resource from FHIR JSON to FHIR XML. In: JSON text. Out: an XML document with the elements in the order of
 * the definitions and the digits of decimals kept.
 * This server writes JSON without blanks and with ordered members: such text is read member by member, and the XML of
 * short values is cached. Any other text is parsed as a whole.
 * https://hl7.org/fhir/R4/xml.html, https://hl7.org/fhir/R4/json.html
 */
import { isResourceType } from '../r4/definitions.ts';
import { attributeXml, element, elementXml, membersOf, parseJson, resourceXml } from './xml-element.ts';
import { type Meaning, type Tags, type TypeMeaning, typeMeaning } from './xml-meaning.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>';
const NAMESPACE = ' xmlns="http://hl7.org/fhir"';
const BEGINNING = '{"resourceType":"';

/** Returns the document. Throws a SyntaxError on invalid JSON and a RangeError, naming the element, on invalid FHIR. */
export function toXml(json: string): string {
  const reader = new Reader(json);
  const xml = reader.resource(0, NAMESPACE);
  return DECLARATION + (reader.end === json.length ? xml : wholeResource(json, NAMESPACE));
}

function wholeResource(json: string, namespace: string): string {
  return resourceXml(membersOf(parseJson(json), 'the document'), namespace);
}

/** Reads JSON text. `end`: the position after the value read last; -1 if the text is not in this server's form. */
class Reader {
  readonly #text: string;
  end = -1;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads a resource. If its members are out of order or unknown, parses it as a whole. */
  resource(at: number, namespace: string): string {
    const xml = this.#ownResource(at, namespace);
    if (xml !== undefined) return xml;
    this.end = endOfValue(this.#text, at);
    return this.end < 0 ? '' : wholeResource(this.#text.slice(at, this.end), namespace);
  }

  #ownResource(at: number, namespace: string): string | undefined {
    const text = this.#text;
    if (!text.startsWith(BEGINNING, at)) return undefined;
    const quote = text.indexOf('"', at + BEGINNING.length);
    const type = text.slice(at + BEGINNING.length, quote);
    if (!isResourceType(type)) return undefined;
    const of = typeMeaning(type);
    return this.#element(of.tags, namespace, quote + 1, of);
  }

  /** Reads an element with the members of an object; `at`: the brace, or the comma, before the first of them. */
  #element(tags: Tags, more: string, at: number, { meanings }: TypeMeaning): string | undefined {
    const text = this.#text;
    let [attributes, content, last, place] = ['', '', -1, at];
    while (text.charCodeAt(place) !== RIGHT_BRACE) {
      const quote = text.indexOf('"', place + 2);
      const meaning = meanings.get(text.slice(place + 2, quote));
      if (meaning === undefined || meaning.order <= last || !this.#isMember(place, at, quote)) return undefined;
      const xml = this.#value(meaning, quote + 2);
      if (xml === undefined) return undefined;
      if (meaning.form === 'attribute') attributes += xml;
      else content += xml;
      last = meaning.order;
      place = this.end;
    }
    this.end = place + 1;
    return element(tags, attributes + more, content);
  }

  /** True at `,"name":`, or at `{"name":` for the first member. */
  #isMember(at: number, first: number, quote: number): boolean {
    const text = this.#text;
    const before = text.charCodeAt(at);
    return (
      (before === COMMA || (before === LEFT_BRACE && at === first)) &&
      text.charCodeAt(at + 1) === QUOTE &&
      text.charCodeAt(quote + 1) === COLON
    );
  }

  #value(meaning: Meaning, at: number): string | undefined {
    const { tags, form, inside, memo } = meaning;
    if (form === 'resource') return this.#items(meaning, at, item => element(tags, '', this.resource(item, '')));
    if (form === 'object' && (inside.holdsResources || memo.isIdle))
      return this.#items(meaning, at, item => this.#element(tags, '', item, inside));
    this.end = endOfValue(this.#text, at);
    if (this.end < 0) return undefined;
    const json = this.#text.slice(at, this.end);
    if (form === 'object') return memo.of(json, of => elementXml(meaning, parseJson(of), undefined));
    const plain = plainValue(json);
    if (form === 'attribute') return plain === undefined ? undefined : attributeXml(meaning, plain);
    return elementXml(meaning, plain ?? parseJson(json), undefined);
  }

  /** Reads one item, or those of a list. */
  #items(meaning: Meaning, at: number, read: (at: number) => string | undefined): string | undefined {
    const text = this.#text;
    if (text.charCodeAt(at) !== LEFT_BRACKET) return text.charCodeAt(at) === LEFT_BRACE ? read(at) : undefined;
    if (meaning.element.max === '1') return undefined;
    let [xml, place] = ['', at];
    while (text.charCodeAt(place) !== RIGHT_BRACKET) {
      const before = text.charCodeAt(place);
      if (before !== (place === at ? LEFT_BRACKET : COMMA) || text.charCodeAt(place + 1) !== LEFT_BRACE)
        return undefined;
      const item = read(place + 1);
      if (item === undefined || this.end < 0) return undefined;
      xml += item;
      place = this.end;
    }
    this.end = place + 1;
    return xml;
  }
}

/** Returns a string without escapes, or the digits of a number; undefined if the value must be parsed. */
function plainValue(json: string): string | undefined {
  if (json.charCodeAt(0) === QUOTE) return json.includes('\\') ? undefined : json.slice(1, -1);
  return NUMBER.test(json) ? json : undefined;
}

const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

export const QUOTE = 34;
export const COMMA = 44;
export const COLON = 58;
export const LEFT_BRACKET = 91;
const BACKSLASH = 92;
export const RIGHT_BRACKET = 93;
export const LEFT_BRACE = 123;
export const RIGHT_BRACE = 125;

/**
 * Finds the end of a value in JSON text without parsing it. In: JSON as this server writes it, and the position of a
 * value. Out: the position after the value, or -1 if the text ends before.
 */
export function endOfValue(text: string, at: number): number {
  switch (text.charCodeAt(at)) {
    case QUOTE:
      return endOfString(text, at);
    case LEFT_BRACE:
    case LEFT_BRACKET:
      return endOfNested(text, at);
    default:
      return endOfWord(text, at);
  }
}

/** Likewise for a string; `at`: its first quote. */
export function endOfString(text: string, at: number): number {
  let quote = text.indexOf('"', at + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  return quote + 1 || -1;
}

/** True if an odd number of backslashes comes before the quote. */
function isEscaped(text: string, at: number): boolean {
  let before = at - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (at - before) % 2 === 0;
}

function endOfNested(text: string, at: number): number {
  let depth = 0;
  for (let i = at; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case QUOTE: {
        const end = endOfString(text, i);
        if (end < 0) return -1;
        i = end - 1;
        break;
      }
      case LEFT_BRACE:
      case LEFT_BRACKET:
        depth++;
        break;
      case RIGHT_BRACE:
      case RIGHT_BRACKET:
        depth--;
        if (depth === 0) return i + 1;
        break;
    }
  }
  return -1;
}

/** Finds the end of a number, true, false or null. */
function endOfWord(text: string, at: number): number {
  for (let i = at; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === COMMA || code === RIGHT_BRACE || code === RIGHT_BRACKET) return i;
  }
  return -1;
}
