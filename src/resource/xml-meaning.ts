/**
 * Finds what the names of FHIR JSON become in XML, and caches the XML of short values. In: a type of the definitions.
 * Out: for each member the element, its position and its form.
 * https://hl7.org/fhir/R4/xml.html
 */
import { getOrInsert } from '../common/caches.ts';
import { type ElementDefinition, elementsOf, isPrimitive, isResourceType } from '../r4/definitions.ts';
import { flat } from './memo.ts';

/** The meaning of a JSON name in a type, and its position among the elements. */
export interface Meaning {
  readonly name: string;
  readonly tags: Tags;
  /** Cache for values that are objects, or lists of them. */
  readonly memo: XmlMemo;
  /** The name of the member with the id and the extensions of a primitive. */
  readonly companion: string;
  readonly element: ElementDefinition;
  readonly order: number;
  readonly form: 'attribute' | 'primitive' | 'narrative' | 'resource' | 'object';
  /** For an object: its type. */
  readonly inside: TypeMeaning;
}

/** The ready pieces of an element's XML, so that less is concatenated and copied later. */
export interface Tags {
  /** `<name` */
  readonly begin: string;
  /** `<name>` */
  readonly open: string;
  /** `</name>` */
  readonly close: string;
  /** `<name value="` */
  readonly value: string;
}

function tagsOf(name: string): Tags {
  return { begin: `<${name}`, open: `<${name}>`, close: `</${name}>`, value: `<${name} value="` };
}

export type Meanings = ReadonlyMap<string, Meaning>;

/** A type, and the meanings of its members, which are made on first use because types are recursive. */
export class TypeMeaning {
  readonly type: string;
  readonly isResource: boolean;
  /** Tags of a resource of the type. */
  readonly tags: Tags;
  #meanings: Meanings | undefined;
  #holdsResources: boolean | undefined;

  constructor(type: string) {
    this.type = type;
    this.isResource = isResourceType(type);
    this.tags = tagsOf(type);
  }

  /** True if it contains resources, as a Bundle's entry does. */
  get holdsResources(): boolean {
    this.#holdsResources ??= [...this.meanings.values()].some(({ form }) => form === 'resource');
    return this.#holdsResources;
  }

  get meanings(): Meanings {
    this.#meanings ??= meaningsOf(this.type);
    return this.#meanings;
  }
}

const types = new Map<string, TypeMeaning>();

/** Returns the meaning of a type. The definitions limit the number of cached types. */
export function typeMeaning(type: string): TypeMeaning {
  return getOrInsert(types, type, () => new TypeMeaning(type));
}

function meaningsOf(type: string): Meanings {
  const made = new Map<string, Meaning>();
  for (const element of elementsOf(type)) {
    for (const [name, childType] of element.jsonNames) {
      const form = formOf(childType, element);
      made.set(name, {
        name,
        tags: tagsOf(name),
        memo: new XmlMemo(),
        companion: `_${name}`,
        element,
        form,
        order: made.size,
        inside: typeMeaning(childType),
      });
    }
  }
  return made;
}

function formOf(type: string, { isXmlAttribute }: ElementDefinition): Meaning['form'] {
  if (isXmlAttribute) return 'attribute';
  if (type === 'xhtml') return 'narrative';
  if (type === 'Resource') return 'resource';
  return isPrimitive(type) ? 'primitive' : 'object';
}

const ENTRIES_AT_MOST = 200;
const LONGEST = 600;
/** Average number of hits per entry that makes a cache worthwhile. */
const WORTH = 2;
/** Limit of characters of JSON and XML in all caches; beyond it, each one is emptied on its next use. */
const CHARACTERS_AT_MOST = 10_000_000;

let characters = 0;
let beginning = 0;

/**
 * Caches the XML of short values that recur, such as codes. In: the JSON of a value. Out: its XML. Limited per cache
 * and in total; a cache with few hits turns itself off.
 */
export class XmlMemo {
  #known: Map<string, string> | undefined = new Map();
  #hits = 0;
  #begun = beginning;

  /** True if it has turned itself off. */
  get isIdle(): boolean {
    return this.#known === undefined;
  }

  /** Returns the XML of a value. Calls `make` if it is not cached. */
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

/** Copies a text: a substring keeps the whole text in memory, which may be a page of somebody's record. */
function apart(json: string): string {
  return flat(`${json} `).slice(0, -1);
}
