/**
 * Reads ACCESS_FILE. In: the path. Out: the settings of the issuers, with the secrets that the file refers to; or every
 * problem at once, with its line. Messages never contain a secret.
 */
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { JWK } from 'jose';
import { isLoopback } from '../common/loopback.ts';
import { ConfigError } from '../config/config.ts';
import { createReport, type Problem, problemLine, type Report } from '../mapping/load/problem.ts';
import { readYaml } from '../mapping/load/read/read.ts';
import { checkShape } from '../mapping/load/read/shape.ts';
import { nodeAt, plain, type Tree } from '../mapping/load/read/tree.ts';
import { ALGORITHMS, accessSchema, type WrittenIssuer } from './schema.ts';

export interface Issuer {
  /** Exactly as in `iss`. */
  readonly issuer: string;
  readonly audience: readonly string[];
  readonly algorithms: readonly string[];
  /** `typ` of the header, in lower case, without `application/`; undefined: any. */
  readonly types: readonly string[] | undefined;
  readonly require: Readonly<Record<string, string>>;
  /**
   * Claims that identify a token of client credentials, with `{client}` in values; undefined: no token counts as one.
   */
  readonly clientCredentials: Readonly<Record<string, string>> | undefined;
  readonly metadata: string;
  /** Undefined: as in the metadata. */
  readonly jwks: string | undefined;
  /** Tolerance for clocks in seconds. */
  readonly skew: number;
  /** Hosts, in lower case, that may have private addresses. */
  readonly privateHosts: ReadonlySet<string>;
  readonly claims: ClaimNames;
  /** Words of the issuer and the scopes that they mean. */
  readonly words: ReadonlyMap<string, readonly string[]>;
  readonly introspection: IntrospectionSettings | undefined;
  /** Undefined: it launches no apps. */
  readonly capabilities: readonly string[] | undefined;
}

/** Lists of claim names: the first claim that exists counts; of `scopes`, all count. */
export interface ClaimNames {
  readonly scopes: readonly string[];
  readonly scopePrefix: string;
  readonly patient: readonly string[];
  readonly encounter: readonly string[];
  readonly fhirUser: readonly string[];
  /** A login, for which a rule of the pack finds the person. */
  readonly login?: { readonly rule: string; readonly claim: readonly string[] };
  readonly purpose: readonly string[];
  readonly client: readonly string[];
}

export interface IntrospectionSettings {
  /** Undefined: as in the metadata. */
  readonly url: string | undefined;
  readonly client: string;
  readonly proof: ClientProof;
  /** True if JWTs are introspected as well. */
  readonly jwt: boolean;
  /** Milliseconds for which an answer is cached. */
  readonly keep: number;
}

export type ClientProof =
  | { readonly kind: 'basic' | 'post'; readonly secret: string }
  | { readonly kind: 'key'; readonly key: JWK };

const SKEW = 60;
const KEEP = 10;

const CLAIMS: ClaimNames = {
  scopes: ['scope', 'scp'],
  scopePrefix: '',
  patient: ['patient'],
  encounter: ['encounter'],
  fhirUser: ['fhirUser'],
  purpose: ['purpose_of_use'],
  client: ['client_id', 'azp', 'appid', 'cid'],
};

/** Reads the issuers of a file. Throws ConfigError with every problem of the file. */
export function readIssuers(path: string): readonly Issuer[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new ConfigError([`ACCESS_FILE: expected the path of a file that can be read, found ${JSON.stringify(path)}`]);
  }
  const { issuers, problems } = issuersIn(path, text);
  if (problems.length > 0) throw new ConfigError(problems.map(problemLine));
  return issuers;
}

/** Reads the issuers in a text; the list is complete if there are no problems. */
export function issuersIn(
  path: string,
  text: string,
): { readonly issuers: readonly Issuer[]; readonly problems: readonly Problem[] } {
  const report = createReport();
  const [document, ...more] = readYaml(path, text, report);
  for (const other of more) report.error('written-twice', other.at, 'a second document', { expected: 'one' });
  const none = (): { issuers: readonly Issuer[]; problems: readonly Problem[] } => ({
    issuers: [],
    problems: report.problems(),
  });
  if (document === undefined) {
    if (report.problems().length === 0)
      report.error('wrong-access', { file: path, line: 1, column: 1 }, 'nothing in it', {
        expected: '`issuers:` with a list',
      });
    return none();
  }
  if (!checkShape(document, accessSchema, report)) return none();
  const written = accessSchema.parse(plain(document)).issuers;
  const issuers = written.map((one, i) => issuerOf(one, nodeAt(document, ['issuers', i]), dirname(path), report));
  const place = (i: number, key: string): Tree['at'] => nodeAt(document, ['issuers', i, key]).at;
  for (const [i, { issuer, capabilities }] of issuers.entries()) {
    const before = issuers.slice(0, i);
    if (before.some(one => one.issuer === issuer))
      report.error('written-twice', place(i, 'issuer'), 'issuer written twice');
    if (capabilities !== undefined && before.some(one => one.capabilities !== undefined))
      report.error('wrong-access', place(i, 'smart'), 'apps can be launched by one issuer only');
  }
  return { issuers, problems: report.problems() };
}

function issuerOf(written: WrittenIssuer, tree: Tree, folder: string, report: Report): Issuer {
  const { issuer, claims = {}, introspection } = written;
  const privateHosts = new Set((written['private-hosts'] ?? []).map(host => host.toLowerCase()));
  const addresses = { issuer, metadata: written.metadata, jwks: written.jwks };
  for (const [key, address] of Object.entries(addresses)) checkAddress(address, nodeAt(tree, [key]));
  checkAddress(introspection?.url, nodeAt(tree, ['introspection', 'url']));

  function checkAddress(address: string | undefined, at: Tree): void {
    if (address === undefined || isSafe(new URL(address), privateHosts)) return;
    report.error('wrong-access', at.at, 'not an address of https', {
      expected: 'https, or http on a loopback address in private-hosts',
    });
  }

  return {
    issuer,
    audience: listOf(written.audience),
    algorithms: written.algorithms ?? ALGORITHMS,
    types: written.type === undefined ? undefined : listOf(written.type).map(typeName),
    require: written.require ?? {},
    clientCredentials: written['client-credentials'],
    metadata: written.metadata ?? `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
    jwks: written.jwks,
    skew: Number(written['clock-skew'] ?? SKEW),
    privateHosts,
    claims: {
      scopes: listOf(claims.scopes ?? CLAIMS.scopes),
      scopePrefix: claims['scope-prefix'] ?? CLAIMS.scopePrefix,
      patient: listOf(claims.patient ?? CLAIMS.patient),
      encounter: listOf(claims.encounter ?? CLAIMS.encounter),
      fhirUser: listOf(claims['fhir-user'] ?? CLAIMS.fhirUser),
      ...(claims.login && { login: { rule: claims.login.rule, claim: listOf(claims.login.claim) } }),
      purpose: listOf(claims.purpose ?? CLAIMS.purpose),
      client: listOf(claims.client ?? CLAIMS.client),
    },
    words: new Map(Object.entries(written.scopes ?? {}).map(([word, scopes]) => [word, listOf(scopes)])),
    introspection: introspection && introspectionOf(introspection, nodeAt(tree, ['introspection']), folder, report),
    capabilities: written.smart?.capabilities,
  };
}

function introspectionOf(
  written: NonNullable<WrittenIssuer['introspection']>,
  tree: Tree,
  folder: string,
  report: Report,
): IntrospectionSettings | undefined {
  const { url, client, send = 'basic', jwt, keep = String(KEEP) } = written;
  const proof = proofOf();
  return proof && { url, client, proof, jwt: jwt === 'true', keep: Number(keep) * 1000 };

  function proofOf(): ClientProof | undefined {
    const [secret, key] = [written['secret-file'], written['key-file']];
    if ((secret === undefined) === (key === undefined)) {
      report.error('wrong-access', tree.at, 'who asks is not clear', {
        expected: 'one of `secret-file` and `key-file`',
      });
      return undefined;
    }
    if (secret !== undefined) {
      const text = fileText('secret-file', secret)?.trim();
      return text === undefined ? undefined : { kind: send, secret: text };
    }
    const text = fileText('key-file', key ?? '');
    const jwk = text === undefined ? undefined : keyIn(text);
    if (text !== undefined && jwk === undefined)
      report.error('wrong-access', nodeAt(tree, ['key-file']).at, 'not a private key', {
        expected: 'a private JWK with `alg` and `kid`',
      });
    return jwk && { kind: 'key', key: jwk };
  }

  function fileText(name: string, path: string): string | undefined {
    try {
      const text = readFileSync(resolve(folder, path), 'utf8');
      if (text.trim() !== '') return text;
    } catch {
      // Reported below, as for an empty file.
    }
    report.error('wrong-access', nodeAt(tree, [name]).at, 'nothing can be read there', {
      expected: 'the path of a file',
      found: path,
    });
    return undefined;
  }
}

function keyIn(text: string): JWK | undefined {
  try {
    const key = JSON.parse(text) as JWK | null;
    return typeof key?.d === 'string' && typeof key.alg === 'string' ? key : undefined;
  } catch {
    return undefined;
  }
}

/** True if an address is allowed: by https, or by http on a loopback host that is listed. */
export function isSafe(url: URL, privateHosts: ReadonlySet<string>): boolean {
  const host = bareHost(url);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(host) && privateHosts.has(host));
}

/** Returns the host name in lower case, without the brackets of an IPv6 address. */
export function bareHost({ hostname }: URL): string {
  return hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1');
}

/** Returns a type without its prefix: `application/at+jwt` becomes `at+jwt`. RFC 7515 section 4.1.9 */
export function typeName(type: string): string {
  return type.toLowerCase().replace(/^application\//, '');
}

function listOf(texts: string | readonly string[]): readonly string[] {
  return typeof texts === 'string' ? [texts] : texts;
}
