/**
 * Lists what a person can choose from at consent. In: the scopes that an app may have. Out: each of them with the parts
 * that may be allowed instead: the categories that US Core names for granular scopes, and the types that `*` covers.
 * https://hl7.org/fhir/us/core/STU6.1/scopes.html
 */
import { readFileSync } from 'node:fs';
import { parseResourceScope, type ResourceScope, written } from './scopes.ts';

export interface Choice {
  /** As granted. */
  readonly scope: string;
  readonly meaning: ResourceScope;
  /** Scopes that may be allowed instead, with words for them. */
  readonly parts: readonly { readonly scope: string; readonly label: string }[];
}

/** Type → words and query of each part. */
const SUBS = JSON.parse(readFileSync(new URL('sub-scopes.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly (readonly [label: string, query: string])[]>
>;

/** Returns the choices in the order of the request. `types`: those that are served. */
export function choicesOf(scopes: readonly string[], types: readonly string[]): readonly Choice[] {
  return scopes.flatMap(scope => {
    const meaning = parseResourceScope(scope);
    if (meaning === undefined) return [];
    return [{ scope, meaning, parts: partsOf(meaning, types) }];
  });
}

function partsOf(meaning: ResourceScope, types: readonly string[]): Choice['parts'] {
  // Version 1 has no scopes for parts; scopes of version 2 may be granted instead.
  if (meaning.query !== '') return [];
  if (meaning.type === '*')
    return types.map(type => ({ scope: written({ ...meaning, type }, meaning.letters), label: type }));
  return (SUBS[meaning.type] ?? []).map(([label, query]) => ({
    scope: written({ ...meaning, query }, meaning.letters),
    label,
  }));
}

/**
 * Returns the scopes granted by the ticked boxes: all of a choice, or else its parts. Ignores ticks that belong to no
 * choice.
 */
export function chosen(choices: readonly Choice[], ticked: ReadonlySet<string>): readonly string[] {
  return choices.flatMap(({ scope, parts }) =>
    ticked.has(scope) ? [scope] : parts.map(part => part.scope).filter(part => ticked.has(part)),
  );
}
