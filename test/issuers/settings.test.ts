/** ACCESS_FILE: every problem is reported at its line, and unsafe settings are refused. */
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { asker, isSpecialUse } from '../../src/issuers/fetch.ts';
import { issuersIn } from '../../src/issuers/settings.ts';
import { formatProblem } from '../../src/mapping/load/problem.ts';

const problemsOf = (text: string): readonly string[] => issuersIn('access.yaml', text).problems.map(formatProblem);

const issuer = (more: string): string =>
  `issuers:\n  - issuer: https://i.example.org\n    audience: x\n${more.replaceAll(/^/gm, '    ')}\n`;

test.each<[text: string, expected: RegExp]>([
  ['', /^access\.yaml:1:1: nothing in it; expected `issuers:`/],
  ['issuers: []', /^access\.yaml:1:10: expected one or more/],
  ['isuers: []', /^access\.yaml:1:1: .*did you mean issuers\?/],
  [issuer('algorithm: [RS256]'), /^access\.yaml:4:5: unknown key; found algorithm; did you mean algorithms\?/],
  [issuer('algorithms: [RS255]'), /^access\.yaml:4:18: not one of the values allowed; .*did you mean RS256\?/],
  [issuer('algorithms: [none]'), /^access\.yaml:4:18: not one of the values allowed/],
  [issuer('algorithms: [RS256, HS256]'), /^access\.yaml:4:25: not one of the values allowed/],
  [issuer('jwks: http://i.example.org/keys'), /^access\.yaml:4:11: not an address of https/],
  [issuer('jwks: http://127.0.0.1/keys'), /^access\.yaml:4:11: not an address of https/],
  [issuer('private-hosts: [i.example.org]\njwks: http://i.example.org/keys'), /^access\.yaml:5:11: not an address/],
  [issuer('jwks: ftp://i.example.org/keys'), /^access\.yaml:4:11: not an address of https/],
  [issuer('clock-skew: 2h'), /^access\.yaml:4:17: expected seconds, a whole number up to 300/],
  [issuer('clock-skew: 301'), /up to 300/],
  [issuer('claims: { fhirUser: x }'), /^access\.yaml:4:15: unknown key; found fhirUser; did you mean fhir-user\?/],
  [issuer('scopes: { reader: user }'), /^access\.yaml:4:\d+: not a scope of SMART/],
  [issuer('smart: { capabilities: [launch-standalon] }'), /did you mean launch-standalone\?/],
  [issuer('introspection: { client: x }'), /^access\.yaml:4:20: who asks is not clear; expected one of `secret-file`/],
  [issuer('introspection: { client: x, secret-file: nowhere }'), /^access\.yaml:4:46: nothing can be read there/],
  [issuer('introspection: { client: x, key-file: ../../package.json }'), /nothing can be read|not a private key/],
  ['issuers:\n  - issuer: https://i.example.org', /^access\.yaml:2:5: key `audience` is missing/],
  [`${issuer('')}  - { issuer: "https://i.example.org", audience: y }`, /^access\.yaml:5:15: issuer written twice/],
  [issuer('\tx'), /^access\.yaml:4:/],
])('%j', (text, expected) => {
  expect(problemsOf(text).join('\n')).toMatch(expected);
});

test('apps are launched by one issuer', () => {
  const smart = 'smart: { capabilities: [launch-standalone] }';
  const other = `  - { issuer: "https://j.example.org", audience: y, ${smart} }`;
  expect(problemsOf(`${issuer(smart)}${other}`)).toEqual([expect.stringMatching(/apps can be launched by one issuer/)]);
});

test('every ACCESS_FILE example in the docs is valid', () => {
  const page = readFileSync('docs/access.md', 'utf8');
  const blocks = [...page.matchAll(/```yaml\n(issuers:.*?)```/gs)].map(([, yaml = '']) => yaml);
  expect(blocks.length).toBeGreaterThan(5);
  for (const yaml of blocks)
    expect(problemsOf(yaml).filter(problem => !problem.includes('nothing can be read there'))).toEqual([]);
});

test.each([
  ...['10.1.2.3', '127.0.0.1', '127.1.2.3', '169.254.169.254', '172.31.0.1', '192.168.1.1', '100.64.0.1', '0.0.0.0'],
  ...[
    '::1',
    '::',
    'fe80::1',
    'fd00::1',
    'fc00::1',
    '::ffff:10.0.0.1',
    '::ffff:7f00:1',
    '64:ff9b::a00:1',
    '2002:a00:1::',
  ],
  ...['255.255.255.255', '224.0.0.1', 'localhost', ''],
])('%s is an address of a private network', address => {
  expect(isSpecialUse(address)).toBe(true);
});

test.each(['8.8.8.8', '172.32.0.1', '192.169.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])('%s is public', address => {
  expect(isSpecialUse(address)).toBe(false);
});

test.each([
  'https://127.0.0.1',
  'https://localhost',
  'https://[::ffff:127.0.0.1]',
  'http://127.0.0.1',
  'https://2130706433',
])('no connection to %s is opened unless it is allowed by name', async origin => {
  let connections = 0;
  const server = createServer(socket => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>(resolve => server.listen(0, resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const asked = { method: 'GET', headers: new Headers(), signal: AbortSignal.timeout(5000) } as const;
  await expect(asker(new Set())(`${origin}:${port}/keys`, asked)).rejects.toThrow(/private address|not https/);
  expect(connections).toBe(0);
  const allowed = asker(new Set(['127.0.0.1', 'localhost', '::ffff:7f00:1']));
  await expect(allowed(`${origin}:${port}/keys`, asked)).rejects.toThrow();
  expect(connections).toBe(1);
});
