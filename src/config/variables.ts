/**
 * The table of environment variables: name, default, expected value, meaning, kind. config.ts reads the environment by
 * it, and docs/configuration.md is printed from it.
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
    meaning: 'Address to listen on. Anything but loopback needs an ACCESS other than `open`.',
  }),
  port: variable('PORT', wholeNumber(0, 65_535), {
    default: '3000',
    expected: 'a whole number from 0 to 65535',
    meaning: 'Port to listen on; 0 takes any free one.',
  }),
  tlsCert: variable('TLS_CERT', z.string().min(1), {
    shownDefault: 'none: plain HTTP',
    expected: 'the path of a PEM file',
    meaning:
      'Certificate of this server, with those that lead from it to its authority. With TLS_KEY the server speaks TLS 1.2 and newer; both are read anew when they change.',
  }),
  tlsKey: variable('TLS_KEY', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a PEM file',
    meaning: 'Private key of the certificate in TLS_CERT.',
  }),
  tlsClientCa: variable('TLS_CLIENT_CA', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a PEM file',
    meaning: 'Authority of certificates that every client must have (mutual TLS). Needs TLS_CERT.',
  }),
  baseUrl: variable('BASE_URL', webAddress, {
    shownDefault: 'as it listens',
    expected: 'an http or https address without query or user, like https://ehr.example.org',
    meaning:
      'Address of this server as clients see it, where a proxy stands before it. Links and fullUrls begin with it.',
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
    meaning: 'The legacy database. It is only ever read. Options of SQL Server are below.',
    secret: true,
  }),
  databasePassword: variable('DATABASE_PASSWORD', z.string().min(1), {
    shownDefault: 'the one in DATABASE_URL',
    expected: 'the password of the login',
    meaning: 'Password for SQL Server, so that DATABASE_URL need not hold it.',
    secret: true,
  }),
  demoDatabase: variable('DEMO', flag.schema, {
    default: 'true',
    expected: flag.expected,
    meaning:
      'What is served without DATABASE_URL: `true` the demo database with its invented patients, `false` nothing, which ends the start.',
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
    meaning: 'Version of the schema of the database: which `only:` documents of the pack count.',
  }),
  reloadInterval: variable('RELOAD_INTERVAL', wholeNumber(0, 3600), {
    default: '1',
    expected: 'seconds, a whole number from 0 to 3600',
    meaning: 'Seconds between two looks whether the pack has changed; 0 looks only when told by SIGHUP.',
  }),
  degraded: variable('DEGRADED', flag.schema, {
    default: 'false',
    expected: flag.expected,
    meaning:
      'Where the database lacks a table, a column, a permission or a type that mappings need: `true` serves the mappings that work, `false` none.',
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
    meaning: 'Seconds after which a session ends however much it is used.',
  }),
  sessionsMax: variable('SESSIONS_MAX', wholeNumber(1, 1_000_000), {
    default: '1000',
    expected: 'a whole number from 1 to 1000000',
    meaning: 'Sessions at a time; beyond, the one that was idle longest ends.',
  }),
  demoUser: variable('DEMO_USER', z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/), {
    shownDefault: '`demo`, with the demo database only',
    expected: 'letters, digits and . _ @ -, beginning with a letter or digit',
    meaning: 'Name of an account that lives as long as the process, for trying out. Needs DEMO_PASSWORD.',
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
      'Who may read. `open`: everyone who reaches the port, which therefore must be on loopback. `smart`: whoever has an access token of the authorization server that comes with Lintel. `jwt`: whoever has one of the issuers in ACCESS_FILE.',
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
    meaning:
      'Whether JWKS URLs of clients may lead to private addresses. On a loopback server they may without saying so.',
  }),
  loginIssuer: variable('LOGIN_ISSUER', issuerAddress, {
    shownDefault: 'none',
    expected: 'the issuer of an OpenID Connect provider, of https, like https://login.example.org/realms/hospital',
    meaning:
      'With ACCESS=smart: where people log in, instead of by passwords that Lintel keeps ([SMART](smart.md#log-in-at-the-hospitals-issuer)).',
  }),
  loginClientId: variable('LOGIN_CLIENT_ID', z.string().min(1).max(255), {
    shownDefault: 'none',
    expected: 'the client id of Lintel at LOGIN_ISSUER',
    meaning: 'Lintel’s client id there. Its redirect address is `/auth/callback` below BASE_URL.',
  }),
  loginClientSecret: variable('LOGIN_CLIENT_SECRET', z.string().min(1), {
    shownDefault: 'none: Lintel is a public client there',
    expected: 'the secret of that client',
    meaning: 'Its secret. LOGIN_CLIENT_KEY stands instead of it.',
    secret: true,
  }),
  loginClientKey: variable('LOGIN_CLIENT_KEY', privateKey, {
    shownDefault: 'none',
    expected: 'a private JSON Web Key with `alg`',
    meaning: 'Its key, with which Lintel signs who it is (`private_key_jwt`).',
    secret: true,
  }),
  loginScope: variable('LOGIN_SCOPE', z.string().regex(/^openid(?: [\x21-\x7e]+)*$/), {
    default: 'openid profile',
    expected: '`openid`, and further scopes with blanks between',
    meaning: 'What Lintel asks the issuer for.',
  }),
  loginUserClaim: variable('LOGIN_USER_CLAIM', z.string().regex(/^\S{1,200}$/), {
    default: 'fhirUser',
    expected: 'the name of a claim',
    meaning:
      'Claim of the id_token, or of the issuer’s userinfo, that says which FHIR resource somebody is: `Practitioner/7`.',
  }),
  loginNameClaim: variable('LOGIN_NAME_CLAIM', z.string().regex(/^\S{1,200}$/), {
    shownDefault: 'none',
    expected: 'the name of a claim that people cannot change themselves',
    meaning:
      'Claim that is a login name: of an account of `lintel user`, which then has its way, or of the pack. `email` counts only where the issuer has verified it.',
  }),
  loginRules: variable('LOGIN_RULES', z.string().regex(/^[\w-]+( [\w-]+)*$/), {
    shownDefault: 'none',
    expected: 'names of rules under `logins` of the pack’s access.yaml, with blanks between',
    meaning:
      'Searches that lead from the login name of LOGIN_NAME_CLAIM to the person in the legacy database ([logins](access-rules.md#logins)). Together they have to find one person.',
  }),
  loginLabel: variable('LOGIN_LABEL', z.string().min(1).max(60), {
    shownDefault: 'the host of LOGIN_ISSUER',
    expected: 'at most 60 characters',
    meaning: 'What people call the login service: the button says “Log in with …”.',
  }),
  loginDays: variable('LOGIN_DAYS', wholeNumber(1, 365), {
    default: '90',
    expected: 'days, a whole number from 1 to 365',
    meaning: 'Days after somebody’s last login at the issuer for which apps keep access in their name.',
  }),
  loginPasswords: variable('LOGIN_PASSWORDS', flag.schema, {
    shownDefault: '`true`; `false` with LOGIN_ISSUER or ACCESS=jwt',
    expected: flag.expected,
    meaning:
      'Whether accounts of `lintel user` log in by their passwords, on the pages of the authorization server and at the REST interface. With `false` only accounts that are marked by `lintel user allow-password` do so, at the REST interface alone.',
  }),
  audit: variable('AUDIT', audit.schema, {
    shownDefault: '`required`; with ACCESS=open `off`',
    expected: audit.expected,
    meaning:
      'Who saw whom is written into `audit.sqlite` in DATA_DIR ([audit](audit.md)). `required`: an answer that cannot be written down is refused with 503; `best-effort`: it goes out. `off` needs ACCESS=open.',
  }),
  auditDays: variable('AUDIT_DAYS', wholeNumber(1, 36_500), {
    default: '2190',
    expected: 'days, a whole number from 1 to 36500',
    meaning: 'Days that records of the audit are kept; the default is six years. Older ones are removed.',
  }),
  auditSize: variable('AUDIT_SIZE', wholeNumber(1, 100_000_000), {
    default: '10000',
    expected: 'megabytes, a whole number from 1 to 100000000',
    meaning: 'Megabytes that the file of the audit may take. Full of records that are not too old, it takes no more.',
  }),
  auditSync: variable('AUDIT_SYNC', auditSync.schema, {
    default: 'process',
    expected: auditSync.expected,
    meaning:
      'What the record of an answer survives from when the answer goes out: the end of the `process`, however it ends (a `power` cut takes the last second); or a `power` cut too, for which each answer waits for the disk.',
  }),
  auditJson: variable('AUDIT_JSON', z.string().min(1), {
    shownDefault: 'nowhere',
    expected: '`stdout`, or the path of a file',
    meaning: 'Where the audit goes besides its store, as one AuditEvent a line.',
  }),
  auditSyslog: variable('AUDIT_SYSLOG', tlsAddress, {
    shownDefault: 'nowhere',
    expected: '`tls://<host>` or `tls://<host>:<port>`; the port of syslog over TLS is 6514',
    meaning: 'Where the audit goes besides its store by syslog over TLS, as ATNA has it (ITI-20).',
  }),
  auditSyslogCa: variable('AUDIT_SYSLOG_CA', z.string().min(1), {
    shownDefault: 'what Node trusts',
    expected: 'the path of a file in PEM',
    meaning: 'Certificates of whoever vouches for that server.',
  }),
  auditSyslogCert: variable('AUDIT_SYSLOG_CERT', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a file in PEM',
    meaning: 'Certificate by which that server knows this one. Needs AUDIT_SYSLOG_KEY.',
  }),
  auditSyslogKey: variable('AUDIT_SYSLOG_KEY', z.string().min(1), {
    shownDefault: 'none',
    expected: 'the path of a file in PEM',
    meaning: 'Its private key. Needs AUDIT_SYSLOG_CERT.',
  }),
  auditOtlp: variable('AUDIT_OTLP', webAddress, {
    shownDefault: 'nowhere',
    expected: 'an https address, like https://collector.example.org:4318/v1/logs; http to this machine only',
    meaning: 'Where the audit goes besides its store as logs of OpenTelemetry (OTLP over HTTP, JSON).',
  }),
  auditOtlpHeaders: variable('AUDIT_OTLP_HEADERS', headers, {
    shownDefault: 'none',
    expected: '`<name>=<value>`, several with commas between them, values percent-encoded',
    meaning: 'Headers by which that collector knows who sends.',
    secret: true,
  }),
  handling: variable('HANDLING', handling.schema, {
    default: 'lenient',
    expected: handling.expected,
    meaning:
      'What becomes of unknown search parameters where a request has no `Prefer: handling`: `lenient` leaves them out and says so, `strict` refuses.',
  }),
  pageSize: variable('PAGE_SIZE', wholeNumber(1, 10_000), {
    default: '50',
    expected: 'a whole number from 1 to 10000',
    meaning: 'Matches on a page where a search has no `_count`.',
  }),
  pageMax: variable('PAGE_MAX', wholeNumber(1, 10_000), {
    default: '1000',
    expected: 'a whole number from 1 to 10000',
    meaning: 'Matches on a page at most, whatever `_count` says.',
  }),
  linkSecret: variable('LINK_SECRET', z.string().min(32), {
    shownDefault: 'a random one at each start',
    expected: 'at least 32 characters',
    meaning: 'Key that page links are signed with; the same on all instances behind one address.',
    secret: true,
  }),
  cacheSize: variable('CACHE_SIZE', wholeNumber(1, 100_000), {
    default: '64',
    expected: 'megabytes, a whole number from 1 to 100000',
    meaning: 'Megabytes that kept answers may take, their compressed forms included.',
  }),
  cacheMaxAge: variable('CACHE_MAX_AGE', wholeNumber(0, 86_400), {
    default: '30',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning: 'Seconds for which an answer is kept at most: no change of the database is hidden longer. 0 keeps none.',
  }),
  cacheTtl: variable('CACHE_TTL', wholeNumber(0, 86_400), {
    default: '5',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning:
      'The same for answers that come, in part, from a table whose mappings have no `changed` column with an index.',
  }),
  cacheCheck: variable('CACHE_CHECK', wholeNumber(0, 86_400), {
    default: '1',
    expected: 'seconds, a whole number from 0 to 86400',
    meaning:
      'Seconds after which a table is asked again for its latest `changed`; answers from before a change are dropped.',
  }),
  connectionsMax: variable('CONNECTIONS_MAX', wholeNumber(10, 100_000), {
    default: '4000',
    expected: 'a whole number from 10 to 100000',
    meaning:
      'Connections of clients at a time. For one more, the one is closed that has been waiting for no answer for longest.',
  }),
  connectionsPerAddress: variable('CONNECTIONS_PER_ADDRESS', wholeNumber(10, 100_000), {
    default: '2000',
    expected: 'a whole number from 10 to 100000',
    meaning: 'The same of one address; behind a proxy all clients have its address.',
  }),
  requestTimeout: variable('REQUEST_TIMEOUT', wholeNumber(1, 3600), {
    default: '30',
    expected: 'seconds, a whole number from 1 to 3600',
    meaning: 'Seconds a request may take before its statement is cancelled and 503 is answered.',
  }),
  drainTimeout: variable('DRAIN_TIMEOUT', wholeNumber(0, 3600), {
    default: '10',
    expected: 'seconds, a whole number from 0 to 3600',
    meaning: 'Seconds that requests under way get to finish on SIGTERM or SIGINT.',
  }),
  exportConcurrency: variable('EXPORT_CONCURRENCY', wholeNumber(1, 16), {
    default: '1',
    expected: 'a whole number from 1 to 16',
    meaning: 'Resource types that exports read at once; each takes a thread and a connection of its own.',
  }),
  exportFileLines: variable('EXPORT_FILE_LINES', wholeNumber(1, 100_000_000), {
    default: '250000',
    expected: 'a whole number from 1 to 100000000',
    meaning: 'Lines after which an export begins a further file of the same type.',
  }),
  exportExpiry: variable('EXPORT_EXPIRY', wholeNumber(1, 100_000), {
    default: '1440',
    expected: 'minutes, a whole number from 1 to 100000',
    meaning: 'Minutes that the files of an export are kept; never removed while they are downloaded.',
  }),
  exportJobs: variable('EXPORT_JOBS', wholeNumber(1, 1000), {
    default: '10',
    expected: 'a whole number from 1 to 1000',
    meaning: 'Exports of all clients that are not finished; more are refused.',
  }),
  exportJobsPerClient: variable('EXPORT_JOBS_PER_CLIENT', wholeNumber(1, 1000), {
    default: '4',
    expected: 'a whole number from 1 to 1000',
    meaning: 'Exports of one client that are not finished; more are refused.',
  }),
  exportDisk: variable('EXPORT_DISK', wholeNumber(1, 100_000_000), {
    default: '100000',
    expected: 'megabytes, a whole number from 1 to 100000000',
    meaning: 'Megabytes that the files of all exports may take; beyond, the job that needs more fails.',
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
      'Seconds for which browsers come to this host by https only (`Strict-Transport-Security`); 0 sends no such header. Needs a BASE_URL of https.',
  }),
  logLevel: variable('LOG_LEVEL', level.schema, {
    default: 'info',
    expected: level.expected,
    meaning: 'Least severe lines that are logged. No line ever holds a value of a patient or of a search.',
  }),
  logFormat: variable('LOG_FORMAT', format.schema, {
    shownDefault: '`text` on a terminal, else `json`',
    expected: format.expected,
    meaning: 'Form of the lines on standard error.',
  }),
} as const;

/** One row of the table of variables, as text. */
export interface VariableDescription {
  readonly name: string;
  readonly default: string;
  readonly expected: string;
  readonly meaning: string;
}

/** All variables in the order of the table; a secret can also be given as a file named by `NAME_FILE`. */
export function describeVariables(): readonly VariableDescription[] {
  return Object.values<Variable<unknown>>(VARIABLES).map(one => ({
    name: one.name,
    default: one.shownDefault ?? `\`${one.default ?? ''}\``,
    expected: one.expected,
    meaning: one.secret ? `${one.meaning} May be given as a file: \`${one.name}_FILE\`.` : one.meaning,
  }));
}

/** The table of variables as Markdown, for docs/configuration.md. */
export function variablesTable(): string {
  const rows = describeVariables().map(
    one => `| \`${one.name}\` | ${one.default} | ${one.meaning} Expected: ${one.expected}. |`,
  );
  return ['| variable | default | meaning |', '|---|---|---|', ...rows].join('\n');
}
