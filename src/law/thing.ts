/**
 * Resources as the reference implementation makes them: objects with numbers as their digits, and parts that cannot be
 * worked out exactly. In: JSON. Out: a Thing, compared with what was served.
 */

export type Thing = string | boolean | null | Digits | Expected | readonly Thing[] | { readonly [name: string]: Thing };

/** A number as it is written. */
export interface Digits {
  readonly digits: string;
}

/** JSON text as the interpreter would have made it. */
export function parseThing(json: string): Thing {
  return JSON.parse(json, (_, part: Thing | number, context?: { source: string }) =>
    typeof part === 'number' ? { digits: context?.source ?? String(part) } : part,
  );
}

/** In the place of a thing that cannot be worked out exactly: what may stand there, undefined for nothing. */
export class Expected {
  readonly accepts: (emitted: Thing | undefined) => boolean;

  constructor(accepts: (emitted: Thing | undefined) => boolean) {
    this.accepts = accepts;
  }
}

/** Of what depends on an `sql`, which only the engine reads, for example. */
export const UNJUDGED = new Expected(() => true);

/** Whether some part of a thing is not known exactly. */
export function isOpen(thing: Thing): boolean {
  if (thing instanceof Expected) return true;
  return typeof thing === 'object' && thing !== null && Object.values(thing).some(isOpen);
}

/** Elements without which an object does not exist. */
const CARRIERS = ['value', 'code', 'reference', 'text'];

/** Whether a thing may turn out to be nothing. */
export function mayBeAbsent(thing: Thing): boolean {
  if (thing instanceof Expected) return true;
  if (typeof thing !== 'object' || thing === null) return false;
  const parts = Object.values(thing);
  const carried = !Array.isArray(thing) && CARRIERS.some(name => Reflect.get(thing, name) instanceof Expected);
  return carried || parts.every(mayBeAbsent);
}

/** Thrown where a value cannot be had; what needs it is UNJUDGED. */
export class Unjudged extends Error {}

/** What the work gives; undefined where it needs a value that cannot be had. */
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
