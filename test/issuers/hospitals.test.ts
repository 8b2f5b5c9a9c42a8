/**
 * Tokens in the forms of hospitals' issuers: Keycloak, Microsoft Entra ID (v1 and v2; for a person and for a program),
 * Okta, Ping. Each with the settings of docs/access.md, read from that page itself.
 */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { accessOfGrant } from '../../src/auth/granted.ts';
import { NO_RULES } from '../../src/auth/rules.ts';
import { type FakeIssuer, fakeIssuer } from './fake-issuer.ts';
import { BASE, grantOf, opened } from './opened.ts';

const TENANT = '9188040d-6c67-4c5b-b112-36a304b66dad';
const API = '2d4d11a2-f814-46a7-890a-274a72a7309e';
const APP = '6731de76-14a6-49ae-97bc-6eba6914391e';

async function issuerAt(path: string): Promise<FakeIssuer> {
  const made = await fakeIssuer(path);
  onTestFinished(() => made.close());
  return made;
}

/** The page's settings for an issuer, with the fake issuer's URL in place of its own. */
function settingsOf(title: string, issuer: FakeIssuer, more: Readonly<Record<string, string>> = {}): string {
  const page = readFileSync('docs/access.md', 'utf8');
  const [, section = ''] = page.split(`\n### ${title}\n`);
  const [, yaml = ''] = /```yaml\n(.*?)```/s.exec(section) ?? [];
  expect(yaml, title).toContain('issuers:');
  const text = yaml
    .replace(/issuer: .*/, `issuer: ${issuer.url}\n    private-hosts: [127.0.0.1]`)
    .replace(/metadata: .*/, `metadata: ${issuer.url}/.well-known/openid-configuration`);
  return Object.entries({ ...more, 'https://lintel.example.org/fhir': BASE }).reduce(
    (before, [from, to]) => before.replaceAll(from, to),
    text,
  );
}

test('Keycloak: a person', async () => {
  const issuer = await issuerAt('/realms/clinic');
  const token = await issuer.sign({
    jti: 'onrtac:4b4b1a1a',
    aud: [BASE, 'account'],
    sub: 'f5d1c3c2-2f0c-4d0e-9d11-1f3f0f0a7d11',
    typ: 'Bearer',
    azp: 'growth-chart',
    sid: '8a1f',
    acr: '1',
    'allowed-origins': ['https://app.example.org'],
    realm_access: { roles: ['default-roles-clinic', 'offline_access'] },
    resource_access: { account: { roles: ['manage-account'] } },
    scope: 'openid profile launch/patient patient/Observation.rs user/*.rs',
    patient: '42',
    fhirUser: `${BASE}/Practitioner/7`,
    preferred_username: 'doctor',
  });
  const grant = await grantOf(opened(settingsOf('Keycloak', issuer)), token);
  expect(grant).toMatchObject({
    subject: 'f5d1c3c2-2f0c-4d0e-9d11-1f3f0f0a7d11',
    client: 'growth-chart',
    patient: '42',
    fhirUser: 'Practitioner/7',
    scopes: ['openid', 'profile', 'launch/patient', 'patient/Observation.rs', 'user/*.rs'],
  });
});

test('Keycloak: a program, and neither an ID token nor a refresh token', async () => {
  const issuer = await issuerAt('/realms/clinic');
  const verifier = opened(settingsOf('Keycloak', issuer));
  const claims = {
    aud: BASE,
    sub: '0e4d7d0e-1111-4b4b-8a8a-000000000001',
    typ: 'Bearer',
    azp: 'registry',
    scope: 'system/*.rs',
    client_id: 'registry',
    preferred_username: 'service-account-registry',
  };
  const grant = await grantOf(verifier, await issuer.sign(claims));
  expect(grant).toMatchObject({ client: 'registry', scopes: ['system/*.rs'] });
  // A person who was given the client scope by mistake, and one whose name imitates a program's.
  const { client_id: _none, ...person } = { ...claims, preferred_username: 'doctor' };
  for (const one of [person, { ...person, preferred_username: 'service-account-registry' }])
    expect(await grantOf(verifier, await issuer.sign(one))).toMatchObject({ client: 'registry', scopes: [] });
  for (const typ of ['ID', 'Refresh', 'Offline'])
    expect(await grantOf(verifier, await issuer.sign({ ...claims, typ })), typ).toBeUndefined();
});

test('Entra ID v2: a person, whose scopes have other names', async () => {
  const issuer = await issuerAt(`/${TENANT}/v2.0`);
  const verifier = opened(settingsOf('Microsoft Entra ID, v2 tokens', issuer));
  const claims = {
    aud: API,
    tid: TENANT,
    ver: '2.0',
    azp: APP,
    azpacr: '1',
    oid: '690222be-ff1a-4d56-abd1-7e4f7d38e474',
    sub: 'HKZpfaHyWadeOouYlitjrI-KffTm222X5rrV3xDqfKQ',
    scp: 'patient.all.rs user.all.rs',
    extn: { patient: ['42'], fhirUser: ['Practitioner/7'] },
    uti: 'fqiBqXLPj0eQa82S-IYFAA',
  };
  const grant = await grantOf(verifier, await issuer.sign(claims));
  expect(grant).toMatchObject({ client: APP, patient: '42', fhirUser: 'Practitioner/7' });
  expect(grant?.scopes).toEqual(['patient/*.rs', 'user/*.rs']);
  expect(await grantOf(verifier, await issuer.sign({ ...claims, tid: 'another-tenant' }))).toBeUndefined();
  expect(await grantOf(verifier, await issuer.sign({ ...claims, aud: APP }))).toBeUndefined();
});

test('Entra ID v2: a program with a role', async () => {
  const issuer = await issuerAt(`/${TENANT}/v2.0`);
  const verifier = opened(settingsOf('Microsoft Entra ID, v2 tokens', issuer));
  const claims = {
    ...{ aud: API, tid: TENANT, ver: '2.0', azp: APP, azpacr: '2', idtyp: 'app' },
    ...{ oid: '3f6ac0a1', sub: '3f6ac0a1', roles: ['Lintel.Read.All'] },
  };
  const grant = await grantOf(verifier, await issuer.sign(claims));
  expect(grant).toMatchObject({ client: APP, scopes: ['system/*.rs'] });
  expect(grant && accessOfGrant(grant, NO_RULES)).toMatchObject({ kind: 'all' });
  const person = await grantOf(verifier, await issuer.sign({ ...claims, idtyp: 'user', sub: 'HKZpfaHy' }));
  expect(person && accessOfGrant(person, NO_RULES)).toMatchObject({ kind: 'limited', permissions: [] });
  const none = await grantOf(verifier, await issuer.sign({ ...claims, roles: ['Other.Role'] }));
  expect(none && accessOfGrant(none, NO_RULES)).toMatchObject({ kind: 'limited', permissions: [] });
});

test('Entra ID v1: metadata at another address, keys without an algorithm', async () => {
  const issuer = await issuerAt(`/${TENANT}`);
  // The v1 issuer ends with a slash, and its metadata are on another host.
  issuer.metadata = { issuer: `${issuer.url}/` };
  const text = settingsOf('Microsoft Entra ID, v1 tokens', issuer).replace(
    `issuer: ${issuer.url}`,
    `issuer: ${issuer.url}/`,
  );
  const verifier = opened(text);
  const claims = {
    iss: `${issuer.url}/`,
    aud: `api://${API}`,
    tid: TENANT,
    ver: '1.0',
    appid: APP,
    appidacr: '0',
    sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ',
    scp: 'patient.all.rs',
    extn: { patient: '42' },
  };
  const header = { x5t: 'l3sQ-50cCH4xBVZLHTGwnSR7680', kid: 'one' };
  expect(await grantOf(verifier, await issuer.sign(claims, { header }))).toMatchObject({
    ...{ client: APP, patient: '42', scopes: ['patient/*.rs'] },
  });
  const program = await issuer.sign(
    { ...claims, scp: undefined, roles: ['Lintel.Read.All'], idtyp: 'app' },
    { header },
  );
  expect((await grantOf(verifier, program))?.scopes).toEqual(['system/*.rs']);
  expect(await grantOf(verifier, await issuer.sign({ ...claims, iss: issuer.url }, { header }))).toBeUndefined();
});

test('Okta: scopes in a list', async () => {
  const issuer = await issuerAt('/oauth2/aus1');
  const token = await issuer.sign({
    ...{ ver: 1, jti: 'AT.1', aud: BASE, cid: '0oa1', uid: '00u1', sub: 'doctor@hospital.example' },
    ...{ scp: ['openid', 'user/*.rs'], fhirUser: 'Practitioner/7' },
  });
  expect(await grantOf(opened(settingsOf('Okta', issuer)), token)).toMatchObject({
    ...{ client: '0oa1', subject: 'doctor@hospital.example', fhirUser: 'Practitioner/7' },
    scopes: ['openid', 'user/*.rs'],
  });
  const program = { ver: 1, aud: BASE, cid: '0oa1', scp: ['system/*.rs'] };
  const scopesOf = async (sub: string) =>
    (await grantOf(opened(settingsOf('Okta', issuer)), await issuer.sign({ ...program, sub })))?.scopes;
  expect(await scopesOf('0oa1')).toEqual(['system/*.rs']);
  expect(await scopesOf('doctor@hospital.example')).toEqual([]);
});

test('Ping: scopes in a text, the audience in a list', async () => {
  const issuer = await issuerAt('/env/as');
  const token = await issuer.sign({
    ...{ client_id: 'app-1', aud: [BASE], sub: 'user-1', scope: 'openid patient/*.rs', patient: '42' },
    ...{ env: 'env', org: 'org' },
  });
  expect(await grantOf(opened(settingsOf('PingOne and PingFederate', issuer)), token)).toMatchObject({
    ...{ client: 'app-1', patient: '42', scopes: ['openid', 'patient/*.rs'] },
  });
});
