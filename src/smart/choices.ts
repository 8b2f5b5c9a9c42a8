/**
 * Lists what a person can choose from at consent. In: the scopes that an app may have. Out: each of them with the
 * parts of it that may be allowed instead: the categories that US Core names for granular scopes, and the types behind
 * `*`.
 * https://hl7.org/fhir/us/core/STU6.1/scopes.html
 */
import { readFileSync } from 'node:fs';
import { parseResourceScope, type ResourceScope, written } from './scopes.ts';

export interface Choice {
  /** As it is granted. */
  readonly scope: string;
  readonly meaning: ResourceScope;
  /** What may be allowed instead, with words for it. */
  readonly parts: readonly { readonly scope: string; readonly label: string }[];
}

/** Type → words and query of each part. */
const SUBS = JSON.parse(readFileSync(new URL('sub-scopes.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly (readonly [label: string, query: string])[]>
>;

/** Choices in the order in which they were asked for. `types`: those that are served. */
export function choicesOf(scopes: readonly string[], types: readonly string[]): readonly Choice[] {
  return scopes.flatMap(scope => {
    const meaning = parseResourceScope(scope);
    if (meaning === undefined) return [];
    return [{ scope, meaning, parts: partsOf(meaning, types) }];
  });
}

function partsOf(meaning: ResourceScope, types: readonly string[]): Choice['parts'] {
  // Version 1 has no scope for a part; version 2 has, and may be granted instead.
  if (meaning.query !== '') return [];
  if (meaning.type === '*')
    return types.map(type => ({ scope: written({ ...meaning, type }, meaning.letters), label: type }));
  return (SUBS[meaning.type] ?? []).map(([label, query]) => ({
    scope: written({ ...meaning, query }, meaning.letters),
    label,
  }));
}

/**
 * What is granted of what was ticked: all of a choice, or else its parts. Ticks that stand for nothing that was asked
 * change nothing.
 */
export function chosen(choices: readonly Choice[], ticked: ReadonlySet<string>): readonly string[] {
  return choices.flatMap(({ scope, parts }) =>
    ticked.has(scope) ? [scope] : parts.map(part => part.scope).filter(part => ticked.has(part)),
  );
}
