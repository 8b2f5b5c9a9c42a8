/**
 * Finds the user of a login, by a column of the legacy database. In: a rule of access.yaml, and a login that an issuer
 * has verified; passwords are not checked here. Out: the one resource that the rule's search finds, or nobody.
 * docs/access-rules.md, "Logins"
 */
import type { LoginRule, PackAccess } from '../auth/rules.ts';
import type { Grant, Tokens } from '../auth/token.ts';
import type { Facade } from '../facade.ts';
import { escapedValue } from '../search/values.ts';

/**
 * Finds the user's resource (`Practitioner/7`), by the name of a rule and the login. Undefined: there is no such rule,
 * nobody has the login, or several do. Throws the errors of a search: an outage is not the same as nobody.
 */
export type FindUser = (rule: string, login: string) => Promise<string | undefined>;

export interface LoginParts {
  readonly facade: () => Pick<Facade, 'search'>;
  readonly access: () => PackAccess;
  /** Milliseconds that a search may take. */
  readonly timeLimit: number;
}

/** Maximum characters of a login. */
const LONGEST = 200;

export function userFinder({ facade, access, timeLimit }: LoginParts): FindUser {
  return async (name, login) => {
    const { logins = {} } = access();
    const rule = Object.hasOwn(logins, name) ? logins[name] : undefined;
    if (rule === undefined || !isLogin(login)) return undefined;
    const { json } = await facade().search(
      {
        type: rule.type,
        parameters: [...asked(rule, login), ['_elements', 'id'], ['_count', '2'], ['_total', 'none']],
      },
      {
        access: { kind: 'all', caller: 'logins' },
        base: 'http://localhost/fhir',
        handling: 'strict',
        signal: AbortSignal.timeout(timeLimit),
      },
    );
    const { entry = [] } = JSON.parse(json) as {
      readonly entry?: readonly { readonly resource: { readonly id: string } }[];
    };
    const [only, ...others] = entry;
    return only === undefined || others.length > 0 ? undefined : `${rule.type}/${only.resource.id}`;
  };
}

/** Returns a message if the pack lacks one of these rules; else undefined. */
export function unknownLogins(rules: readonly string[], { logins = {} }: PackAccess): string | undefined {
  const missing = rules.find(rule => !Object.hasOwn(logins, rule));
  if (missing === undefined) return undefined;
  return `the pack's access.yaml has no login ${JSON.stringify(missing)}; it has ${Object.keys(logins).join(', ') || 'none'}`;
}

/**
 * Finds the user of a login by several rules, because staff and patients may log in at one issuer. Undefined if no rule
 * finds anybody, or two find different people.
 */
export async function userOfLogin(
  find: FindUser,
  rules: readonly string[],
  login: string,
): Promise<string | undefined> {
  const found = await Promise.all(rules.map(rule => find(rule, login)));
  const [only, ...others] = new Set(found.filter(user => user !== undefined));
  return others.length > 0 ? undefined : only;
}

/** Adds the user to grants that name a login; a login of nobody makes the token invalid. */
export function withLogins(tokens: Tokens, find: FindUser): Tokens {
  return {
    ...tokens,
    async grantOf(token, now): Promise<Grant | undefined> {
      const grant = await tokens.grantOf(token, now);
      if (grant?.login === undefined) return grant;
      const fhirUser = await find(grant.login.rule, grant.login.name);
      return fhirUser === undefined ? undefined : { ...grant, fhirUser };
    },
  };
}

/** False for a login with control characters or spaces around it, and for a blank one, which would find everybody. */
function isLogin(text: string): boolean {
  return text.length <= LONGEST && text.trim() === text && /^[^\p{Cc}]+$/u.test(text);
}

/** Escapes the login, so that it is one value whatever it contains. https://hl7.org/fhir/R4/search.html#escaping */
function asked({ found }: LoginRule, login: string): LoginRule['found'] {
  const escaped = escapedValue(login);
  return found.map(([name, value]) => [name, value.replaceAll('{login}', () => escaped)]);
}
