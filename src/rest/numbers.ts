/**
 * Numbers of the REST interface: the key of a mapping, from which its FHIR id is made. In: the mappings of a type. Out: both
 * ways between number and logical id, or undefined where the key is no single whole number.
 * ../shared/spec/interfaces.md section 2.2
 */
import type { IdPart } from '../mapping/id-rule.ts';
import type { Registry } from '../mapping/model.ts';
import { expressionKey } from '../sql/expression-key.ts';

export interface Numbers {
  idOf(number: number): string;
  /** Undefined for an id that the mapping does not make. */
  numberOf(id: string): number | undefined;
}

export function numbersOf(registry: Registry, type: string): Numbers | undefined {
  const [mapping, ...others] = registry.ofType(type);
  if (mapping === undefined || others.length > 0) return undefined;
  const [key, ...moreKeys] = mapping.source.key;
  const [parts, ...alternatives] = mapping.id.alternatives;
  if (key === undefined || moreKeys.length > 0 || parts === undefined || alternatives.length > 0) return undefined;
  const at = parts.findIndex(part => part.kind === 'column');
  const part = parts[at];
  if (part?.kind !== 'column' || part.codec.name !== 'integer' || expressionKey(part.column) !== expressionKey(key))
    return undefined;
  if (parts.some((other, i) => i !== at && other.kind === 'column')) return undefined;
  const before = literals(parts.slice(0, at));
  const after = literals(parts.slice(at + 1));
  return {
    idOf: number => `${before}${number}${after}`,
    numberOf: id => {
      if (!id.startsWith(before) || !id.endsWith(after)) return undefined;
      const text = id.slice(before.length, id.length - after.length);
      return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
    },
  };
}

function literals(parts: readonly IdPart[]): string {
  return parts.map(part => (part.kind === 'literal' ? part.text : '')).join('');
}
