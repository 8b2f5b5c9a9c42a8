/**
 * Defines resources as the reference implementation makes them: objects with numbers as digits, and parts that cannot
 * be determined exactly. In: JSON. Out: a Thing, to compare with what was served.
 */

export type Thing = string | boolean | null | Digits | Expected | readonly Thing[] | { readonly [name: string]: Thing };

/** A number as written. */
export interface Digits {
  readonly digits: string;
}

/** Parses JSON text into what the interpreter would make. */
export function parseThing(json: string): Thing {
  return JSON.parse(json, (_, part: Thing | number, context?: { source: string }) =>
    typeof part === 'number' ? { digits: context?.source ?? String(part) } : part,
  );
}

/** Replaces a thing that cannot be determined exactly. `accepts` tests what was emitted; undefined means nothing. */
export class Expected {
  readonly accepts: (emitted: Thing | undefined) => boolean;

  constructor(accepts: (emitted: Thing | undefined) => boolean) {
    this.accepts = accepts;
  }
}

/** Accepts anything. It replaces values that cannot be determined. */
export const UNJUDGED = new Expected(() => true);

/** True if some part of a thing is not known exactly. */
export function isOpen(thing: Thing): boolean {
  if (thing instanceof Expected) return true;
  return typeof thing === 'object' && thing !== null && Object.values(thing).some(isOpen);
}

/** Elements without which an object does not exist. */
const CARRIERS = ['value', 'code', 'reference', 'text'];

/** True if a thing may turn out to be absent. */
export function mayBeAbsent(thing: Thing): boolean {
  if (thing instanceof Expected) return true;
  if (typeof thing !== 'object' || thing === null) return false;
  const parts = Object.values(thing);
  const carried = !Array.isArray(thing) && CARRIERS.some(name => Reflect.get(thing, name) instanceof Expected);
  return carried || parts.every(mayBeAbsent);
}

/** Thrown if a value cannot be determined. Whatever needs the value is UNJUDGED. */
export class Unjudged extends Error {}

/** Returns the result of the work; undefined if it needs a value that cannot be determined. */
export function ifJudged<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Unjudged)) throw error;
    return undefined;
  }
}

export function clean(text: string): string {
  let out = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    const lone = code >= 0xd800 && code <= 0xdfff;
    out += lone || (code < 32 && !'\t\n\r'.includes(char)) ? '\ufffd' : char;
  }
  return out;
}

export function thingOf(json: unknown): Thing {
  return parseThing(JSON.stringify(json));
}
