/**
 * Decides which scopes an app may be granted. In: what an app asks for, and what it was registered for. Out: the part
 * of it that may be granted: reading and searching only, never more than was asked.
 * https://hl7.org/fhir/smart-app-launch/STU2.2/scopes-and-launch-context.html
 */
import { SECURITY } from '../auth/rules.ts';
import { parseScope } from '../auth/scopes.ts';

/** A scope on resources, of either version. */
export interface ResourceScope {
  readonly level: 'patient' | 'user' | 'system';
  /** A resource type, or `*`. */
  readonly type: string;
  /** What it permits here: of `cruds`, the letters that only read. */
  readonly letters: '' | 'r' | 's' | 'rs';
  /** Search parameters that constrain it, as written after `?`; '' for none. */
  readonly query: string;
  /** `read` and `*` instead of letters. */
  readonly v1: boolean;
}

/** What is asked for beside resources. */
export const CONTEXT_SCOPES = [
  'openid',
  'fhirUser',
  'profile',
  'offline_access',
  'launch',
  'launch/patient',
  'launch/encounter',
] as const;

/** What a trusted client needs in order to post launch contexts, as an EHR does. */
export const POST_LAUNCH = 'system/launch';

const RESOURCE =
  /^(patient|user|system)\/(\*|[A-Z][A-Za-z]{0,63})\.(?:(read|write|\*)|(c?r?u?d?s?))(?:\?([\w.:-]+=[^\s]*))?$/;

const V1 = { read: 'rs', write: '', '*': 'rs' } as const;

/** Undefined for anything that is no scope on resources; letters in another order than `cruds` make it none. */
export function parseResourceScope(text: string): ResourceScope | undefined {
  const match = RESOURCE.exec(text);
  if (match === null) return undefined;
  const [, level, type = '', word, letters = '', query = ''] = match;
  if (word === undefined && letters === '') return undefined;
  // Version 1 knows no constraints.
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

/** Who asks: a person who launched an app, or a client in its own name. */
export type Asker = 'person' | 'client';

/**
 * The part of the scopes asked for that a client may have, in their order, each once. Letters that would write are
 * dropped from scopes of version 2; a scope that is left with nothing is dropped as a whole.
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
    ((bound.query === '' && !namesLabels(scope)) || bound.query === scope.query)
  );
}

/** Such a scope shows what labels hide, so it is more than the same scope without a constraint. */
function namesLabels(scope: ResourceScope): boolean {
  const where = parseScope(written(scope, scope.letters))?.where ?? [];
  return where.some(([name]) => name === SECURITY);
}

/** Version 1 has no word for reading without searching. */
function readWord(scope: ResourceScope, letters: string): string {
  return letters === 'rs' ? `${scope.level}/${scope.type}.read` : written(scope, letters);
}

/** A scope of version 2 with these letters. */
export function written({ level, type, query }: ResourceScope, letters: string): string {
  return `${level}/${type}.${letters}${query === '' ? '' : `?${query}`}`;
}
