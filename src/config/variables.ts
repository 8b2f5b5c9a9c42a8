/**
 * Defines the environment variables: name, default, expected value, meaning, kind. config.ts reads the environment by
 * this table, and docs/configuration.md is generated from it.
 */
import { z } from 'zod';
import { ENGINES } from '../sql/engines.ts';
import { DEMO_PACK } from '../start/demo.ts';
import {
  access,
  audit,
  auditSync,
  databaseAddress,
  flag,
  format,
  handling,
  headers,
  hostName,
  issuerAddress,
  level,
  origins,
  path,
  privateKey,
  tlsAddress,
  type Variable,
  variable,
  webAddress,
  wholeNumber,
} from './variable.ts';

export const VARIABLES = {
  host: variable('HOST', hostName, {
    default: '127.0.0.1',
    expected: 'a host name or IP address',
    meaning: 'Address to listen on. Any address except loopback requires an ACCESS other than `open`.',
  }),
  port: variable('PORT', wholeNumber(0, 65_535), {
    default: '3000',
    expected: 'a whole number from 0 to 65535',
    meaning: 'Port to listen on; 0 selects a free one.',
  }),
  tlsCert: variable('TLS_CERT', z.string().min(1), {
    shownDefault: 'none: plain HTTP',
    expected: 'the path of a PEM file',
    meaning:
      'Certificate of this server with its chain. With TLS_KEY the server uses TLS 1.2 or newer; both files are reloaded when they change.',
  }),
  tlsKey: variable('TLS_KEY', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a PEM file',
    meaning: 'Private key of the certificate in TLS_CERT.',
  }),
  tlsClientCa: variable('TLS_CLIENT_CA', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a PEM file',
    meaning: 'Certificate authority of client certificates, which every client must have (mutual TLS). Needs TLS_CERT.',
  }),
  baseUrl: variable('BASE_URL', webAddress, {
    shownDefault: 'as it listens',
    expected: 'an http or https address without query or user, like https://ehr.example.org',
    meaning: 'URL of this server as clients see it, if it is behind a proxy. Links and fullUrls begin with it.',
  }),
  fhirPath: variable('FHIR_PATH', path, {
    default: '/fhir',
    expected: 'a path that begins with a slash and does not end with one',
    meaning: 'Path of the FHIR interface.',
  }),
  apiPath: variable('API_PATH', path, {
    default: '/api',
    expected: 'a path that begins with a slash and does not end with one',
    meaning: 'Path of the REST interface.',
  }),
  database: variable('DATABASE_URL', databaseAddress, {
    shownDefault: 'the demo database',
    expected: [...ENGINES.values()].map(({ addressForm }) => `\`${addressForm}\``).join(' or '),
    meaning: 'The legacy database. It is never written. Options of SQL Server are below.',
    secret: true,
  }),
  databasePassword: variable('DATABASE_PASSWORD', z.string().min(1), {
    shownDefault: 'the one in DATABASE_URL',
    expected: 'the password of the login',
    meaning: 'Password for SQL Server, to keep it out of DATABASE_URL.',
    secret: true,
  }),
  demoDatabase: variable('DEMO', flag.schema, {
    default: 'true',
    expected: flag.expected,
    meaning: 'Without DATABASE_URL: `true` serves the demo database with invented patients, `false` stops the start.',
  }),
  mappings: variable('MAPPINGS', z.string().min(1), {
    default: DEMO_PACK,
    shownDefault: 'the demo pack',
    expected: 'the folder of a pack',
    meaning: 'Folder of the mapping pack.',
  }),
  schema: variable('SCHEMA', z.string().regex(/^\S{1,64}$/), {
    shownDefault: '`schema` of pack.yaml',
    expected: 'a version as `only: {schema: …}` of the mappings names it, such as 4.2',
    meaning: 'Version of the schema of the database: selects the `only:` documents of the pack.',
  }),
  reloadInterval: variable('RELOAD_INTERVAL', wholeNumber(0, 3600), {
    default: '1',
    expected: 'seconds, a whole number from 0 to 3600',
    meaning: 'Seconds between checks for changes of the pack; 0 reloads only on SIGHUP.',
  }),
  degraded: variable('DEGRADED', flag.schema, {
    default: 'false',
    expected: flag.expected,
    meaning:
      'If the database lacks a table, a column, a permission or a type that mappings need: `true` serves the working mappings, `false` none.',
  }),
  dataDir: variable('DATA_DIR', z.string().min(1), {
    default: '.lintel',
    expected: 'a folder',
    meaning: 'Where this server keeps its own files, such as the demo database and the forms of rows.',
  }),
  accounts: variable('ACCOUNTS', z.string().min(1), {
    shownDefault: '`accounts.json` in DATA_DIR',
    expected: 'the path of a file, which need not be there yet',
    meaning: 'Accounts of the REST interface; `lintel user` manages them.',
  }),
  sessionIdle: variable('SESSION_IDLE', wholeNumber(1, 86_400), {
    default: '900',
    expected: 'seconds, a whole number from 1 to 86400',
    meaning: 'Seconds without a request after which a session of the REST interface ends.',
  }),
  sessionLifetime: variable('SESSION_LIFETIME', wholeNumber(1, 604_800), {
    default: '28800',
    expected: 'seconds, a whole number from 1 to 604800',
    meaning: 'Seconds after which a session ends, even if it is in use.',
  }),
  sessionsMax: variable('SESSIONS_MAX', wholeNumber(1, 1_000_000), {
    default: '1000',
    expected: 'a whole number from 1 to 1000000',
    meaning: 'Maximum of simultaneous sessions; above it the longest idle one ends.',
  }),
  demoUser: variable('DEMO_USER', z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/), {
    shownDefault: '`demo`, with the demo database only',
    expected: 'letters, digits and . _ @ -, beginning with a letter or digit',
    meaning: 'Name of a temporary account for trials, which exists while the process runs. Needs DEMO_PASSWORD.',
  }),
  demoPassword: variable('DEMO_PASSWORD', z.string().min(8).max(256), {
    shownDefault: 'a random one at each start, printed',
    expected: '8 to 256 characters',
    meaning: 'Its password. Needs DEMO_USER.',
    secret: true,
  }),
  access: variable('ACCESS', access.schema, {
    default: 'open',
    expected: access.expected,
    meaning:
      'Who may read. `open`: everyone who can reach the port, which therefore must be on loopback. `smart`: clients with an access token of the built-in authorization server. `jwt`: clients with an access token of an issuer in ACCESS_FILE.',
  }),
  accessFile: variable('ACCESS_FILE', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a file as docs/access.md describes it',
    meaning:
      "The hospital's own issuers of access tokens (Keycloak, Microsoft Entra ID, Okta, Ping) and how their tokens are read. With ACCESS=jwt.",
  }),
  privateJwks: variable('JWKS_PRIVATE', flag.schema, {
    default: 'false',
    expected: flag.expected,
    meaning: 'Whether JWKS URLs of clients may have private addresses. On a loopback server they always may.',
  }),
  loginIssuer: variable('LOGIN_ISSUER', issuerAddress, {
    shownDefault: 'none',
    expected: 'the issuer of an OpenID Connect provider, of https, like https://login.example.org/realms/hospital',
    meaning:
      'With ACCESS=smart: where people log in, instead of by passwords of Lintel ([SMART](smart.md#log-in-at-the-hospitals-issuer)).',
  }),
  loginClientId: variable('LOGIN_CLIENT_ID', z.string().min(1).max(255), {
    shownDefault: 'none',
    expected: 'the client id of Lintel at LOGIN_ISSUER',
    meaning: 'Lintel’s client id there. Its redirect URL is `/auth/callback` below BASE_URL.',
  }),
  loginClientSecret: variable('LOGIN_CLIENT_SECRET', z.string().min(1), {
    shownDefault: 'none: Lintel is a public client there',
    expected: 'the secret of that client',
    meaning: 'Its secret. LOGIN_CLIENT_KEY is an alternative.',
    secret: true,
  }),
  loginClientKey: variable('LOGIN_CLIENT_KEY', privateKey, {
    shownDefault: 'none',
    expected: 'a private JSON Web Key with `alg`',
    meaning: 'Its private key, with which Lintel authenticates (`private_key_jwt`).',
    secret: true,
  }),
  loginScope: variable('LOGIN_SCOPE', z.string().regex(/^openid(?: [\x21-\x7e]+)*$/), {
    default: 'openid profile',
    expected: '`openid`, and further scopes with blanks between',
    meaning: 'Scopes that Lintel requests from the issuer.',
  }),
  loginUserClaim: variable('LOGIN_USER_CLAIM', z.string().regex(/^\S{1,200}$/), {
    default: 'fhirUser',
    expected: 'the name of a claim',
    meaning:
      'Claim of the id_token, or of the issuer’s userinfo, with the FHIR resource of the person: `Practitioner/7`.',
  }),
  loginNameClaim: variable('LOGIN_NAME_CLAIM', z.string().regex(/^\S{1,200}$/), {
    shownDefault: 'none',
    expected: 'the name of a claim that people cannot change themselves',
    meaning:
      'Claim with a login name: of an account of `lintel user`, which takes precedence, or of the pack. `email` is used only if the issuer has verified it.',
  }),
  loginRules: variable('LOGIN_RULES', z.string().regex(/^[\w-]+( [\w-]+)*$/), {
    shownDefault: 'none',
    expected: 'names of rules under `logins` of the pack’s access.yaml, with blanks between',
    meaning:
      'Searches for the person in the legacy database by the login name of LOGIN_NAME_CLAIM ([logins](access-rules.md#logins)). Together they must find one person.',
  }),
  loginLabel: variable('LOGIN_LABEL', z.string().min(1).max(60), {
    shownDefault: 'the host of LOGIN_ISSUER',
    expected: 'at most 60 characters',
    meaning: 'Name of the login service for people: the button reads “Log in with …”.',
  }),
  loginDays: variable('LOGIN_DAYS', wholeNumber(1, 365), {
    default: '90',
    expected: 'days, a whole number from 1 to 365',
    meaning: 'Days that apps keep access after the last login of the person at the issuer.',
  }),
  loginPasswords: variable('LOGIN_PASSWORDS', flag.schema, {
    shownDefault: '`true`; `false` with LOGIN_ISSUER or ACCESS=jwt',
    expected: flag.expected,
    meaning:
      'Whether accounts of `lintel user` log in by their passwords, on the pages of the authorization server and at the REST interface. With `false` only accounts marked by `lintel user allow-password` do so, at the REST interface only.',
  }),
  audit: variable('AUDIT', audit.schema, {
    shownDefault: '`required`; with ACCESS=open `off`',
    expected: audit.expected,
    meaning:
      'Writes the audit into `audit.sqlite` in DATA_DIR ([audit](audit.md)). `required`: an answer that cannot be audited is refused with 503; `best-effort`: it is sent. `off` needs ACCESS=open.',
  }),
  auditDays: variable('AUDIT_DAYS', wholeNumber(1, 36_500), {
    default: '2190',
    expected: 'days, a whole number from 1 to 36500',
    meaning: 'Days that records of the audit are kept; the default is six years. Older ones are removed.',
  }),
  auditSize: variable('AUDIT_SIZE', wholeNumber(1, 100_000_000), {
    default: '10000',
    expected: 'megabytes, a whole number from 1 to 100000000',
    meaning: 'Maximum size of the audit file in megabytes. A file full of unexpired records accepts no more.',
  }),
  auditSync: variable('AUDIT_SYNC', auditSync.schema, {
    default: 'process',
    expected: auditSync.expected,
    meaning:
      'What the audit record of a sent answer survives: `process`: a crash of the process (a power failure loses the last second); `power`: a power failure, too (each answer waits for the disk).',
  }),
  auditJson: variable('AUDIT_JSON', z.string().min(1), {
    shownDefault: 'nowhere',
    expected: '`stdout`, or the path of a file',
    meaning: 'Additional destination of the audit, with one AuditEvent per line.',
  }),
  auditSyslog: variable('AUDIT_SYSLOG', tlsAddress, {
    shownDefault: 'nowhere',
    expected: '`tls://<host>` or `tls://<host>:<port>`; the port of syslog over TLS is 6514',
    meaning: 'Additional destination of the audit by syslog over TLS, as in ATNA (ITI-20).',
  }),
  auditSyslogCa: variable('AUDIT_SYSLOG_CA', z.string().min(1), {
    shownDefault: 'what Node trusts',
    expected: 'the path of a file in PEM',
    meaning: 'Certificate authorities of that server.',
  }),
  auditSyslogCert: variable('AUDIT_SYSLOG_CERT', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a file in PEM',
    meaning: 'Client certificate for that server. Needs AUDIT_SYSLOG_KEY.',
  }),
  auditSyslogKey: variable('AUDIT_SYSLOG_KEY', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a file in PEM',
    meaning: 'Its private key. Needs AUDIT_SYSLOG_CERT.',
  }),
  auditOtlp: variable('AUDIT_OTLP', webAddress, {
    shownDefault: 'nowhere',
    expected: 'an https address, like https://collector.example.org:4318/v1/logs; http to this machine only',
    meaning: 'Additional destination of the audit as OpenTelemetry logs (OTLP over HTTP, JSON).',
  }),
  auditOtlpHeaders: variable('AUDIT_OTLP_HEADERS', headers, {
    shownDefault: 'none',
    expected: '`<name>=<value>`, several with commas between them, values percent-encoded',
    meaning: 'Headers that authenticate to that collector.',
    secret: true,
  }),
  handling: variable('HANDLING', handling.schema, {
    default: 'lenient',
    expected: handling.expected,
    meaning:
      'Handling of unknown search parameters without `Prefer: handling`: `lenient` ignores them with a warning, `strict` refuses.',
  }),
  pageSize: variable('PAGE_SIZE', wholeNumber(1, 10_000), {
    default: '50',
    expected: 'a whole number from 1 to 10000',
    meaning: 'Matches on a page if a search has no `_count`.',
  }),
  pageMax: variable('PAGE_MAX', wholeNumber(1, 10_000), {
    default: '1000',
    expected: 'a whole number from 1 to 10000',
    meaning: 'Maximum of matches on a page, whatever `_count` is.',
  }),
  answerSize: variable('ANSWER_SIZE', wholeNumber(1, 256), {
    default: '64',
    expected: 'megabytes, a whole number from 1 to 256',
    meaning:
      'Megabytes of the largest resource, and of the largest C-CDA document; more is refused. A page of a search ends after a quarter of it, if need be with fewer resources than `_count`.',
  }),
  linkSecret: variable('LINK_SECRET', z.string().min(32), {
    shownDefault: 'a random one at each start',
    expected: 'at least 32 characters',
    meaning: 'Key that page links are signed with; the same on all instances behind one URL.',
    secret: true,
  }),
  cacheSize: variable('CACHE_SIZE', wholeNumber(1, 100_000), {
    default: '64',
    expected: 'megabytes, a whole number from 1 to 100000',
    meaning: 'Maximum size of cached answers in megabytes, including compressed forms.',
  }),
  cacheMaxAge: variable('CACHE_MAX_AGE', wholeNumber(0, 86_400), {
    default: '30',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning:
      'Maximum age of cached answers in seconds: no change of the database is hidden longer. 0 disables the cache.',
  }),
  cacheTtl: variable('CACHE_TTL', wholeNumber(0, 86_400), {
    default: '5',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning: 'The same for answers with rows of a table whose mappings have no indexed `changed` column.',
  }),
  cacheCheck: variable('CACHE_CHECK', wholeNumber(0, 86_400), {
    default: '1',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning:
      'Seconds after which the latest `changed` of a table is queried again; answers from before a change are dropped.',
  }),
  connectionsMax: variable('CONNECTIONS_MAX', wholeNumber(10, 100_000), {
    default: '4000',
    expected: 'a whole number from 10 to 100000',
    meaning: 'Maximum of client connections. Above it the longest idle connection is closed.',
  }),
  connectionsPerAddress: variable('CONNECTIONS_PER_ADDRESS', wholeNumber(10, 100_000), {
    default: '2000',
    expected: 'a whole number from 10 to 100000',
    meaning: 'The same per address; behind a proxy all clients have its address.',
  }),
  requestsPerMinute: variable('REQUESTS_PER_MINUTE', wholeNumber(0, 10_000_000), {
    default: '0',
    expected: 'a whole number from 0 to 10000000',
    meaning:
      'Maximum of requests per minute of one client: an application and its person, or an address without a token. More are answered with 429. 0 is no limit ([audit](audit.md#how-much-one-caller-can-write)).',
  }),
  requestTimeout: variable('REQUEST_TIMEOUT', wholeNumber(1, 3600), {
    default: '30',
    expected: 'seconds, a whole number from 1 to 3600',
    meaning: 'Seconds after which a request is cancelled with 503.',
  }),
  drainTimeout: variable('DRAIN_TIMEOUT', wholeNumber(0, 3600), {
    default: '10',
    expected: 'seconds, a whole number from 0 to 3600',
    meaning: 'Seconds for running requests to finish on SIGTERM or SIGINT.',
  }),
  exportConcurrency: variable('EXPORT_CONCURRENCY', wholeNumber(1, 16), {
    default: '1',
    expected: 'a whole number from 1 to 16',
    meaning: 'Resource types that exports read at once; each uses its own thread and connection.',
  }),
  exportFileLines: variable('EXPORT_FILE_LINES', wholeNumber(1, 100_000_000), {
    default: '250000',
    expected: 'a whole number from 1 to 100000000',
    meaning: 'Lines after which an export begins another file of the same type.',
  }),
  exportExpiry: variable('EXPORT_EXPIRY', wholeNumber(1, 100_000), {
    default: '1440',
    expected: 'minutes, a whole number from 1 to 100000',
    meaning: 'Minutes that export files are kept; files are never removed during a download.',
  }),
  exportJobs: variable('EXPORT_JOBS', wholeNumber(1, 1000), {
    default: '10',
    expected: 'a whole number from 1 to 1000',
    meaning: 'Maximum of unfinished exports of all clients; more are refused.',
  }),
  exportJobsPerClient: variable('EXPORT_JOBS_PER_CLIENT', wholeNumber(1, 1000), {
    default: '4',
    expected: 'a whole number from 1 to 1000',
    meaning: 'Maximum of unfinished exports per client; more are refused.',
  }),
  exportDisk: variable('EXPORT_DISK', wholeNumber(1, 100_000_000), {
    default: '100000',
    expected: 'megabytes, a whole number from 1 to 100000000',
    meaning: 'Maximum size of all export files in megabytes; a job that needs more fails.',
  }),
  corsOrigins: variable('CORS_ORIGINS', origins, {
    shownDefault: 'none',
    expected: 'origins like https://app.example.org with commas between, or *',
    meaning: 'Origins of browser applications that may call this server, compared exactly.',
  }),
  hsts: variable('HSTS', wholeNumber(0, 63_072_000), {
    default: '0',
    expected: 'seconds, a whole number from 0 to 63072000 (two years)',
    meaning:
      'Seconds for which browsers use https only for this host (`Strict-Transport-Security`); 0 sends no such header. Needs an https BASE_URL.',
  }),
  logLevel: variable('LOG_LEVEL', level.schema, {
    default: 'info',
    expected: level.expected,
    meaning: 'Lowest level that is logged. No line has a value of a patient or of a search.',
  }),
  logFormat: variable('LOG_FORMAT', format.schema, {
    shownDefault: '`text` on a terminal, else `json`',
    expected: format.expected,
    meaning: 'Format of the lines on standard error.',
  }),
} as const;

/** One row of the table of variables, as text. */
export interface VariableDescription {
  readonly name: string;
  readonly default: string;
  readonly expected: string;
  readonly meaning: string;
}

/** Returns all variables in the order of the table. A secret can also be given as a file named by `NAME_FILE`. */
export function describeVariables(): readonly VariableDescription[] {
  return Object.values<Variable<unknown>>(VARIABLES).map(one => ({
    name: one.name,
    default: one.shownDefault ?? `\`${one.default ?? ''}\``,
    expected: one.expected,
    meaning: one.secret ? `${one.meaning} May be given as a file: \`${one.name}_FILE\`.` : one.meaning,
  }));
}

/** Writes the table of variables as Markdown, for docs/configuration.md. */
export function variablesTable(): string {
  const rows = describeVariables().map(
    one => `| \`${one.name}\` | ${one.default} | ${one.meaning} Expected: ${one.expected}. |`,
  );
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}
