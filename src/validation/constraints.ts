/**
 * Evaluates the invariants of types and profiles.
 *
 * In: facts and the item that they are about. Out: findings. https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */

import { childOf, isPrimitive } from '../r4/definitions.ts';
import { compilePath, type Path } from '../r4/fhirpath.ts';
import type { Finding, Held } from './finding.ts';
import type { Item } from './item.ts';

/** Kind of the finding to the facts that it comes of. */
const KINDS = [
  ['error', 'constraints'],
  ['advice', 'advice'],
] as const;

const compiled = new Map<string, Path>();

/** A finding for each invariant that is not true of the item. */
export function invariantFindings(
  held: readonly Held[],
  { value, type, where }: Item,
  resources: { readonly resource: object; readonly rootResource: object },
): readonly Finding[] {
  if (value === undefined) return [];
  const { resource, rootResource } = resources;
  const subject = isPrimitive(type) ? { [`value${type.charAt(0).toUpperCase()}${type.slice(1)}`]: value } : value;
  if (subject === null || typeof subject !== 'object') return [];
  // Profiles repeat what others say.
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
        // Some invariants about dateTime stand on a choice that may also be a Period, and are not meant for that.
        if (/\$this as dateTime/.test(text) && type !== 'dateTime') return [];
        if (holds(text)) return [];
        return [
          { kind, where, what: `${key}: ${text}`, invariant: { key, human, about: aboutOf(text, type, subject) }, by },
        ];
      }),
    ),
  );
}

/** What should exist and does not, then what is there: of the elements that an expression names. */
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
 * An expression without texts and without the arguments of functions, whose names are those of another element's parts.
 */
function withoutArguments(text: string): string {
  let kept = '';
  // For each open parenthesis whether it is a function's, or within one.
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
    // Values of the wrong type, as in the comparison of a malformed date.
    return false;
  }
}

function pathOf(expression: string, type: string): Path {
  const key = `${type} ${expression}`;
  const known = compiled.get(key);
  if (known !== undefined) return known;
  // Nothing can be resolved here; a literal reference says its type.
  const text = expression.replace(/resolve\(\) is (\w+)/g, "reference.matches('(^|/)$1/')");
  // A primitive is wrapped so that the engine knows its type.
  const path = isPrimitive(type) ? compilePath(`value.all(${text})`, 'Extension') : compilePath(text, type);
  compiled.set(key, path);
  return path;
}
