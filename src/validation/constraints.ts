/**
 * Evaluates the invariants of types and profiles.
 *
 * In: facts and the item that they are about. Out: findings. https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */

import { childOf, isPrimitive } from '../r4/definitions.ts';
import { compilePath, type Path } from '../r4/fhirpath.ts';
import type { Finding, Held } from './finding.ts';
import type { Item } from './item.ts';

/** The kind of a finding, and the facts that it comes from. */
const KINDS = [
  ['error', 'constraints'],
  ['advice', 'advice'],
] as const;

const compiled = new Map<string, Path>();

/** Returns a finding for each invariant that is not true of the item. */
export function invariantFindings(
  held: readonly Held[],
  { value, type, where }: Item,
  resources: { readonly resource: object; readonly rootResource: object },
): readonly Finding[] {
  if (value === undefined) return [];
  const { resource, rootResource } = resources;
  const subject = isPrimitive(type) ? { [`value${type.charAt(0).toUpperCase()}${type.slice(1)}`]: value } : value;
  if (subject === null || typeof subject !== 'object') return [];
  // Cached, because profiles repeat the invariants of others.
  const results = new Map<string, boolean>();
  const holds = (text: string): boolean => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = isTrue(pathOf(text, type), subject, { resource, rootResource });
    results.set(text, result);
    return result;
  };
  return held.flatMap(({ facts, by }) =>
    KINDS.flatMap(([kind, member]) =>
      Object.entries(facts[member] ?? {}).flatMap(([key, [text, human]]): readonly Finding[] => {
        // Some invariants about dateTime are on a choice that may also be a Period, which they are not meant for.
        if (/\$this as dateTime/.test(text) && type !== 'dateTime') return [];
        if (holds(text)) return [];
        return [
          { kind, where, what: `${key}: ${text}`, invariant: { key, human, about: aboutOf(text, type, subject) }, by },
        ];
      }),
    ),
  );
}

/**
 * Returns the elements that an expression names: first those that should exist and are missing, then those that exist.
 */
function aboutOf(text: string, type: string, subject: object): readonly string[] {
  const named = [...withoutArguments(text).matchAll(/(?<![\w.%$])([a-z]\w*)(\.exists\(\))?/g)].flatMap(
    ([, name = '', exists]) => {
      const element = childOf(type, name)?.element;
      if (element === undefined) return [];
      return [{ name, exists, isThere: [...element.jsonNames.keys()].some(json => json in subject) }];
    },
  );
  const lacking = named.filter(({ exists, isThere }) => exists !== undefined && !isThere);
  return [...new Set([...lacking, ...named.filter(({ isThere }) => isThere)].map(({ name }) => name))];
}

/**
 * Returns an expression without string literals and without arguments of functions, because names there belong to parts
 * of other elements.
 */
function withoutArguments(text: string): string {
  let kept = '';
  // For each open parenthesis: true if it is a function's, or inside one.
  const open: boolean[] = [];
  for (const character of text.replace(/'[^']*'/g, '')) {
    if (character === ')') open.pop();
    if (open.at(-1) !== true) kept += character;
    if (character === '(') open.push(open.at(-1) === true || /\w\($/.test(kept));
  }
  return kept;
}

function isTrue(path: Path, subject: object, variables: Readonly<Record<string, object>>): boolean {
  try {
    const result = path(subject, variables);
    return result.length === 1 && result[0] === true;
  } catch {
    // Values of the wrong type throw, as in the comparison of a malformed date.
    return false;
  }
}

function pathOf(expression: string, type: string): Path {
  const key = `${type} ${expression}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  // Nothing can be resolved here, but a literal reference contains its type.
  const text = expression.replace(/resolve\(\) is (\w+)/g, "reference.matches('(^|/)$1/')");
  // A primitive is wrapped, so that the engine knows its type.
  const path = isPrimitive(type) ? compilePath(`value.all(${text})`, 'Extension') : compilePath(text, type);
  compiled.set(key, path);
  return path;
}
