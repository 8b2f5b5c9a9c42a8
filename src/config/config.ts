/**
 * Reads the configuration. In: environment variables, or `NAME_FILE` with the path of a file that contains a secret.
 * Out: one readonly Config, or a ConfigError that lists every problem at once by the variable's name and the expected
 * value. The value of a secret is never repeated.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LOG_LEVELS } from '../log.ts';
import type { DatabaseAddress } from '../sql/engine.ts';
import { contradictions, present, type Values } from './contradictions.ts';
import type { PrivateKey, Variable } from './variable.ts';
import { VARIABLES } from './variables.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Config {
  readonly host: string;
  readonly port: number;
  /** Paths of PEM files; undefined means plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string | undefined } | undefined;
  /**
   * URL of this server as clients see it, without a final slash; undefined means http(s)://host:port of the listener.
   */
  readonly baseUrl: string | undefined;
  readonly fhirPath: string;
  readonly apiPath: string;
  /** Undefined means the demo database, if `demoDatabase`. */
  readonly database: DatabaseAddress | undefined;
  readonly demoDatabase: boolean;
  /** Folder of the mapping pack. */
  readonly mappings: string;
  /** Version of the database schema; undefined means that of pack.yaml. */
  readonly schema: string | undefined;
  /** True: serve the valid mappings even if others have errors. */
  readonly degraded: boolean;
  /** Milliseconds between checks of the pack for changes; 0 means only on request. */
  readonly reloadInterval: number;
  readonly dataDir: string;
  /** File of the accounts of the REST interface. */
  readonly accounts: string;
  /** Milliseconds that a session may be idle, its maximum duration, and the maximum number of sessions. */
  readonly session: { readonly idle: number; readonly lifetime: number; readonly max: number };
  /** A trial account; undefined means one with a random password if the demo database is served. */
  readonly demo: { readonly user: string; readonly password: string } | undefined;
  /** The audit of who saw whom; undefined if disabled. */
  readonly audit: AuditSettings | undefined;
  readonly access: 'open' | 'smart' | 'jwt';
  /** File with the issuers whose tokens are accepted if access is `jwt`. */
  readonly accessFile: string | undefined;
  /** How people log in to Lintel's own authorization server. */
  readonly login: {
    /** True if passwords are accepted on the pages of the authorization server. */
    readonly passwords: boolean;
    /** Whose passwords the REST interface accepts: those of all accounts, or of marked ones only. */
    readonly restPasswords: 'all' | 'marked';
    readonly issuer: IssuerSettings | undefined;
  };
  /** True if JWKS URLs of clients may lead to private addresses. */
  readonly privateJwks: boolean;
  readonly handling: 'strict' | 'lenient';
  /** Matches per page: default without `_count`, and maximum; and bytes of the largest resource or document. */
  readonly page: { readonly size: number; readonly max: number; readonly bytes: number };
  /** Secret that signs page links. */
  readonly linkSecret: Uint8Array;
  /**
   * The cache of answers: size in bytes; in milliseconds the maximum age, the age of answers without a watermark, and
   * the interval between reads of watermarks.
   */
  readonly cache: { readonly bytes: number; readonly maxAge: number; readonly ttl: number; readonly interval: number };
  /** Maximum number of client connections: in total, and per address. */
  readonly connections: { readonly max: number; readonly perAddress: number };
  /** Requests per client and minute; 0 means unlimited. */
  readonly requestsPerMinute: number;
  /** Milliseconds that a request may take, and that open requests have when the server stops. */
  readonly timeout: { readonly request: number; readonly drain: number };
  readonly export: {
    /** Number of types read concurrently. */
    readonly concurrency: number;
    readonly fileLines: number;
    /** Milliseconds before files are deleted. */
    readonly expiry: number;
    /** Maximum number of unfinished jobs: of all clients, and per client. */
    readonly jobs: number;
    readonly jobsPerClient: number;
    /** Maximum size of all files. */
    readonly bytes: number;
  };
  /** Exact origins of browser applications; `*` means any. */
  readonly corsOrigins: readonly string[];
  /** Seconds of Strict-Transport-Security; 0 means that the header is not sent. */
  readonly hsts: number;
  readonly log: { readonly level: (typeof LOG_LEVELS)[number]; readonly format: 'text' | 'json' };
}

/** Lintel's registration at the OpenID Connect provider where people log in, and the meaning of its claims. */
export interface IssuerSettings {
  /** Exactly as in its metadata. */
  readonly url: string;
  readonly clientId: string;
  /** At most one of `secret` and `key` is set. */
  readonly secret: string | undefined;
  readonly key: PrivateKey | undefined;
  readonly scope: string;
  /** Claims with the FHIR resource and with a login name. */
  readonly userClaim: string;
  readonly nameClaim: string | undefined;
  /** Rules in the pack's access.yaml that look up a login name. */
  readonly rules: readonly string[];
  /** Name for users. */
  readonly label: string;
  /** Days that access lasts after a login. */
  readonly days: number;
}

export interface AuditSettings {
  /** `best-effort`: answers do not wait for the store, nor fail with it. */
  readonly mode: 'required' | 'best-effort';
  readonly file: string;
  /** Milliseconds before records are deleted. */
  readonly keep: number;
  /** Maximum size of the file. */
  readonly bytes: number;
  /** What a written record survives: a crash of the process, or a loss of power. */
  readonly survives: 'process' | 'power';
  /** Further destinations. */
  readonly sinks: readonly SinkSettings[];
}

export type SinkSettings =
  /** `target`: the path of a file, or `stdout`. */
  | { readonly kind: 'json'; readonly target: string }
  /** `ca`, `cert` and `key` are PEM files. */
  | {
      readonly kind: 'syslog';
      readonly host: string;
      readonly port: number;
      readonly ca: string | undefined;
      readonly cert: string | undefined;
      readonly key: string | undefined;
    }
  | { readonly kind: 'otlp'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export class ConfigError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`The configuration has ${problems.length} problem${problems.length === 1 ? '' : 's'}`);
    this.name = 'ConfigError';
    this.problems = problems;
  }
}

/** Returns the environment of the process. */
export function processEnvironment(): Environment {
  return process.env;
}

/**
 * Reads and checks the environment (default: the process's own). `instead` replaces variables, as command-line options
 * do; a file for the same secret is then ignored. Throws ConfigError with every problem.
 */
export function readConfig(surrounding: Environment = processEnvironment(), instead: Environment = {}): Config {
  const files = Object.keys(instead).map(name => [`${name}_FILE`, undefined]);
  const environment: Environment = { ...surrounding, ...Object.fromEntries(files), ...instead };
  const problems: string[] = [];
  const values = Object.fromEntries(
    Object.entries<Variable<unknown>>(VARIABLES).map(([key, one]) => [key, readVariable(one, environment, problems)]),
  ) as Values;
  // A variable that could not be read must not be reported as missing or contradictory.
  const unread = new Set(problems.map(variableOf));
  problems.push(...contradictions(values).filter(problem => !unread.has(variableOf(problem))));
  const database = databaseOf(values, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return configOf(values, database);
}

/** Returns the name of the variable at the beginning of a problem. */
function variableOf(problem: string): string {
  return problem.slice(0, problem.indexOf(':'));
}

function readVariable(one: Variable<unknown>, environment: Environment, problems: string[]): unknown {
  const given = givenText(one, environment, problems);
  const text = given ?? one.default;
  if (text === undefined) return undefined;
  const result = one.schema.safeParse(text);
  if (result.success) return result.data;
  // An address with an @ may contain a password.
  const found = one.secret || text.includes('@') ? '' : `, found ${JSON.stringify(text)}`;
  problems.push(`${one.name}: expected ${one.expected}${found}`);
  return undefined;
}

/** Returns the text of a variable; an empty value counts as not set. */
function givenText(one: Variable<unknown>, environment: Environment, problems: string[]): string | undefined {
  const direct = environment[one.name]?.trim() || undefined;
  if (!one.secret) return direct;
  const name = `${one.name}_FILE`;
  const file = environment[name]?.trim() || undefined;
  if (file === undefined) return direct;
  if (direct !== undefined) {
    problems.push(`${name}: expected only one of ${one.name} and ${name}, found both`);
    return undefined;
  }
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    problems.push(`${name}: expected the path of a file that can be read`);
    return undefined;
  }
}

/** Returns the database address as parsed by its engine. Problems do not repeat any part of the address. */
function databaseOf({ database, databasePassword }: Values, problems: string[]): DatabaseAddress | undefined {
  const read = database?.engine.readAddress(database.text, databasePassword);
  if (read === undefined) return undefined;
  if ('address' in read) return read.address;
  problems.push(...read.problems.map(problem => `DATABASE_URL: ${problem}`));
  return undefined;
}

function configOf(values: Values, database: DatabaseAddress | undefined): Config {
  return {
    host: present(values.host),
    port: present(values.port),
    tls:
      values.tlsCert === undefined || values.tlsKey === undefined
        ? undefined
        : { cert: values.tlsCert, key: values.tlsKey, clientCa: values.tlsClientCa },
    baseUrl: values.baseUrl,
    fhirPath: present(values.fhirPath),
    apiPath: present(values.apiPath),
    database,
    demoDatabase: present(values.demoDatabase) === 'true',
    mappings: present(values.mappings),
    schema: values.schema,
    degraded: present(values.degraded) === 'true',
    reloadInterval: present(values.reloadInterval) * 1000,
    dataDir: present(values.dataDir),
    accounts: values.accounts ?? join(present(values.dataDir), 'accounts.json'),
    session: {
      idle: present(values.sessionIdle) * 1000,
      lifetime: present(values.sessionLifetime) * 1000,
      max: present(values.sessionsMax),
    },
    demo:
      values.demoUser === undefined || values.demoPassword === undefined
        ? undefined
        : { user: values.demoUser, password: values.demoPassword },
    access: present(values.access),
    accessFile: values.accessFile,
    audit: auditOf(values),
    login: loginOf(values),
    privateJwks: present(values.privateJwks) === 'true',
    handling: present(values.handling),
    page: {
      size: present(values.pageSize),
      max: present(values.pageMax),
      bytes: present(values.answerSize) * 1_000_000,
    },
    linkSecret: values.linkSecret === undefined ? randomBytes(32) : Buffer.from(values.linkSecret, 'utf8'),
    cache: {
      bytes: present(values.cacheSize) * 1_000_000,
      maxAge: present(values.cacheMaxAge) * 1000,
      ttl: present(values.cacheTtl) * 1000,
      interval: present(values.cacheCheck) * 1000,
    },
    connections: { max: present(values.connectionsMax), perAddress: present(values.connectionsPerAddress) },
    requestsPerMinute: present(values.requestsPerMinute),
    timeout: { request: present(values.requestTimeout) * 1000, drain: present(values.drainTimeout) * 1000 },
    export: {
      concurrency: present(values.exportConcurrency),
      fileLines: present(values.exportFileLines),
      expiry: present(values.exportExpiry) * 60_000,
      jobs: present(values.exportJobs),
      jobsPerClient: present(values.exportJobsPerClient),
      bytes: present(values.exportDisk) * 1_000_000,
    },
    corsOrigins: values.corsOrigins ?? [],
    hsts: present(values.hsts),
    log: {
      level: present(values.logLevel),
      format: values.logFormat ?? (process.stderr.isTTY ? 'text' : 'json'),
    },
  };
}

/** File name in DATA_DIR. */
export const AUDIT_FILE = 'audit.sqlite';

/**
 * Returns the audit settings. With open access the audit is off by default: the caller is unknown, and only this
 * machine can connect.
 */
function auditOf(values: Values): AuditSettings | undefined {
  const { audit, access, auditDays, auditSize, auditSync, dataDir } = values;
  const mode = audit ?? (access === 'open' ? 'off' : 'required');
  if (mode === 'off') return undefined;
  return {
    mode,
    file: join(present(dataDir), AUDIT_FILE),
    keep: present(auditDays) * 86_400_000,
    bytes: present(auditSize) * 1_000_000,
    survives: present(auditSync),
    sinks: sinksOf(values),
  };
}

function loginOf(values: Values): Config['login'] {
  const { loginIssuer: url, loginClientId: clientId, loginClientSecret: secret, loginClientKey: key } = values;
  const passwords = (values.loginPasswords ?? String(url === undefined)) === 'true';
  // If an issuer authenticates people, a password in Lintel would bypass it.
  const isVouched = url !== undefined || values.access === 'jwt';
  const restPasswords = !isVouched || values.loginPasswords === 'true' ? 'all' : 'marked';
  if (url === undefined || clientId === undefined) return { passwords, restPasswords, issuer: undefined };
  const issuer = {
    ...{ url, clientId, secret, key, scope: present(values.loginScope), days: present(values.loginDays) },
    ...{ userClaim: present(values.loginUserClaim), nameClaim: values.loginNameClaim },
    rules: values.loginRules?.split(' ') ?? [],
    label: values.loginLabel ?? new URL(url).host,
  };
  return { passwords, restPasswords, issuer };
}

function sinksOf(values: Values): readonly SinkSettings[] {
  const { auditJson, auditSyslog, auditSyslogCa, auditSyslogCert, auditSyslogKey, auditOtlp, auditOtlpHeaders } =
    values;
  return [
    ...(auditJson === undefined ? [] : [{ kind: 'json', target: auditJson } as const]),
    ...(auditSyslog === undefined
      ? []
      : [{ kind: 'syslog', ...auditSyslog, ca: auditSyslogCa, cert: auditSyslogCert, key: auditSyslogKey } as const]),
    ...(auditOtlp === undefined ? [] : [{ kind: 'otlp', url: auditOtlp, headers: auditOtlpHeaders ?? {} } as const]),
  ];
}
