/**
 * Decides what may be served for a stored value that does not have its column's form, such as a text with an offset in
 * a DATETIME. In: the node that reads it and the value. Out: nothing, or what agrees with the stored value.
 */
import type { CodeMap } from '../mapping/codecs/code-map.ts';
import type { ValueNode } from '../mapping/model.ts';
import type { SqlValue } from '../sql/expression.ts';
import { contradicts } from './readings.ts';
import { Expected, type Thing } from './thing.ts';

/** Accepts nothing, or a value that an independent reading does not contradict. */
export function agreeing(
  { codec, from }: ValueNode,
  stored: readonly SqlValue[],
  zone: string,
  codeMaps: readonly CodeMap[],
): Expected {
  return new Expected(emitted => {
    const value = textOf(emitted);
    if (value === undefined) return true;
    return contradicts({ codec, type: from[0]?.type, stored, value, zone, codeMaps }) !== true;
  });
}

function textOf(thing: Thing | undefined): string | boolean | undefined {
  if (typeof thing === 'string' || typeof thing === 'boolean') return thing;
  return typeof thing === 'object' && thing !== null && 'digits' in thing && typeof thing.digits === 'string'
    ? thing.digits
    : undefined;
}
