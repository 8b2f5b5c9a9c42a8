import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigError, type Environment, readConfig } from '../src/config/config.ts';
import { describeVariables, variablesTable } from '../src/config/variables.ts';
import { temporaryFolder } from './temporary-folder.ts';

function problemsOf(environment: Environment): readonly string[] {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

function fileWith(text: string): string {
  const folder = temporaryFolder();
  const file = join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

test('an empty configuration is a server on loopback with the demo database', () => {
  expect(readConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    baseUrl: undefined,
    fhirPath: '/fhir',
    apiPath: '/api',
    database: undefined,
    dataDir: '.lintel',
    access: 'open',
    handling: 'lenient',
    page: { size: 50, max: 1000, bytes: 64_000_000 },
    timeout: { request: 30_000, drain: 10_000 },
    corsOrigins: [],
  });
});

test('a variable set to nothing or blanks counts as not set', () => {
  const linkSecret = { LINK_SECRET: 'x'.repeat(32) };
  expect(readConfig({ PORT: '', BASE_URL: '  ', ...linkSecret })).toEqual(readConfig(linkSecret));
});

test('every problem is listed at once, with the variable, the expected and the given value', () => {
  expect(
    problemsOf({ PORT: '70000', BASE_URL: 'ehr.example.org', FHIR_PATH: 'fhir/', HANDLING: 'loose', PAGE_SIZE: '-1' }),
  ).toEqual([
    'PORT: expected a whole number from 0 to 65535, found "70000"',
    'BASE_URL: expected an http or https address without query or user, like https://ehr.example.org, found "ehr.example.org"',
    'FHIR_PATH: expected a path that begins with a slash and does not end with one, found "fhir/"',
    'HANDLING: expected one of `lenient`, `strict`, found "loose"',
    'PAGE_SIZE: expected a whole number from 1 to 10000, found "-1"',
  ]);
});

test.each(['1e3', '0x10', '3.5', '٣', '99999999999999999999', 'Infinity'])(
  'PORT=%s is refused as no whole number',
  value => {
    expect(problemsOf({ PORT: value })).toHaveLength(1);
  },
);

test.each([
  ['sqlite:/data/ehr.sqlite', { engine: 'sqlite', file: '/data/ehr.sqlite' }],
  ['sqlite:ehr.sqlite', { engine: 'sqlite', file: 'ehr.sqlite' }],
  ['sqlite:///data/ehr.sqlite', { engine: 'sqlite', file: '/data/ehr.sqlite' }],
])('DATABASE_URL=%s', (text, expected) => {
  expect(readConfig({ DATABASE_URL: text }).database).toEqual(expected);
});

test('the password of a SQL Server may be separate from its URL', () => {
  const database = readConfig({ DATABASE_URL: 'mssql://reader@db/ehr', DATABASE_PASSWORD: 'p@:/w' }).database;
  expect(database).toMatchObject({
    engine: 'mssql',
    address: { host: 'db', port: 1433, database: 'ehr', login: { kind: 'sql', user: 'reader', password: 'p@:/w' } },
  });
});

test('every problem of a SQL Server URL is reported, without its values', () => {
  const problems = problemsOf({ DATABASE_URL: 'mssql://:hunter2@db/?encrypt=hunter2&auth=ntlm&hunter2=1&ca=hunter2' });
  expect(problems).toEqual([
    'DATABASE_URL: an option that there is not; see docs/configuration.md',
    'DATABASE_URL: option encrypt: expected `true` or `false`',
    'DATABASE_URL: no name of a database after the host',
    'DATABASE_URL: no user before the host',
    'DATABASE_URL: auth=ntlm needs option domain',
  ]);
});

test('the file of a certificate authority has to exist', () => {
  expect(problemsOf({ DATABASE_URL: 'mssql://reader@db/ehr?ca=/nowhere' })).toEqual([
    'DATABASE_URL: option ca: expected the path of a file that can be read',
  ]);
  expect(problemsOf({ DATABASE_URL: `mssql://reader@db/ehr?ca=${encodeURIComponent(fileWith('PEM'))}` })).toEqual([]);
});

test('an error never repeats a secret, neither of its variable nor of a URL', () => {
  const problems = problemsOf({
    DATABASE_URL: 'postgres://reader:hunter2@db/ehr',
    BASE_URL: 'https://reader:hunter2@ehr.example.org',
    LINK_SECRET: 'hunter2',
  });
  expect(problems).toHaveLength(3);
  expect(problems.join('\n')).not.toContain('hunter2');
});

test('a secret may stand in a file', () => {
  const file = fileWith('mssql://reader:hunter2@db/ehr\n');
  expect(readConfig({ DATABASE_URL_FILE: file }).database).toMatchObject({
    engine: 'mssql',
    address: { login: { kind: 'sql', user: 'reader', password: 'hunter2' } },
  });
  expect(problemsOf({ DATABASE_URL_FILE: file, DATABASE_URL: 'sqlite:x' })).toEqual([
    'DATABASE_URL_FILE: expected only one of DATABASE_URL and DATABASE_URL_FILE, found both',
  ]);
  expect(problemsOf({ DATABASE_URL_FILE: `${file}.gone` })).toEqual([
    'DATABASE_URL_FILE: expected the path of a file that can be read',
  ]);
});

test('the command line takes precedence over a variable and over its file', () => {
  const environment = { DATABASE_URL_FILE: '/nowhere', PORT: '1' };
  const config = readConfig(environment, { DATABASE_URL: 'sqlite:mine', PORT: '2' });
  expect(config).toMatchObject({ database: { engine: 'sqlite', file: 'mine' }, port: 2 });
});

test.each(['0.0.0.0', '::', '192.168.1.5', 'ehr.example.org', '127.0.0.1.example.org'])(
  'open access refuses to listen on %s',
  host => {
    expect(problemsOf({ HOST: host })).toEqual([expect.stringMatching(/^HOST: expected a loopback address/)]);
  },
);

test.each(['127.0.0.1', '127.8.9.1', '::1', 'localhost'])('open access listens on %s', host => {
  expect(readConfig({ HOST: host }).host).toBe(host);
});

test('BASE_URL loses a slash at the end and may have a path', () => {
  expect(readConfig({ BASE_URL: 'https://ehr.example.org/lintel/' }).baseUrl).toBe('https://ehr.example.org/lintel');
});

test('CORS_ORIGINS is a list of exact origins', () => {
  expect(readConfig({ CORS_ORIGINS: 'https://a.example, http://localhost:8080' }).corsOrigins).toEqual([
    'https://a.example',
    'http://localhost:8080',
  ]);
  for (const wrong of ['a.example', 'https://a.example/', 'https://a.example/app', 'https://*.example']) {
    expect(problemsOf({ CORS_ORIGINS: wrong })).toHaveLength(1);
  }
});

test('variables that contradict each other are problems', () => {
  expect(problemsOf({ PAGE_SIZE: '100', PAGE_MAX: '50' })).toHaveLength(1);
  expect(problemsOf({ FHIR_PATH: '/api/fhir' })).toHaveLength(1);
  expect(problemsOf({ API_PATH: '/fhir' })).toHaveLength(1);
  expect(problemsOf({ API_PATH: '/fhir-api' })).toEqual([]);
});

test.each<[environment: Environment, problem: string]>([
  [{ ACCESS: 'smart', BASE_URL: 'https://fhir.example', AUDIT: 'off' }, 'AUDIT: expected required or best-effort'],
  [{ ACCESS: 'smart', HOST: '0.0.0.0' }, 'BASE_URL: expected with ACCESS=smart and HOST=0.0.0.0'],
  [{ TLS_CERT: 'package.json' }, 'TLS_KEY: expected with TLS_CERT'],
  [{ TLS_KEY: 'package.json' }, 'TLS_CERT: expected with TLS_KEY'],
  [{ TLS_CLIENT_CA: 'package.json' }, 'TLS_CLIENT_CA: expected only with TLS_CERT'],
  [
    { TLS_CERT: 'package.json', TLS_KEY: 'package.json', BASE_URL: 'http://a.example' },
    'BASE_URL: expected an address of https',
  ],
  [{ DEMO_PASSWORD: 'correct horse' }, 'DEMO_USER: expected with DEMO_PASSWORD'],
  [{ FHIR_PATH: '/fhir', API_PATH: '/fhir/api' }, 'API_PATH: expected a path outside FHIR_PATH (/fhir)'],
])('%j is refused', (environment, problem) => {
  expect(problemsOf(environment)).toEqual([expect.stringContaining(problem)]);
});

test('the table describes every variable once, without paths of this machine', () => {
  const rows = variablesTable().split('\n');
  expect(rows).toHaveLength(describeVariables().length + 2);
  expect(variablesTable()).toContain('| `PORT` | `3000` |');
  expect(variablesTable()).not.toContain(process.cwd());
});

test.skipIf(!existsSync('docs'))('docs/configuration.md has the table as `npm run variables` prints it', () => {
  const page = readFileSync('docs/configuration.md', 'utf8');
  const lacking = variablesTable()
    .split('\n')
    .filter(row => !page.includes(row));
  expect(lacking, 'rows that the page lacks; put in what `npm run variables` prints').toEqual([]);
  expect(page.includes(variablesTable()), 'the rows stand together, as `npm run variables` prints them').toBe(true);
});

test('Strict-Transport-Security needs an https URL', () => {
  expect(problemsOf({ HSTS: '3600' })).toEqual([
    'HSTS: expected only with a BASE_URL of https or TLS_CERT: clients then have to come so',
  ]);
  expect(readConfig({ HSTS: '3600', BASE_URL: 'https://ehr.example.org' }).hsts).toBe(3600);
});

const LOGIN = { ACCESS: 'smart', LOGIN_ISSUER: 'https://login.example.org/realms/x/', LOGIN_CLIENT_ID: 'lintel' };

test('people log in by password, or only at the issuer if there is one', () => {
  expect(readConfig({ ACCESS: 'smart' }).login).toEqual({
    ...{ passwords: true, restPasswords: 'all', issuer: undefined },
  });
  expect(readConfig(LOGIN).login).toMatchObject({
    passwords: false,
    issuer: {
      ...{ url: 'https://login.example.org/realms/x/', clientId: 'lintel', secret: undefined, key: undefined },
      ...{ scope: 'openid profile', userClaim: 'fhirUser', nameClaim: undefined, label: 'login.example.org', days: 90 },
      rules: [],
    },
  });
  expect(readConfig({ ...LOGIN, LOGIN_PASSWORDS: 'true' }).login.passwords).toBe(true);
  expect(readConfig({ ...LOGIN, LOGIN_ISSUER: 'http://127.0.0.1:8080' }).login.issuer?.url).toBe(
    'http://127.0.0.1:8080',
  );
});

test.each<[title: string, environment: Environment, problem: RegExp]>([
  [
    'an issuer without TLS',
    { ...LOGIN, LOGIN_ISSUER: 'http://login.example.org' },
    /^LOGIN_ISSUER: expected the issuer/,
  ],
  [
    'an issuer with a query',
    { ...LOGIN, LOGIN_ISSUER: 'https://x.example/?a=1' },
    /^LOGIN_ISSUER: expected the issuer/,
  ],
  ['an issuer of another access', { ...LOGIN, ACCESS: 'open' }, /^LOGIN_ISSUER: expected only while ACCESS is smart$/],
  ['an issuer without a client', { ...LOGIN, LOGIN_CLIENT_ID: '' }, /^LOGIN_CLIENT_ID: expected with LOGIN_ISSUER$/],
  ['a client without an issuer', { ...LOGIN, LOGIN_ISSUER: '' }, /^LOGIN_ISSUER: expected with LOGIN_CLIENT_ID$/],
  ['no way to log in', { ACCESS: 'smart', LOGIN_PASSWORDS: 'false' }, /^LOGIN_PASSWORDS: expected true without/],
  ['scopes without openid', { ...LOGIN, LOGIN_SCOPE: 'profile' }, /^LOGIN_SCOPE: expected `openid`/],
  ['a key that is none', { ...LOGIN, LOGIN_CLIENT_KEY: '{"kty":"RSA"}' }, /^LOGIN_CLIENT_KEY: expected a private JSON/],
  ['a password that is none', { DEMO_USER: 'x', DEMO_PASSWORD: 'short' }, /^DEMO_PASSWORD: expected 8 to/],
  [
    'a secret and a key',
    { ...LOGIN, LOGIN_CLIENT_SECRET: 'x', LOGIN_CLIENT_KEY: '{"kty":"EC","alg":"ES256","d":"x"}' },
    /^LOGIN_CLIENT_KEY: expected only one of/,
  ],
])('%s is reported', (_title, environment, problem) => {
  expect(problemsOf(environment)).toEqual([expect.stringMatching(problem)]);
});

test('an audit sink is read from its URL', () => {
  const sinksOf = (environment: Record<string, string>) =>
    readConfig({ AUDIT: 'required', ...environment }).audit?.sinks;
  expect(sinksOf({})).toEqual([]);
  expect(
    sinksOf({
      AUDIT_JSON: 'stdout',
      AUDIT_SYSLOG: 'tls://log.example.org',
      AUDIT_SYSLOG_CA: 'ca.pem',
      AUDIT_OTLP: 'http://127.0.0.1:4318/v1/logs',
      AUDIT_OTLP_HEADERS: 'authorization=Bearer%20x, x-tenant=a%2Cb',
    }),
  ).toEqual([
    { kind: 'json', target: 'stdout' },
    { kind: 'syslog', host: 'log.example.org', port: 6514, ca: 'ca.pem', cert: undefined, key: undefined },
    {
      kind: 'otlp',
      url: 'http://127.0.0.1:4318/v1/logs',
      headers: { authorization: 'Bearer x', 'x-tenant': 'a,b' },
    },
  ]);
  expect(sinksOf({ AUDIT_SYSLOG: 'tls://[::1]:7000' })).toMatchObject([{ host: '::1', port: 7000 }]);
});

test.each([
  [{ AUDIT_JSON: 'stdout' }, 'AUDIT_JSON: expected only where there is an audit; AUDIT is off'],
  [{ AUDIT: 'required', AUDIT_OTLP: 'http://collector.example.org/v1/logs' }, /^AUDIT_OTLP: expected https/],
  [{ AUDIT: 'required', AUDIT_SYSLOG: 'udp://log.example.org' }, /^AUDIT_SYSLOG: expected `tls:/],
  [{ AUDIT: 'required', AUDIT_SYSLOG: 'tls://log.example.org:70000' }, /^AUDIT_SYSLOG: /],
  [{ AUDIT: 'required', AUDIT_SYSLOG_CERT: 'cert.pem' }, /AUDIT_SYSLOG_KEY: expected together/],
  [{ AUDIT: 'required', AUDIT_OTLP_HEADERS: 'x' }, /^AUDIT_OTLP_HEADERS: expected/],
  [{ AUDIT: 'required', AUDIT_OTLP_HEADERS: 'x=a%0d%0ab' }, /^AUDIT_OTLP_HEADERS: expected/],
])('an invalid audit sink is refused: %o', (environment, problem) => {
  const problems = problemsOf(environment as Record<string, string>);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
  expect(problems[0]).not.toContain('%0d');
});

test('an IPv6 address to listen on may stand in brackets, as in URLs', () => {
  expect(readConfig({ HOST: '[::1]' }).host).toBe('::1');
  expect(readConfig({ HOST: '::1' }).host).toBe('::1');
});
