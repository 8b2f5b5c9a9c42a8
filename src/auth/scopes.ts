/**
 * Parses the SMART scopes for resources. In: one scope of a token. Out: whose resources, which type, which actions,
 * which filter; undefined for other texts, which a server ignores.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */

/** Whose resources: those of the patient in context, those that the user may see, or those that the client may see. */
export type ScopeLevel = 'patient' | 'user' | 'system';

export interface ResourceScope {
  readonly level: ScopeLevel;
  /** A resource type, or `*`. */
  readonly type: string;
  readonly read: boolean;
  readonly search: boolean;
  /** Searches, all of which must find the resource: names and values, decoded. */
  readonly where: Criteria;
}

/** Names and values of a search; all must hold. */
export type Criteria = readonly (readonly [name: string, value: string])[];

const SCOPE = /^(patient|user|system)\/(\*|[A-Z][A-Za-z]{1,63})\.(\*|[a-z]+)(?:\?(.+))?$/s;

/** The words of version 1, as letters of version 2. */
const WORDS: Readonly<Record<string, string>> = { read: 'rs', write: 'cud', '*': 'cruds' };

/** Actions of a scope: each letter once and in this order. A scope with other letters grants nothing. */
const LETTERS = /^c?r?u?d?s?$/;

export function parseScope(text: string): ResourceScope | undefined {
  const [, level, type = '', actions = '', query] = SCOPE.exec(text) ?? [];
  if (level === undefined) return undefined;
  const word = Object.hasOwn(WORDS, actions) ? WORDS[actions] : undefined;
  // Only version 2 has conditions.
  if (word !== undefined && query !== undefined) return undefined;
  const letters = word ?? actions;
  if (letters === '' || !LETTERS.test(letters)) return undefined;
  const where = query === undefined ? [] : criteriaOf(query);
  if (where === undefined) return undefined;
  return {
    level: level as ScopeLevel,
    type,
    read: letters.includes('r'),
    search: letters.includes('s'),
    where,
  };
}

/**
 * Returns the conditions behind the `?` of a scope. Undefined unless the text is a list of `name=value`: a condition
 * that cannot be parsed must not be dropped.
 */
export function criteriaOf(query: string): Criteria | undefined {
  const pairs = query.split('&').map(pair => {
    const at = pair.indexOf('=');
    const name = at < 0 ? undefined : decoded(pair.slice(0, at));
    const value = at < 0 ? undefined : decoded(pair.slice(at + 1));
    return name && value ? ([name, value] as const) : undefined;
  });
  return pairs.every(pair => pair !== undefined) ? pairs : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/** Writes the scope as in version 2. */
export function scopeText({ level, type, read, search, where }: ResourceScope): string {
  const query = where.map(pair => pair.map(encodeURIComponent).join('=')).join('&');
  return `${level}/${type}.${read ? 'r' : ''}${search ? 's' : ''}${query === '' ? '' : `?${query}`}`;
}
