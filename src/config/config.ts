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
  /** Paths of PEM files; undefined: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string; readonly clientCa: string | undefined } | undefined;
  /**
   * Address of this server as clients see it, without a slash at the end; undefined: http(s)://host:port as it listens.
   */
  readonly baseUrl: string | undefined;
  readonly fhirPath: string;
  readonly apiPath: string;
  /** Undefined: the demo database, if `demoDatabase`. */
  readonly database: DatabaseAddress | undefined;
  readonly demoDatabase: boolean;
  /** Folder of the mapping pack. */
  readonly mappings: string;
  /** Version of the schema of the database; undefined: as pack.yaml says. */
  readonly schema: string | undefined;
  /** Serve the mappings that work where some do not. */
  readonly degraded: boolean;
  /** Milliseconds between two looks at the pack; 0: only when told. */
  readonly reloadInterval: number;
  readonly dataDir: string;
  /** File of the accounts of the REST interface. */
  readonly accounts: string;
  /** Milliseconds that a session may be idle and may last, and how many there may be at a time. */
  readonly session: { readonly idle: number; readonly lifetime: number; readonly max: number };
  /** An account for trying out; undefined: one with a random password where the demo database is served. */
  readonly demo: { readonly user: string; readonly password: string } | undefined;
  /** The audit of who saw whom; undefined: none. */
  readonly audit: AuditSettings | undefined;
  readonly access: 'open' | 'smart' | 'jwt';
  /** The issuers whose tokens are taken where access is `jwt`. */
  readonly accessFile: string | undefined;
  /** How people log in at the authorization server that comes with Lintel. */
  readonly login: {
    /** On the pages of the authorization server. */
    readonly passwords: boolean;
    /** At the REST interface: of all accounts, or of those alone that are marked for it. */
    readonly restPasswords: 'all' | 'marked';
    readonly issuer: IssuerSettings | undefined;
  };
  /** JWKS URLs of clients may lead to private addresses. */
  readonly privateJwks: boolean;
  readonly handling: 'strict' | 'lenient';
  /** Matches on a page: without `_count`, and at most. */
  readonly page: { readonly size: number; readonly max: number };
  /** Signs page links. */
  readonly linkSecret: Uint8Array;
  /**
   * Bytes of kept answers; milliseconds that they are kept at most, that those without a watermark are, and between
   * marks.
   */
  readonly cache: { readonly bytes: number; readonly maxAge: number; readonly ttl: number; readonly interval: number };
  /** Connections of clients at a time: in all, and of one address. */
  readonly connections: { readonly max: number; readonly perAddress: number };
  /** Requests of one client in a minute; 0: any number. */
  readonly requestsPerMinute: number;
  /** Milliseconds that one request may take, and that open requests may still take once the server stops. */
  readonly timeout: { readonly request: number; readonly drain: number };
  readonly export: {
    /** Types read at once. */
    readonly concurrency: number;
    readonly fileLines: number;
    /** Milliseconds that files are kept. */
    readonly expiry: number;
    /** Unfinished jobs: of all clients and of one. */
    readonly jobs: number;
    readonly jobsPerClient: number;
    /** Of all files. */
    readonly bytes: number;
  };
  /** Exact origins of browser applications; `*` is any. */
  readonly corsOrigins: readonly string[];
  /** Seconds of Strict-Transport-Security; 0: the header is not sent. */
  readonly hsts: number;
  readonly log: { readonly level: (typeof LOG_LEVELS)[number]; readonly format: 'text' | 'json' };
}

/** How Lintel is registered at the OpenID Connect provider where people log in, and what its claims mean. */
export interface IssuerSettings {
  /** As its metadata spells it. */
  readonly url: string;
  readonly clientId: string;
  /** One of both, or neither. */
  readonly secret: string | undefined;
  readonly key: PrivateKey | undefined;
  readonly scope: string;
  /** Claims: of the FHIR resource, and of a login name. */
  readonly userClaim: string;
  readonly nameClaim: string | undefined;
  /** Rules of the pack's access.yaml by which a login name is looked up. */
  readonly rules: readonly string[];
  /** As people know it. */
  readonly label: string;
  /** That access outlasts a login. */
  readonly days: number;
}

export interface AuditSettings {
  /** `best-effort`: answers neither wait for the store nor fail with it. */
  readonly mode: 'required' | 'best-effort';
  readonly file: string;
  /** Milliseconds that records are kept. */
  readonly keep: number;
  /** Of the file. */
  readonly bytes: number;
  /** What a written record survives. */
  readonly survives: 'process' | 'power';
  /** Where it goes besides. */
  readonly sinks: readonly SinkSettings[];
}

export type SinkSettings =
  /** The path of a file, or `stdout`. */
  | { readonly kind: 'json'; readonly target: string }
  /** The last three are files in PEM. */
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

/** What the process was started with. */
export function processEnvironment(): Environment {
  return process.env;
}

/**
 * Reads and checks the environment (the process's own by default). `instead` replaces variables, as options of the
 * command line do; a file for the same secret then does not count. Throws ConfigError with every problem.
 */
export function readConfig(surrounding: Environment = processEnvironment(), instead: Environment = {}): Config {
  const files = Object.keys(instead).map(name => [`${name}_FILE`, undefined]);
  const environment: Environment = { ...surrounding, ...Object.fromEntries(files), ...instead };
  const problems: string[] = [];
  const values = Object.fromEntries(
    Object.entries<Variable<unknown>>(VARIABLES).map(([key, one]) => [key, readVariable(one, environment, problems)]),
  ) as Values;
  // What could not be read is neither there nor missing.
  const unread = new Set(problems.map(variableOf));
  problems.push(...contradictions(values).filter(problem => !unread.has(variableOf(problem))));
  const database = databaseOf(values, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return configOf(values, database);
}

/** The variable that a problem begins with. */
function variableOf(problem: string): string {
  return problem.slice(0, problem.indexOf(':'));
}

function readVariable(one: Variable<unknown>, environment: Environment, problems: string[]): unknown {
  const given = givenText(one, environment, problems);
  const text = given ?? one.default;
  if (text === undefined) return undefined;
  const result = one.schema.safeParse(text);
  if (result.success) return result.data;
  // An address with an @ in it may hold a password.
  const found = one.secret || text.includes('@') ? '' : `, found ${JSON.stringify(text)}`;
  problems.push(`${one.name}: expected ${one.expected}${found}`);
  return undefined;
}

/** A variable that is set to nothing counts as not set. */
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

/** The database as its engine takes it; what is wrong with an address is told without repeating any of it. */
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
    page: { size: present(values.pageSize), max: present(values.pageMax) },
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

/** In DATA_DIR. */
export const AUDIT_FILE = 'audit.sqlite';

/** On an open server nobody knows who asks, and only this machine can. */
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
  // Where an issuer vouches for people, a password that Lintel keeps goes around it.
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
