/**
 * Lists the keys that a schema allows at a place. In: a zod schema and a path of keys and indexes. Out: the keys of all
 * alternatives there, each with its meaning.
 */
import { z } from 'zod';

type Schema = z.core.$ZodType;

/** Returns the keys at the end of a path with their descriptions, if any; none if the path leads nowhere. */
export function keysAt(schema: Schema, path: readonly PropertyKey[]): ReadonlyMap<string, string | undefined> {
  let places = alternatives([schema]);
  for (const step of path) places = alternatives(places.flatMap(place => into(place, step)));
  const keys = new Map<string, string | undefined>();
  for (const place of places) {
    for (const [key, value] of Object.entries(definitionOf(place).shape ?? {}))
      if (!isNever(value)) keys.set(key, keys.get(key) ?? meaningOf(value));
  }
  return keys;
}

/** Returns the `describe` text of a schema, or of the schema that it wraps. */
function meaningOf(schema: Schema): string | undefined {
  const { innerType } = definitionOf(schema);
  return z.globalRegistry.get(schema)?.description ?? (innerType && meaningOf(innerType));
}

/** Returns all keys that a schema names anywhere. */
export function allKeys(schema: Schema): ReadonlySet<string> {
  const keys = new Set<string>();
  const seen = new Set<Schema>();
  const visit = (of: Schema): void => {
    for (const place of alternatives([of])) {
      if (seen.has(place)) continue;
      seen.add(place);
      const { shape = {}, catchall, element, valueType } = definitionOf(place);
      for (const [key, value] of Object.entries(shape)) {
        keys.add(key);
        visit(value);
      }
      for (const inner of [catchall, element, valueType]) if (inner) visit(inner);
    }
  };
  visit(schema);
  return keys;
}

/** The fields of zod's definitions that are used here. */
interface Definition {
  readonly type: string;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
  readonly element?: Schema;
  readonly valueType?: Schema;
  readonly innerType?: Schema;
  readonly options?: readonly Schema[];
}

function definitionOf(schema: Schema): Definition {
  return schema._zod.def as Definition;
}

/** Unwraps schemas: `optional`, `lazy` and unions. */
function alternatives(schemas: readonly Schema[]): readonly Schema[] {
  const found = new Set<Schema>();
  const seen = new Set<Schema>();
  const open = (schema: Schema): void => {
    if (seen.has(schema)) return;
    seen.add(schema);
    const { type, innerType, options } = definitionOf(schema);
    // zod caches it here; the getter would make a new schema each time.
    const { innerType: lazily } = schema._zod as { readonly innerType?: Schema };
    if (type === 'lazy' && lazily) open(lazily);
    else if (type === 'union') for (const option of options ?? []) open(option);
    else if (innerType) open(innerType);
    else found.add(schema);
  };
  for (const schema of schemas) open(schema);
  return [...found];
}

function into(schema: Schema, step: PropertyKey): readonly Schema[] {
  const { type, shape, catchall, element, valueType } = definitionOf(schema);
  if (type === 'array') return element ? [element] : [];
  if (type === 'record') return valueType ? [valueType] : [];
  if (type !== 'object') return [];
  const own = shape && Object.hasOwn(shape, step) ? shape[String(step)] : catchall;
  return own ? [own] : [];
}

function isNever(schema: Schema): boolean {
  const { type, innerType } = definitionOf(schema);
  return type === 'never' || (innerType !== undefined && isNever(innerType));
}
