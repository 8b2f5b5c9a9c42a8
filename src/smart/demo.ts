/**
 * Makes two people and four clients for the demo, so that one can launch an app and get a token at once. In: DATA_DIR,
 * where their secrets remain from one start to the next. Out: accounts and clients that are in no file.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
import type { Account } from '../auth/accounts.ts';
import { hashPassword } from '../auth/password.ts';
import { readPrivate, writePrivate } from '../auth/private-file.ts';
import { readOrSetAside } from '../common/sealed-file.ts';
import { type Client, hashSecret } from './clients.ts';
import { DEMO_APP } from './demo-app.ts';
import { CONTEXT_SCOPES, POST_LAUNCH } from './scopes.ts';

/** A person who can log in, with a relative reference to their resource. */
export interface DemoPerson {
  readonly name: string;
  readonly fhirUser: string;
}

export interface SmartDemo {
  readonly accounts: readonly Account[];
  /** `base`: address of the server. */
  clients(base: string): readonly Client[];
  readonly people: readonly { readonly name: string; readonly password: string }[];
  readonly secret: string;
  /** File with the private key of the clients that use one. */
  readonly keyFile: string;
}

interface Secrets {
  readonly passwords: readonly string[];
  readonly secret: string;
}

/** Redirect addresses of test tools that run on the same machine, or in public. */
const TOOLS = ['http://localhost:4567', 'https://inferno.healthit.gov/suites'] as const;

export async function smartDemo(dataDir: string, people: readonly DemoPerson[]): Promise<SmartDemo> {
  const { passwords, secret } = secretsOf(join(dataDir, 'demo-secrets.json'), people.length);
  const keyFile = join(dataDir, 'demo-key.json');
  const jwks = { keys: [publicPart(await keyOf(keyFile))] };
  const accounts = await Promise.all(
    people.map(async ({ name, fhirUser }, i) => ({
      ...{ name, fhirUser, disabled: false },
      password: await hashPassword(passwords[i] ?? ''),
    })),
  );
  const app = {
    redirects: [
      ...TOOLS.map(tool => `${tool}/custom/smart/redirect`),
      ...['http://localhost:8080/', 'http://127.0.0.1:8080/'],
    ],
    launchUrl: `${TOOLS[0]}/custom/smart/launch`,
    scopes: [...CONTEXT_SCOPES, 'patient/*.rs', 'user/*.rs'],
    introspects: false,
    disabled: false,
  };
  return {
    accounts,
    people: people.map(({ name }, i) => ({ name, password: passwords[i] ?? '' })),
    secret,
    keyFile,
    clients: base => [
      {
        ...app,
        ...{ id: 'demo-public', name: 'Demo app', kind: 'public', launchUrl: base + DEMO_APP },
        redirects: [base + DEMO_APP, ...app.redirects],
      },
      {
        ...app,
        ...{ id: 'demo-secret', name: 'Demo app with a secret', kind: 'secret', secret: hashSecret(secret) },
        introspects: true,
      },
      { ...app, ...{ id: 'demo-key', name: 'Demo app with a key', kind: 'key', jwks } },
      {
        ...{ id: 'demo-backend', name: 'Demo of Backend Services', kind: 'key', jwks },
        ...{ redirects: [], scopes: ['system/*.rs', POST_LAUNCH], introspects: false, disabled: false },
      },
    ],
  };
}

/** Reads a file of the demo; undefined if there is none or it is damaged, so that another is made. */
function wholeOf<T>(file: string, isWhole: (content: unknown) => content is T): T | undefined {
  const content = readOrSetAside(
    file,
    () => readPrivate(file),
    error => error instanceof SyntaxError,
    () => {},
  );
  return isWhole(content) ? content : undefined;
}

function isSecrets(content: unknown): content is Secrets {
  const { passwords, secret } = (content ?? {}) as Readonly<Record<keyof Secrets, unknown>>;
  return Array.isArray(passwords) && passwords.every(one => typeof one === 'string') && typeof secret === 'string';
}

function isPrivateKey(content: unknown): content is JWK {
  const { kty, kid, d, x, y } = (content ?? {}) as JWK;
  return kty === 'EC' && [kid, d, x, y].every(part => typeof part === 'string');
}

function secretsOf(file: string, people: number): Secrets {
  const before = wholeOf(file, isSecrets);
  if (before?.passwords.length === people) return before;
  const random = (bytes: number): string => randomBytes(bytes).toString('base64url');
  const secrets = { passwords: Array.from({ length: people }, () => random(12)), secret: random(32) };
  writePrivate(file, secrets);
  return secrets;
}

async function keyOf(file: string): Promise<JWK> {
  const before = wholeOf(file, isPrivateKey);
  if (before !== undefined) return before;
  const { privateKey } = await generateKeyPair('ES384', { extractable: true });
  const key = { ...(await exportJWK(privateKey)), kid: randomBytes(9).toString('base64url'), alg: 'ES384' };
  writePrivate(file, key);
  return key;
}

function publicPart({ d: _private, ...key }: JWK): Readonly<Record<string, unknown>> {
  return { ...key };
}
