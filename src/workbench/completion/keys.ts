/** Offers the keys of a schema in the editor. In: a zod schema and a path. Out: options. */
import { keysAt } from '../../mapping/load/read/schema-keys.ts';
import type { WireCompletion, WireOption } from '../wire/mapping.ts';

/** Options, and the start of the text that a chosen one replaces. */
export type OptionsFrom = Omit<WireCompletion, 'isCut'>;

/** Returns the keys that a schema allows at a path, each with its meaning. */
export function schemaKeys(
  schema: Parameters<typeof keysAt>[0],
  path: Parameters<typeof keysAt>[1],
): readonly WireOption[] {
  return [...keysAt(schema, path)].map(([label, info]) => ({
    ...{ label, kind: 'keyword' as const, key: true },
    ...(info === undefined ? {} : { info }),
  }));
}
