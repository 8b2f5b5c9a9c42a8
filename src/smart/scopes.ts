/**
 * Decides which scopes an app may be granted. In: what an app requests, and what it was registered for. Out: the part
 * of it that may be granted: reading and searching only, never more than was requested.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */
import { SECURITY } from '../auth/rules.ts';
import { criteriaOf } from '../auth/scopes.ts';

/** A scope on resources, of version 1 or 2. */
export interface ResourceScope {
  readonly level: 'patient' | 'user' | 'system';
  /** A resource type, or `*`. */
  readonly type: string;
  /** The letters of `cruds` that only read: what it permits here. */
  readonly letters: '' | 'r' | 's' | 'rs';
  /** Search parameters that constrain it, as written after `?`; '' for none. */
  readonly query: string;
  /** True for `read` and `*` instead of letters. */
  readonly v1: boolean;
}

/** Scopes that are not for resources. */
export const CONTEXT_SCOPES = [
  'openid',
  'fhirUser',
  'profile',
  'offline_access',
  'launch',
  'launch/patient',
  'launch/encounter',
] as const;

/** The scope with which a trusted client may post launch contexts, as an EHR does. */
export const POST_LAUNCH = 'system/launch';

const RESOURCE =
  /^(patient|user|system)\/(\*|[A-Z][A-Za-z]{0,63})\.(?:(read|write|\*)|(c?r?u?d?s?))(?:\?([\w.:-]+=[^\s]*))?$/;

const V1 = { read: 'rs', write: '', '*': 'rs' } as const;

/** Parses a scope on resources; undefined for any other text, and if letters are not in the order of `cruds`. */
export function parseResourceScope(text: string): ResourceScope | undefined {
  const match = RESOURCE.exec(text);
  if (match === null) return undefined;
  const [, level, type = '', word, letters = '', query = ''] = match;
  if (word === undefined && letters === '') return undefined;
  // Version 1 has no constraints.
  if (word !== undefined && query !== '') return undefined;
  const read = word === undefined ? letters.replace(/[^rs]/g, '') : V1[word as keyof typeof V1];
  return {
    level: level as ResourceScope['level'],
    type,
    letters: read as ResourceScope['letters'],
    query,
    v1: word !== undefined,
  };
}

/** The requester: a person who launched an app, or a client in its own name. */
export type Asker = 'person' | 'client';

/**
 * Returns the part of the requested scopes that a client may have, in their order, without repeats. Drops letters that
 * would write from scopes of version 2, and scopes that are left without letters.
 */
export function grantable(asked: Iterable<string>, registered: readonly string[], asker: Asker): readonly string[] {
  const contexts: ReadonlySet<string> = asker === 'person' ? new Set(CONTEXT_SCOPES) : new Set([POST_LAUNCH]);
  const bounds = registered.flatMap(text => parseResourceScope(text) ?? []);
  const granted = new Set<string>();
  for (const text of asked) {
    if (contexts.has(text)) {
      if (registered.includes(text)) granted.add(text);
      continue;
    }
    const scope = parseResourceScope(text);
    if (scope === undefined || (scope.level === 'system') !== (asker === 'client')) continue;
    const letters = scope.letters.replaceAll(/./g, letter =>
      bounds.some(bound => covers(bound, scope, letter)) ? letter : '',
    );
    if (letters === '') continue;
    granted.add(scope.v1 ? readWord(scope, letters) : written(scope, letters));
  }
  return [...granted];
}

function covers(bound: ResourceScope, scope: ResourceScope, letter: string): boolean {
  return (
    bound.level === scope.level &&
    (bound.type === '*' || bound.type === scope.type) &&
    bound.letters.includes(letter) &&
    ((bound.query === '' && !showsMore(scope)) || bound.query === scope.query)
  );
}

/**
 * True if a scope tells more than the same scope without a constraint. One that names labels shows what they hide. A
 * chain or `_has` is evaluated over all records, so an app that could choose it would learn of records hidden from it.
 */
function showsMore({ query }: ResourceScope): boolean {
  const where = query === '' ? [] : criteriaOf(query);
  return where?.some(([name]) => name === SECURITY || name.includes('.') || name.startsWith('_has')) ?? true;
}

/** Writes a scope of version 1, which has no word for reading without searching: then one of version 2. */
function readWord(scope: ResourceScope, letters: string): string {
  return letters === 'rs' ? `${scope.level}/${scope.type}.read` : written(scope, letters);
}

/** Writes a scope of version 2 with these letters. */
export function written({ level, type, query }: ResourceScope, letters: string): string {
  return `${level}/${type}.${letters}${query === '' ? '' : `?${query}`}`;
}
