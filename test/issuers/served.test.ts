/**
 * A whole server with ACCESS=jwt: who has access, the answers to requests without a token, and an outage of the issuer.
 */
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, readConfig } from '../../src/config/config.ts';
import { createLog } from '../../src/log.ts';
import { startServer } from '../../src/main.ts';
import { lintel } from '../cli/lintel.ts';
import { smallClinic } from '../cli/small-clinic.ts';
import { type FakeIssuer, fakeIssuer } from './fake-issuer.ts';

const AUDIENCE = 'https://lintel.example.org/fhir';
const GOOD = { aud: AUDIENCE, sub: 'ada', azp: 'app', scope: 'patient/*.rs', patient: '1' };

async function served(more = '', accessFile?: string, files: Readonly<Record<string, string>> = {}) {
  const issuer = await fakeIssuer();
  onTestFinished(() => issuer.close());
  const { folder, environment } = smallClinic(files);
  const file = join(folder, 'access.yaml');
  const text = `issuers:\n  - issuer: ${issuer.url}\n    audience: ${AUDIENCE}\n    private-hosts: [127.0.0.1]\n${more}`;
  writeFileSync(file, accessFile ?? text);
  const [out, lines]: [string[], string[]] = [[], []];
  const running = await startServer(
    readConfig({ ...environment, ACCESS: 'jwt', ACCESS_FILE: file }),
    { out: text => out.push(text), note: text => out.push(text) },
    createLog({ level: 'debug', format: 'json', write: line => lines.push(line) }),
  );
  if (running === undefined) throw new Error(out.join('\n'));
  onTestFinished(() => running.stop());
  const get = async (path: string, token?: string) => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return fetch(`${running.url}/fhir/${path}`, { headers });
  };
  return { issuer, get, url: running.url, out, lines, environment };
}

test('a token of the issuer can read its patient, and no other', async () => {
  const { issuer, get, out } = await served();
  expect(out.join('\n')).toContain(issuer.url);
  const token = await issuer.sign(GOOD);
  expect((await get('Patient/1', token)).status).toBe(200);
  expect((await get('Patient/2', token)).status).toBe(404);
  const bundle = (await (await get('Patient', token)).json()) as { entry: readonly { resource: { id: string } }[] };
  expect(bundle.entry.map(({ resource }) => resource.id)).toEqual(['1']);
  expect((await get('Patient/1', await issuer.sign({ ...GOOD, scope: 'openid' }))).status).toBe(403);
});

test('the audit has the person, the application and the issuer', async () => {
  const { issuer, get, environment } = await served();
  expect((await get('Patient/1', await issuer.sign(GOOD))).status).toBe(200);
  const { out } = await lintel(environment, 'audit', '--patient', '1', '--json');
  expect(JSON.parse(out)).toMatchObject({ client: 'app', subject: 'ada', issuer: issuer.url, patient: ['1'] });
});

test('a missing and an invalid token are refused, with distinct errors', async () => {
  const { issuer, get } = await served();
  const none = await get('Patient/1');
  expect([none.status, none.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="fhir"']);
  const wrong = await get('Patient/1', await issuer.sign({ ...GOOD, aud: 'other' }));
  expect([wrong.status, wrong.headers.get('www-authenticate')]).toEqual([
    401,
    'Bearer realm="fhir", error="invalid_token"',
  ]);
  const query = await get(`Patient/1?access_token=${await issuer.sign(GOOD)}`);
  expect(query.status).toBe(401);
});

test('during an outage of the issuer a new token is 503 with Retry-After, a known one valid', async () => {
  const { issuer, get, lines } = await served();
  const token = await issuer.sign(GOOD);
  issuer.state = 'away';
  const away = await get('Patient/1', token);
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await away.text()).toContain('their issuer does not answer');
  expect(lines.join('\n')).not.toContain(token);
});

test('a cached decision survives an outage of the issuer', async () => {
  const { issuer, get } = await served();
  const token = await issuer.sign(GOOD);
  expect((await get('Patient/1', token)).status).toBe(200);
  issuer.state = 'away';
  expect((await get('Patient/1', token)).status).toBe(200);
});

interface Statement {
  readonly rest: readonly [{ readonly security: object }];
}

const securityOf = async (answer: Response) => ((await answer.json()) as Statement).rest[0].security;

test('where the issuer launches no apps there is no SMART configuration', async () => {
  const { issuer, get, url } = await served();
  expect((await get('.well-known/smart-configuration')).status).toBe(401);
  expect((await get('.well-known/smart-configuration', await issuer.sign(GOOD))).status).toBe(404);
  const security = await securityOf(await get('metadata'));
  expect(security).toEqual({
    cors: false,
    service: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/restful-security-service', code: 'OAuth' }] },
    ],
  });
  expect(await (await fetch(url)).text()).toContain('/fhir/metadata');
});

const SMART = '    smart: { capabilities: [launch-standalone, client-public, sso-openid-connect, permission-v2] }\n';

function withApps(issuer: FakeIssuer): void {
  issuer.metadata = {
    revocation_endpoint: `${issuer.url}/revoke`,
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    end_session_endpoint: `${issuer.url}/logout`,
    claims_supported: ['sub'],
  };
}

test('if the issuer launches apps, its endpoints are public, for any origin', async () => {
  const { issuer, get, url } = await served(SMART);
  withApps(issuer);
  const answer = await get('.well-known/smart-configuration');
  expect([answer.status, answer.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
  expect(answer.headers.get('content-type')).toContain('application/json');
  expect(await answer.json()).toEqual({
    issuer: issuer.url,
    jwks_uri: `${issuer.origin}/keys`,
    authorization_endpoint: `${issuer.url}/authorize`,
    token_endpoint: `${issuer.url}/token`,
    introspection_endpoint: `${issuer.origin}/introspect`,
    revocation_endpoint: `${issuer.url}/revoke`,
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    capabilities: ['launch-standalone', 'client-public', 'sso-openid-connect', 'permission-v2'],
  });
  const security = await securityOf(await get('metadata'));
  expect(JSON.stringify(security)).toContain('"SMART-on-FHIR"');
  expect(security).toMatchObject({
    extension: [
      {
        extension: [
          { url: 'authorize', valueUri: `${issuer.url}/authorize` },
          { url: 'token', valueUri: `${issuer.url}/token` },
          { url: 'introspect', valueUri: `${issuer.origin}/introspect` },
          { url: 'revoke', valueUri: `${issuer.url}/revoke` },
        ],
      },
    ],
  });
  expect(await (await fetch(url)).text()).toContain('/fhir/.well-known/smart-configuration');
});

test('without keys OpenID Connect is not declared; an outage of the issuer is reported', async () => {
  const { issuer, get } = await served(SMART);
  issuer.metadata = { jwks_uri: undefined };
  const told = (await (await get('.well-known/smart-configuration')).json()) as {
    capabilities: string[];
    issuer?: string;
  };
  expect(told.capabilities).toEqual(['launch-standalone', 'client-public', 'permission-v2']);
  expect(told.issuer).toBeUndefined();
  const other = await served(SMART);
  other.issuer.state = 'away';
  const away = await other.get('.well-known/smart-configuration');
  expect([away.status, away.headers.get('retry-after')]).toEqual([503, '5']);
  expect((await other.get('metadata')).status).toBe(200);
});

test('keys are not fetched from a name that resolves to a private network', async () => {
  let connections = 0;
  const inner = createServer(socket => {
    connections++;
    socket.destroy();
  });
  await new Promise<void>(resolve => inner.listen(0, 'localhost', resolve));
  onTestFinished(() => void inner.close());
  const { port } = inner.address() as { port: number };
  const { issuer, get } = await served(`    jwks: https://localhost:${port}/keys\n`);
  expect((await get('Patient/1', await issuer.sign(GOOD))).status).toBe(503);
  expect(connections).toBe(0);
});

test('a settings file with errors stops the start, each reported with its line; a missing file, too', async () => {
  const broken = served('', 'issuers:\n  - isuer: https://i.example.org\n    audience: x\n');
  await expect(broken).rejects.toThrow(ConfigError);
  await expect(broken).rejects.toMatchObject({
    problems: [expect.stringMatching(/access\.yaml:2:5: .*did you mean issuer/)],
  });
  expect(() => readConfig({ ACCESS: 'jwt' })).toThrow(ConfigError);
  expect(() => readConfig({ ACCESS_FILE: 'x' })).toThrow(ConfigError);
});

test('a login rule missing from the pack is reported at the start', async () => {
  const more = '    claims: { login: { rule: portl, claim: preferred_username } }\n';
  const files = { 'access.yaml': 'logins:\n  portal: Patient?family:exact={login}\n' };
  await expect(served(more, undefined, files)).rejects.toMatchObject({
    problems: [expect.stringMatching(/^ACCESS_FILE, claims.login.rule: .* has no login "portl"; it has portal$/)],
  });
});

test('a claim with a database login identifies the person with that login', async () => {
  const more = '    claims: { login: { rule: portal, claim: preferred_username } }\n';
  const { issuer, get } = await served(more, undefined, {
    'access.yaml': 'logins:\n  portal: Patient?family:exact={login}\n',
  });
  const token = (login: unknown) => issuer.sign({ ...GOOD, patient: '1', preferred_username: login });
  expect((await get('Patient/1', await token('Kowalski'))).status).toBe(200);
  // Another patient's record, and logins that name no single known person.
  expect((await get('Patient/1', await token('Müller'))).status).toBe(404);
  for (const login of ['Nobody', '', ['Kowalski', 'Müller']])
    expect((await get('Patient/1', await token(login))).status, JSON.stringify(login)).toBe(401);
});
